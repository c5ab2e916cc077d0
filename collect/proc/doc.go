// Package proc starts one process, drains its output, enforces its limits,
// measures it from outside and leaves nothing of it behind.
//
// A process is started without a shell, in a session of its own, with exactly
// the environment it is given (and one marker, TokenEnv), with output into
// files that no grandchild can hold open against the collector, and, where
// asked, pinned to processors before its first instruction.
//
//	collector                              process (its own session)
//	  Process.Messages  <---- pipe ------- fd 3
//	  Process.Commands  ----- pipe ------> fd 4
//	  Process.Samples   <---- file ------- fd 5
//	  StdoutPath        <---- file ------- fd 1
//	  StderrPath        <---- file ------- fd 2
//
// One operating system thread is kept for each process from fork to reaping.
// It gives the process its affinity, is its tracer where a tracer is needed,
// and is the parent whose death the kernel tells the process of, so that a
// killed collector leaves no process running.
//
// On Linux the collector becomes a child subreaper: whatever the process
// leaves, daemons in sessions of their own included, becomes a child of the
// collector, is found in /proc, ended, reaped and counted. Elsewhere only the
// process group is ended; Exit.Leftovers is then absent.
//
// What a process did is never a Go error: Exit says it. Errors mean that the
// process could not be started (StartError) or that the collector itself
// could not do its part.
package proc
