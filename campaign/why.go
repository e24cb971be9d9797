package campaign

import (
	"cmp"
	"slices"

	"tutti/coll"
)

// CandidateTime is what a campaign knows of the time of one candidate.
type CandidateTime struct {
	Algorithm coll.Algorithm `json:"algorithm"`
	Source    string         `json:"source"`            // measured, predicted, or why it cannot be selected
	Seconds   float64        `json:"seconds,omitempty"` // 0: unknown
	Low       float64        `json:"low,omitempty"`     // 95 % interval; 0: unknown
	High      float64        `json:"high,omitempty"`
	Ratio     float64        `json:"ratio,omitempty"` // to the fastest that may be selected; 0: not among the alternatives
}

// The sources of a time besides the reasons for which a candidate cannot be selected.
const (
	SourceMeasured  = "measured"
	SourcePredicted = "predicted"
)

// Candidates returns all candidates at a point of the grid, the fastest first. Times that are measured count; other
// times are the posterior's. It takes O(algorithms · n²) operations for n measurements.
func (c FinalSelection) Candidates(at coll.Point) ([]CandidateTime, error) {
	space := c.Result.Ledger.Space()
	i, ok := space.Index(at)
	if !ok {
		return nil, nil
	}
	algorithms := coll.AlgorithmsOf(space.At(i))
	predicted, err := c.Models.Times(at, algorithms)
	if err != nil {
		return nil, err
	}
	var out []CandidateTime
	for _, alg := range algorithms {
		candidate := coll.Candidate{Point: at, Algorithm: alg}
		p := predicted[alg]
		t := CandidateTime{Algorithm: alg, Source: SourcePredicted, Seconds: p.Seconds, Low: p.Low, High: p.High, Ratio: c.ratio(candidate)}
		for m := range c.Result.Ledger.All() {
			if m.Candidate == candidate {
				t.Source, t.Seconds, t.Low, t.High = SourceMeasured, m.Seconds, m.Low, m.High
			}
		}
		if c.Excluded().Has(candidate) {
			t.Source = "excluded: it failed there, or wherever it was tried in the layout or range of sizes"
		} else if t.Source == SourcePredicted && t.Seconds == 0 && t.Ratio == 0 {
			t.Source = "never measured: no prediction"
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b CandidateTime) int {
		return cmp.Or(cmp.Compare(unknownLast(a), unknownLast(b)), cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Ratio, b.Ratio))
	})
	return out, nil
}

func unknownLast(t CandidateTime) int {
	if t.Seconds == 0 && t.Ratio == 0 {
		return 1
	}
	return 0
}

// ratio returns the time of a candidate divided by that of the fastest alternative at its point, 0 if it is none.
func (c FinalSelection) ratio(candidate coll.Candidate) float64 {
	for _, row := range c.Rows {
		if row.Point == candidate.Point {
			if loss, ok := row.Loss(candidate.Algorithm); ok {
				return 1 + loss
			}
		}
	}
	return 0
}
