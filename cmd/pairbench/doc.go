// Command pairbench runs paired benchmarks and keeps the evidence.
//
//	pairbench run [--out DIR] [--lang en,zh-CN] PLAN
//	pairbench plan [--json] [--from ANALYSIS] PLAN
//	pairbench plans
//	pairbench collect [--out BUNDLE] [--resume] [--shard i/N] [--aa] PLAN
//	pairbench verify [--json] BUNDLE
//	pairbench analyze [--out ANALYSIS] [--inference] [--floor AA_ANALYSIS] BUNDLE...
//	pairbench analyze --a BUNDLE:ARM --b BUNDLE:ARM [--out ANALYSIS]
//	pairbench render [--out DIR] [--format html,md,csv] [--lang en,zh-CN] [--png] ANALYSIS
//	pairbench gate --require THRESHOLD [--format text|json|markdown|junit] [--out FILE] ANALYSIS
//	pairbench import --format csv [--plan PLAN] --out BUNDLE FILE...
//	pairbench import --format FORMAT --a FILE[:NAME] --b FILE[:NAME] --out BUNDLE
//	pairbench export --format benchstat|csv|arrow|hdr [--out FILE] ANALYSIS|BUNDLE
//	pairbench notebook [--out FILE] [--bundle DIR] ANALYSIS
//	pairbench compact [--out BUNDLE] BUNDLE
//	pairbench history [--metric ID] [--suite ID] [--cells GLOB] [--json] [--chart FILE] DIR
//	pairbench doctor [--json] [PLAN]
//	pairbench schema [NAME]
//
// Flags stand before or after the other words. PLAN is a YAML file or the name
// of a built-in plan: quick, database, native, release. run, plan and collect
// take the same selection:
//
//	--suite ID          only this suite (may be repeated)
//	--cells GLOB        only the cells whose id matches
//	--rounds N          N rounds instead of the plan's
//	--scale F           durations and counts times F
//	--service NAME=managed|embedded|ADDRESS
//	--seed N            the seed of order and payloads
//	--shard i/N         part i of N: whole cells, both arms, all rounds; or auto
//
// # From a plan to a report
//
// run leaves DIR/bundle, DIR/analysis and DIR/report and prints the report's
// path last; without --out it makes a directory under ./pairbench-results. The
// steps can be taken apart, and on different machines: collect needs the bench
// host, the others need only what the step before left.
//
// A bundle is sealed or visibly unfinished (NAME.partial). After a kill, a full
// disk or an interrupt, collect --resume goes on with the pairs that are
// missing, also where run began them: its bundle is DIR/bundle. It refuses when
// plan, selection, binaries, libraries or host are not the same, and says what
// differs.
//
// Every --out names something new: nothing is written over, and nothing into a
// bundle. Without it analyze writes analysis, and render report, beside what
// they read.
//
// # What runs
//
// An arm's program is built in, a command, or a command built from a revision of
// a repository:
//
//	arms:
//	  - {name: fast, program: {command: [gzip, "-1", -k, -c, "{file}"], read: {}}}
//	  - {name: best, program: {command: [gzip, "-9", -k, -c, "{file}"], read: {}}}
//
// A command speaks the driver protocol unless the plan has read: that says where
// its numbers stand in its output, and may be empty. {NAME} in an element of an
// argument vector is a factor, a constant, or one of suite, cell, arm, side,
// round, service_address, service_host, service_port and env.NAME. schema plan
// prints every key with what it means.
//
// Redis, MySQL and TCP workloads are closed loops unless a factor, constant or
// setting names an arrival: constant or poisson, at rate_per_sec requests a
// second. Such an open loop has at most outstanding requests at once; what finds
// no place waits, and the report shows service time (from the start) and response
// time (from the instant of the schedule) side by side.
//
//	constants: {connections: 4, outstanding: 64, arrival: poisson, rate_per_sec: 5000}
//
// # Results of other tools
//
// import makes a bundle of files that another tool left: one for each arm, whose
// results are matched by name. FILE:NAME takes one result of a file, so that two
// commands of one hyperfine run are compared:
//
//	pairbench import --format hyperfine --a runs.json:old --b runs.json:new --out BUNDLE
//
// The bundle holds each file byte for byte, or with [redacted] in the place of
// each secret, which is said and noted in inputs: passwords in front of a host or
// behind a telling name or option, tokens, and all that k6 keeps of a setup.
//
// A file that is damaged, or none of its format, ends with 3 and the place of
// what is wrong; files without a result in common, or without NAME, with 2.
//
// # Is the machine fit
//
// doctor checks processors, frequency, memory, load and limits, says of each
// what was found, why it matters and how to mend it, and ends with 1 if a check
// is bad. With a plan it checks what the plan needs. A bad machine does not keep
// collect from running: what disturbed a process is recorded with it.
//
// # Verdicts
//
// gate reads thresholds such as
//
//	throughput >= -2%
//	redis_tcp:latency_p99 <= +5%
//	throughput within 3%
//
// and says pass or regression only where an interval for the change lies wholly
// on one side of the limit. Too few processes or an interval across the limit is
// inconclusive; failed or missing processes make the evidence invalid.
//
// # Exit codes
//
//	0    ok
//	1    failure
//	2    usage: the command line or the plan has to change
//	3    integrity: evidence is not what it claims to be
//	4    collected, but a process failed or is incomplete
//	5    gate: regression
//	6    gate: inconclusive
//	130  interrupted
//
// The result goes to standard output; progress, warnings and errors go to
// standard error.
package main
