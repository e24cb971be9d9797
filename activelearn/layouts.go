package activelearn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/selection"
)

// layoutPairs returns the pairs for a library whose settings hold for all sizes of a layout, without prices: for each
// layout, everything that must be measured so that the settings may replace the default there. A layout has no pair if
// no algorithm can pass at some size, or if nothing is gained.
func (a Alternatives) layoutPairs(rows, guarded []selection.Row, weigh coll.Weight) (out []Pair) {
	for first := 0; first < len(rows); {
		last := first + 1
		for last < len(rows) && rows[last].Point.WithSize(0) == rows[first].Point.WithSize(0) {
			last++
		}
		present, best := change{}, change{}
		for _, c := range a.changes(rows[first:last], guarded[first:last], weigh) {
			if len(c.missing) == 0 && c.gain > present.gain {
				present = c
			}
			if c.gain > best.gain {
				best = c
			}
		}
		if len(best.missing) > 0 && best.gain > present.gain {
			pass := math.Exp(best.logPass)
			out = append(out, Pair{Candidates: best.missing, Gain: pass * (best.gain - present.gain), Loss: pass * max(0, best.loss-present.loss), Faster: pass > 0.5, Points: last - first})
		}
		first = last
	}
	return out
}

// change is a choice of algorithms other than the default, at one size or at all sizes of a layout.
type change struct {
	algorithm  coll.Algorithm   // of the first size
	gain, loss float64          // predicted over the default: as those of Pair
	missing    []coll.Candidate // that must be measured before the guard lets the choice pass
	logPass    float64          // natural logarithm of the probability that it does, if predictions are right
}

// changes returns the choices for the rows of a layout that may pass: one for each algorithm that is possible at all sizes
// and, where settings have several ranges of sizes, the best algorithms of the sizes, with and without missing ones.
func (a Alternatives) changes(rows, guarded []selection.Row, weigh coll.Weight) (out []change) {
	bySize := make([][]change, len(rows))
	for i, row := range rows {
		bySize[i] = a.changesAt(row, guarded[i], weigh.Of(row.Point))
	}
	for _, first := range bySize[0] {
		out = appendChoice(out, bySize, func(c change) bool { return c.algorithm == first.algorithm })
	}
	if a.bands > 1 {
		out = appendChoice(out, bySize, func(change) bool { return true })
		out = appendChoice(out, bySize, func(c change) bool { return len(c.missing) == 0 })
	}
	return out
}

// appendChoice appends the choice that has the largest gain at each size, of those that `accept` accepts. It appends
// nothing if none is accepted at some size.
func appendChoice(out []change, bySize [][]change, accept func(change) bool) []change {
	var sum change
	for _, at := range bySize {
		best := change{gain: math.Inf(-1)}
		for _, c := range at {
			if accept(c) && c.gain > best.gain {
				best = c
			}
		}
		if math.IsInf(best.gain, -1) {
			return out
		}
		sum.gain, sum.loss = sum.gain+best.gain, sum.loss+best.loss
		sum.missing, sum.logPass = append(sum.missing, best.missing...), sum.logPass+best.logPass
	}
	return append(out, sum)
}

// changesAt returns the algorithms that may pass at a point: those that pass, and those of which a time is missing and that
// are predicted to be hardly slower than the default.
func (a Alternatives) changesAt(row, guarded selection.Row, weight float64) (out []change) {
	mostLoss := math.Log10(1+equalWithin) + 1e-12 // rounding
	for _, alg := range a.selectable(row.Point) {
		c, from := change{algorithm: alg}, row
		for _, x := range []coll.Algorithm{alg, coll.Default} {
			if need := (coll.Candidate{Point: row.Point, Algorithm: x}); !a.Measured(need) {
				c.missing = append(c.missing, need)
			}
		}
		if len(c.missing) == 0 {
			from = guarded
		}
		gap, ok := gapOf(from, alg)
		if alg.IsDefault() || !ok || gap < -mostLoss || slices.ContainsFunc(c.missing, func(x coll.Candidate) bool { return !a.ledger.IsFree(x) }) {
			continue
		}
		c.gain, c.loss = weight*math.Ln10*gap, weight*(math.Pow(10, gap)-1)
		if len(c.missing) > 0 {
			c.logPass = math.Log(distuv.UnitNormal.CDF(guardSigmas * (1 + gap/a.expectedMargin(row.Point))))
		}
		out = append(out, c)
	}
	return out
}

// gapOf returns log10 of the ratio of the default's time to that of an algorithm in a row.
func gapOf(row selection.Row, alg coll.Algorithm) (float64, bool) {
	own := slices.IndexFunc(row.Options, func(o selection.Option) bool { return o.Algorithm == alg })
	byDefault := slices.IndexFunc(row.Options, func(o selection.Option) bool { return o.Algorithm.IsDefault() })
	if own < 0 || byDefault < 0 {
		return 0, false
	}
	return math.Log10(row.Options[byDefault].Seconds / row.Options[own].Seconds), true
}
