package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bag"
	"pairbench/records/digest"
	"pairbench/records/parquetfile"
)

// commit is one finished process: the content of its commit file.
type commit struct {
	Process records.Process `json:"process"`
	// Samples is absent for a process without a samples file.
	Samples *storedFile `json:"samples,omitempty"`
}

// storedFile is a payload file as it was when it was written.
type storedFile struct {
	Bytes  int64         `json:"bytes"`
	SHA256 digest.SHA256 `json:"sha256"`
}

// Append records a finished process with its samples; nil means that it has no
// samples file. It is atomic and durable: after an error, a kill or a power
// loss the process is there as a whole or not at all. SampleCount is set from
// the samples. A number that is taken is an error; Remove frees it.
func (w *Writer) Append(p records.Process, s *records.Samples) error {
	if err := w.append(p, s); err != nil {
		return fmt.Errorf("append process %d to %s: %w", p.ProcessNo, w.dir, err)
	}
	return nil
}

func (w *Writer) append(p records.Process, s *records.Samples) error {
	if w.complete {
		return ErrSealed
	}
	if p.ProcessNo < 1 {
		return errors.New("process numbers count from 1")
	}
	if _, taken := w.commits[p.ProcessNo]; taken {
		return fmt.Errorf("process %d is there already: %w", p.ProcessNo, fs.ErrExist)
	}
	c := commit{Process: p}
	c.Process.SampleCount = nil
	if s != nil {
		stored, rows, err := w.writeSamples(p, *s)
		if err != nil {
			return err
		}
		c.Samples, c.Process.SampleCount = &stored, &rows
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(w.fs, w.path(commitFile(p.ProcessNo)), 0o644, text); err != nil {
		return err
	}
	w.commits[p.ProcessNo] = c.withoutOutput()
	return nil
}

func (w *Writer) writeSamples(p records.Process, s records.Samples) (storedFile, int64, error) {
	meta := records.SampleMeta{
		ProcessNo: p.ProcessNo, ProcessID: p.ProcessID, Suite: p.Suite, CellID: p.CellID,
		Arm: p.Arm, Side: p.Side, Round: p.Round, ClockTickNs: s.ClockTickNs,
	}
	var written parquetfile.Written
	err := atomicfile.Write(w.fs, w.path(sampleFile(p.ProcessNo)), 0o644, func(dst io.Writer) (err error) {
		written, err = w.samples.Write(dst, meta, s)
		return err
	})
	return storedFile{Bytes: written.Bytes, SHA256: written.SHA256}, written.Rows, err
}

func (c commit) withoutOutput() commit {
	c.Process.Stdout, c.Process.Stderr = nil, nil
	return c
}

// Remove takes a committed process back, such as the first half of a pair whose
// second half never ran. Removing one that is not there is no error.
func (w *Writer) Remove(processNo int32) error {
	if w.complete {
		return fmt.Errorf("remove process %d from %s: %w", processNo, w.dir, ErrSealed)
	}
	for _, name := range []string{commitFile(processNo), sampleFile(processNo)} {
		if err := w.fs.Remove(w.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove process %d from %s: %w", processNo, w.dir, err)
		}
		if err := w.fs.SyncDir(filepath.Dir(w.path(name))); err != nil {
			return fmt.Errorf("remove process %d from %s: %w", processNo, w.dir, err)
		}
		// Without its commit file the process is gone, whatever comes next.
		delete(w.commits, processNo)
	}
	return nil
}

func (w *Writer) readCommit(processNo int32) (commit, error) {
	text, err := os.ReadFile(w.path(commitFile(processNo)))
	if err != nil {
		return commit{}, err
	}
	var c commit
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return commit{}, fmt.Errorf("%s: %w: %w", w.path(commitFile(processNo)), ErrIntegrity, err)
	}
	if c.Process.ProcessNo != processNo {
		return commit{}, fmt.Errorf("%s: %w: holds process %d", w.path(commitFile(processNo)), ErrIntegrity, c.Process.ProcessNo)
	}
	return c, nil
}

// loadCommits reads every commit and hashes its samples.
func (w *Writer) loadCommits() error {
	entries, err := os.ReadDir(w.path(commitsDir))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		no, ok := processOf(entry.Name(), ".json")
		if !ok {
			return fmt.Errorf("%s: %w: no name of a commit", w.path(commitsDir+"/"+entry.Name()), ErrIntegrity)
		}
		c, err := w.readCommit(no)
		if err != nil {
			return err
		}
		w.commits[no] = c.withoutOutput()
	}
	return w.checkSamples()
}

func (w *Writer) checkSamples() error {
	numbers := make(chan int32)
	var mu sync.Mutex
	var errs []error
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for no := range numbers {
				if err := checkStored(w.path(sampleFile(no)), *w.commits[no].Samples); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	for no, c := range w.commits {
		if c.Samples != nil {
			numbers <- no
		}
	}
	close(numbers)
	workers.Wait()
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func checkStored(path string, want storedFile) error {
	sum, size, err := digest.File(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w: missing, its commit is there", path, ErrIntegrity)
	case err != nil:
		return err
	case size != want.Bytes || sum != want.SHA256:
		return fmt.Errorf("%s: %w: sha256 of %d bytes is %s, its commit says %d bytes, %s",
			path, ErrIntegrity, size, sum, want.Bytes, want.SHA256)
	}
	return nil
}

// dropUncommitted removes samples files whose commit never came.
func (w *Writer) dropUncommitted() error {
	entries, err := os.ReadDir(w.path(samplesDir))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		no, ok := processOf(entry.Name(), ".parquet")
		if c, committed := w.commits[no]; ok && committed && c.Samples != nil {
			continue
		}
		if err := w.fs.Remove(w.path(samplesDir + "/" + entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// dropTemps removes the temporary files of writes that never finished.
func (w *Writer) dropTemps() error {
	for _, dir := range []string{".", bag.PayloadDir, samplesDir, commitsDir} {
		entries, err := os.ReadDir(w.path(dir))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if !atomicfile.IsTemp(entry.Name()) {
				continue
			}
			if err := w.fs.Remove(filepath.Join(w.path(dir), entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
