package records

// Outcome says how a process ended. Only OutcomeOK enters a median; every other
// outcome is kept as evidence, named in the report, and makes collect exit
// with 4.
type Outcome string

// The outcomes, from the most to the least common.
const (
	// OutcomeOK: exit code 0, all checks of counts and samples passed.
	OutcomeOK Outcome = "ok"
	// OutcomeExitNonzero: the process ended by itself with another exit code.
	OutcomeExitNonzero Outcome = "exit_nonzero"
	// OutcomeSignalled: a signal that the collector did not send ended it.
	OutcomeSignalled Outcome = "signalled"
	// OutcomeTimeout: a step or the whole process outlived its time limit and
	// was ended by the collector.
	OutcomeTimeout Outcome = "timeout"
	// OutcomeStartFailed: the program could not be executed at all.
	OutcomeStartFailed Outcome = "start_failed"
	// OutcomeProtocolError: the driver broke the protocol, or left it early.
	OutcomeProtocolError Outcome = "protocol_error"
	// OutcomeOperationErrors: requests failed, were incomplete, or replies were
	// wrong.
	OutcomeOperationErrors Outcome = "operation_errors"
	// OutcomeInvalidResult: what the driver says contradicts the plan, its own
	// samples or the collector's own measurement.
	OutcomeInvalidResult Outcome = "invalid_result"
	// OutcomeLeftover: the process ended well but left others behind, which the
	// collector ended.
	OutcomeLeftover Outcome = "leftover"
	// OutcomeInterrupted: the collection was interrupted while it ran.
	OutcomeInterrupted Outcome = "interrupted"
)

// Outcomes lists every outcome a row may carry.
var Outcomes = []Outcome{
	OutcomeOK, OutcomeExitNonzero, OutcomeSignalled, OutcomeTimeout,
	OutcomeStartFailed, OutcomeProtocolError, OutcomeOperationErrors,
	OutcomeInvalidResult, OutcomeLeftover, OutcomeInterrupted,
}

// Valid reports whether o is one of Outcomes.
func (o Outcome) Valid() bool {
	for _, known := range Outcomes {
		if o == known {
			return true
		}
	}
	return false
}
