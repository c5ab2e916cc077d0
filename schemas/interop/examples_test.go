package interop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"pairbench/records/bag"
	"pairbench/records/bundle"
)

// twoCells is a plan of programs that are everywhere and done at once.
const twoCells = `plan: 1
study: cat
arms:
  - {name: number, program: {command: [cat, -n, "{file}"], read: {}}}
  - {name: show, program: {command: [cat, -A, "{file}"], read: {}}}
rounds: 1
suites:
  - {id: s, workload: command, factors: {file: [/etc/passwd, /etc/group]}, measure: {operations: 1}}
`

// shell runs a script with sh, pairbench on its PATH and nothing else of note in
// its environment, and returns its exit code and output.
func shell(t *testing.T, dir string, env map[string]string, args ...string) (code int, text string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + tools(t) + ":" + os.Getenv("PATH"), "HOME=" + dir}
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode(), string(out)
	}
	check(t, err)
	return 0, string(out)
}

// tools builds pairbench once and returns its directory.
func tools(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(toolsDir, "pairbench")
	if _, err := os.Stat(bin); err != nil {
		output(t, root(t), "go", "build", "-o", bin, "./cmd/pairbench")
	}
	return toolsDir
}

var toolsDir string // set by TestMain

func TestMain(m *testing.M) {
	var err error
	if toolsDir, err = os.MkdirTemp("", "pairbench-interop-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(toolsDir)
	os.Exit(code)
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestSchedulersCollectShards runs the shell of the Kubernetes Job and of the
// Slurm script once for each shard, with the variables that the scheduler sets,
// and analyses what they leave.
func TestSchedulersCollectShards(t *testing.T) {
	var job struct {
		Kind string
		Spec struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    int
			Parallelism    int
			BackoffLimit   int `yaml:"backoffLimit"`
			Template       struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct {
						Command, Args []string
						Env           []struct{ Name, Value string }
					}
				}
			}
		}
	}
	decode(t, "../scaling/kubernetes-job.yaml", &job)
	pod := job.Spec.Template.Spec
	if job.Kind != "Job" || job.Spec.CompletionMode != "Indexed" || pod.RestartPolicy != "Never" || len(pod.Containers) != 1 {
		t.Fatalf("no Indexed Job of one container that is not restarted: %+v", job)
	}
	if c := pod.Containers[0]; !slices.Equal(c.Command, []string{"/bin/sh", "-ec"}) || len(c.Args) != 1 {
		t.Fatalf("the command is %q %q", c.Command, c.Args)
	}
	declared := map[string]string{}
	for _, e := range pod.Containers[0].Env {
		declared[e.Name] = e.Value
	}
	if declared["PAIRBENCH_SHARD_COUNT"] != fmt.Sprint(job.Spec.Completions) {
		t.Errorf("PAIRBENCH_SHARD_COUNT is %s, completions is %d", declared["PAIRBENCH_SHARD_COUNT"], job.Spec.Completions)
	}
	if spec := job.Spec; spec.Parallelism != spec.Completions || spec.BackoffLimit < spec.Completions {
		t.Errorf("%d at once and %d retries for %d shards, want all at once and a retry for each", spec.Parallelism, spec.BackoffLimit, spec.Completions)
	}
	slurm, err := filepath.Abs("../scaling/slurm-array.sh")
	check(t, err)
	script, err := os.ReadFile(slurm)
	check(t, err)
	for name, text := range map[string]string{"the Job": pod.Containers[0].Args[0], "the Slurm script": string(script)} {
		if !strings.Contains(text, "pairbench collect --shard auto ") {
			t.Errorf("%s does not collect --shard auto", name)
		}
	}
	for _, interpreter := range []string{"sh", "bash"} {
		output(t, ".", interpreter, "-n", slurm)
	}
	if !strings.Contains(string(script), "\n#SBATCH --requeue\n") || !strings.Contains(string(script), "\n#SBATCH --exclusive\n") {
		t.Error("a task of the array is not requeued, or does not have its node to itself")
	}

	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.yaml")
	check(t, os.WriteFile(plan, []byte(twoCells), 0o600))
	whole := filepath.Join(dir, "whole")
	if code, text := shell(t, dir, nil, "-c", "pairbench collect --out whole plan.yaml"); code != 0 {
		t.Fatal(text)
	}
	want := design(t, whole)
	if len(want) != 4 {
		t.Fatalf("the design has the processes %v, want 4", want)
	}
	for name, run := range map[string]func(results string, i, attempt int) (int, string){
		"kubernetes": func(results string, i, attempt int) (int, string) {
			env := map[string]string{"JOB_COMPLETION_INDEX": fmt.Sprint(i), "HOSTNAME": fmt.Sprintf("pod-%d-%d", i, attempt)}
			for k, v := range declared {
				env[k] = v
			}
			env["PAIRBENCH_SHARD_COUNT"], env["RESULTS"], env["PLAN"] = "2", results, plan
			return shell(t, dir, env, "-ec", pod.Containers[0].Args[0])
		},
		"slurm": func(results string, i, attempt int) (int, string) {
			return shell(t, dir, map[string]string{
				"SLURM_ARRAY_TASK_ID": fmt.Sprint(i + 1), "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "2",
				"SLURM_JOB_ID": "42", "SLURM_RESTART_COUNT": fmt.Sprint(attempt),
			}, slurm, plan, results)
		},
	} {
		t.Run(name, func(t *testing.T) {
			results := filepath.Join(dir, name)
			check(t, os.Mkdir(results, 0o755))
			// The first attempt at shard 0 ends where it began: a file is in its way.
			if code, _ := shell(t, results, nil, "-c", "touch attempt-0.pod-0-0 attempt-1.42.0"); code != 0 {
				t.Fatal("no file was made")
			}
			if code, text := run(results, 0, 0); code == 0 {
				t.Fatalf("an attempt that cannot succeed ended with 0\n%s", text)
			}
			for i := range 2 {
				if code, text := run(results, i, 1); code != 0 {
					t.Fatalf("shard %d: exit code %d\n%s", i, code, text)
				}
			}
			// An attempt at a complete shard leaves it as it is.
			if code, text := run(results, 0, 2); code != 0 {
				t.Fatalf("a late retry: exit code %d\n%s", code, text)
			}
			shards, err := filepath.Glob(filepath.Join(results, "shard-*"))
			check(t, err)
			if len(shards) != 2 {
				t.Fatalf("found %q, want two shards", shards)
			}
			groups := map[string]bool{}
			var joined []string
			for i, shard := range shards {
				if report, err := bundle.Verify(shard); err != nil || len(report.Findings) > 0 {
					t.Errorf("%s: %v %v", shard, report.Findings, err)
				}
				joined = append(joined, design(t, shard)...)
				b, err := bundle.Open(shard)
				check(t, err)
				if s := b.Run().Shard; s == nil || s.Index != i+1 || s.Count != 2 {
					t.Errorf("%s says it is shard %+v", shard, s)
				}
				check(t, b.Close())
				text, err := os.ReadFile(filepath.Join(shard, bag.InfoFile))
				check(t, err)
				for line := range strings.Lines(string(text)) {
					if strings.HasPrefix(line, "Bag-Group-Identifier: ") {
						groups[line] = true
					}
				}
			}
			slices.Sort(joined)
			if diff := cmp.Diff(want, joined); diff != "" {
				t.Errorf("the shards' processes are not those of the whole:\n%s", diff)
			}
			if len(groups) != 1 {
				t.Errorf("bag groups are %v, want one", groups)
			}
			for _, table := range analysisTables(t, analysis(t, shards...)) {
				cells := map[any]bool{}
				for _, row := range table.Rows {
					cells[row[1]] = true
				}
				if table.Columns[1].Name != "cell_id" || len(cells) != 2 {
					t.Errorf("%s has the cells %v, want both", table.Name, cells)
				}
			}
		})
	}
}

