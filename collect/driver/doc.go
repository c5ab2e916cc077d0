// Package driver is the protocol between the collector and the program that a
// process runs. Every process is a driver; the built-in ones have no private
// path.
//
//	collector                          driver
//	  start, PAIRBENCH_JOB=job.json  ->
//	                                 <-  fd 3  hello    protocol, versions
//	                                 <-  fd 3  ready    connected and warm
//	  fd 4  go                       ->
//	                                 <-  fd 3  begin    measured interval starts
//	                                 <-  fd 3  end      counts, errors, CPU, elapsed
//	                                 <-  fd 5  sample frame, once
//	                                 <-  fd 3  done
//	  reads VmHWM and CPU clock
//	  fd 4  exit                     ->
//	                                     exit 0
//
// Control messages are JSON, one a line, at most MaxMessageBytes long. Standard
// output and standard error stay the program's own. fd 5 is a file: the driver
// writes its sample frame front to back after the interval and before done.
// A driver that cannot go on sends error instead of the next message and exits.
package driver
