package analyze

import (
	"errors"
	"path/filepath"

	"pairbench/records/bundle"
)

// openBundle reads the tables of a sealed bundle. The samples are read later,
// process by process; close ends that.
func openBundle(path string) (in *input, closeBundle func() error, err error) {
	b, err := bundle.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	in = &input{name: filepath.Base(filepath.Clean(path)), identity: b.Identity().String(), run: b.Run()}
	if in.cells, err = b.Cells(); err != nil {
		return nil, nil, err
	}
	if in.processes, err = b.Processes(); err != nil {
		return nil, nil, err
	}
	if in.host, err = b.Host(); err != nil {
		return nil, nil, err
	}
	if in.inputs, err = b.Inputs(); err != nil {
		return nil, nil, err
	}
	in.readSamples = func(no int32, use func(sampleReader) error) (bool, error) {
		s, ok, err := b.Samples(no)
		if err != nil || !ok {
			return false, err
		}
		return true, errors.Join(use(s), s.Close())
	}
	in.sampleFile = func(no int32) (string, string, bool) {
		path, sum, ok := b.SampleFile(no)
		return path, sum.String(), ok
	}
	return in, b.Close, nil
}
