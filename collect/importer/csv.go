package importer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pairbench/collect/importer/result"
	"pairbench/records"
)

// csvAliases are other names under which files carry a column.
var csvAliases = map[string]string{
	"latency_p50_ns": "stated_latency_p50_ns",
	"latency_p99_ns": "stated_latency_p99_ns",
	"p50_ns":         "stated_latency_p50_ns",
	"p99_ns":         "stated_latency_p99_ns",
	"operations":     "measured_operations",
}

// csvRequired are the columns without which a row is no measurement. A missing
// suite can be given from outside.
var csvRequired = []string{"suite", "arm", "round", "measured_operations", "elapsed_ns"}

// CSV reads one row a process. Columns are named as in the processes table, or
// by csvAliases; unknown ones are factors. suite is used where the file has no
// such column; empty then makes the column required.
func CSV(src result.Source, suite string) (result.Table, error) {
	fail := func(line, column int, format string, args ...any) (result.Table, error) {
		return result.Table{}, &result.Error{File: src.Name, Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
	}
	data := bytes.TrimPrefix(src.Data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return fail(0, 0, "found bytes that are not UTF-8, expected UTF-8 text")
	}
	rows := &rowBytes{data: data}
	r := csv.NewReader(rows)
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return fail(0, 0, "found an empty file, expected a header line")
	}
	if err != nil {
		return result.Table{}, csvError(src.Name, err)
	}
	columns, err := csvColumns(src.Name, header, suite)
	if err != nil {
		return result.Table{}, err
	}
	var table result.Table
	for {
		rows.row = int(r.InputOffset())
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, csv.ErrFieldCount) {
			line, _ := r.FieldPos(0)
			return fail(line, 0, "found %d fields, expected %d", len(row), len(columns))
		}
		if errors.Is(err, errLongRow) {
			return fail(1+bytes.Count(data[:rows.row], []byte{'\n'}), 0, "%s", errLongRow)
		}
		if err != nil {
			return result.Table{}, csvError(src.Name, err)
		}
		line, _ := r.FieldPos(0)
		o := result.Observation{Line: line, Suite: suite, Process: records.Process{Outcome: records.OutcomeOK}}
		for i, column := range columns {
			if problem := column.set(&o, row[i]); problem != "" {
				at, col := r.FieldPos(i)
				return fail(at, col, "%s: %s", header[i], problem)
			}
		}
		if o.Process.Round < 1 {
			return fail(line, 0, "round: found %d, expected 1 or more", o.Process.Round)
		}
		if !o.Process.Outcome.Valid() {
			return fail(line, 0, "outcome: found %q, expected one of %v", o.Process.Outcome, records.Outcomes)
		}
		if err := table.Add(src.Name, o); err != nil {
			return result.Table{}, err
		}
	}
	if len(table.Observations) == 0 {
		return fail(0, 0, "found a header and no rows, expected one row a process")
	}
	return table, nil
}

// maxRow bounds a row, whose fields in quotes may hold line ends.
const maxRow = 16 << 20

var errLongRow = fmt.Errorf("found a row of more than %d bytes, expected a shorter one", maxRow)

// rowBytes reads data until a row gets too long.
type rowBytes struct {
	data []byte
	at   int
	row  int // where the row that is being read begins
}

func (r *rowBytes) Read(p []byte) (int, error) {
	if r.at-r.row > maxRow {
		return 0, errLongRow
	}
	if r.at == len(r.data) {
		return 0, io.EOF
	}
	n := copy(p, r.data[r.at:])
	r.at += n
	return n, nil
}

func csvError(file string, err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return &result.Error{File: file, Problem: err.Error()}
	}
	problem := parse.Err.Error()
	switch parse.Err {
	case csv.ErrBareQuote:
		problem = `found a quote inside a field, expected it doubled, and the field in quotes`
	case csv.ErrQuote:
		problem = `found something behind a closing quote, expected a comma or the end of the line`
	}
	if parse.StartLine != parse.Line {
		problem += fmt.Sprintf("; the row begins in line %d", parse.StartLine)
	}
	return &result.Error{File: file, Line: parse.Line, Column: parse.Column, Problem: problem}
}

