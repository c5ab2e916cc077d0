// Package service brings the servers that a study talks to: it starts them,
// waits until they answer, watches them and stops them, or connects to one that
// runs already.
//
// The mode is what the plan or the user says, and is never swapped for another:
//
//	managed   a real server found on the PATH, private to the study: loopback
//	          only, its files in a directory that only its owner can enter and
//	          that is gone after Stop; MySQL with TLS required
//	embedded  the echo server of pbdriver, in a process of its own
//	external  an address; the server is probed and asked for its version
//
// A server dies with the collector, even when that is killed: on Linux the
// kernel ends it; the embedded server also ends when its standard input closes.
// What a killed collector leaves on disk is removed by the next start.
//
// Passwords and private keys stay in the private directory and in the
// environment of the drivers: none is in an argument vector, in a message or in
// anything that Instance offers for the record. Instance.Secrets lists them for
// the redactor.
package service
