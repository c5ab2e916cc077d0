// Package atomicfile puts files on disk so that a name either holds the whole
// content or is not there: temporary file in the same directory, write, sync,
// close, rename, sync the directory. The file system is an interface, so that
// tests can fail the n-th call of any kind or lose what was never synced.
package atomicfile
