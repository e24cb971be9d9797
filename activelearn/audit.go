package activelearn

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tutti/coll"
)

// audit is a comparison by measurement at one point: between the selected algorithm and its rivals, the
// algorithms that may be significantly faster. There is one audit for each message size, because predictions at
// points of one size tend to be wrong together.
type audit struct {
	point  coll.Point
	choice coll.Algorithm
	rivals []coll.Algorithm
}

// planAudits returns an audit for each message size that still needs one. A size needs none after an audit of
// it that found no mistake, or if nothing remains to be compared at its sampled points.
//
// For each size, one of the points with something to compare is drawn at random. Its probability is
// proportional to its weight, and inversely proportional to the square root of the time of the candidates to
// measure. This allocation gives the best estimate of a proportion for a given cost (Cochran, Sampling
// Techniques 1977, section 5.5). The first size uses a random number between 0 and 1, and each further size
// adds the golden ratio to it, modulo 1. The audited points of different sizes thus lie in different parts of
// the grid.
func (r *StopRule) planAudits(round int, f *forecast) (out []audit) {
	bySize, rates := map[int64][]audit{}, map[int64][]float64{}
	for i, p := range f.points {
		a := f.audit(i)
		seconds := 0.0
		for _, c := range a.candidates() {
			if r.ledger.IsFree(c) {
				seconds += math.Pow(10, f.logs[i][slices.Index(f.open[i], c.Algorithm)]/float64(f.draws))
			}
		}
		if seconds > 0 && len(a.rivals) > 0 && f.metrics.Weight(i) > 0 && !slices.Contains(r.audited, p.MsgBytes) {
			bySize[p.MsgBytes] = append(bySize[p.MsgBytes], a)
			rates[p.MsgBytes] = append(rates[p.MsgBytes], f.metrics.Weight(i)/math.Sqrt(seconds))
		}
	}
	start := rand.New(rand.NewPCG(r.opt.Seed^auditStream, uint64(round))).Float64()
	for k, bytes := range slices.Sorted(maps.Keys(bySize)) {
		_, position := math.Modf(start + float64(k)*(math.Phi-1))
		passed := floats.CumSum(make([]float64, len(rates[bytes])), rates[bytes])
		at, _ := slices.BinarySearch(passed, position*passed[len(passed)-1])
		out = append(out, bySize[bytes][at])
	}
	return out
}

// audit returns the audit of the i-th point: the algorithm selected there and the rivals that may be faster.
func (f *forecast) audit(i int) audit {
	a := audit{point: f.points[i], choice: f.open[i][f.own[i]]}
	for k, alg := range f.open[i] {
		if f.rivals[i][k] {
			a.rivals = append(a.rivals, alg)
		}
	}
	return a
}

// candidates returns the chosen algorithm and its rivals, as candidates at the audited point.
func (a audit) candidates() []coll.Candidate {
	out := []coll.Candidate{{Point: a.point, Algorithm: a.choice}}
	for _, alg := range a.rivals {
		out = append(out, coll.Candidate{Point: a.point, Algorithm: alg})
	}
	return out
}

// Auditing reports whether the next round contains audits, which compare selected algorithms with their rivals by
// measurement.
func (r *StopRule) Auditing() bool { return r.auditing }

// Audit returns the candidates that the next round measures for audits (see audit).
func (r *StopRule) Audit() (out []coll.Candidate) {
	for _, a := range r.audits {
		for _, c := range a.candidates() {
			if r.ledger.IsFree(c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// evaluateAudits adds the results of this round's audits to the evaluation. A message size needs another
// audit if the audit found a mistake, or if the chosen algorithm could not be measured.
func (r *StopRule) evaluateAudits(e *Evaluation) {
	threshold := r.opt.Metrics.Threshold()
	e.Audited = slices.Clone(r.audited)
	if last, ok := r.last(); ok {
		e.AuditMistakes = last.AuditMistakes
	}
	for _, a := range r.audits {
		seconds := func(alg coll.Algorithm) float64 {
			c := coll.Candidate{Point: a.point, Algorithm: alg}
			if !r.ledger.IsDone(c) {
				return math.Inf(1)
			}
			return r.ledger.Measured(c).Seconds
		}
		own := seconds(a.choice)
		mistake := !math.IsInf(own, 1) && slices.ContainsFunc(a.rivals, func(alg coll.Algorithm) bool { return own > (1+threshold)*seconds(alg) })
		switch {
		case mistake:
			e.AuditMistakes++
		case !math.IsInf(own, 1):
			e.Audited = append(e.Audited, a.point.MsgBytes)
		}
	}
	slices.Sort(e.Audited)
}
