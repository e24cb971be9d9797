package gp

// The constants of the Gaussian process. Those without a source are our choice. The command `tutti-lab
// constants` measures the effect of halving and doubling them.

// variancePrior is a log-normal prior of a variance, together with the bounds of the search for this
// variance. The median and the bounds are relative to the variance of the targets. The field `sd` is the
// standard deviation of the natural logarithm.
type variancePrior struct{ median, sd, low, high float64 }

// priorSD is the standard deviation in most priors, in natural logarithms. One standard deviation is a factor of 4.5.
const priorSD = 1.5

// ownPrior is the prior of the variance of a task's own function. The median is 5 % of the targets'
// variance.
var ownPrior = variancePrior{0.05, priorSD, 1e-5, 1e2}

// changePrior is the prior of each variance that describes how another source, for example an earlier
// campaign, differs from this one. Its median stands for a difference of 1 % of the targets' standard
// deviation.
var changePrior = variancePrior{1e-4, 2, 1e-7, 1e2}

// variancePriors holds the priors in the order of Params.variances. Most of the variance is expected in the
// function that all tasks have in common.
var variancePriors = []variancePrior{
	{1, priorSD, 1e-3, 1e3}, // common
	ownPrior,                // own
	ownPrior,                // level
	{changePrior.median, changePrior.sd, changePrior.low, 1}, // shared
	{3e-4, priorSD, 1e-6, 1},                                 // rough
}

// jobPrior is the prior of the variance between jobs. A slow job shifts all its observations by the same
// amount. The unit is the variance of the measurement noise.
var jobPrior = variancePrior{0.1, 2, 1e-3, 1e4}

const (
	jobStart          = 10.0 // start of the search for the variance between jobs, relative to the noise; from a small start, the search may end in a local optimum
	lengthSD          = 1.0  // standard deviation of the logarithm of a length scale: a factor of 2.7
	lengthMax         = 4.0  // greatest difference between the logarithm of a length scale and its median
	minNoise          = 1e-6 // relative to the variance of the targets; with less noise, the matrix could be singular
	maxEvals          = 40   // of the likelihood
	gradientTolerance = 1e-3 // the search ends at this norm of the gradient, in nats for a factor e in a hyperparameter
	valueTolerance    = 1e-2 // smallest gain in nats of valueIterations iterations; a smaller gain does not matter for predictions
	valueIterations   = 2    // number of iterations that together must gain valueTolerance
	firstObservations = 80   // size of a sample that is searched first, because its evaluations are cheap
	maxLearned        = 240  // greatest size of the sample to learn from; the cost is cubic in it, and more observations change little
	boundWeight       = 100  // penalty in nats at the distance 1 outside a bound; it grows with the square of the distance
)
