package records

// HostFact is one fact of the bench host: a row of data/host.parquet. A fact
// that could not be had is recorded with a nil Value and the reason.
type HostFact struct {
	// Name is dotted and stable: cpu.model, kernel.release, calibration.clock_read_ns.
	Name   string  `parquet:"name,plain"`
	Value  *string `parquet:"value,optional,plain"`
	Unit   *string `parquet:"unit,optional,plain"`
	Source string  `parquet:"source,plain"`
	// AbsentReason is set exactly when Value is nil.
	AbsentReason *string `parquet:"absent_reason,optional,plain"`
}

// Input is one thing the measurement rests on: a row of data/inputs.parquet.
type Input struct {
	// Kind is binary, library, script, plan, source_tree, build_setting, module,
	// service, or result: an imported file.
	Kind string `parquet:"kind,dict"`
	// Name is what refers to it: a path, a library name, a module, a setting.
	Name string `parquet:"name,plain"`
	// Path is the resolved file; absent for settings and unresolved libraries.
	Path *string `parquet:"path,optional,plain"`
	// Side is the arm that uses it; absent when both do.
	Side *string `parquet:"side,optional,dict"`
	// Value holds a setting, a revision or a version; absent for plain files.
	Value *string `parquet:"value,optional,plain"`
	// Bytes and SHA256 were taken before the first process, SHA256After after
	// the last. A hash that was not taken in time stays absent.
	Bytes       *int64  `parquet:"bytes,optional"`
	SHA256      *string `parquet:"sha256,optional,plain"`
	SHA256After *string `parquet:"sha256_after,optional,plain"`
	// ResolvedBy says how the path was found: argv, DT_RUNPATH, ld.so.cache,
	// mappings, and so on.
	ResolvedBy string `parquet:"resolved_by,dict"`
	// RequiredBy is the path of the file that asked for it; absent for roots.
	RequiredBy *string `parquet:"required_by,optional,plain"`
	// Gap says why the row is not closed; absent when it is.
	Gap *string `parquet:"gap,optional,plain"`
}
