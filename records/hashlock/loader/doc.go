// Package loader finds the shared libraries that a program loads when it
// starts, as the loader of its system would: ELF under the GNU C library and
// musl, Mach-O under dyld. It reads headers only; it executes nothing that it
// is asked about.
//
// The walk is breadth first, as the loaders do it, so that a library that two
// others need is attributed to the one that brings it in:
//
//	program
//	├── interpreter            PT_INTERP, LC_LOAD_DYLINKER
//	├── preloaded libraries    LD_PRELOAD, /etc/ld.so.preload, DYLD_INSERT_LIBRARIES
//	└── needed libraries       DT_NEEDED, LC_LOAD_DYLIB and its kin
//	    └── what they need, with the run paths of the loading chain
//
// Files may be huge, damaged or hostile. Every count and length in them is
// bounded before it is believed, a loop among libraries ends because each file
// is visited once, and what cannot be followed becomes an Object with a Gap.
package loader
