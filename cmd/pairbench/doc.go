// Command pairbench runs paired benchmarks and keeps the evidence.
//
//	pairbench run [--out DIR] [--lang en,zh-CN] PLAN
//	pairbench plan [--json] PLAN
//	pairbench plans
//	pairbench collect [--out BUNDLE] [--resume] [--shard i/N] [--aa] PLAN
//	pairbench verify [--json] BUNDLE
//	pairbench analyze [--out ANALYSIS] [--inference] [--floor AA_ANALYSIS] BUNDLE...
//	pairbench analyze --a BUNDLE:ARM --b BUNDLE:ARM [--out ANALYSIS]
//	pairbench render [--out DIR] [--format html,md,csv] [--lang en,zh-CN] [--png] ANALYSIS
//	pairbench gate --require THRESHOLD [--format text|json|markdown|junit] ANALYSIS
//	pairbench import --format FORMAT [--plan PLAN] --out BUNDLE FILE...
//	pairbench export --format benchstat|csv|arrow|hdr [--out FILE] ANALYSIS|BUNDLE
//	pairbench notebook [--out FILE] [--bundle DIR] ANALYSIS
//	pairbench compact [--out BUNDLE] BUNDLE
//	pairbench history DIR
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
//	--shard i/N         part i of N: whole cells, both arms, all rounds
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
// missing; it refuses when plan, binaries, libraries or host are not the same,
// and says what differs.
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
