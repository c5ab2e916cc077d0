package driver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
)

// MaxJobBytes bounds a job file.
const MaxJobBytes = 1 << 20

// ParseJob decodes a job file and checks that it can be carried out. Numbers in
// Factors and Settings are json.Number; Int, Text and their siblings read them.
func ParseJob(source []byte) (Job, error) {
	if len(source) > MaxJobBytes {
		return Job{}, fmt.Errorf("parse job: %d bytes, at most %d expected", len(source), MaxJobBytes)
	}
	dec := json.NewDecoder(bytes.NewReader(source))
	dec.UseNumber()
	var job Job
	if err := dec.Decode(&job); err != nil {
		return Job{}, fmt.Errorf("parse job: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Job{}, fmt.Errorf("parse job: text after the JSON object")
	}
	if err := job.Validate(); err != nil {
		return Job{}, err
	}
	return job, nil
}

// ReadJob reads and checks the job file at path.
func ReadJob(path string) (Job, error) {
	f, err := os.Open(path)
	if err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	defer f.Close()
	source, err := io.ReadAll(io.LimitReader(f, MaxJobBytes+1))
	if err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	return ParseJob(source)
}

// WriteJob writes the job to a new file at path that only its owner can read.
func WriteJob(path string, job Job) error {
	if err := job.Validate(); err != nil {
		return err
	}
	source, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("write job: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write job: %w", err)
	}
	_, err = f.Write(source)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write job: %w", err)
	}
	return nil
}

// Validate reports the first thing in the job that no driver could carry out.
func (j Job) Validate() error {
	if j.Protocol != ProtocolVersion {
		return fmt.Errorf("job: protocol is %d, expected %d", j.Protocol, ProtocolVersion)
	}
	if j.OperationsPerSample < 0 {
		return fmt.Errorf("job: operations_per_sample is %d, expected 1 or more", j.OperationsPerSample)
	}
	if err := j.Warmup.validate("warmup", j.PerSample()); err != nil {
		return err
	}
	if j.Measure == (Amount{}) {
		return fmt.Errorf("job: measure is empty, expected operations or duration_ns")
	}
	return j.Measure.validate("measure", j.PerSample())
}

func (a Amount) validate(name string, perSample int64) error {
	switch {
	case a.Operations < 0 || a.DurationNs < 0:
		return fmt.Errorf("job: %s is negative", name)
	case a.Operations > 0 && a.DurationNs > 0:
		return fmt.Errorf("job: %s has operations and duration_ns, expected one of them", name)
	case a.Operations%perSample != 0:
		return fmt.Errorf("job: %s is %d operations, expected a multiple of %d operations a sample", name, a.Operations, perSample)
	}
	return nil
}

// PerSample returns the number of operations that one sample stands for.
func (j Job) PerSample() int64 { return max(j.OperationsPerSample, 1) }

// Int returns the whole number that the factor or else the setting of that name
// holds, or def where the job has neither. Any other value is an error.
func (j Job) Int(name string, def int64) (int64, error) {
	v, ok := j.value(name)
	if !ok {
		return def, nil
	}
	switch n := v.(type) {
	case json.Number:
		i, err := n.Int64()
		if err == nil {
			return i, nil
		}
		if f, ferr := n.Float64(); ferr == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), nil
		}
	case int:
		return int64(n), nil
	case int64:
		return n, nil
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int64(n), nil
		}
	}
	return 0, fmt.Errorf("job: %s is %v, expected a whole number", name, v)
}

// IntRange is Int with both bounds checked.
func (j Job) IntRange(name string, def, low, high int64) (int64, error) {
	v, err := j.Int(name, def)
	if err == nil && (v < low || v > high) {
		err = fmt.Errorf("job: %s is %d, expected %d to %d", name, v, low, high)
	}
	return v, err
}

// Float returns the number that the factor or else the setting of that name
// holds, or def where the job has neither.
func (j Job) Float(name string, def float64) (float64, error) {
	v, ok := j.value(name)
	if !ok {
		return def, nil
	}
	switch n := v.(type) {
	case json.Number:
		if f, err := n.Float64(); err == nil {
			return f, nil
		}
	case int:
		return float64(n), nil
	case int64:
		return float64(n), nil
	case float64:
		return n, nil
	}
	return 0, fmt.Errorf("job: %s is %v, expected a number", name, v)
}

// Text returns the string that the factor or else the setting of that name
// holds, or the first of allowed where the job has neither. With allowed given,
// any other string is an error.
func (j Job) Text(name string, allowed ...string) (string, error) {
	v, ok := j.value(name)
	if !ok {
		if len(allowed) == 0 {
			return "", nil
		}
		return allowed[0], nil
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("job: %s is %v, expected a string", name, v)
	}
	for _, a := range allowed {
		if s == a {
			return s, nil
		}
	}
	if len(allowed) == 0 {
		return s, nil
	}
	return "", fmt.Errorf("job: %s is %q, expected one of %q", name, s, allowed)
}

func (j Job) value(name string) (any, bool) {
	if v, ok := j.Factors[name]; ok {
		return v, true
	}
	v, ok := j.Settings[name]
	return v, ok
}
