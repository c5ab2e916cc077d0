// Package echoserver is the embedded server: it answers what it is sent, over
// RESP2 (the protocol of Redis), plain TCP, HTTP/1.1 or WebSocket, so that a
// study needs nothing installed. It runs in a process of its own, as
// "pbdriver serve", which keeps the client's CPU and memory clean.
//
// One goroutine serves one connection. Every input is bounded: a request of
// more than [MaxPayloadBytes] is refused, memory grows only with bytes that
// arrived, and a client that does not read is not read from. A request that
// breaks its protocol gets an error where the protocol has one, and its
// connection is closed.
package echoserver
