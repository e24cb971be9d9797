package forest

import "fmt"

// PredictVariance returns the mean of all trees at each row of x and the variance of that mean over
// training sets drawn from the same distribution.
//
// The variance is the infinitesimal jackknife with the correction for a finite number of trees,
//
//	Σ_i cov_i² - n/B²·Σ_b (t_b - mean)²,   cov_i = 1/B·Σ_b (N_bi - 1)·(t_b - mean),
//
// for n training rows and B trees. t_b is the prediction of tree b, and N_bi is how often the sample of
// tree b contains row i. The variance is in squared units of the targets and does not include the noise of
// a new measurement. If the trees nearly agree, the estimate may be negative and is returned as 0. With
// fewer trees than rows the estimate is noisy: use it to compare rows only.
//
// It returns ErrNoBootstrap for a forest without bootstrap, otherwise the errors of Predict. In addition to
// the time of Predict, each call takes O(q·B²) time, and the first call O(B²·n) time more.
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
			row := func(i int) []float64 {
				i = min(i, hi-1) // an incomplete last group repeats its last row
				return votes[(i-lo)*trees : (i-lo+1)*trees]
			}
			for i := lo; i < hi; i++ {
				mean[i] = f.mean(center(row(i)))
			}
			for i := lo; i < hi; i += 4 {
				for j, v := range quadratic4(gram, row(i), row(i+1), row(i+2), row(i+3)) {
					variance[min(i+j, hi-1)] = max(0, v)
				}
			}
		}
	})
	return mean, variance, nil
}

// gram returns the matrix K = ((N-1)·(N-1)ᵀ - n·I)/B² of the counts N. The corrected variance is cᵀ·K·c,
// where c holds the predictions of the trees minus their mean. One variance thus costs B² products instead
// of B·n. The result has only the upper triangle of K, row by row. Its off-diagonal entries are doubled.
func (f *Forest) gram() []float64 {
	n, trees := f.train.rows, len(f.trees)
	excess := make([][]float64, trees)
	parallel(f.opt.Workers, trees, func(int) func(int) {
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
	parallel(f.opt.Workers, trees, func(int) func(int) {
		return func(b int) {
			k[b*trees+b] = scale * (dot(excess[b], excess[b]) - float64(n))
			for a := b + 1; a < trees; a++ {
				k[b*trees+a] = scale * 2 * dot(excess[b], excess[a])
			}
		}
	})
	return k
}

// center subtracts the mean of a row from all its numbers. It returns the sum of the original numbers.
func center(row []float64) float64 {
	var sum float64
	for _, v := range row {
		sum += v
	}
	mean := sum / float64(len(row))
	for b := range row {
		row[b] -= mean
	}
	return sum
}

// quadratic4 returns Σ_b Σ_{a>=b} k[b,a]·c_b·c_a for four vectors c. It loads each element of k only once.
// With two partial sums for each vector, the processor can overlap additions.
func quadratic4(k, c0, c1, c2, c3 []float64) (sum [4]float64) {
	n := len(c0)
	for b := range n {
		row := k[b*n+b : (b+1)*n]
		x0, x1, x2, x3 := c0[b:][:len(row)], c1[b:][:len(row)], c2[b:][:len(row)], c3[b:][:len(row)]
		var s0, s1, s2, s3, t0, t1, t2, t3 float64
		i := 0
		for ; i+1 < len(row); i += 2 {
			u, v := row[i], row[i+1]
			s0 += u * x0[i]
			t0 += v * x0[i+1]
			s1 += u * x1[i]
			t1 += v * x1[i+1]
			s2 += u * x2[i]
			t2 += v * x2[i+1]
			s3 += u * x3[i]
			t3 += v * x3[i+1]
		}
		if i < len(row) {
			s0 += row[i] * x0[i]
			s1 += row[i] * x1[i]
			s2 += row[i] * x2[i]
			s3 += row[i] * x3[i]
		}
		sum[0] += c0[b] * (s0 + t0)
		sum[1] += c1[b] * (s1 + t1)
		sum[2] += c2[b] * (s2 + t2)
		sum[3] += c3[b] * (s3 + t3)
	}
	return sum
}

// dot returns the inner product of two vectors. With four partial sums, the processor can overlap
// additions.
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
