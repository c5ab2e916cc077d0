// Package render turns a report into files: Markdown, CSV, self-contained HTML
// and charts, in every language from one document model. It computes no
// statistics and reads no bundle; rounding happens here, once, in numfmt.
package render
