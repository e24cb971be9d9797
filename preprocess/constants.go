package preprocess

// The constants of noise and features. Those without a source are our choice. tutti-lab constants measures
// what halving and doubling them changes.

// MeasurementNoise is the variance of log10 of a time that has a standard deviation of 2 %: (0.02 / ln
// 10)². On shared clusters the medians of repeated jobs differ by at least this much.
const MeasurementNoise = 7.5e-5

const (
	noisePrior = 2.0 // replicates: weight of MeasurementNoise
	noiseWidth = 4.0 // doublings of the size: distance at which the weight of a replicate is 1/e
)

// OutlierSigma is a number of standard deviations. An outlier exceeds the expected time by more.
const OutlierSigma = 4.0

// Far is a distance between two points in doublings. It is the Euclidean distance over nodes, ppn and
// bytes. A call at this distance or more counts as far from the grid.
const Far = 2.0
