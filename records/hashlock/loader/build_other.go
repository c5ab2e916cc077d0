//go:build !darwin

package loader

// darwinBuild is empty where there is no dyld shared cache to bind.
func darwinBuild() string { return "" }
