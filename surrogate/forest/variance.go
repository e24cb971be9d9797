package forest

import "fmt"

// PredictVariance returns the mean of all trees at each row of x and the variance of that mean:
// how much it would move if the training rows were drawn again.
//
// The variance is the infinitesimal jackknife with the correction for a finite number of trees,
//
//	Σ_i cov_i² - n/B²·Σ_b (t_b - mean)²,   cov_i = 1/B·Σ_b (N_bi - 1)·(t_b - mean),
//
// for n training rows, B trees, t_b what tree b predicts and N_bi how often row i is in its
// sample. It is in squared units of the targets and leaves out the noise of a new measurement.
// The correction can outweigh the sum where trees nearly agree; the variance is then reported as
// 0, never less. With fewer trees than rows the estimate is noisy: rank by it, do not quote it.
//
// It returns ErrNoBootstrap for a forest without bootstrap, else the errors of Predict. The first
// call costs O(B²·n) time, each O(q·B²) after the prediction.
//
// Source: Wager, Hastie and Efron, Confidence Intervals for Random Forests, JMLR 15 (2014),
// equations 5 and 7.
func (f *Forest) PredictVariance(x [][]float64) (mean, variance []float64, err error) {
	if f.opt.NoBootstrap {
		return nil, nil, fmt.Errorf("jackknife variance: %w", ErrNoBootstrap)
	}
	flat, err := f.checkRows(x)
	if err != nil {
		return nil, nil, err
	}
	gram := f.jackknife()
	trees := len(f.trees)
	mean = make([]float64, len(x))
	variance = make([]float64, len(x))
	q := f.newQuery(flat, len(x))
	f.blocks(q, func() func(lo, hi int) {
		votes := make([]float64, blockRows*trees)
		return func(lo, hi int) {
			f.perTree(&q, lo, hi, votes)
			for i := lo; i < hi; i++ {
				row := votes[(i-lo)*trees : (i-lo+1)*trees]
				var sum float64
				for _, v := range row {
					sum += v
				}
				mean[i] = f.mean(sum)
				center := sum / float64(trees)
				for b := range row {
					row[b] -= center
				}
				variance[i] = max(0, quadratic(gram, row))
			}
		}
	})
	return mean, variance, nil
}

// gram returns the matrix K for which the corrected variance is cᵀ·K·c, c the trees' predictions
// less their mean: with counts N, K = ((N-1)·(N-1)ᵀ - n·I)/B². So a prediction costs B² products
// instead of B·n. Only the upper triangle is set, row by row, entries off the diagonal doubled.
func (f *Forest) gram() []float64 {
	n, trees := f.train.rows, len(f.trees)
	excess := make([][]float64, trees)
	spread(f.opt.Workers, trees, func(int) func(int) {
		counts := make([]uint32, n)
		return func(b int) {
			drawCounts(treeSource(f.opt.Seed, b), counts)
			row := make([]float64, n)
			for i, c := range counts {
				row[i] = float64(c) - 1
			}
			excess[b] = row
		}
	})
	k := make([]float64, trees*trees)
	scale := 1 / (float64(trees) * float64(trees))
	spread(f.opt.Workers, trees, func(int) func(int) {
		return func(b int) {
			k[b*trees+b] = scale * (dot(excess[b], excess[b]) - float64(n))
			for a := b + 1; a < trees; a++ {
				k[b*trees+a] = scale * 2 * dot(excess[b], excess[a])
			}
		}
	})
	return k
}

// quadratic returns Σ_b Σ_{a>=b} k[b,a]·c_b·c_a.
func quadratic(k, c []float64) float64 {
	var sum float64
	for b, cb := range c {
		sum += cb * dot(k[b*len(c)+b:(b+1)*len(c)], c[b:])
	}
	return sum
}

// dot returns the inner product; four running sums let additions overlap.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += v * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}
