package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"pairbench/collect/hostinfo"
)

func doctorCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "say what on this machine disturbs a paired benchmark, why, and how to mend it",
		ArgsUsage: "[PLAN]",
		Flags:     append(selectionFlags(), &cli.BoolFlag{Name: "json", Usage: "print the checks as JSON"}),
		Action: func(c *cli.Context) error {
			var needs hostinfo.Needs
			if c.NArg() > 0 {
				args, err := words(c, "PLAN")
				if err != nil {
					return err
				}
				p, err := loadPlan(c, args[0])
				if err != nil {
					return err
				}
				e := p.Estimate()
				needs.BusyThreads, needs.OpenFiles, needs.MemoryBytes = e.BusyThreads, e.OpenFiles, e.MemoryBytes
				for _, suite := range p.Suites {
					if s := suite.Service; s != nil && s.Mode == "external" && !slices.Contains(needs.Services, s.Address) {
						needs.Services = append(needs.Services, s.Address)
					}
					needs.CPUs = append(append(needs.CPUs, suite.Placement.Client...), suite.Placement.Server...)
				}
			}
			checks := hostinfo.Doctor(c.Context, needs)
			if c.Bool("json") {
				if err := printJSON(s.out, checks); err != nil {
					return err
				}
			} else if err := printChecks(s, checks); err != nil {
				return err
			}
			bad := 0
			for _, check := range checks {
				if check.Status == hostinfo.StatusBad {
					bad++
				}
			}
			if bad > 0 {
				return outcomeError{exitFailure, fmt.Sprintf("doctor: bad checks: %d", bad)}
			}
			return nil
		},
	}
}

func printChecks(s streams, checks []hostinfo.Check) error {
	for _, check := range checks {
		if _, err := fmt.Fprintf(s.out, "%-8s%-14s%s\n", check.Status, check.ID, visible(check.Found)); err != nil {
			return err
		}
		if check.Status == hostinfo.StatusWarn || check.Status == hostinfo.StatusBad {
			printWrapped(s.out, "        why   ", check.Why)
			printWrapped(s.out, "        mend  ", check.Mend)
		}
	}
	return nil
}
