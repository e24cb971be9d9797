package journal

import (
	"slices"

	"tutti/activelearn"
	"tutti/coll"
)

// Reasons summarizes why a round measures its candidates. Gain is the sum of the expected gains of all
// candidates, and Seconds that of their expected machine times.
type Reasons struct {
	Gain, Seconds float64
	Top           []Reason         // those with the greatest gains, in descending order
	Outliers      []coll.Candidate // of the batch, in its order
}

// Reason is a candidate, together with the reason why a round measures it.
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
		if at := slices.IndexFunc(out.Top, func(r Reason) bool { return r.Gain < why.Gain }); at >= 0 {
			out.Top = slices.Insert(out.Top, at, Reason{batch[i], why})
		} else {
			out.Top = append(out.Top, Reason{batch[i], why})
		}
		out.Top = out.Top[:min(len(out.Top), topReasons)]
		if why.Outlier {
			out.Outliers = append(out.Outliers, batch[i])
		}
	}
	return &out
}
