// Package chart draws figures as SVG from Go templates, and writes a Vega-Lite
// specification of each for people who restyle them. It computes positions, no
// statistics: medians, ranges and percentiles come in as they are shown.
//
// A figure is a row of panels, each with its own scale. A panel can be drawn
// alone, for a page that flows, or all together as one file. Text is never
// rasterised and no font is embedded: the reader's own fonts write Chinese.
package chart
