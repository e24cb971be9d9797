package online

import (
	"math"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Joint is a joint normal distribution of the logarithms of the seconds that the algorithms of
// some classes of a collective take. Entries are the algorithms of each class, one
// class after the other. New times change it by a formula, without a new fit.
type Joint struct {
	mean []float64
	cov  [][]float64
}

// NewJoint returns what a Gaussian process of log10 seconds predicts of the algorithms of
// classes of one collective. task returns the task of an algorithm, given how many other ones
// the classes name before it. O(entries²·n) operations for n observations.
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

// Observe conditions the distribution on a logarithm of entry i, observed with noise of the given
// variance: one step of a Kalman filter. O(entries²) operations.
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

// Variance returns the variance of the logarithm of entry i, at least 0 in spite of rounding.
func (j *Joint) Variance(i int) float64 { return max(0, j.cov[i][i]) }

// Expected returns the mean of the time of entry i, in seconds.
func (j *Joint) Expected(i int) float64 { return math.Exp(j.mean[i] + j.Variance(i)/2) }

// Quantile returns the time of entry i that lies so many standard deviations above its
// median, in seconds.
func (j *Joint) Quantile(i int, deviations float64) float64 {
	return math.Exp(j.mean[i] + deviations*math.Sqrt(j.Variance(i)))
}

// ratio returns the time of entry i over that of entry of, so many standard deviations of the
// logarithm of that ratio above its median.
func (j *Joint) ratio(i, of int, deviations float64) float64 {
	variance := max(0, j.cov[i][i]+j.cov[of][of]-2*j.cov[i][of])
	return math.Exp(j.mean[i] - j.mean[of] + deviations*math.Sqrt(variance))
}
