// Package gp is Gaussian-process regression: rows of numbers and their targets in, posterior
// mean and variance out. It has two models.
//
// [GP] is of one function: y = mean + f(x) + noise with a constant mean, f a Gaussian process
// of Matérn-5/2 covariance with one length scale for each column, and independent normal noise
// (Rasmussen and Williams, Gaussian Processes for ML, 2006, chapters 2 and 5).
//
// [GP] is of several related functions, called tasks, and of several sources of observations
// (Bonilla, Chai and Williams, GP-task Gaussian Process Prediction, NIPS 2007; Kennedy and
// O'Hagan, Biometrika 87, 2000): what one task shows at a row tells of the others there. What a job
// does to all of its observations is told from what tasks and rows do. Its [Posterior] gives
// covariances between tasks at rows.
//
// [Fit] and [Fit] learn length scales and variances by maximising the log marginal
// likelihood, with analytic gradients, under log-normal priors. Everything returned is in the
// units of the targets given.
//
// # What to observe next
//
// [GP.Append] conditions a model on one more row in O(n²), and a [Pool] keeps the mean and
// variance of a fixed set of candidates up to date at O(n·m) for each appended row.
// [Pool.Condition] and [Posterior.Condition] do the same for an observation that is asked for
// but not yet made: variances do not depend on its value. So a batch is picked by taking the
// candidate of greatest variance and conditioning on it, again and again.
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
// core does everything. Fit stops when no derivative exceeds 1e-4 or four iterations gained
// less than 1e-6 nats together, Fit at 1e-3, or two iterations and 1e-2 nats; differences
// below 0.01 nats mean nothing for a model's choice.
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
