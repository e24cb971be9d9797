package activelearn

import (
	"slices"

	"tutti/coll"
	"tutti/preprocess"
)

// FindOutliers finds the outliers among the measurements made since its previous call. An outlier is slower
// than predicted from all other measurements by more than preprocess.OutlierSigma standard deviations. Until
// it is measured again, it counts like any other measurement, and the campaign does not stop. Outliers are
// measured again in the given round. This must be the next round, because the jobs that measured them may
// have been disturbed.
func (r *StopRule) FindOutliers(round int) error {
	r.outliers = nil
	if !r.opt.UsesPosterior {
		return nil
	}
	posterior, err := r.models.Posterior()
	if err != nil {
		return err
	}
	budget := r.remaining(outlierShare, true)
	residuals := posterior.LOOResiduals(r.examined, r.ledger.CandidatesMeasured())
	for m := range r.ledger.After(r.examined) {
		if residuals[0] > preprocess.OutlierSigma && m.CostSeconds <= budget {
			budget -= m.CostSeconds
			r.rounds[m.Candidate] = round
			r.outliers = append(r.outliers, m.Candidate)
		}
		residuals = residuals[1:]
	}
	r.examined = r.ledger.CandidatesMeasured()
	return nil
}

// RestoreOutliers has the effect of FindOutliers for a round whose outliers are in the journal.
func (r *StopRule) RestoreOutliers(round int, outliers []coll.Candidate) {
	for _, c := range outliers {
		r.rounds[c] = round
	}
	r.outliers, r.examined = outliers, r.ledger.CandidatesMeasured()
}

// Outliers returns the outliers that the next round measures again.
func (r *StopRule) Outliers() []coll.Candidate { return r.outliers }

// Replicate returns at most one candidate that is already measured. It is measured again together with the
// candidates of a round, and the difference between the two measurements shows how noisy the machine is.
// Replicate takes the cheapest candidate of the message size that has the fewest replicates. If a launch
// measures several candidates, only a candidate of an already planned launch is taken.
func (r *StopRule) Replicate(batches ...[]coll.Candidate) []coll.Candidate {
	if !r.opt.UsesPosterior {
		return nil
	}
	budget, count, twice := r.remaining(replicateShare, false), map[int64]int{}, map[coll.Candidate]bool{}
	planned := map[any]bool{} // launches
	for _, c := range slices.Concat(batches...) {
		twice[c] = true
		if r.opt.SharedLaunch != nil {
			planned[r.opt.SharedLaunch(c)] = true
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
			(r.opt.SharedLaunch == nil || planned[r.opt.SharedLaunch(m.Candidate)]) {
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
func (r *StopRule) remaining(share float64, outliers bool) float64 {
	seconds := share * r.ledger.CostSeconds()
	for _, p := range r.ledger.Replicates() {
		if (r.rounds[p.First.Candidate] > 0) == outliers {
			seconds -= p.Again.CostSeconds
		}
	}
	return seconds
}

// Reasons returns the reason for each candidate of a round. Retries and replicates have no reason. If no
// candidate has a reason, Reasons returns nil.
func (r *StopRule) Reasons(round int, batch []coll.Candidate) []Reason {
	known, out := false, make([]Reason, len(batch))
	for i, c := range batch {
		has := true
		switch {
		case r.rounds[c] == round:
			out[i] = Reason{Outlier: true, Seconds: r.ledger.Measured(c).CostSeconds}
		case slices.ContainsFunc(r.audits, func(a audit) bool { return a.point == c.Point }):
			out[i] = Reason{Audit: true}
		case r.ledger.IsFree(c):
			out[i], has = r.opt.Reason(c)
		default:
			has = false
		}
		known = known || has
	}
	if !known {
		return nil
	}
	return out
}
