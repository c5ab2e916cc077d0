package plan

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"

	"pairbench/records"
)

// Starts lists every process of the plan in the order of execution. The two
// starts of a pair stand next to each other under every order.
//
//	alternate   suite by suite, round by round, cell by cell; the side that
//	            starts changes from round to round and from cell to cell
//	shuffle     suite by suite, the pairs of a suite in an order drawn from the
//	            seed; each cell starts with either side equally often, give or
//	            take one
//	sequential  suite by suite, cell by cell, round by round; A always starts
func (p *Plan) Starts() []Start {
	var out []Start
	base := int32(1)
	for s := range p.Suites {
		cells := len(p.Suites[s].Cells)
		for _, pr := range p.pairs(s) {
			for position := range 2 {
				side := pr.first
				if position == 1 {
					side = side.Other()
				}
				no := base + int32((pr.cell*p.Rounds+pr.round)*2)
				if side == records.SideB {
					no++
				}
				out = append(out, Start{
					ProcessNo: no, Slot: int32(len(out) + 1), SuiteNo: s, CellNo: pr.cell,
					Side: side, Round: int32(pr.round + 1), FirstInPair: position == 0,
				})
			}
		}
		base += int32(cells * p.Rounds * 2)
	}
	return out
}

type pair struct {
	cell, round int // from 0
	first       records.Side
}

func (p *Plan) pairs(suite int) []pair {
	cells := len(p.Suites[suite].Cells)
	var out []pair
	if p.Order.Kind == "sequential" {
		for c := range cells {
			for r := range p.Rounds {
				out = append(out, pair{c, r, records.SideA})
			}
		}
		return out
	}
	for r := range p.Rounds {
		for c := range cells {
			out = append(out, pair{c, r, records.Sides[(c+r)%2]})
		}
	}
	if p.Order.Kind == "shuffle" && p.Order.Seed != nil {
		source := rand.NewPCG(uint64(*p.Order.Seed), uint64(suite))
		for c := range cells {
			p.drawFirst(source, out, c, cells)
		}
		for i := len(out) - 1; i > 0; i-- {
			j := int(below(source, uint64(i+1)))
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}

// drawFirst gives a random half of the cell's rounds to each side; an odd round
// out goes to either.
func (p *Plan) drawFirst(source *rand.PCG, pairs []pair, cell, cells int) {
	sides := make([]records.Side, p.Rounds)
	extra := int(below(source, 2))
	for r := range sides {
		sides[r] = records.Sides[(r+extra)%2]
	}
	for i := len(sides) - 1; i > 0; i-- {
		j := int(below(source, uint64(i+1)))
		sides[i], sides[j] = sides[j], sides[i]
	}
	for r, side := range sides {
		pairs[r*cells+cell].first = side
	}
}

// below draws from [0, n) without bias. It is written out here so that a seed
// gives the same order with every Go release.
func below(source *rand.PCG, n uint64) uint64 {
	limit := -n % n // 2^64 mod n
	for {
		if v := source.Uint64(); v >= limit {
			return v % n
		}
	}
}

// seedOf derives a seed from a plan's hash.
func seedOf(sha string) int64 {
	raw, err := hex.DecodeString(sha)
	if err != nil || len(raw) < 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(raw) >> 1)
}
