// Package metric defines what is compared: each metric has an id, a unit, a
// direction that is better, and one formula over one process. No function here
// sees two processes.
package metric
