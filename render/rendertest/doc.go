// Package rendertest builds whole reports of the published studies from one row
// a process, for the tests of what renders them. Its arithmetic is its own and
// plain, so that a mistake of analyze does not hide a mistake here.
package rendertest