// csvColumn puts the text of one field into an observation and returns what is
// wrong with it.
type csvColumn struct {
	set func(o *result.Observation, text string) (problem string)
}

func csvColumns(file string, header []string, suite string) ([]csvColumn, error) {
	fields := processFields()
	seen := map[string]bool{}
	columns := make([]csvColumn, 0, len(header))
	for i, name := range header {
		name = strings.TrimSpace(name)
		target := name
		if alias, ok := csvAliases[name]; ok {
			target = alias
		}
		if name == "" || seen[target] {
			return nil, &result.Error{File: file, Line: 1, Problem: fmt.Sprintf("column %d: found %q again or no name, expected each name once", i+1, name)}
		}
		seen[target] = true
		switch field, known := fields[target]; {
		case target == "suite":
			columns = append(columns, csvColumn{func(o *result.Observation, text string) string {
				if text == "" {
					return "found nothing, expected the id of a suite"
				}
				o.Suite = text
				return ""
			}})
		case target == "cell_id":
			columns = append(columns, csvColumn{func(o *result.Observation, text string) string { o.CellID = text; return "" }})
		case known:
			required := false
			for _, r := range csvRequired {
				required = required || r == target
			}
			columns = append(columns, csvColumn{func(o *result.Observation, text string) string {
				if text == "" && required {
					return "found nothing, expected a value"
				}
				return setField(reflect.ValueOf(&o.Process).Elem().Field(field), text)
			}})
		default:
			name := strings.TrimPrefix(name, "f_")
			columns = append(columns, csvColumn{func(o *result.Observation, text string) string {
				o.Factors = append(o.Factors, records.Factor{Name: name, Value: records.StringFactor(text)})
				return ""
			}})
		}
	}
	for _, name := range csvRequired {
		if !seen[name] && !(name == "suite" && suite != "") {
			return nil, &result.Error{File: file, Line: 1, Problem: fmt.Sprintf("header: column %s is missing; required are %s", name, strings.Join(csvRequired, ", "))}
		}
	}
	return columns, nil
}

// processFields maps the column names of the processes table to the fields of
// records.Process.
func processFields() map[string]int {
	fields := map[string]int{}
	t := reflect.TypeOf(records.Process{})
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("parquet"), ",")
		fields[name] = i
	}
	return fields
}

// setField parses text into a field of records.Process by its type. An empty
// text leaves the field absent, or at its zero where it cannot be.
func setField(v reflect.Value, text string) (problem string) {
	if text == "" {
		return ""
	}
	if v.Kind() == reflect.Pointer {
		target := reflect.New(v.Type().Elem())
		if problem := setField(target.Elem(), text); problem != "" {
			return problem
		}
		v.Set(target)
		return ""
	}
	if v.Type() == reflect.TypeOf(time.Time{}) {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return fmt.Sprintf("found %q, expected a time such as 2006-01-02T15:04:05Z", text)
		}
		v.Set(reflect.ValueOf(at.UTC()))
		return ""
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Sprintf("found %q, expected true or false", text)
		}
		v.SetBool(b)
	case reflect.Int32, reflect.Int64:
		n, problem := wholeNumber(text)
		if problem != "" {
			return problem
		}
		if v.OverflowInt(n) {
			return fmt.Sprintf("found %s, expected at most %d", text, math.MaxInt32)
		}
		v.SetInt(n)
	case reflect.Slice:
		v.SetBytes([]byte(text))
	default:
		return "this column cannot be imported"
	}
	return ""
}

// wholeNumber reads a count, a time in ns or a size in bytes. A decimal with
// nothing but zeros behind its point, as spreadsheets write it, is whole.
func wholeNumber(text string) (int64, string) {
	whole, fraction, _ := strings.Cut(text, ".")
	if strings.Trim(fraction, "0") != "" {
		return 0, fmt.Sprintf("found %q, expected a whole number", text)
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Sprintf("found %q, expected a number of at most 63 bits", text)
	case err != nil:
		return 0, fmt.Sprintf("found %q, expected a whole number", text)
	case n < 0:
		return 0, fmt.Sprintf("found %d, expected 0 or more; leave the field empty where nothing was measured", n)
	}
	return n, ""
}
