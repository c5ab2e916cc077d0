//go:build linux && (amd64 || arm64)

package proc

import "bytes"

// launcherTextBytes is more than the launcher's text has; what is copied from
// behind it is never executed.
const launcherTextBytes = 512

// launcherText points at launcherProgram, which stands in assembly.
func launcherText() *[launcherTextBytes]byte

// launcherCode returns a copy of the launcher's text.
func launcherCode() []byte { return bytes.Clone(launcherText()[:]) }
