package forest

import "fmt"

// OutOfBag is the forest's own hold-out test: each training row predicted by the trees whose
// bootstrap sample left it out. Rows that no tree left out are in Missing and nowhere else.
type OutOfBag struct {
	Rows    []int     // training rows left out by at least one tree, ascending
	Mean    []float64 // for each of Rows: the mean of the trees that left it out
	Trees   []int     // for each of Rows: how many trees that is
	Missing []int     // training rows that every tree saw, ascending
	MSE     float64   // mean squared error over Rows
	R2      float64   // share of the targets' variance explained over Rows; see OutOfBag
}

// OutOfBag predicts the training rows out of bag. About (1-1/n)ⁿ, or 37 %, of the trees leave a
// row out, so with 100 trees Missing is almost always empty.
//
// R2 of constant targets is 1 when they are met exactly and 0 otherwise, as in scikit-learn.
// It returns ErrNoBootstrap when no tree left any row out: without bootstrap, or with one row.
// O(n·Trees·depth) time.
func (f *Forest) OutOfBag() (OutOfBag, error) {
	n := f.train.rows
	sums, votes := make([]float64, n), make([]int, n)
	if !f.opt.NoBootstrap {
		f.sumOutOfBag(sums, votes)
	}
	var o OutOfBag
	for i, v := range votes {
		if v == 0 {
			o.Missing = append(o.Missing, i)
			continue
		}
		o.Rows = append(o.Rows, i)
		o.Mean = append(o.Mean, f.inRange(sums[i]/float64(v)))
		o.Trees = append(o.Trees, v)
	}
	if len(o.Rows) == 0 {
		return OutOfBag{}, fmt.Errorf("out-of-bag prediction: %w", ErrNoBootstrap)
	}
	o.score(f.train.y)
	return o, nil
}

func (f *Forest) sumOutOfBag(sums []float64, votes []int) {
	n := f.train.rows
	q := f.newQuery(f.train.x, n)
	counts := make([]uint32, n)
	for k := range f.trees {
		drawCounts(treeSource(f.opt.Seed, k), counts)
		t := &f.trees[k]
		for i := 0; i < n; i += lanes {
			leaves := t.walk(q.group(i/lanes, f.train.dim))
			for l := range min(lanes, n-i) {
				if counts[i+l] == 0 {
					sums[i+l] += t.values[leaves[l]]
					votes[i+l]++
				}
			}
		}
	}
}

func (o *OutOfBag) score(y []float64) {
	var center float64
	for _, i := range o.Rows {
		center += y[i] / float64(len(o.Rows))
	}
	var errs, spread float64
	for k, i := range o.Rows {
		e, s := y[i]-o.Mean[k], y[i]-center
		errs += e * e
		spread += s * s
	}
	o.MSE = errs / float64(len(o.Rows))
	switch {
	case errs == 0:
		o.R2 = 1
	case spread > 0:
		o.R2 = 1 - errs/spread
	}
}
