// Package html writes a document as one self-contained page. It works from disk
// and makes no request: style and script stand in the page, named by hash in
// its content security policy, and everything else is refused. Tables are
// complete in the page itself; the script only sorts and filters them, and opens
// the processes behind a number beside it instead of further down.
package html
