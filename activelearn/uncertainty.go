package activelearn

import (
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
	"tutti/surrogate/learner"
)

// uncertainty is the strategy of FACT (Wilkins et al., ExaMPI 2021, section IV-B). A Gaussian process
// models log10 of the fastest time as a function of nodes, ppn and size. The strategy measures all
// algorithms at the points with the greatest variance. Points of the batch and pending points count as
// observed.
type uncertainty struct {
	opt      Options
	params   *gp.Params         // nil until they are learned from the first measured points
	rows     [][]float64        // features of every point of the space
	fastest  []coll.Measurement // fastest measurement at each measured point, when Ask first saw the point
	observed map[coll.Point]bool
	read     int // number of the ledger's measurements that were processed
	learned  int // number of points from which params are learned
}

// Ask returns all free candidates at the points with the greatest variance.
func (u *uncertainty) Ask(s State) ([]coll.Candidate, error) {
	u.observe(s.Ledger)
	if len(u.fastest) == 0 {
		return DrawPoints(s, u.opt.Initial, u.opt.rng(s.Round)), nil
	}
	posterior, err := u.posterior(s.Ledger)
	if err != nil {
		return nil, err
	}
	var batch []coll.Candidate
	taken := make([]bool, len(u.rows))
	for len(batch) < s.Want {
		best, most := -1, math.Inf(-1)
		for i := range u.rows {
			if v := posterior.Variance(i); v > most && !taken[i] && s.Ledger.left[i] > 0 {
				best, most = i, v
			}
		}
		if best < 0 {
			break
		}
		taken[best] = true
		batch = append(batch, s.Ledger.Free(best)...)
		posterior.Condition(best)
	}
	return batch, nil
}

// Restore implements Restorer. It observes the measured points as Ask would, since later calls of Ask depend on this.
func (u *uncertainty) Restore(s State, _ []coll.Candidate) { u.observe(s.Ledger) }

// observe adds the points that were measured since its last call. If their number has grown by the factor
// relearnGrowth, the hyperparameters are learned again before the next prediction.
func (u *uncertainty) observe(l *Ledger) {
	if u.rows == nil {
		u.rows = preprocess.SurrogateRows(l.Space().Points())
		u.observed = map[coll.Point]bool{}
	}
	at := map[coll.Point]int{} // in fastest
	for m := range l.After(u.read) {
		if i, seen := at[m.Point]; seen {
			u.fastest[i].Seconds = min(u.fastest[i].Seconds, m.Seconds)
		} else if !u.observed[m.Point] {
			u.observed[m.Point] = true
			at[m.Point] = len(u.fastest)
			u.fastest = append(u.fastest, coll.Measurement{Candidate: coll.Candidate{Point: m.Point}, Seconds: m.Seconds})
		}
	}
	u.read = l.CandidatesMeasured()
	if n := len(u.fastest); n > 0 && (u.learned == 0 || float64(n) >= relearnGrowth*float64(u.learned) && n <= relearnMax) {
		u.params, u.learned = nil, n
	}
}

// posterior returns the posterior of the fastest time at every point of the space. Points with a measurement
// in progress count as observed.
func (u *uncertainty) posterior(l *Ledger) (*gp.Posterior, error) {
	observations := func(n int) gp.Observations {
		o, _ := learner.Observations(n, slices.Values(u.fastest[:n]), map[coll.Algorithm]int{{}: 0}, preprocess.Noise{})
		return o
	}
	if u.params == nil {
		params, err := gp.Learn(observations(u.learned), learner.GPOptions())
		if err != nil {
			return nil, err
		}
		params.Steps, params.Split = 0, 0 // FACT has a smooth model
		u.params = &params
	}
	model, err := gp.New(*u.params, observations(len(u.fastest)))
	if err != nil {
		return nil, err
	}
	entries := make([]gp.Entry, len(u.rows))
	for i := range entries {
		entries[i].Row = i
	}
	posterior, err := model.Posterior(u.rows, entries)
	if err != nil {
		return nil, err
	}
	var last coll.Point
	for _, c := range l.Pending() { // by point
		if c.Point == last {
			continue
		}
		last = c.Point
		i, _ := l.Space().Index(c.Point)
		posterior.Condition(i)
	}
	return posterior, nil
}
