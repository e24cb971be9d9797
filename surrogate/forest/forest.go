package forest

import (
	"cmp"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Forest is a trained random forest. It is immutable and safe for concurrent use.
type Forest struct {
	opt   Options
	train *table
	trees []tree
}

// Fit grows a forest.
//
// x is n×d with 1 <= n <= 2²² and d >= 1; y has one target for each row. Both are copied.
// Rows may repeat, and targets may be constant.
//
// The error matches ErrOptions for invalid options. It matches ErrShape if there are no rows, too many
// rows, or rows of different lengths. It matches ErrValue for NaN, for infinities, for targets beyond
// ±1e150 and, under Poisson, for targets below 0. Fit takes O(Trees·d·n·depth) time on Workers goroutines;
// AbsoluteError takes log n times as long.
func Fit(x [][]float64, y []float64, opt Options) (*Forest, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	opt = opt.filled()
	t, err := newTable(x, y, opt)
	if err != nil {
		return nil, err
	}
	f := &Forest{opt: opt, train: t}
	f.opt.MaxFeatures = cmp.Or(opt.MaxFeatures, t.dim)
	if f.opt.MaxFeatures > t.dim {
		return nil, fmt.Errorf("%w: MaxFeatures = %d, rows have %d features", ErrOptions, opt.MaxFeatures, t.dim)
	}
	f.trees = make([]tree, f.opt.Trees)
	parallel(f.opt.Workers, f.opt.Trees, func(k int) { f.trees[k] = newGrower(t, f.opt).grow(k) })
	return f, nil
}

// parallel calls work(0) … work(n-1) on at most the given number of goroutines.
func parallel(workers, n int, work func(k int)) {
	var group errgroup.Group
	group.SetLimit(workers)
	for k := range n {
		group.Go(func() error {
			work(k)
			return nil
		})
	}
	_ = group.Wait() // no error
}
