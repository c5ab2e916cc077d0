package report

import (
	"time"

	"pairbench/records"
)

// HistoryRow is one arm of one cell in one bundle, for a metric over time.
type HistoryRow struct {
	Bundle    string       `json:"bundle"` // identity
	Name      string       `json:"name"`   // of the bundle's directory
	StartedAt time.Time    `json:"started_at"`
	Study     string       `json:"study"`
	Suite     string       `json:"suite"`
	Cell      string       `json:"cell"`
	Metric    Metric       `json:"metric"`
	Side      records.Side `json:"side"`
	Arm       string       `json:"arm"`
	Revision  *string      `json:"revision,omitempty"`
	Digest    *string      `json:"digest,omitempty"`
	Summary   ArmSummary   `json:"summary"`
	// NotComparable names what is not as it was in the bundle before that has
	// this cell: host, plan, services.
	NotComparable []string `json:"not_comparable,omitempty"`
}
