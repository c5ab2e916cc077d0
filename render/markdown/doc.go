// Package markdown writes a document as GitHub-flavoured Markdown: headings,
// paragraphs, tables and links to the charts' files. Every character of the
// document's text that Markdown or HTML would act on is escaped, so that a name
// is read as it was written.
package markdown
