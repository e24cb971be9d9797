package activelearn

import (
	"math"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// uncertainty is FACT's choice (Wilkins et al., ExaMPI 2021, section IV-B): a
// surrogate of the run time over (nodes, ppn, size) names the point it is most
// uncertain of, and all algorithms are measured there. Here the surrogate is a
// Gaussian process of log10 of the fastest time at a point over log2 features,
// and points already in the batch or pending count as observed.
type uncertainty struct {
	opt     Options
	model   *gp.GP
	pool    *gp.Pool
	rows    [][]float64         // features of every point of the space
	told    map[coll.Point]bool // points the model has seen
	read    int                 // measurements of the ledger looked at
	learned int                 // observations when the hyper-parameters were learnt
}

// The hyper-parameters are learnt again when the observations have grown by half
// and no more beyond 300, where they hardly move and a likelihood costs O(n³).
const (
	relearnGrowth = 1.5
	relearnMost   = 300
)

// Ask returns all free candidates of the most uncertain points.
func (u *uncertainty) Ask(s State) ([]coll.Candidate, error) {
	if err := u.update(s.Ledger); err != nil {
		return nil, err
	}
	if u.model == nil {
		return initialBatch(s, u.opt), nil
	}
	defer u.pool.Reset()
	sp := s.Ledger.Space()
	var last coll.Point
	for _, c := range s.Ledger.pendingCandidates() { // by point
		if c.Point == last {
			continue
		}
		last = c.Point
		i, _ := sp.Index(c.Point)
		if err := u.pool.Condition(i); err != nil {
			return nil, err
		}
	}
	var batch []coll.Candidate
	taken := make([]bool, len(sp.Points()))
	for len(batch) < s.Want {
		best, most := -1, math.Inf(-1)
		for i, v := range u.pool.Variance() {
			if v > most && !taken[i] && s.Ledger.left[i] > 0 {
				best, most = i, v
			}
		}
		if best < 0 {
			break
		}
		taken[best] = true
		batch = append(batch, s.Ledger.Free(best)...)
		if err := u.pool.Condition(best); err != nil {
			return nil, err
		}
	}
	return batch, nil
}

// update tells the model the points measured since it was last asked.
func (u *uncertainty) update(l *Ledger) error {
	if u.rows == nil {
		u.rows = preprocess.Rows(l.Space().Points())
		u.told = map[coll.Point]bool{}
	}
	var order []coll.Point
	fastest := map[coll.Point]float64{}
	for _, m := range l.Measurements()[u.read:] {
		if u.told[m.Point] {
			continue
		}
		t, seen := fastest[m.Point]
		if !seen {
			order = append(order, m.Point)
			t = math.Inf(1)
		}
		fastest[m.Point] = min(t, m.Seconds)
	}
	u.read = len(l.Measurements())
	if len(order) == 0 {
		return nil
	}
	x := preprocess.Rows(order)
	y := make([]float64, len(order))
	for i, p := range order {
		u.told[p] = true
		y[i] = math.Log10(fastest[p])
	}
	if u.model == nil {
		return u.start(x, y)
	}
	for i := range x {
		if err := u.model.Append(x[i], y[i]); err != nil {
			return err
		}
	}
	if n := u.model.Len(); float64(n) >= relearnGrowth*float64(u.learned) && n <= relearnMost {
		u.learned = n
		return u.model.Refit()
	}
	return nil
}

func (u *uncertainty) start(x [][]float64, y []float64) (err error) {
	// Two starts of 30 evaluations: the second guards against a poor first optimum.
	u.model, err = gp.Fit(x, y, gp.Options{Starts: 2, MaxEvals: 30, Seed: u.opt.Seed})
	if err != nil {
		return err
	}
	u.learned = len(x)
	u.pool, err = u.model.NewPool(u.rows)
	return err
}
