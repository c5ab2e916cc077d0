// Command pbdriver is the driver of the built-in workloads. Started by
// pairbench collect it speaks the driver protocol; as "pbdriver serve" it is the
// embedded server.
package main
