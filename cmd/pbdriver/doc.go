// Command pbdriver is the driver of the built-in workloads. Started by
// pairbench collect, with PAIRBENCH_JOB naming its job, it speaks the driver
// protocol on descriptors 3, 4 and 5: it pins itself, connects, warms up, says
// that it is ready, measures when it is told to, and reports.
//
// pbdriver calibrate prints what measuring itself costs on this machine;
// pbdriver serve is the embedded server.
//
// The binary is small on purpose. Its resident set is one of the metrics, so it
// carries no Parquet, no Arrow and no command line library.
package main
