package gp

// The constants of the Gaussian process. Those without a source are our choice. tutti-lab constants measures
// what halving and doubling them changes.

// variancePrior is a log-normal prior of a variance, together with the bounds of the search for it. The
// values are relative to the variance of the targets, sd is that of the natural logarithm.
type variancePrior struct{ median, sd, low, high float64 }

// priorSD is the standard deviation of most priors. It corresponds to a factor of 4.5.
const priorSD = 1.5

// ownPrior is the prior of a task's own part, which has 5 % of the variance.
var ownPrior = variancePrior{0.05, priorSD, 1e-5, 1e2}

// changePrior is the prior of each variance between sources. Its median corresponds to a change of 1 % of
// the targets' standard deviation.
var changePrior = variancePrior{1e-4, 2, 1e-7, 1e2}

// variancePriors holds the priors in the order of Params.variances. The common part has most of the variance.
var variancePriors = []variancePrior{
	{1, priorSD, 1e-3, 1e3}, // common
	ownPrior,                // own
	ownPrior,                // level
	{changePrior.median, changePrior.sd, changePrior.low, 1}, // shared
	{3e-4, priorSD, 1e-6, 1},                                 // rough
}

// jobPrior is the prior of the variance between jobs, relative to the measurement noise.
var jobPrior = variancePrior{0.1, 2, 1e-3, 1e4}

const (
	jobStart          = 10.0 // start for the variance between jobs, relative to the noise; a small one may stay a local optimum
	lengthSD          = 1.0  // of the prior of the logarithm of a length scale: a factor of 2.7
	lengthMax         = 4.0  // greatest difference of the logarithm from its median
	minNoise          = 1e-6 // of the variance of the targets; less would leave the matrix singular
	maxEvals          = 40   // of the likelihood
	gradientTolerance = 1e-3 // nats for a factor e in a hyperparameter: norm at which the search ends
	valueTolerance    = 1e-2 // nats that two iterations must gain; less does not matter for predictions
	valueIterations   = 2    // iterations that must gain valueTolerance
	firstObservations = 80   // size of a sample that is searched first, where evaluations are cheap
	maxLearned        = 240  // greatest size of the sample to learn from; more cost n³ and change little
	boundWeight       = 100  // nats: penalty at the distance 1 outside a bound; it grows with the square of the distance
)
