package learner

// The constants of the posterior over algorithms. Those without a source are our choice. tutti-lab constants
// measures what halving and doubling them changes.
const (
	// maxObservations is the largest number of observations that a posterior uses, since the cost is cubic.
	// If there are more, it uses those at an evenly distributed sample of the points.
	maxObservations = 1500
	// A learned variance between jobs is set to 0 if it is below this fraction of
	// preprocess.MeasurementNoise. Such a variance would change little and cost time.
	minJobShare = 0.25
	// Up to 32 measurements, hyperparameters are learned after every measurement. After that they are
	// learned whenever the number of measurements has grown by a seventh, since they hardly change in
	// between. These numbers are our choice.
	relearnGrowth = 7
	relearnFirst  = 32

	// A measurement counts as noisy if its variance exceeds preprocess.MeasurementNoise by this factor. Its
	// standard deviation is then more than 6 % of the time. The fastest of several noisy measurements is
	// often fast by chance.
	noisyFactor = 9
	// A noisy measurement is trusted if it differs from the posterior mean by more than this many standard
	// deviations of its noise. The Gaussian process then cannot explain it.
	trustedSigma = 3

	// tieSigma is the largest Gap that counts as a tie. Its unit is the standard deviation of the
	// difference between two measurements with preprocess.MeasurementNoise.
	tieSigma = 2
	// blockPoints is the number of points whose posterior is kept in memory at the same time.
	blockPoints = 128
	// rivalTieBreak selects the rival with the smallest gap if no rival has an expected loss.
	rivalTieBreak = 1e-6

	// The distribution of errors, see ErrorModel.

	// maxErrorScale is the largest scale of an error model. Its reciprocal is the smallest.
	maxErrorScale = 4.0
	// minFreedom and maxFreedom limit the degrees of freedom. Student's t with 2 has an infinite variance,
	// with 16 it is nearly normal.
	minFreedom = 2.0
	maxFreedom = 16.0
	// forgetting is the factor by which the score of a measurement falls with each further measurement. Errors
	// change as a model learns. The value is that of Raftery, Kárný and Ettler, Technometrics 52 (2010).
	forgetting = 0.99
)

// stepShares are the shares of Prior.Steps and Prior.Split among which a posterior chooses, in descending order.
// They are our choice: half decades, and none.
var stepShares = []float64{1, 0.3, 0.1, 0}
