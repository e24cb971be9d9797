package activelearn

import (
	"slices"

	"tutti/coll"
	"tutti/preprocess"
)

// remeasurements decides which measured candidates are measured a second time: outliers and replicates.
type remeasurements struct {
	ledger       *Ledger
	models       *Models
	sharedLaunch func(coll.Candidate) any
	off          bool                   // there is no posterior, so nothing is measured again
	examined     int                    // number of measurements that were checked for outliers
	rounds       map[coll.Candidate]int // all outliers so far, each with the round that measures it again
}

// findOutliers returns the outliers among the measurements made since its previous call. An outlier is slower
// than predicted from all other measurements by more than preprocess.OutlierSigma standard deviations. Until
// it is measured again, it counts like any other measurement, and the campaign does not stop. Outliers are
// measured again in the given round. This must be the next round, because the jobs that measured them may
// have been disturbed. If the journal has that round, its outliers are returned.
func (r *remeasurements) findOutliers(round int, logged Logged) (outliers []coll.Candidate, err error) {
	switch {
	case logged.NextRound:
		outliers = logged.Outliers
	case r.off:
		return nil, nil
	default:
		if outliers, err = r.newOutliers(); err != nil {
			return nil, err
		}
	}
	for _, c := range outliers {
		r.rounds[c] = round
	}
	r.examined = r.ledger.CandidatesMeasured()
	return outliers, nil
}

func (r *remeasurements) newOutliers() (outliers []coll.Candidate, err error) {
	posterior, err := r.models.Posterior()
	if err != nil {
		return nil, err
	}
	budget := r.remaining(outlierShare, true)
	residuals := posterior.LOOResiduals(r.examined, r.ledger.CandidatesMeasured())
	for m := range r.ledger.After(r.examined) {
		if residuals[0] > preprocess.OutlierSigma && m.CostSeconds <= budget {
			budget -= m.CostSeconds
			outliers = append(outliers, m.Candidate)
		}
		residuals = residuals[1:]
	}
	return outliers, nil
}

// replicate returns at most one candidate that is already measured. It is measured again together with the
// candidates of a round, and the difference between the two measurements shows how noisy the machine is.
// replicate takes the cheapest candidate of the message size that has the fewest replicates. If a launch
// measures several candidates, only a candidate of an already planned launch is taken.
func (r *remeasurements) replicate(batches ...[]coll.Candidate) []coll.Candidate {
	if r.off {
		return nil
	}
	budget, count, twice := r.remaining(replicateShare, false), map[int64]int{}, map[coll.Candidate]bool{}
	planned := map[any]bool{} // launches
	for _, c := range slices.Concat(batches...) {
		twice[c] = true
		if r.sharedLaunch != nil {
			planned[r.sharedLaunch(c)] = true
		}
	}
	for _, p := range r.ledger.Replicates() {
		count[p.First.MsgBytes]++
		twice[p.First.Candidate] = true
	}
	better := func(m, best coll.Measurement) bool {
		n, least := count[m.MsgBytes], count[best.MsgBytes]
		return n < least || n == least && m.CostSeconds < best.CostSeconds
	}
	var best coll.Measurement // zero until there is one
	for m := range r.ledger.All() {
		if !twice[m.Candidate] && m.CostSeconds <= budget && (best.Seconds == 0 || better(m, best)) &&
			(r.sharedLaunch == nil || planned[r.sharedLaunch(m.Candidate)]) {
			best = m
		}
	}
	if best.Seconds == 0 {
		return nil
	}
	return []coll.Candidate{best.Candidate}
}

// remaining returns how many seconds may still be spent on second measurements. If `outliers` is true, these are
// measurements of outliers, otherwise of other candidates. Each of the two kinds may take the fraction `share` of
// the machine time so far.
func (r *remeasurements) remaining(share float64, outliers bool) float64 {
	seconds := share * r.ledger.CostSeconds()
	for _, p := range r.ledger.Replicates() {
		if (r.rounds[p.First.Candidate] > 0) == outliers {
			seconds -= p.Again.CostSeconds
		}
	}
	return seconds
}
