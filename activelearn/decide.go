package activelearn

import (
	"slices"

	"tutti/metrics"
)

// Progress is what Decide needs to know about a campaign after a round.
type Progress struct {
	Criteria    Criteria
	Evaluations []Evaluation // of all rounds so far that have one, in order
	Evaluated   bool         // the latest round has an evaluation
	InRow       bool         // the last Criteria.Patience evaluations met the criteria; see Watch
	Grown       bool         // the space has become larger since the evaluation
	Outliers    int          // to be measured again in the next round
	Retries     int          // failed candidates that will be tried again
	Open        int          // of these, defaults and candidates that failed for a reason outside of them
	Free        int          // candidates that are neither measured nor pending nor given up
	Noisy       int          // candidates that the machine was too noisy for
	Left        float64      // share of the weight at points that are left to the library; see Ledger.LeftToLibrary
	Compared    bool         // at least two algorithms were measured, or the space has only one
	MeasuresAll bool         // see MeasuresAll
	Replicates  int
	Limit       StopReason // limit that the campaign has reached; "" for none
	Observed    *bool      // if not nil, it says in place of the criteria whether a campaign converges that is not complete
}

// Decide returns the reason why no further round begins, or "" if one begins.
//
// A campaign has converged if its latest evaluation meets the stopping criteria, algorithms were compared, no outlier
// or open candidate is pending, and no audit remains. Predictions must meet the criteria on average and with the
// probability Criteria.Confidence. Other evaluations must meet them in successive rounds. A space is completely measured
// if no candidate is free and none will be measured again. Then the averages must meet the criteria, because no further
// round can narrow their confidence limits. Noise ends a campaign before the limits do. What was given up is no proof.
func Decide(p Progress) StopReason {
	complete := p.Free+p.Retries+p.Outliers == 0
	switch {
	case p.converged() || complete && p.averagesMeet() && p.Compared:
		return p.unlessUnmeasured()
	case complete:
		return SpaceExhausted
	case p.noiseLimited():
		return NoiseLimited
	}
	return p.Limit
}

// maxLeftToLibrary is the largest share of the weight at points that are left to the library with which a campaign may
// converge. At these points nothing is known, so that the criteria say nothing about them.
const maxLeftToLibrary = 0.05

// unlessUnmeasured returns Converged, unless candidates or points without a measurement forbid it. These were given up,
// so that further rounds would not measure them.
func (p Progress) unlessUnmeasured() StopReason {
	switch {
	case p.Left > maxLeftToLibrary:
		return Unmeasurable
	case p.Noisy > 0:
		return NoiseLimited
	}
	return Converged
}

// last returns the evaluation of the latest round, or false if that round could not be evaluated.
func (p Progress) last() (Evaluation, bool) {
	n := len(p.Evaluations)
	if n == 0 || !p.Evaluated {
		return Evaluation{}, false
	}
	return p.Evaluations[n-1], true
}

func (p Progress) converged() bool {
	e, ok := p.last()
	switch {
	case p.Observed != nil:
		return *p.Observed && !p.Grown
	case !ok || p.Grown || p.Outliers+p.Open > 0 || e.Audits > 0 || !p.Compared:
		return false
	case e.Source == Predicted:
		return p.Criteria.predicted(e) && !p.MeasuresAll
	}
	return e.Source != measured && p.InRow
}

// averagesMeet reports whether the averages of the latest evaluation meet the stopping criteria.
func (p Progress) averagesMeet() bool {
	e, ok := p.last()
	return ok && p.Criteria.Meets(metrics.Summary{Slowdown: e.Slowdown, Mistakes: e.Mistakes})
}

// noiseLimited reports whether noise keeps the stopping criteria out of reach: they would fail with the probability
// Criteria.Confidence even if every candidate were measured once. A stop asks for the same certainty that they hold. This
// must hold in successive rounds, because a few replicates can change the estimated noise.
func (p Progress) noiseLimited() bool {
	rounds := max(1, p.Criteria.Patience)
	if p.MeasuresAll || len(p.Evaluations) < rounds || p.Replicates < minReplicates {
		return false
	}
	return !slices.ContainsFunc(p.Evaluations[len(p.Evaluations)-rounds:], func(e Evaluation) bool {
		return e.Source != Predicted || e.PAttainable > 1-p.Criteria.confidence()
	})
}
