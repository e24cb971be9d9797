// Package gp is multi-task Gaussian-process regression: rows of numbers and their targets in,
// posterior means and variances out.
//
// [GP] models several related functions, called tasks, and several sources of observations (Bonilla,
// Chai and Williams, Multi-task Gaussian Process Prediction, NIPS 2007; Kennedy and O'Hagan,
// Biometrika 87, 2000). An observation of one task at a row informs about the other tasks there.
// With one task it is ordinary Gaussian-process regression (Rasmussen and Williams, Gaussian
// Processes for ML, 2006, chapter 2).
//
// [Learn] learns length scales and variances by maximising the log marginal likelihood under
// log-normal priors, with analytic gradients. [New] conditions a GP on observations, [Fit] does
// both. A [Posterior] has means and covariances of entries: tasks at rows. Everything returned is in
// the units of the targets.
//
// # Batches
//
// [Posterior.Condition] makes an entry pending: it counts as observed, although its value is
// unknown. Variances do not depend on the value. A batch is selected by taking the entry of greatest
// variance and conditioning on it, one after the other.
//
// # Numbers
//
// Cubic computations use blocks of 48 rows and one kernel of 4×3 dot products. The kernel is in
// assembly for processors with fused multiply-add and in Go for others; the two differ in the last
// bits. Everything runs on one core.
//
// # Use
//
//	g, err := gp.Fit(observations, gp.Options{Length: lengths, Noise: noise})
//	posterior, err := g.Posterior(rows, candidates)
//	for range 8 { // a batch of eight
//		pick := greatestVariance(posterior)
//		batch = append(batch, candidates[pick])
//		posterior.Condition(pick)
//	}
package gp
