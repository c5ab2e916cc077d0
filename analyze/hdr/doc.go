// Package hdr writes latencies as HdrHistogram interval logs, for tools that
// read nothing else. A histogram keeps three significant figures and loses the
// rest: no number of a report comes from one.
//
// A log line holds one histogram in the encoding V2, big-endian, compressed with
// zlib, in base64:
//
//	cookie i32 | payload length i32 | index offset i32 | significant figures i32
//	lowest i64 | highest i64 | double ratio f64 | payload
//
// The payload lists the counts from index 0 to the largest value's as ZigZag
// numbers of 7 bits a byte (the ninth byte has 8); a number below zero stands for
// so many counts of zero.
package hdr
