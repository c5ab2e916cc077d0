// Package echo holds the echo workloads: TCP, HTTP/1.1 and WebSocket, each with
// its server in the same process, or against an address.
//
// Every workload is a closed loop, save tcp_echo with an arrival, which the
// engine carries out (see Open). Warm-up and measurement are phases: a phase
// hands out permits until its count or its time is used up, every connection
// that holds a permit sends and waits, and the phase ends when all of them have
// finished. A sample starts right before its bytes are written and ends when
// the reply has been compared with what was sent, byte for byte.
//
// TCP has three arms over the same exchange of bytes (see exchange):
//
//	callback   completion functions on an epoll loop
//	coroutine  one coroutine (iter.Pull) a connection on the same loop
//	goroutine  the net package, one goroutine a connection
//
// The loop is one set of events that all worker threads share, as they share
// one io_context in Asio: any thread may serve any connection, and none owns
// one. An epoll instance per thread would be faster and is another program, so
// it is not what stands beside Asio here.
package echo
