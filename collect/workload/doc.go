// Package workload names the built-in workloads and opens the one that a job
// asks for. The execution model is package engine's; the children bring the
// protocols.
package workload
