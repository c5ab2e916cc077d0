package collect

import (
	"fmt"
	"strings"
	"time"

	"pairbench/collect/plan"
	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/digest"
)

// Options say what to collect and where to.
type Options struct {
	// Plan is the whole plan; Selection narrows it.
	Plan      *plan.Plan
	Selection plan.Selection
	// Out is the bundle's directory. It must not exist; while collecting it is
	// Out + ".partial".
	Out string
	// Resume goes on with Out + ".partial".
	Resume bool
	// AA runs arm A under both names, on purpose.
	AA bool
	// ToolVersion stands in run.json.
	ToolVersion string
	// BinDir holds the built-in drivers; empty is the directory of the running
	// program.
	BinDir string
	// Env is the collector's environment as NAME=value; nil is os.Environ().
	Env []string
	// FS writes the bundle; nil is the real file system.
	FS atomicfile.FS
	// Progress is called between processes, never beside one; nil is quiet.
	Progress func(Progress)
	// Warn is called with one line for each doubt that is no error; nil is quiet.
	Warn func(string)
}

// Progress is where a collection stands.
type Progress struct {
	// Done of Total processes are recorded, those of earlier sessions included;
	// Failed of them have an outcome other than ok.
	Done, Total, Failed int
	// Next is the process that starts now; nil at the end and while Phase is not
	// "measure".
	Next *records.Process
	// Phase is build, prepare, measure or seal.
	Phase string
	// Elapsed is the time since Run began, Left an estimate of what remains; 0 is
	// unknown.
	Elapsed, Left time.Duration
}

// Result is what a finished collection left.
type Result struct {
	// Dir is the sealed bundle, Identity the hash of its tag manifest.
	Dir      string
	Identity digest.SHA256
	Run      records.Run
	// Failed lists the processes whose outcome is not ok, by process number.
	Failed []Failure
	// LockFindings name what changed between the first and the last process.
	LockFindings []string
}

// Failure is a process that enters no median.
type Failure struct {
	ProcessNo int32
	ProcessID string
	Outcome   records.Outcome
	Detail    string
}

// SetupError says that the collection must not start: a program or service is
// missing, a build failed, both arms are one binary. Nothing was measured.
type SetupError struct {
	Object string // program, service, build
	Err    error
}

func (e *SetupError) Error() string { return fmt.Sprintf("collect %s: %v", e.Object, e.Err) }

// Unwrap returns the cause.
func (e *SetupError) Unwrap() error { return e.Err }

// ResumeError says that an unfinished bundle cannot be continued, because what
// it rests on is no longer the same.
type ResumeError struct {
	Dir string
	// Differences name what changed, one line each.
	Differences []string
}

func (e *ResumeError) Error() string {
	return fmt.Sprintf("resume %s: not the same collection: %s", e.Dir, strings.Join(e.Differences, "; "))
}

// InterruptedError says that the context ended. What was finished is kept in
// Dir, and a resume goes on from there.
type InterruptedError struct {
	Dir         string
	Done, Total int
	Err         error
}

func (e *InterruptedError) Error() string {
	if e.Dir == "" {
		return "collect: interrupted before the first process"
	}
	return fmt.Sprintf("collect: interrupted with %d of %d processes finished, which %s keeps", e.Done, e.Total, e.Dir)
}

// Unwrap returns the context's cause.
func (e *InterruptedError) Unwrap() error { return e.Err }
