// Package gp is Gaussian-process regression: rows of numbers and their targets in, posterior
// mean and variance out.
//
// The model is y = mean + f(x) + noise with constant mean, f a Gaussian process of covariance
// [Matern52] or [RBF] with one length scale per column, and independent normal noise. Fit learns
// length scales, signal and noise variance by maximising the log marginal likelihood, with
// analytic gradients, from several seeded starts; With takes them as given. Everything returned
// is in the units of the targets given.
//
// Two things make it fit for choosing what to observe next. [GP.Append] conditions a model on
// one more row in O(n²), and a [Pool] keeps the mean and variance of a fixed set of candidates
// up to date at O(n·m) per appended row. [Pool.Condition] does the same for a row that is asked
// for but not yet observed: the variance does not depend on the value, so a batch is picked by
// taking the candidate of greatest variance and conditioning on it, again and again, until
// [Pool.Reset].
//
// # Symbols
//
// n rows, m candidates, d columns; K the covariance of the rows with the noise on its diagonal;
// L its lower Cholesky factor; k the covariances of a candidate with the rows; v = L⁻¹k and
// z = L⁻¹(y - mean), so that a candidate's mean is mean + vᵀz and its variance signal - vᵀv.
//
// # Numbers
//
// Cubic work runs in blocks of 48 rows on one kernel of 4×3 dot products, in assembly where the
// processor has fused multiply-add and in Go elsewhere; the two differ in the last bits. One
// core does everything. A fit stops when no derivative exceeds 1e-4 or four iterations gained
// less than 1e-6 nats together; differences below 0.01 nats mean nothing for a model's choice.
//
// # Use
//
//	g, err := gp.Fit(x, y, gp.Options{})
//	pool, err := g.NewPool(candidates)
//	for range 8 { // a batch of eight
//		i := floats.MaxIdx(pool.Variance())
//		batch = append(batch, i)
//		err = pool.Condition(i)
//	}
//	pool.Reset()
//	for _, i := range batch {
//		err = g.Append(candidates[i], observe(candidates[i]))
//	}
//	mean, variance := pool.Mean(), pool.Variance() // up to date
package gp
