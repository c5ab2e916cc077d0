package i18n

import (
	"strconv"
	"strings"

	"pairbench/analyze/report"
	"pairbench/render/numfmt"
)

// NoteCodes lists the codes that Note has words for.
func NoteCodes() []string {
	return []string{
		report.NoteShortIntervals, report.NoteFewTailSamples, report.NoteOrderBalance, report.NoteDrift,
		report.NoteLevelChange, report.NoteLittlesLaw, report.NoteMissedTicks, report.NoteDisturbed,
		report.NoteFewerCores, report.NoteImported, report.NoteLockIncomplete, report.NoteFailedProcesses,
		report.NoteStatedLatency, report.NoteSamePosition, report.NoteNotPaired, report.NoteNotComparable,
		report.NoteUnpinned, report.NoteCollectorPolling,
	}
}

// most is how many items of a list a note names; the others are counted.
const most = 6

// minus writes a figure with the minus sign of the tables.
func minus(figure string) string { return strings.Replace(figure, "-", numfmt.Minus, 1) }

// signed writes a figure as the tables write a change.
func signed(figure string) string {
	if strings.HasPrefix(figure, "-") {
		return minus(figure)
	}
	return "+" + figure
}

// Note puts a note into words. A code without words is shown with its values,
// never hidden.
func (w *Words) Note(n report.Note) string {
	at := func(i int) string {
		if i < len(n.Values) {
			return n.Values[i]
		}
		return "?"
	}
	list := func(from int) string {
		if from >= len(n.Values) {
			return "?"
		}
		items := n.Values[from:]
		if len(items) > most {
			return strings.Join(items[:most-1], w.ListComma) + w.ListComma + "… (" + strconv.Itoa(len(items)) + ")"
		}
		return strings.Join(items, w.ListComma)
	}
	metric := w.Names.Metric(n.Metric)
	s := &w.Notes
	switch n.Code {
	case report.NoteShortIntervals:
		return s.ShortIntervals(at(0), at(1))
	case report.NoteFewTailSamples:
		return s.FewTailSamples(metric, at(0), at(1))
	case report.NoteOrderBalance:
		return s.OrderBalance(at(0), at(1))
	case report.NoteDrift:
		return s.Drift(metric, minus(at(0)), at(1), at(2))
	case report.NoteLevelChange:
		return s.LevelChange(list(0))
	case report.NoteLittlesLaw:
		return s.LittlesLaw(at(0), at(1))
	case report.NoteMissedTicks:
		return s.MissedTicks(at(0), at(1))
	case report.NoteDisturbed:
		return s.Disturbed(w.Names.Disturbance(at(0)), list(1))
	case report.NoteFewerCores:
		return s.FewerCores(at(0), at(1))
	case report.NoteImported:
		return s.Imported(at(0))
	case report.NoteLockIncomplete:
		return s.LockIncomplete(list(0))
	case report.NoteFailedProcesses:
		return s.FailedProcesses(at(0))
	case report.NoteStatedLatency:
		return s.StatedLatency(at(0))
	case report.NoteSamePosition:
		if at(1) == report.PositionOfFloor {
			return s.PositionOfFloor(metric, signed(at(0))+"%")
		}
		return s.SamePosition(metric, signed(at(0))+"%")
	case report.NoteNotPaired:
		return s.NotPaired(at(0))
	case report.NoteNotComparable:
		return s.NotComparable(list(0))
	case report.NoteUnpinned:
		return s.Unpinned(at(0))
	case report.NoteCollectorPolling:
		return s.CollectorPolling
	default:
		return s.Unknown(n.Code, list(0))
	}
}
