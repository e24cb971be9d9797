package journal

import (
	"cmp"
	"slices"

	"tutti/activelearn"
	"tutti/coll"
)

// Reasons summarizes why a round measures its candidates. Gain and Seconds are sums over the batch.
type Reasons struct {
	Gain, Seconds float64
	Top           []Reason         // those with the greatest gains, in descending order
	Outliers      []coll.Candidate // of the batch, in its order
}

// Reason says why a candidate is measured.
type Reason struct {
	coll.Candidate
	activelearn.Reason
}

// topReasons is the largest number of reasons that are kept for a round.
const topReasons = 5

// reasonsOf summarizes the reasons of a batch. It returns nil if there are none.
func reasonsOf(batch []coll.Candidate, reasons []activelearn.Reason) *Reasons {
	if len(reasons) == 0 {
		return nil
	}
	var out Reasons
	for i, why := range reasons {
		if why == (activelearn.Reason{}) {
			continue // a retry
		}
		out.Gain += why.Gain
		out.Seconds += why.Seconds
		out.Top = append(out.Top, Reason{batch[i], why})
		if why.Outlier {
			out.Outliers = append(out.Outliers, batch[i])
		}
	}
	slices.SortStableFunc(out.Top, func(a, b Reason) int { return cmp.Compare(b.Gain, a.Gain) })
	out.Top = slices.Clone(out.Top[:min(len(out.Top), topReasons)])
	return &out
}
