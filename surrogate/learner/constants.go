package learner

// The constants of the posterior over algorithms. Those without a source are our choice. The command
// `tutti-lab constants` measures the effect of halving and doubling them.
const (
	// maxObservations is the largest number of observations that a posterior uses, since the cost is cubic.
	// If there are more, it uses the observations at an evenly distributed sample of the points.
	maxObservations = 1500
	// minJobShare is the smallest variance between jobs that is used, as a fraction of preprocess.MeasurementNoise. A
	// smaller one would change little and cost time.
	minJobShare = 0.25
	// Hyperparameters are learned after each of the first relearnFirst measurements, and later whenever the number of
	// measurements has grown by 1/relearnGrowth. They hardly change in between.
	relearnGrowth = 7
	relearnFirst  = 32

	// The prior of the Gaussian process, see GPOptions.

	// layoutLength is the length scale of nodes and processes per node, bytesLength that of message sizes. The unit
	// is a doubling.
	layoutLength = 4.0
	bytesLength  = 6.0
	// mostSteps is the largest fraction of each algorithm's own variance that step functions may explain. Their steps
	// stand for the thresholds at which libraries switch protocols and algorithms. mostSplit is the largest fraction
	// that may be independent between message sizes: the time at one size may differ from those at both neighbors.
	mostSteps = 0.5
	mostSplit = 0.1

	// A measurement counts as noisy if the variance of log10 of its time is more than noisyFactor times
	// preprocess.MeasurementNoise: 6 % of the time. The fastest of several noisy measurements is often fast by chance.
	noisyFactor = 9
	// trustedSigma limits the difference between a noisy measurement and the posterior mean, in standard
	// deviations of the noise. If the difference is greater, the Gaussian process cannot explain the
	// measurement, and the measured time replaces the prediction.
	trustedSigma = 3

	// tieSigma is the largest difference between the times of two algorithms that counts as a tie, in standard deviations
	// of the difference between two measurements with the noise preprocess.MeasurementNoise.
	tieSigma = 2
	// blockPoints is the number of points whose posterior is kept in memory at the same time.
	blockPoints = 128
	// rivalTieBreak is the weight of the predicted difference in time when the rival of the choice is selected. It only
	// matters if no algorithm has an expected loss. The rival is then the algorithm with the closest time.
	rivalTieBreak = 1e-6

	// The distribution of prediction errors, see ErrorModel.

	// maxErrorScale is the largest scale of an error model. The smallest scale is its reciprocal.
	maxErrorScale = 4.0
	// minFreedom and maxFreedom limit the degrees of freedom of Student's t. With 2 degrees its variance is
	// infinite. With 16 it is nearly normal.
	minFreedom = 2.0
	maxFreedom = 16.0
	// forgetting is the factor by which the weight of a measurement in the scores falls with each further
	// measurement. Old measurements matter less, because errors change as a model learns. The value is that
	// of Raftery, Kárný and Ettler, Technometrics 52 (2010).
	forgetting = 0.99
	// maxScored limits the number of measurements that one call of Score uses. The weight of those before them
	// would be at most forgetting^maxScored, which is 4e-5.
	maxScored = 1000
)

// stepShares lists, in descending order, the factors by which mostSteps and mostSplit can be multiplied.
// Each posterior chooses one of them; see learnSteps. The values are our choice.
var stepShares = []float64{1, 0.3, 0.1, 0}
