package analyze

import (
	"encoding/json"
	"slices"

	"pairbench/analyze/report"
	"pairbench/records"
)

// scope says where, when and with what the numbers were taken.
func (st *study) scope() report.Scope {
	var scope report.Scope
	for i, in := range st.inputs {
		if start, end := in.run.StartedAt.UTC(), in.run.EndedAt.UTC(); !start.IsZero() {
			if scope.StartedAt.IsZero() || start.Before(scope.StartedAt) {
				scope.StartedAt = start
			}
			if end.After(scope.EndedAt) {
				scope.EndedAt = end
			}
		}
		scope.Hosts = append(scope.Hosts, report.Host{Bundle: i, Facts: in.host})
		for _, input := range in.inputs {
			if input.RequiredBy == nil && slices.Contains(scopeInputs, input.Kind) {
				scope.Inputs = append(scope.Inputs, input)
			}
		}
	}
	var rss, client, server seen
	versions, runtime := map[string]*seen{}, map[string]*seen{}
	for _, s := range st.suites {
		for _, c := range s.cells {
			for _, p := range c.processes {
				rss.add(p.PeakRSSSource)
				client.add(p.ClientCPUs)
				server.add(p.ServerCPUs)
				addObject(versions, p.Versions)
				addObject(runtime, p.Runtime)
			}
		}
	}
	scope.RSSSources, scope.ClientCPUs, scope.ServerCPUs = rss.sorted(), client.sorted(), server.sorted()
	scope.Versions, scope.Runtime = sortedObjects(versions), sortedObjects(runtime)
	return scope
}

// scopeInputs are the kinds of locked inputs that a reader is shown.
var scopeInputs = []string{"binary", "script", "plan", "source_tree", "service", "result"}

// seen is a set of the values that processes gave.
type seen struct{ values []string }

func (s *seen) add(v *string) {
	if v != nil && !slices.Contains(s.values, *v) {
		s.values = append(s.values, *v)
	}
}

func (s *seen) sorted() []string { slices.Sort(s.values); return s.values }

// addObject adds the members of a JSON object of strings. Text that is none
// says nothing about the numbers and is left to the process's row.
func addObject(into map[string]*seen, object *string) {
	var members map[string]string
	if object == nil || json.Unmarshal([]byte(*object), &members) != nil {
		return
	}
	for name, value := range members {
		if into[name] == nil {
			into[name] = &seen{}
		}
		into[name].add(&value)
	}
}

func sortedObjects(objects map[string]*seen) map[string][]string {
	if len(objects) == 0 {
		return nil
	}
	out := map[string][]string{}
	for name, s := range objects {
		out[name] = s.sorted()
	}
	return out
}

// cpusPinned reports whether an affinity list names exactly one processor.
func cpusPinned(p *records.Process) bool {
	return p.ClientCPUs != nil && !slices.ContainsFunc([]rune(*p.ClientCPUs), func(r rune) bool { return r == '-' || r == ',' })
}