// design lists cell, arm and round of each process of a bundle.
func design(t *testing.T, dir string) []string {
	t.Helper()
	b, err := bundle.Open(dir)
	check(t, err)
	processes, err := b.Processes()
	check(t, err)
	check(t, b.Close())
	var out []string
	for _, p := range processes {
		out = append(out, fmt.Sprintf("%s %s %s %d %s", p.Suite, p.CellID, p.Arm, p.Round, p.Outcome))
	}
	slices.Sort(out)
	return out
}

// TestWorkflowGates runs the shell steps of the GitHub Actions example.
func TestWorkflowGates(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run, Uses string }
		}
	}
	decode(t, "../ci/pairbench-gate.yml", &workflow)
	dir := t.TempDir()
	plan := strings.Replace(twoCells, "rounds: 1", "rounds: 2", 1)
	check(t, os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(plan), 0o600))
	summary := filepath.Join(dir, "summary.md")
	ran := 0
	for _, step := range workflow.Jobs["gate"].Steps {
		if step.Run == "" {
			continue
		}
		ran++
		// Programs without results have neither metric: the gate has no evidence
		// and says so instead of passing.
		want := 0
		if step.Name == "gate" {
			want = 3
		}
		code, text := shell(t, dir, map[string]string{"PLAN": "plan.yaml", "GITHUB_STEP_SUMMARY": summary}, "-ec", step.Run)
		if code != want {
			t.Fatalf("step %s: exit code %d, want %d\n%s", step.Name, code, want, text)
		}
	}
	if ran != 3 {
		t.Errorf("%d shell steps ran, want 3", ran)
	}
	for _, file := range []string{summary, filepath.Join(dir, "results", "gate.xml")} {
		if text, err := os.ReadFile(file); err != nil || len(text) == 0 {
			t.Errorf("%s: %d bytes, %v", file, len(text), err)
		}
	}
}
