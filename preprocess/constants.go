package preprocess

// The constants of noise and features. Those without a source are our choice. The command `tutti-lab
// constants` measures the effect of halving and doubling them.

// MeasurementNoise is the variance of log10 of a time that has a standard deviation of 2 %: (0.02 / ln
// 10)². On shared clusters the medians of repeated jobs differ by at least this much.
const MeasurementNoise = 7.5e-5

const (
	noisePrior = 2.0 // weight of MeasurementNoise, as a number of replicates
	noiseWidth = 4.0 // distance in doublings of the message size at which the weight of a replicate is 1/e
)

// OutlierSigma is a number of standard deviations. A time that exceeds the expected time by more is an
// outlier.
const OutlierSigma = 4.0

// Far is a distance between two points, in doublings of nodes, processes per node (ppn) and bytes. It is
// Euclidean. A call at this distance or farther counts as far from the grid.
const Far = 2.0
