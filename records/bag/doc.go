// Package bag writes, reads and verifies the manifests of a BagIt 1.0 bag
// (RFC 8493) with SHA-256:
//
//	bagit.txt                 the declaration, always the same two lines
//	bag-info.txt              who made the bag, when, and its payload size
//	manifest-sha256.txt       a hash for every file under data/
//	tagmanifest-sha256.txt    a hash for each of the three files above
//	data/...                  the payload
//
// The hash of tagmanifest-sha256.txt covers everything and is the identity of
// the bag. Lines are "<64 hex digits>  <path>", sorted by path, so sha256sum -c
// and every BagIt validator read them.
//
// A bag may come from a stranger. Reading it never leaves its directory, never
// follows a symbolic link, opens regular files only and never trusts a size.
package bag
