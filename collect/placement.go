package collect

import (
	"fmt"

	"pairbench/collect/plan"
	"pairbench/collect/proc"
)

// place turns a suite's placement into processors of this machine, and says in
// one line where it could not be held.
func place(s plan.Suite, allowed []int) (p plan.Placement, doubt string) {
	p = plan.Placement{Client: s.Placement.Client, Server: s.Placement.Server}
	pinned := len(p.Client) > 0 || len(p.Server) > 0
	switch s.Placement.Policy {
	case "", "free":
		if !pinned {
			return p, ""
		}
	case "one_core", "apart":
		pinned = true
		if len(allowed) > 0 {
			p.Client, p.Server = allowed[:1], allowed[:1]
		}
		if s.Placement.Policy == "apart" && len(allowed) > 1 {
			p.Server = allowed[1:2]
		} else if s.Placement.Policy == "apart" && len(allowed) == 1 {
			doubt = fmt.Sprintf("suite %s: client and server share the only processor there is, the plan wants them apart", s.ID)
		}
	}
	if pinned && !proc.PinSupported {
		return plan.Placement{}, fmt.Sprintf("suite %s: this system cannot pin processes, client and server run where the scheduler puts them", s.ID)
	}
	return p, doubt
}
