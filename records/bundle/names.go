package bundle

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"pairbench/records/bag"
)

// The files of every bundle, relative to its directory.
const (
	RunFile       = bag.PayloadDir + "run.json"
	PlanFile      = bag.PayloadDir + "plan.yaml"
	PackageFile   = bag.PayloadDir + "datapackage.json"
	CellsFile     = bag.PayloadDir + "cells.parquet"
	ProcessesFile = bag.PayloadDir + "processes.parquet"
	HostFile      = bag.PayloadDir + "host.parquet"
	InputsFile    = bag.PayloadDir + "inputs.parquet"
	samplesDir    = bag.PayloadDir + "samples"
)

// PartialSuffix ends the name of the directory of an unsealed bundle.
const PartialSuffix = ".partial"

const (
	commitsDir   = "commits"
	mergedPrefix = "merged-"
)

// payloadFiles are the files of every bundle under data/ besides the samples.
var payloadFiles = [...]string{RunFile, PlanFile, PackageFile, CellsFile, ProcessesFile, HostFile, InputsFile}

// Bounds on what Open reads whole.
const (
	maxRunBytes     = 16 << 20
	maxPlanBytes    = 1 << 20
	maxPackageBytes = 16 << 20
)

// Errors that a caller tells apart.
var (
	// ErrIntegrity marks evidence that is not what it claims to be: a changed,
	// missing or extra file, tables that contradict each other, a version that
	// cannot be read.
	ErrIntegrity = errors.New("integrity check failed")
	// ErrUnfinished is returned by Create when an unsealed bundle of that name
	// is there, and by Open for one.
	ErrUnfinished = errors.New("unfinished bundle")
	// ErrNoBundle is returned for a directory that makes no claim to be one.
	ErrNoBundle = errors.New("no bundle")
	// ErrNotBegun is returned by Resume when Create was cut short, so that
	// nothing is there to resume; Create may be called again.
	ErrNotBegun = errors.New("collection had not begun")
	// ErrBusy is returned when another process writes to the same bundle.
	ErrBusy = errors.New("another process is writing to it")
	// ErrSealed is returned when something is written to a bundle that is
	// complete.
	ErrSealed = errors.New("bundle is complete")
)

func sampleFile(processNo int32) string {
	return samplesDir + "/" + strconv.Itoa(int(processNo)) + ".parquet"
}

func mergedFile(n int) string { return fmt.Sprintf("%s/%s%04d.parquet", samplesDir, mergedPrefix, n) }

func commitFile(processNo int32) string {
	return commitsDir + "/" + strconv.Itoa(int(processNo)) + ".json"
}

// processOf returns the process number in the name of a samples or commit file.
func processOf(name, extension string) (int32, bool) {
	base, ok := strings.CutSuffix(path.Base(name), extension)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(base, 10, 32)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != base {
		return 0, false
	}
	return int32(n), true
}
