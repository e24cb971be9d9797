package online

import (
	"math"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Joint is a joint normal distribution of log10 of times. It covers all algorithms in some classes of one
// collective. A class is a group of calls with the same layout and similar sizes. The entries of Joint are
// the algorithms of the first class, then those of the second class, and so on. A new time updates the
// distribution by a formula, so no model is fitted again.
type Joint struct {
	mean []float64
	cov  [][]float64
}

// NewJoint returns the distribution that a Gaussian process of log10 seconds predicts for the algorithms in
// classes of one collective. The function `task` returns the number of an algorithm's task in the Gaussian
// process. Its argument i counts the distinct algorithms of the classes from 0. NewJoint takes O(entries²·n)
// operations for n observations.
func NewJoint(process *gp.GP, classes []Class, task func(a coll.Algorithm, i int) int) (*Joint, error) {
	var points []coll.Point
	var entries []gp.Entry
	number, tasks := map[coll.Algorithm]int{}, 0
	for _, class := range classes {
		for _, a := range class.Algorithms {
			if _, listed := number[a]; !listed {
				number[a] = len(number)
			}
			e := gp.Entry{Row: len(points), Task: task(a, number[a])}
			entries, tasks = append(entries, e), max(tasks, e.Task+1)
		}
		points = append(points, class.Point)
	}
	rows := preprocess.SurrogateRows(points)
	posterior, err := process.Posterior(rows, entries)
	if err != nil {
		return nil, err
	}
	all := make([]int, len(entries))
	for i := range all {
		all[i] = i
	}
	means := process.Means(rows, tasks)
	j := &Joint{mean: make([]float64, len(entries)), cov: posterior.Covariances(all, all)}
	for i, e := range entries {
		j.mean[i] = math.Ln10 * means[e.Task][e.Row]
		for k := range j.cov[i] {
			j.cov[i][k] *= math.Ln10 * math.Ln10
		}
	}
	return j, nil
}

// Observe updates the distribution by an observed logarithm of entry i. The parameter `noise` is the
// variance of the observation's noise. This is one step of a Kalman filter, and takes O(entries²)
// operations.
func (j *Joint) Observe(i int, log, noise float64) {
	total := j.Variance(i) + noise
	row := append([]float64(nil), j.cov[i]...)
	surprise := log - j.mean[i]
	for k, v := range row {
		gain := v / total
		j.mean[k] += gain * surprise
		for l, w := range row {
			j.cov[k][l] -= gain * w
		}
	}
}

// Variance returns the variance of the logarithm of entry i. It is never negative, in spite of rounding
// errors.
func (j *Joint) Variance(i int) float64 { return max(0, j.cov[i][i]) }

// Expected returns the expected time of entry i in seconds.
func (j *Joint) Expected(i int) float64 { return math.Exp(j.mean[i] + j.Variance(i)/2) }

// Quantile returns a quantile of the time of entry i in seconds. The parameter `deviations` gives the
// quantile: the median is 0, and 1 is one standard deviation of the logarithm above it.
func (j *Joint) Quantile(i int, deviations float64) float64 {
	return math.Exp(j.mean[i] + deviations*math.Sqrt(j.Variance(i)))
}

// ratio returns a quantile of the time of entry `i` divided by the time of entry `of`. The parameter
// `deviations` gives the quantile: the median is 0, and 1 is one standard deviation of the logarithm above
// it.
func (j *Joint) ratio(i, of int, deviations float64) float64 {
	variance := max(0, j.cov[i][i]+j.cov[of][of]-2*j.cov[i][of])
	return math.Exp(j.mean[i] - j.mean[of] + deviations*math.Sqrt(variance))
}
