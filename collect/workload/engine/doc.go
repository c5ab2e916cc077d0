// Package engine is the execution model of the built-in workloads.
//
// One owner, locked to its OS thread, submits requests and learns of their
// completion only when it polls. Between it and the connections lie two rings
// with one producer and one consumer each:
//
//	owner thread                         IO thread
//	  arm: callback | coroutine
//	  submit  -- submissions ring -->      lease a free connection, or wait for one
//	                                       resume the connection's coroutine:
//	                                         the client library writes, suspends
//	                                         until epoll says readable, reads,
//	                                         the workload checks the reply
//	  poll    <-- completions ring --      push, return the lease
//
// The IO thread sleeps in epoll and is woken through an eventfd only when it
// sleeps. A connection given to a client library is a net.Conn whose Read and
// Write suspend the connection's coroutine (iter.Pull) instead of blocking a
// thread, so that the library's own code carries every request in every arm. In
// the inline variant the owner does the IO itself when it polls, and may sleep in
// epoll when there is none (setting idle: wait), as an ordinary client of one
// thread does: on the server's processor a polling owner takes half of its time.
//
// The goroutine arm has no owner: each outstanding request is a goroutine that
// leases a connection from a channel and blocks in the library.
//
// The arms differ in who runs when a completion has come: a completion function
// called by the owner, a coroutine resumed by it, or a goroutine that the Go
// scheduler wakes. Submission, checking, counting and recording are the same
// code.
//
// Latency runs from the owner's submission to the owner's delivery. Nothing is
// allocated by the engine between begin and end; samples go into memory that was
// allocated and touched before.
package engine
