package online

import (
	"math"

	"tutti/surrogate/gp"
)

// joint is a normal distribution of the logarithms of times of every class and algorithm of
// a collective: what a table could carry into a run, where each call changes it by a
// formula. Units are natural logarithms of seconds.
type joint struct {
	mean []float64
	cov  [][]float64
}

// newJoint returns what a Gaussian process of log10 seconds says of entries, tasks of the
// rows. O(entries²·n) operations for n observations.
func newJoint(process *gp.GP, rows [][]float64, entries []gp.Entry) (*joint, error) {
	posterior, err := process.Posterior(rows, entries)
	if err != nil {
		return nil, err
	}
	tasks, all := 0, make([]int, len(entries))
	for i, e := range entries {
		tasks = max(tasks, e.Task+1)
		all[i] = i
	}
	means := process.Means(rows, tasks)
	j := &joint{mean: make([]float64, len(entries)), cov: posterior.Covariances(all, all)}
	for i, e := range entries {
		j.mean[i] = math.Ln10 * means[e.Task][e.Row]
		for k := range j.cov[i] {
			j.cov[i][k] *= math.Ln10 * math.Ln10
		}
	}
	return j, nil
}

// observe takes log seconds of entry i with noise of some variance into account: a step of
// a Kalman filter. O(entries²) operations.
func (j *joint) observe(i int, log, noise float64) {
	total := j.variance(i) + noise
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

// variance of entry i; rounding may leave it below zero in cov.
func (j *joint) variance(i int) float64 { return max(0, j.cov[i][i]) }

// expected returns the mean of the time itself, in seconds.
func (j *joint) expected(i int) float64 { return math.Exp(j.mean[i] + j.variance(i)/2) }

// at returns the time that so many deviations above the median have, in seconds.
func (j *joint) at(i int, deviations float64) float64 {
	return math.Exp(j.mean[i] + deviations*math.Sqrt(j.variance(i)))
}

// times returns how many times what entry of takes entry i takes, so many deviations above the
// median.
func (j *joint) times(i, of int, deviations float64) float64 {
	variance := max(0, j.cov[i][i]+j.cov[of][of]-2*j.cov[i][of])
	return math.Exp(j.mean[i] - j.mean[of] + deviations*math.Sqrt(variance))
}

// forget makes room for a change: entries from to to, without to, may have changed together
// by a normal number of variance together, and entry i by one of variance alone.
func (j *joint) forget(from, to, i int, together, alone float64) {
	for k := from; k < to; k++ {
		for l := from; l < to; l++ {
			j.cov[k][l] += together
		}
	}
	j.cov[i][i] += alone
}

// gain returns by how many seconds a call is expected to become faster when entry i has been
// timed once more, best being the least expected time of the other entries: the expectation
// of the positive part of what separates the two, on the side that would change the choice.
// The new mean is lognormal, so that this is Black and Scholes's formula.
//
// Source: Frazier, Powell and Dayanik, The knowledge-gradient policy for correlated normal
// beliefs (INFORMS Journal on Computing 21, 2009), for one entry at a time.
func (j *joint) gain(i int, best, noise float64) float64 {
	return gainOf(j.expected(i), j.variance(i), best, noise)
}

// farGain is gain with deviations tailScale times as large around the same median.
func (j *joint) farGain(i int, best, noise float64) float64 {
	v := tailScale * tailScale * j.variance(i)
	return gainOf(math.Exp(j.mean[i]+v/2), v, best, noise)
}

// gainOf is gain for an expected time and the variance of its logarithm.
func gainOf(now, v, best, noise float64) float64 {
	if v == 0 {
		return 0
	}
	deviation := v / math.Sqrt(v+noise)
	d := (math.Log(best/now) + deviation*deviation/2) / deviation
	put := best*normalCDF(d) - now*normalCDF(d-deviation)
	if now <= best { // it is the choice: what matters is that it turns out slower
		put += now - best
	}
	return max(0, put)
}

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
