package loader

import "golang.org/x/sys/unix"

// darwinBuild returns the build of the running system (23A344), which decides
// what the shared cache holds; empty when the system does not tell.
func darwinBuild() string {
	build, err := unix.Sysctl("kern.osversion")
	if err != nil {
		return ""
	}
	return build
}
