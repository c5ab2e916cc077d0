//go:build !linux

package collect

// allowedCPUs is nil: this system does not pin processes to processors.
func allowedCPUs() []int { return nil }
