// Package digest is SHA-256 as a type, with readers and writers that hash what
// streams through them, so that no file is read twice only to be hashed.
package digest
