// Package collect turns a plan into a bundle: it is the only loop of the
// product. It starts one fresh process after another, in the order of the plan,
// with nothing of its own beside a measurement, and writes each finished process
// before the next one starts.
//
//	plan, selection
//	  -> programs found or built -> services tried -> everything hashed
//	  -> for each start: job, process, protocol, counters, samples, checks, row
//	  -> everything hashed again -> sealed bundle
//
// A measurement that fails is data: its row carries the outcome. Run returns an
// error only when it cannot record or must not start: the causes have types
// (SetupError, ResumeError, InterruptedError).
//
// Secrets (the variables and files that the plan names, the services'
// passwords, whatever looks like a data source name) are taken out of every
// text before it is written.
package collect
