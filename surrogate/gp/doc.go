// Package gp is multi-task Gaussian-process regression: it turns rows of numbers and their targets
// into posterior means and variances.
//
// [GP] models several related functions, called tasks, and several sources of observations
// (Bonilla, Chai and Williams, Multi-task Gaussian Process Prediction, NIPS 2007; Kennedy and
// O'Hagan, Biometrika 87, 2000). An observation of one task at a row is informative about the other
// tasks there. With a single task it is ordinary Gaussian-process regression (Rasmussen and
// Williams, Gaussian Processes for ML, 2006, chapter 2).
//
// [Learn] learns length scales and variances by maximizing the log marginal likelihood under
// log-normal priors, with analytic gradients. [New] conditions a GP on observations. A [Posterior]
// has means and covariances of entries; an entry is a task at a row. All results are in the units
// of the targets.
//
// # Batches
//
// [Posterior.Condition] makes an entry pending: it counts as observed, although its value is
// unknown. Variances do not depend on the value. A batch is selected step by step: each step takes
// the entry of greatest variance and conditions on it.
//
// # Numbers
//
// Cubic computations use blocks of 48 rows and one kernel of 4×3 dot products. The kernel is in
// assembly for processors with fused multiply-add and in Go for others; the two differ in the last
// bits. Everything runs on one core.
//
// # Use
//
//	params, err := gp.Learn(observations, gp.Options{Length: lengths, Noise: noise})
//	g, err := gp.New(params, observations)
//	posterior, err := g.Posterior(rows, candidates)
//	for range 8 { // a batch of eight
//		pick := greatestVariance(posterior)
//		batch = append(batch, candidates[pick])
//		posterior.Condition(pick)
//	}
package gp
