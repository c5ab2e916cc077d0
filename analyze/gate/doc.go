// Package gate decides whether a report stays within thresholds. It has four
// verdicts, because a gate that can only pass or fail must lie where the
// evidence is thin: pass and regression need an interval that lies wholly on
// one side of the limit, everything between is inconclusive, and evidence with
// failed or missing processes is invalid.
package gate
