// Package schemas holds what other programs may rely on: the JSON Schemas of
// plans, driver jobs, driver messages and reports, the layout of the sample
// frame, and the dictionary of every column of every table. It imports nothing
// of the project, so that anything may import it.
package schemas
