// Package records is the data model of a bundle: cells, processes, samples,
// host facts, inputs and the run that binds them, with the outcomes a process
// can have and the invariants that every row must keep.
//
// The package knows nothing else of the project. Its children write and read
// the model (parquetfile, bundle, bag), hash what it rests on (digest,
// hashlock) and put files on disk safely (atomicfile); they import it, never
// the other way round.
//
// A field that is a pointer may be absent. Absent is not zero: it means that
// nobody measured the value, and no -1, NaN or empty string stands in for it.
package records
