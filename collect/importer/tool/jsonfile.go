package tool

import (
	"errors"
	"fmt"
	"math/big"

	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
)

// jsonFile is a JSON source that is being read.
type jsonFile struct {
	src   result.Source
	place result.Place
	root  jsondoc.Value
}

func openJSON(src result.Source) (*jsonFile, error) {
	f := &jsonFile{src: src, place: result.Place{Text: src.Data}}
	root, err := jsondoc.Parse(src.Data)
	var bad *jsondoc.Error
	if errors.As(err, &bad) {
		line, column := f.place.Of(bad.Offset)
		return nil, &result.Error{File: src.Name, Line: line, Column: column, Problem: bad.Problem}
	}
	f.root = root
	return f, err
}

func (f *jsonFile) line(v jsondoc.Value) int {
	start, _ := v.Span()
	return f.place.Line(start)
}

func (f *jsonFile) fail(at jsondoc.Value, format string, args ...any) error {
	start, _ := at.Span()
	line, column := f.place.Of(start)
	return &result.Error{File: f.src.Name, Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
}

// maxName bounds a name, a command or an address.
const maxName = 64 << 10

// need returns a member that must be there and of that kind; a text is no longer
// than a name.
func (f *jsonFile) need(of jsondoc.Value, name string, kind jsondoc.Kind) (jsondoc.Value, error) {
	v := of.Get(name)
	switch v.Kind() {
	case kind:
		if start, end := v.Span(); kind == jsondoc.String && end-start > maxName {
			return v, f.fail(v, "%s: found a text of %d bytes, expected at most %d", name, end-start, maxName)
		}
		return v, nil
	case jsondoc.Nothing:
		return v, f.fail(of, "%s: found nothing, expected %s", name, kind)
	default:
		return v, f.fail(v, "%s: found %s, expected %s", name, v.Kind(), kind)
	}
}

// number returns a number exactly; nil where there is none: no member, null,
// NaN or Infinity. Anything else is an error.
func (f *jsonFile) number(name string, v jsondoc.Value) (*big.Rat, error) {
	switch v.Kind() {
	case jsondoc.Nothing, jsondoc.Null, jsondoc.NotFinite:
		return nil, nil
	case jsondoc.Number:
	default:
		return nil, f.fail(v, "%s: found %s, expected a number", name, v.Kind())
	}
	r, problem := decimal(v.Literal())
	if problem != "" {
		return nil, f.fail(v, "%s: %s", name, problem)
	}
	return r, nil
}

// units returns a number of so many base units each in whole base units; nil
// where there is none.
func (f *jsonFile) units(name string, v jsondoc.Value, baseUnits int64) (*int64, error) {
	r, err := f.number(name, v)
	if r == nil || err != nil {
		return nil, err
	}
	return f.round(name, v, times(r, baseUnits))
}

func (f *jsonFile) round(name string, v jsondoc.Value, r *big.Rat) (*int64, error) {
	n, problem := rounded(r)
	if problem != "" {
		return nil, f.fail(v, "%s: %s", name, problem)
	}
	return &n, nil
}

// count returns a whole number; nil where there is none.
func (f *jsonFile) count(name string, v jsondoc.Value) (*int64, error) {
	r, err := f.number(name, v)
	if r == nil || err != nil {
		return nil, err
	}
	if !r.IsInt() {
		return nil, f.fail(v, "%s: found %s, expected a whole number", name, result.Quote(v.Literal()))
	}
	return f.round(name, v, r)
}
