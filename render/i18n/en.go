package i18n

import (
	"fmt"
	"strconv"
	"strings"

	"pairbench/render/numfmt"
)

func english() *Words {
	plural := func(n int, one, many string) string {
		if n == 1 {
			return one
		}
		return many
	}
	count := func(n int, one, many string) string {
		return numfmt.Count(int64(n)) + " " + plural(n, one, many)
	}
	// agree is plural for a count that is written already.
	agree := func(written, one, many string) string {
		if written == "1" {
			return one
		}
		return many
	}
	return &Words{
		Tag: English, Language: "English", ListComma: ", ", Colon: ": ", Space: " ",
		Names: Names{
			Metric: named(map[string]string{
				"run_time": "Run time", "throughput": "Throughput", "cpu": "CPU", "latency_p50": "P50 latency", "latency_p90": "P90 latency",
				"latency_p99": "P99 latency", "latency_p999": "P99.9 latency", "latency_max": "Maximum latency",
				"response_p50": "P50 response time", "response_p99": "P99 response time",
				"peak_rss": "Peak RSS", "cpu_efficiency": "CPU efficiency",
			}),
			Unit: func(u numfmt.Unit) string {
				switch u {
				case numfmt.UnitRoundTrips:
					return "round trips/s"
				case numfmt.UnitUs:
					return "µs"
				default:
					return string(u)
				}
			},
			Factor: named(map[string]string{
				"payload_bytes": "Payload", "cadence": "Cadence", "connections": "Connections", "outstanding": "Outstanding",
				"work": "Compute iterations", "in_flight": "In flight", "threads": "Threads", "batch": "Commands a batch",
				"arrival": "Arrival", "rate_per_sec": "Requests/s",
			}),
			Cadence: func(v string) (string, bool) {
				if v == "continuous" {
					return "Continuous", true
				}
				return numfmt.Duration(v)
			},
			Outcome: named(map[string]string{
				"ok": "ok", "exit_nonzero": "exit code not 0", "signalled": "ended by a signal", "timeout": "time limit",
				"start_failed": "did not start", "protocol_error": "broke the protocol", "operation_errors": "requests failed",
				"invalid_result": "contradicts itself", "leftover": "left processes behind", "interrupted": "interrupted",
			}),
			Order: named(map[string]string{
				"alternate": "alternating, AB then BA", "shuffle": "shuffled with a recorded seed", "sequential": "one arm after the other", "imported": "as in the imported files",
			}),
			Fact: named(map[string]string{
				"cpu.model": "Processor", "cpu.logical": "Logical processors", "cpu.cores": "Cores", "cpu.governor": "Frequency governor",
				"cpu.turbo": "Turbo", "memory.total_bytes": "Memory", "memory.thp": "Transparent huge pages", "os.name": "System",
				"kernel.release": "Kernel", "kernel.aslr": "Address randomisation", "clock.source": "Clock source",
				"calibration.clock_read_ns": "One clock reading", "calibration.sample_record_ns": "Recording one sample",
				"calibration.sample_record_allocs":       "Allocations a sample",
				"calibration.empty_request_callback_ns":  "A callback request without IO",
				"calibration.empty_request_coroutine_ns": "A coroutine request without IO",
			}),
			CPUCovers:     named(map[string]string{"client": "the client alone", "client_and_server": "client and server together"}),
			CPUScope:      named(map[string]string{"interval": "over the measured interval", "process": "over the whole process, warm-up included", "run": "the whole run, from start to end"}),
			LatencyCovers: named(map[string]string{"request": "one request, from submission to delivery", "message": "one message, or the whole batch where several are in flight", "batch": "one whole batch"}),
			RSSSource: named(map[string]string{
				"vmhwm_at_done": "VmHWM, read when the driver was done", "vmhwm_ptrace_exit": "VmHWM, read at the exit event",
				"rusage_launcher": "rusage behind a small launcher", "rusage_darwin": "rusage (macOS)", "stated": "as stated by the source",
			}),
			ServiceMode: named(map[string]string{"managed": "started for this study", "embedded": "pairbench's own server", "external": "already running"}),
			Disturbance: named(map[string]string{"steal": "time that the hypervisor took", "throttled": "the control group's limit", "cpu_pressure": "waiting for a processor"}),
			Reason: named(map[string]string{"arm_missing": "arm missing", "median_a_zero": "median of A is zero", "one_process": "one process",
				"not_paired": "the arms are not paired", "not_positive": "a value is not above zero", "no_variation": "all rounds agree"}),
			Inference: named(map[string]string{
				"range_ratio": "Range of ratios", "mann_whitney": "Mann-Whitney", "hodges_lehmann": "Hodges-Lehmann shift", "signed_rank": "Signed rank",
				"median_rank_interval": "Rank interval of the median", "paired_t_log": "Paired t on logarithms", "bootstrap_two_level": "Two-level bootstrap",
			}),
			Circumstance: named(map[string]string{"host": "other host", "plan": "other plan", "services": "other services"}),
			Yes:          "Yes", No: "No", Inside: "inside", Outside: "outside", Complete: "complete", Incomplete: "incomplete", Absent: "not recorded",
			NotComputable: "not computable", Median: "median", Other: "unknown",
		},
		Headings: Headings{
			Findings: "Findings", Compared: "What was compared", Reading: "How to read the numbers", Scope: "Scope of measurement",
			Counts: "Fixed counts", Evidence: "Evidence", Limits: "Limits", Processes: "Processes", Failures: "Processes left out",
			Notes: "Doubts", Changes: "Changes", Results: "Results", Charts: "Charts", Distribution: "Latency distribution of each process",
			History: "Over bundles", Order: "Order of execution", Position: "Position in the pair", Latency: "Latency", ThroughputAndCPU: "Throughput and CPU", Inference: "Intervals and tests", Inputs: "Hashed inputs",
		},
		Columns: Columns{
			Suite: "Suite", Cell: "Cell", Metric: "Metric", Change: "Change", Overlap: "Ranges overlap", LowestChange: "Lowest change",
			HighestChange: "Highest change", MedianChange: "Median of changes", Configuration: "Configuration", NotComputable: "Not computable",
			DisjointByChance: "Disjoint by chance", Panel: "Group", ConnectionsOutstanding: "Connections/outstanding",
			Process: "Process", Arm: "Arm", Round: "Round", Slot: "Slot", First: "Order in pair", Started: "Started (UTC)", Outcome: "Outcome", Exit: "Exit",
			Operations: "Operations", Elapsed: "Interval (s)", Samples: "Samples", Output: "Output", SampleFile: "Sample file", Detail: "Detail",
			Stdout: "Standard output", Stderr: "Standard error", Hash: "SHA-256", Bytes: "Bytes", Fact: "Fact", Value: "Value", Source: "Source",
			MeasuredPerProcess: "Measured per process", WarmupPerProcess: "Warm-up per process", Cells: "Cells", Processes: "Processes",
			Bundle: "Bundle", Identity: "Identity", Lock: "Hash lock", Interval: "Interval (UTC)", Gaps: "Gaps", Kind: "Kind", Name: "Name", Side: "Arm",
			Method: "Method", Estimate: "Estimate", Interval95: "Interval", Level: "Level attained", P: "p", PAdjusted: "p adjusted",
			EfficiencyChange: "Efficiency change", Floor: "A/A range",
		},
		Sentences: Sentences{
			Question:   func(a, b string) string { return fmt.Sprintf("What changes when %s replaces %s?", b, a) },
			QuestionAA: "How far apart do two labels of one program lie on this host?",
			Overview: func(suites, cells, processes int, perArm string) string {
				return fmt.Sprintf("%s, %s, %s: in every cell each arm ran %s, each time as a fresh process.",
					count(suites, "suite", "suites"), count(cells, "cell", "cells"), count(processes, "process", "processes"), times(perArm))
			},
			OverviewImported: func(suites, cells, processes int, perArm string) string {
				return fmt.Sprintf("%s, %s, %s, taken from files: %s for each arm of a cell. How they were run is up to their source.",
					count(suites, "suite", "suites"), count(cells, "cell", "cells"), count(processes, "process", "processes"), perArm)
			},
			SuiteChange: func(metric, changes, overlap string) string {
				if overlap == noneComparable {
					return fmt.Sprintf("%s changes by %s; no cell has two ranges to compare.", metric, changes)
				}
				return fmt.Sprintf("%s changes by %s; the ranges of the two arms overlap in %s cells.", metric, changes, overlap)
			},
			SuiteChangeAA: func(metric, changes, overlap string) string {
				if overlap == noneComparable {
					return fmt.Sprintf("%s differs by %s between the two labels; no cell has two ranges to compare.", metric, changes)
				}
				return fmt.Sprintf("%s differs by %s between the two labels; their ranges overlap in %s cells.", metric, changes, overlap)
			},
			ArmAA:        func(arm, side string) string { return arm + " (" + side + ")" },
			NoChange:     func(metric string) string { return metric + ": no change can be computed." },
			MedianChange: func(change string) string { return "The median of the cells' changes is " + change + "." },
			NotComputable: func(n int) string {
				return fmt.Sprintf("%s cannot be compared and %s left out.", count(n, "cell", "cells"), plural(n, "is", "are"))
			},
			Chance: func(disjoint, comparable int, expected string) string {
				return fmt.Sprintf("%s of %s %s disjoint ranges; two identical arms would give about %s by chance alone.",
					numfmt.Count(int64(disjoint)), count(comparable, "cell", "cells"), plural(disjoint, "has", "have"), expected)
			},
			NoSignificance: "How large a difference is depends on the configuration. No statistical significance is claimed: a handful of processes per arm cannot carry such a claim, and ranges that do not overlap are not a test.",
			LargestFall: func(metric, change, cell string) string {
				return fmt.Sprintf("%s falls most at %s (%s).", metric, cell, change)
			},
			LargestRise: func(metric, change, cell string) string {
				return fmt.Sprintf("%s rises most at %s (%s).", metric, cell, change)
			},
			AllOverlap: func(metric, overlap string) string {
				return fmt.Sprintf("%s: the ranges overlap in %s configurations.", metric, overlap)
			},
			Alternation: func(order, rounds string) string {
				return fmt.Sprintf("The two arms of a cell ran on one host, %s %s, in this order: %s.", rounds, plural(numberOf(rounds), "round", "rounds"), order)
			},
			RangeMeaning: func(perArm string) string {
				if numberOf(perArm) == 1 {
					return "Each arm has one process, so there is no range to show."
				}
				return fmt.Sprintf("Brackets hold the smallest and the largest of the %s processes of an arm; they are a range, not a confidence interval.", perArm)
			},
			Totals: func(processes, operations, warmup, samples string) string {
				var parts []string
				if operations != "" {
					parts = append(parts, operations+" measured "+agree(operations, "operation", "operations"))
				}
				if warmup != "" {
					parts = append(parts, warmup+" warm-up "+agree(warmup, "operation", "operations"))
				}
				parts = append(parts, samples+" raw "+agree(samples, "sample", "samples"))
				return fmt.Sprintf("%s %s: %s.", processes, agree(processes, "process", "processes"), strings.Join(parts, ", "))
			},
			Intervals: func(shortest, longest, under, total string) string {
				return fmt.Sprintf("The measured intervals last %s s to %s s; %s of %s %s under one second.", shortest, longest, under, total, agree(under, "is", "are"))
			},
			OutsideIntervals: "Construction, connection and warm-up lie outside them.",
			Errors: func(errors string, failed int) string {
				text := "Failed processes: " + numfmt.Count(int64(failed)) + "."
				if errors != "" {
					text = "Request errors: " + errors + ". " + text
				}
				return text
			},
			AllChecked:      "Output, exit code, standard error and counts of every process were checked before its numbers were used.",
			ImportedChecked: "The imported files were read whole and stand in the bundle by hash, with secrets taken out. What their source checked is not known here.",
			FailedExcluded: func(n int) string {
				return fmt.Sprintf("%s failed. No median contains %s; %s listed below with what went wrong.", count(n, "process", "processes"), plural(n, "it", "them"), plural(n, "it is", "they are"))
			},
			AA: "Both arms ran the same program on purpose: every difference below is the noise of this host and method.",
			Imported: func(format string) string {
				return fmt.Sprintf("The processes were imported (%s), not run here. There are no raw samples.", format)
			},
			ImportedStated: func(format string) string {
				return fmt.Sprintf("The processes were imported (%s), not run here. There are no raw samples; percentiles are as stated by the source.", format)
			},
			ImportedSamples: func(format, samples string) string {
				return fmt.Sprintf("The processes were imported (%s), not run here. The files hold raw samples (%s), from which percentiles are computed.", format, samples)
			},
			ArmRevision: func(arm, revision string) string { return fmt.Sprintf("%s was built from revision %s.", arm, revision) },
			Caption: func(metric, unit, better string) string {
				if unit == "" {
					return metric + " (" + better + ")"
				}
				return metric + " in " + unit + " (" + better + ")"
			},
			CellsHave: func(perArm string) string {
				if numberOf(perArm) == 1 {
					return "One process per arm, unless n is given."
				}
				return fmt.Sprintf("Median [minimum–maximum] of %s processes per arm, unless n is given.", perArm)
			},
			Signal:        func(number string) string { return "signal " + number },
			NUnusual:      func(n int) string { return "n = " + strconv.Itoa(n) },
			MoreOutput:    func(bytes string) string { return "the first bytes of " + bytes },
			NoOutput:      "empty",
			NoSamples:     "no raw samples",
			BetterHigher:  "higher is better",
			BetterLower:   "lower is better",
			BetterNeither: "neither direction is better by itself",
			ChartBars: func(metric, unit, axis string) string {
				return fmt.Sprintf("%s in %s. Bars are medians, whiskers run from the smallest to the largest process, every panel has its own scale from zero. Above each pair stands the change of its medians. Horizontal axis: %s.", metric, unit, axis)
			},
			ChartECDF: "Share of requests that took at most the time on the logarithmic axis; one line per process.",
			ChartOrder: func(metric string) string {
				return metric + " of each process as a share of the median of its own cell and arm, in the order of execution. A slope or a step is drift of the host, not of an arm."
			},
			ChartOrderImported: func(metric string) string {
				return metric + " of each process as a share of the median of its own cell and arm, in the order of the imported files, which need not be the order in which they ran."
			},
			ChartHistory: func(metric string) string {
				return metric + " of each bundle, the oldest first. Dots are medians, whiskers run from the smallest to the largest process; the vertical axis need not begin at zero. Across a dashed line bundles do not compare: what differs stands above."
			},
			Floor: func(differences string, cells, inside, changes int) string {
				return fmt.Sprintf("Identical arms differed by %s, either way round, over %s; %s of %s here %s inside that range.",
					differences, count(cells, "cell", "cells"), numfmt.Count(int64(inside)), count(changes, "change", "changes"), plural(inside, "lies", "lie"))
			},
			NeedN:      func(n int) string { return "needs at least " + count(n, "process", "processes") + " per arm" },
			ModelBased: "assumes a distribution",
			ServiceLine: func(name, version, mode, address string) string {
				line := name
				if version != "" {
					line += " " + version
				}
				if mode != "" {
					line += ", " + mode
				}
				if address != "" {
					line += ", " + address
				}
				return line
			},
			Verify:       "Check the bundle with pairbench, or without it:",
			VerifyByHand: "The identity of a bundle is the SHA-256 of its tag manifest, which names every other file by hash.",
			LockCovers:   "The hash lock covers the programs that ran, the shared libraries they load, build settings and the state of the sources, hashed before the first and after the last process. It does not cover the kernel, firmware or what a service did before the study.",
			LockComplete: "The hash lock is complete: whatever ran is named by its hash.",
			LockIncomplete: func(gaps int) string {
				return fmt.Sprintf("The hash lock is incomplete: %s.", count(gaps, "gap", "gaps"))
			},
			Tool:        func(version string) string { return "pairbench " + version },
			FirstOfPair: "first", SecondOfPair: "second",
			ProcessesIntro: "Every process behind the tables, cell by cell, in the order of execution.",
			GroupRest:      "All cells",
		},
		Method: Method{
			Median:            "A cell shows, for each arm, the median over its processes and the smallest and largest value. For an even number of processes the median is the mean of the two in the middle.",
			Change:            "Change is (median of B / median of A − 1) × 100, taken from unrounded values. Where A is zero or an arm is missing there is none, and the cell is left out of the summary.",
			Overlap:           "Ranges overlap when they share at least one value; touching counts. With one process per arm there is no range to compare.",
			Percentile:        "P50 and P99 are nearest-rank percentiles of each process over all its own requests; only then comes the median over processes. Samples of different processes are never pooled and percentiles are never averaged.",
			CPU:               "CPU is CPU time over wall time of the same span; 100 % is one logical processor.",
			Efficiency:        "CPU efficiency is throughput per fully used processor, computed per process; its change is that of the two medians.",
			RSS:               "Peak RSS is the high-water mark of the whole process, with warm-up and preallocated sample memory. It cannot isolate what one request or one coroutine costs.",
			RSSOfRun:          "Peak RSS is the high-water mark of the program, from its start to its end.",
			RunTime:           "Run time is from the start of a program to its end, unless its output states another; a run is one operation.",
			Rounding:          "Numbers are rounded once, for display, half away from zero. A change keeps the sign of its unrounded value, so −0.00% and +0.00% differ.",
			Intervals:         "Throughput is the number of measured operations over the measured interval, from the first submission to the last delivery.",
			ImportedIntervals: "Throughput is as the file states it; where it states none, it is the number of operations over the time they took.",
		},
		Notes: Notes{
			ShortIntervals: func(count, total string) string {
				return fmt.Sprintf("%s of %s measured %s %s shorter than one second; single disturbances weigh more there.",
					count, total, agree(total, "interval", "intervals"), agree(count, "is", "are"))
			},
			FewTailSamples: func(metric, tail, processes string) string {
				if tail == "0" {
					return fmt.Sprintf("%s says little: there are processes with so few samples that none lies beyond it (processes with few: %s).", metric, processes)
				}
				return fmt.Sprintf("%s rests on few samples: as few as %s beyond it (processes: %s).", metric, tail, processes)
			},
			OrderBalance: func(aFirst, pairs string) string {
				return fmt.Sprintf("A ran first in %s of %s %s.", aFirst, pairs, agree(pairs, "pair", "pairs"))
			},
			Drift: func(metric, tau, p, n string) string {
				return fmt.Sprintf("%s against the order of execution: Kendall tau %s, p %s, n %s.", metric, tau, p, n)
			},
			LevelChange: func(processes string) string { return "The level changes within a process: " + processes + "." },
			LittlesLaw: func(found, expected string) string {
				return fmt.Sprintf("Throughput times latency gives %s requests in flight, the plan says %s.", found, expected)
			},
			MissedTicks: func(count, processes string) string {
				return fmt.Sprintf("%s %s of the cadence %s missed (processes: %s).", count, agree(count, "tick", "ticks"), agree(count, "was", "were"), processes)
			},
			Disturbed: func(what, processes string) string { return fmt.Sprintf("Disturbed by %s: %s.", what, processes) },
			DisturbedMany: func(what, processes, all, cells, allCells string) string {
				return fmt.Sprintf("Disturbed by %s: %s of %s processes, in %s of %s cells.", what, processes, all, cells, allCells)
			},
			FewerCores: func(needed, there string) string {
				return fmt.Sprintf("The workload has %s busy %s, the host %s logical %s.", needed, agree(needed, "thread", "threads"), there, agree(there, "processor", "processors"))
			},
			Imported:        func(format string) string { return fmt.Sprintf("Imported from %s, not run here.", format) },
			LockIncomplete:  func(gaps string) string { return "The hash lock is incomplete: " + gaps + "." },
			FailedProcesses: func(count string) string { return "Failed processes, in no median: " + count + "." },
			StatedLatency: func(processes string) string {
				return "Percentiles are as stated by the source, not computed from samples (processes: " + processes + ")."
			},
			SamePosition: func(metric, pct string) string {
				return fmt.Sprintf("%s depends on the position in the pair: the second process gives %s.", metric, pct)
			},
			PositionOfFloor: func(metric, pct string) string {
				return fmt.Sprintf("%s of equal arms depends on the position in the pair: the second process gives %s.", metric, pct)
			},
			NotPaired: func(reason string) string {
				if reason == "separate_collections" {
					reason = "the arms come from separate collections, so drift of the host can hit one arm alone"
				}
				return "The processes are not paired: " + reason + "."
			},
			NotComparable: func(what string) string { return "Not comparable as they stand: " + what + "." },
			Unpinned: func(processes string) string {
				return "Left to the scheduler, not pinned to processors (processes: " + processes + "). Waking another processor can cost more than a request."
			},
			CollectorPolling: "The owner polls continuously and so keeps a processor awake; its rate is no merit over a client that sleeps.",
			Unknown:          func(code, values string) string { return code + ": " + values },
		},
		Scope: Scope{
			Time: "Measured", Tool: "Tool", Study: "Study", Plan: "Plan (SHA-256)", Order: "Order", Rounds: "Rounds", Arms: "Arms", Operation: "Workload",
			Service: "Service", CPU: "CPU covers", Latency: "Latency covers", RSS: "Peak RSS", ClientCPUs: "Client ran on processor", ServerCPUs: "Server ran on processor",
			Version: "Version", Runtime: "Setting", Host: "Host", Constant: "Constant", Seed: "seed",
			LimitChange:     "The tables compare two ways of doing the same work. They are no measure of the highest rate that either way, the client library or the server can reach.",
			LimitChangeAA:   "The tables compare a program with itself: they show how far this host and method can be trusted, and nothing about any arm.",
			LimitChangeRuns: "The tables compare two ways of doing the same work, on the inputs that the plan names; other inputs can turn out otherwise.",
			LimitHost:       "Nothing is shown about other hosts, networks beyond the one that was used, clusters, saturation or long runs.",
			LimitSaturation: "Latency under a closed loop says how long a request took while its predecessors held the others back; it is not the latency of an open arrival process.",
			LimitRSS:        "Memory is the whole process's; two arms that share a program share its fixed part.",
			LimitShort:      "Intervals are short, so that one disturbance of the host can move a process; the ranges show how far.",
			LimitImported:   "Imported numbers are as good as their source: how the processes were run, spaced and checked is not known here.",
		},
		Page: Page{
			Filter: "Filter rows", FilterHint: "words, all must match", Close: "Close", Sort: "Sort by", Contents: "Contents",
			SkipToContent: "Skip to content", DrillHint: "Select any number to see the processes behind it.", NoMatch: "No row matches.", VegaSpec: "Vega-Lite", ChartFile: "SVG",
			RowsShown: "{k} of {n} rows",
		},
		Terminal: Terminal{Overlap: "overlap", Difference: "Difference", MoreFailures: "and more"},
		OpenLoop: OpenLoop{
			Metric: named(map[string]string{
				"latency_p50": "P50 service time", "latency_p90": "P90 service time", "latency_p99": "P99 service time",
				"latency_p999": "P99.9 service time", "latency_max": "Maximum service time",
			}),
			Method: "Service time runs from the start of a request to its delivery, response time from the instant at which its schedule wanted it to start: a request that had to wait before it started has waited in the second alone.",
			Limit:  "Response time belongs to the schedule and rate of the plan; another rate, or another way of arriving, gives another.",
		},
		Number: func(n int) string {
			words := [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
			if n >= 0 && n < len(words) {
				return words[n]
			}
			return numfmt.Count(int64(n))
		},
		NumberRange: func(low, high string) string { return low + " to " + high },
		ChangeRange: func(low, high string) string { return low + " to " + high },
	}
}

// noneComparable is how a share of nothing is written.
const noneComparable = "0/0"

// numberOf is 1 for the word of one and more for every other.
func numberOf(word string) int {
	if word == "one" {
		return 1
	}
	return 2
}

func times(word string) string {
	if numberOf(word) == 1 {
		return "once"
	}
	if word == "two" {
		return "twice"
	}
	return word + " times"
}
