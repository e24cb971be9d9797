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

// OutlierSigma is the number of standard deviations by which the time of an outlier exceeds the expected time.
const OutlierSigma = 4.0

// Far is the distance from which on a call counts as far from a point of the grid. Distances are Euclidean, in
// doublings of nodes, processes per node (ppn) and bytes.
const Far = 2.0
