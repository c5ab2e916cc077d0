// Package bundle is a bundle on disk: it creates one, appends processes as they
// finish, seals it, opens it, verifies it. It owns every file name.
//
// A sealed bundle is a BagIt bag (package bag) with this payload:
//
//	data/run.json              what binds the tables together
//	data/plan.yaml             the user's file, byte for byte
//	data/datapackage.json      every table, column, unit and hash
//	data/cells.parquet data/processes.parquet data/host.parquet data/inputs.parquet
//	data/samples/<process_no>.parquet, or data/samples/merged-<n>.parquet
//
// While it is collected it is the directory NAME.partial, where each finished
// process is one more file:
//
//	commits/<process_no>.json  the process's row, with size and hash of its samples
//
// A process exists when its commit file does. Appending writes and syncs the
// samples file first and the commit file after it; removing goes the other way
// round. So whatever moment a kill, a full disk or a power loss picks, a commit
// stands for complete evidence, and a samples file without a commit is a
// leftover that Resume drops.
//
// run.json is written last by Create: without it nothing had begun. The tag
// manifest is written last by Seal: with it the bundle is complete, and all that
// may be left to do is to drop the commits and to give the directory its name.
package bundle
