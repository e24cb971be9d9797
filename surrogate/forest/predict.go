package forest

import (
	"fmt"

	"gonum.org/v1/gonum/stat"
)

// blockRows is the number of rows that are predicted together. These rows fit into the first-level cache
// together with a tree.
const blockRows = 256

// Predict returns the mean of all trees at each row of x.
//
// x has q rows with the d columns that Fit had; q may be 0. The means are in the units of the targets and
// lie between the smallest and the largest target. It returns errors matching ErrShape and ErrValue. It
// takes O(q·Trees·depth) time.
func (f *Forest) Predict(x [][]float64) ([]float64, error) {
	mean := make([]float64, len(x))
	err := f.eachBlock(x, func(lo int, rows []float64) {
		f.eachTree(rows, func(_, row int, value float64) { mean[lo+row] += value })
	})
	for i, sum := range mean {
		mean[i] = f.inRange(sum / float64(len(f.trees)))
	}
	return mean, err
}

// PredictVariance returns for each row of x the mean of all trees and the variance of the trees' predictions,
// in squared units of the targets. It returns the errors of Predict.
//
// Source: ACCLAiM (Wilkins et al., CLUSTER 2022), which measures next where this variance is largest.
func (f *Forest) PredictVariance(x [][]float64) (mean, variance []float64, err error) {
	mean, variance = make([]float64, len(x)), make([]float64, len(x))
	trees := len(f.trees)
	err = f.eachBlock(x, func(lo int, rows []float64) {
		values := make([]float64, blockRows*trees) // of each row, by tree
		f.eachTree(rows, func(tree, row int, value float64) { values[row*trees+tree] = value })
		for i := range len(rows) / f.train.dim {
			m, v := stat.PopMeanVariance(values[i*trees:(i+1)*trees], nil)
			mean[lo+i], variance[lo+i] = f.inRange(m), v
		}
	})
	return mean, variance, err
}

// eachBlock checks the rows to predict. It then calls the function `work` for each block of them, on at most Workers
// goroutines. The features of a block are in one slice, and `lo` is the index of its first row.
func (f *Forest) eachBlock(x [][]float64, work func(lo int, rows []float64)) error {
	if len(x) == 0 {
		return nil
	}
	if len(x[0]) != f.train.dim {
		return fmt.Errorf("%w: row 0 has %d features, the forest was grown on %d", ErrShape, len(x[0]), f.train.dim)
	}
	flat, d, err := flatten(x)
	if err != nil {
		return err
	}
	parallel(f.opt.Workers, (len(x)+blockRows-1)/blockRows, func(b int) {
		lo := b * blockRows
		work(lo, flat[lo*d:min(lo+blockRows, len(x))*d])
	})
	return nil
}

// eachTree calls the function `use` once for each tree and row, with the tree's prediction for the row.
func (f *Forest) eachTree(rows []float64, use func(tree, row int, value float64)) {
	leaves := make([]int32, len(rows)/f.train.dim)
	for k := range f.trees {
		t := &f.trees[k]
		t.find(rows, f.train.dim, leaves)
		for i, leaf := range leaves {
			use(k, i, t.values[leaf])
		}
	}
}

// inRange limits a mean to the range of the targets, because rounding errors can move it outside.
func (f *Forest) inRange(v float64) float64 { return min(max(v, f.train.yMin), f.train.yMax) }

// OutOfBag predicts each training row by the trees whose bootstrap sample does not contain it. It returns the
// indexes of the predicted rows, in ascending order, and their mean predictions by these trees. A sample lacks
// a given row with the probability (1-1/n)ⁿ, about 37 %. With 100 trees almost every row is therefore
// predicted. Without bootstrap, or with one row, no row is predicted. It takes O(n·Trees·depth) time.
func (f *Forest) OutOfBag() (rows []int, mean []float64) {
	if f.opt.NoBootstrap {
		return nil, nil
	}
	n, drawn := f.train.rows, -1
	counts := make([]uint32, n) // how often the sample of the tree `drawn` contains each row
	sums, votes := make([]float64, n), make([]int, n)
	f.eachTree(f.train.x, func(tree, row int, value float64) {
		if tree != drawn {
			drawCounts(treeSource(f.opt.Seed, tree), counts)
			drawn = tree
		}
		if counts[row] == 0 {
			sums[row] += value
			votes[row]++
		}
	})
	for i, v := range votes {
		if v > 0 {
			rows = append(rows, i)
			mean = append(mean, f.inRange(sums[i]/float64(v)))
		}
	}
	return rows, mean
}
