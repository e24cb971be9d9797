package forest

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Forest is a trained random forest. It is immutable and safe for concurrent use.
type Forest struct {
	opt   Options
	train *table
	trees []tree
	cuts  [][]float64 // for each feature: the distinct thresholds of all trees, ascending
}

// Fit grows a forest.
//
// x is n×d with 1 <= n <= 2²² and 1 <= d <= 256; y has one target for each row. Both are copied.
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
	if f.opt.MaxFeatures == 0 {
		f.opt.MaxFeatures = t.dim
	}
	if f.opt.MaxFeatures > t.dim {
		return nil, fmt.Errorf("%w: MaxFeatures = %d, rows have %d features", ErrOptions, opt.MaxFeatures, t.dim)
	}
	f.grow()
	return f, nil
}

// grow grows all trees and then replaces the thresholds by their ranks. While trees grow, each worker
// numbers its thresholds in the order of their first occurrence. The final ranks do not depend on this
// order.
func (f *Forest) grow() {
	f.trees = make([]tree, f.opt.Trees)
	owner := make([]int, f.opt.Trees)
	numbers := make([][]numbering, min(f.opt.Workers, f.opt.Trees)) // per worker, per feature
	parallel(f.opt.Workers, f.opt.Trees, func(worker int) func(int) {
		g := newGrower(f.train, f.opt)
		mine := make([]numbering, f.train.dim)
		numbers[worker] = mine
		return func(k int) {
			owner[k] = worker
			f.trees[k] = freeze(g.grow(k), mine)
		}
	})
	ranks := f.rankCuts(numbers)
	parallel(f.opt.Workers, f.opt.Trees, func(int) func(int) {
		return func(k int) { f.trees[k].renumber(ranks[owner[k]]) }
	})
}

// rankCuts sets cuts to the thresholds of all workers, sorted by value. It returns a table that maps each
// threshold number to its rank, for each worker and feature.
func (f *Forest) rankCuts(numbers [][]numbering) [][][]uint32 {
	f.cuts = make([][]float64, f.train.dim)
	ranks := make([][][]uint32, len(numbers))
	for w := range ranks {
		ranks[w] = make([][]uint32, f.train.dim)
	}
	parallel(f.opt.Workers, f.train.dim, func(int) func(int) {
		return func(j int) {
			parts := make([]*numbering, len(numbers))
			for w := range numbers {
				parts[w] = &numbers[w][j]
			}
			cuts, r := merge(parts...)
			f.cuts[j] = cuts
			for w := range r {
				ranks[w][j] = r[w]
			}
		}
	})
	return ranks
}

// parallel calls work(0) … work(n-1) on at most the given number of workers. Each worker calls start once.
// start returns the worker's work function, which uses the worker's own scratch space.
func parallel(workers, n int, start func(worker int) (work func(k int))) {
	workers = min(workers, n)
	if workers <= 1 {
		work := start(0)
		for k := range n {
			work(k)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			work := start(w)
			for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
				work(k)
			}
		})
	}
	wg.Wait()
}
