package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bag"
	"pairbench/records/digest"
	"pairbench/records/parquetfile"
)

// Seal writes the tables and the manifests, gives the bundle its final name and
// returns its identity. Processes, FailedProcesses, Samples, PlanSHA256 and
// SchemaVersion of run are counted here; MeasuredNs too when it is zero. After
// an error or a kill at any moment, Seal can be called again, after Resume if
// need be. Once the bundle is complete a repeated Seal changes no content and
// ignores run. It closes the Writer when it succeeds.
func (w *Writer) Seal(run records.Run) (digest.SHA256, error) {
	if err := w.seal(run); err != nil {
		return digest.SHA256{}, fmt.Errorf("seal bundle %s: %w", w.final, err)
	}
	w.Close()
	return w.identity, nil
}

func (w *Writer) seal(run records.Run) error {
	if !w.complete {
		if err := w.writePayload(run); err != nil {
			return err
		}
		if err := w.writeBag(); err != nil {
			return err
		}
		w.complete = true
	}
	return w.finish()
}

func (w *Writer) writePayload(run records.Run) error {
	if err := w.dropTemps(); err != nil {
		return err
	}
	if err := w.dropUncommitted(); err != nil {
		return err
	}
	w.count(&run)
	if err := w.SetRun(run); err != nil {
		return err
	}
	if w.host == nil {
		if err := w.SetHost(nil); err != nil {
			return err
		}
	}
	if w.inputs == nil {
		if err := w.SetInputs(nil); err != nil {
			return err
		}
	}
	return w.writeTable(ProcessesFile, w.fillProcesses)
}

// count fills in what the commits tell.
func (w *Writer) count(run *records.Run) {
	run.Processes, run.FailedProcesses, run.Samples = len(w.commits), 0, 0
	var measured int64
	for _, c := range w.commits {
		if c.Process.Outcome != records.OutcomeOK {
			run.FailedProcesses++
		}
		if c.Process.SampleCount != nil {
			run.Samples += *c.Process.SampleCount
		}
		if c.Process.ElapsedNs != nil {
			measured += *c.Process.ElapsedNs
		}
	}
	if run.MeasuredNs == 0 {
		run.MeasuredNs = measured
	}
}

func (w *Writer) fillProcesses(dst io.Writer) error {
	table := parquetfile.NewProcessWriter(dst)
	for _, no := range slices.Sorted(maps.Keys(w.commits)) {
		c, err := w.readCommit(no)
		if err != nil {
			return err
		}
		if err := table.Write(c.Process); err != nil {
			return err
		}
	}
	return table.Close()
}

// writeBag writes datapackage.json and the manifests over the payload that is
// there. The samples' hashes are those of the moment they were written, so that
// the manifest vouches for nothing that changed since.
func (w *Writer) writeBag() error {
	payload := bag.Payload{}
	add := func(name string, f storedFile) {
		payload.Entries = append(payload.Entries, bag.Entry{Path: name, SHA256: f.SHA256})
		payload.Bytes += f.Bytes
	}
	for no, c := range w.commits {
		if c.Samples != nil {
			add(sampleFile(no), *c.Samples)
		}
	}
	entries, err := os.ReadDir(w.path(bag.PayloadDir))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := bag.PayloadDir + entry.Name()
		if entry.IsDir() || name == PackageFile {
			continue
		}
		sum, size, err := digest.File(w.path(name))
		if err != nil {
			return err
		}
		add(name, storedFile{Bytes: size, SHA256: sum})
	}
	description, err := describe(w.dir, w.run, payload.Entries)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(w.fs, w.path(PackageFile), 0o644, description); err != nil {
		return err
	}
	add(PackageFile, storedFile{Bytes: int64(len(description)), SHA256: digest.Sum(description)})
	w.identity, err = bag.Write(w.fs, w.dir, payload, bagInfo(w.run))
	return err
}

func bagInfo(run records.Run) []bag.InfoField {
	var fields []bag.InfoField
	if !run.EndedAt.IsZero() {
		fields = append(fields, bag.InfoField{Label: "Bagging-Date", Value: run.EndedAt.UTC().Format(time.DateOnly)})
	}
	fields = append(fields,
		bag.InfoField{Label: "Bag-Software-Agent", Value: "pairbench " + oneLine(run.ToolVersion)},
		bag.InfoField{Label: "External-Identifier", Value: oneLine(run.Study)})
	if run.Shard != nil {
		// Shards of one plan form a group, whoever collected them and when.
		fields = append(fields,
			bag.InfoField{Label: "Bag-Group-Identifier", Value: oneLine(run.Study) + " " + run.PlanSHA256},
			bag.InfoField{Label: "Bag-Count", Value: fmt.Sprintf("%d of %d", run.Shard.Index, run.Shard.Count)})
	}
	return fields
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// finish drops the commits of a complete bundle and gives it its name.
func (w *Writer) finish() error {
	if err := w.dropTemps(); err != nil {
		return err
	}
	entries, err := os.ReadDir(w.path(commitsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if err := w.fs.Remove(w.path(commitsDir + "/" + entry.Name())); err != nil {
			return err
		}
	}
	if err := w.fs.Remove(w.path(commitsDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := w.fs.SyncDir(w.dir); err != nil {
		return err
	}
	if err := w.refuseFinal(); err != nil {
		return err
	}
	if err := w.fs.Rename(w.dir, w.final); err != nil {
		return err
	}
	return w.fs.SyncDir(filepath.Dir(w.final))
}

// loadComplete reads a bundle whose sealing was cut short after its content was
// complete: the commits may be gone, the tables are there.
func (w *Writer) loadComplete() error {
	tags, err := os.ReadFile(w.path(bag.TagManifestFile))
	if err != nil {
		return err
	}
	w.complete, w.identity = true, digest.Sum(tags)
	rows, err := readTable(w.path(ProcessesFile), parquetfile.ReadProcesses)
	if err != nil {
		return err
	}
	for _, p := range rows {
		w.commits[p.ProcessNo] = commit{Process: p}.withoutOutput()
	}
	return nil
}
