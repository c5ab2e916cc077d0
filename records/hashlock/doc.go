// Package hashlock fixes what a measurement rests on: programs and scripts with
// every shared library that the system's loader brings in, the plan, the state
// of source trees, and what Go recorded when it built a program.
//
// Take hashes everything before the first process. AddMappings notes files that
// a running process opened after its start. Rehash does all of it again after
// the last process, resolution included, so that a library that changed, went
// away or got in front of another is found. Each row of records.Input says how
// it was found (resolved_by), who asked for it, and, if it is not closed, why.
//
// The two hashes of a row keep their time: SHA256 is from before the first
// process, SHA256After from after the last. What was first seen while processes
// ran has only the second. Such a row is closed when the change time of its file
// is older than the lock, which nothing can set back; else it has a gap.
//
// The contents of a row by kind:
//
//	binary, script, service  Path, Bytes, hashes; Value is static, dynamic or the format
//	library                  Path, Bytes, hashes; Value is the system's build, or "absent", where no file has to be there
//	plan                     Path, Bytes, hashes
//	source_tree              Value is the git revision, with " dirty" when files differ from it;
//	                         the hash is of the differences, untracked files included
//	build_setting, module    Name and Value as debug/buildinfo has them, RequiredBy the program
package hashlock
