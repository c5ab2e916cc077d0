// Package plan turns a plan file into the ordered list of process starts. It is
// pure: it reads no clock, starts nothing, and takes its seed from the plan or
// the caller, so that the same plan always gives the same order.
//
//	YAML -> Plan -> (selection) -> []Cell -> []Start
package plan
