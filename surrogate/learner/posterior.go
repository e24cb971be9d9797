package learner

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Posterior is the Gaussian-process posterior of log10 of the times, in seconds, of all algorithms; see
// gp.GP. The same posterior selects the candidates to measure, predicts how good the choices are, and
// selects the algorithms. It is safe for concurrent use.
type Posterior struct {
	prior      Prior
	algorithms []coll.Algorithm // algorithms with a measurement, sorted by coll.CompareAlgorithms
	obs        gp.Observations
	learned    int // params were learned from this number of measurements, the first ones
	noise      preprocess.Noise
	params     gp.Params
	gaussian   *gp.GP
}

// EmptyPosterior returns a posterior without measurements. Its method Update adds measurements. If prior is
// nil, the prior is DefaultPrior.
func EmptyPosterior(prior *Prior) *Posterior {
	return &Posterior{prior: Options{Prior: prior}.prior()}
}

// NewPosterior returns the posterior given the data, with the default prior. The result depends only on the
// data. The hyperparameters are learned from the first measurements; see learnedPrefix. It takes O(n³)
// operations for n measurements.
func NewPosterior(d Data) (*Posterior, error) { return EmptyPosterior(nil).Update(d) }

// Update returns the posterior given the data d, with the prior of p. The result is the same as that of a
// new posterior. Update costs less if d has the same earlier campaigns as p and begins with the measurements
// of p.
func (p *Posterior) Update(d Data) (*Posterior, error) {
	next := &Posterior{prior: p.prior, learned: learnedPrefix(len(d.Measurements))}
	next.noise = noiseKnownAt(next.learned, d.Replicates)
	if err := next.follow(p, d); err != nil {
		return nil, fmt.Errorf("posterior of %d measurements: %w", len(d.Measurements), err)
	}
	return next, nil
}

// follow computes the posterior given d. It reuses the parts of the previous posterior that have not
// changed.
func (p *Posterior) follow(previous *Posterior, d Data) (err error) {
	p.observe(d)
	sameParams := previous.gaussian != nil && previous.learned == p.learned && previous.learnedFrom(d.Measurements)
	if sameParams {
		p.params = previous.params
	} else if err = p.learn(d); err != nil {
		return err
	}
	p.noise = p.noise.WithJob(p.params.Job)
	if sameParams && reflect.DeepEqual(p.obs, previous.obs) { // for example after a replicate that changed no time
		p.gaussian = previous.gaussian
		return nil
	}
	p.gaussian, err = gp.New(p.params, p.obs.Sample(maxObservations))
	return err
}

// learnedFrom reports whether p.params were learned from the first measurements of `ms`. It returns false if
// a replicate has since changed the time of one of these measurements.
func (p *Posterior) learnedFrom(ms []coll.Measurement) bool {
	for j, m := range ms[:p.learned] {
		if math.Log10(m.Seconds) != p.obs.Y[j] {
			return false
		}
	}
	return true
}

// noiseKnownAt returns the noise estimated from the replicates made before the n-th measurement.
// Hyperparameters that are learned from the first n measurements must not depend on later replicates.
func noiseKnownAt(n int, replicates []preprocess.Replicate) preprocess.Noise {
	known := 0
	for known < len(replicates) && replicates[known].Seen < n {
		known++
	}
	return preprocess.NoiseOf(replicates[:known])
}

// learnedPrefix returns how many of n measurements, starting with the first one, are used to learn
// hyperparameters.
func learnedPrefix(n int) int {
	prefix := min(n, relearnFirst)
	for next := prefix; next <= n; next += max(1, next/relearnGrowth) {
		prefix = next
	}
	return prefix
}

// observe converts the measurements in d into the observations of p.
func (p *Posterior) observe(d Data) {
	for _, measured := range append([][]coll.Measurement{d.Measurements}, d.Earlier...) {
		for _, m := range measured {
			p.algorithms = append(p.algorithms, m.Algorithm)
		}
	}
	slices.SortFunc(p.algorithms, coll.CompareAlgorithms)
	p.algorithms = slices.Compact(p.algorithms)
	p.obs = p.observations(d.Measurements, d.Earlier)
}

// learn learns the hyperparameters from the first measurements in d.
func (p *Posterior) learn(d Data) (err error) {
	first := p.observations(d.Measurements[:p.learned], d.Earlier).Sample(maxObservations)
	if p.params, err = gp.Learn(first, p.prior.Options()); err != nil {
		return err
	}
	if p.params.Job < minJobShare*preprocess.MeasurementNoise {
		p.params.Job = 0
	}
	return p.learnSteps(first)
}

// learnSteps sets the parameters Steps and Split to a share of their values in the prior (see stepShares).
// Each share is scored by how well it predicts each observation from all others; see leaveOneOut. Some shares
// have scores within one standard error of the best one. Of these, the greatest is chosen, because greater
// shares make predictions less certain.
//
// Source: the one-standard-error rule of Breiman, Friedman, Olshen and Stone, Classification and Regression
// Trees (1984), section 3.4.3.
func (p *Posterior) learnSteps(obs gp.Observations) error {
	densities, scores := make([][]float64, len(stepShares)), make([]float64, len(stepShares))
	for k, share := range stepShares {
		p.params.Steps, p.params.Split = share*p.prior.Steps, share*p.prior.Split
		m, err := gp.New(p.params, obs)
		if err != nil {
			return err
		}
		densities[k] = leaveOneOut(m, len(obs.Y))
		scores[k] = floats.Sum(densities[k])
	}
	best := floats.MaxIdx(scores)
	greatest := slices.IndexFunc(densities, func(of []float64) bool {
		lost := floats.SubTo(make([]float64, len(of)), densities[best], of)
		return floats.Sum(lost) <= math.Sqrt(float64(len(lost)))*stat.StdDev(lost, nil)
	})
	if greatest < 0 { // a single observation has no standard error
		greatest = best
	}
	p.params.Steps, p.params.Split = stepShares[greatest]*p.prior.Steps, stepShares[greatest]*p.prior.Split
	return nil
}

// observations converts measurements into observations of the Gaussian process. Its tasks are the algorithms
// of p.
func (p *Posterior) observations(ms []coll.Measurement, earlier [][]coll.Measurement) gp.Observations {
	index := make(map[coll.Algorithm]int, len(p.algorithms))
	for a, alg := range p.algorithms {
		index[alg] = a
	}
	return Observations(ms, index, p.noise, earlier...)
}

// Noise returns the noise of the measurements, as it is estimated from replicates.
func (p *Posterior) Noise() preprocess.Noise { return p.noise }

// GP returns the Gaussian process from which the posterior is computed. The method Task returns the number
// of an algorithm's task in it.
func (p *Posterior) GP() *gp.GP { return p.gaussian }

// LOOResiduals returns the standardized leave-one-out residuals of the measurements with indices first to
// end-1. A residual is log10 of the time minus its prediction from all other measurements, divided by its
// standard deviation. If the posterior does not use a measurement (see maxObservations), the residual is 0.
func (p *Posterior) LOOResiduals(first, end int) []float64 {
	var some, at []int
	for k, j := range p.obs.SampleIndices(maxObservations) { // the sample of the process
		if j >= first && j < end {
			some, at = append(some, k), append(at, j-first)
		}
	}
	out := make([]float64, end-first)
	residuals, deviations := p.gaussian.LOOResiduals(some)
	for i, r := range residuals {
		out[at[i]] = r / deviations[i]
	}
	return out
}

// Knows reports whether an algorithm has a measurement.
func (p *Posterior) Knows(alg coll.Algorithm) bool {
	_, known := slices.BinarySearchFunc(p.algorithms, alg, coll.CompareAlgorithms)
	return known
}

// Task returns the number of an algorithm's task in the Gaussian process. Each algorithm without
// measurements gets its own task, which has no observations. The parameter `i` numbers these algorithms.
func (p *Posterior) Task(alg coll.Algorithm, i int) int {
	if at, known := slices.BinarySearchFunc(p.algorithms, alg, coll.CompareAlgorithms); known {
		return at
	}
	return len(p.algorithms) + i
}

// Prior holds the settings of the Gaussian process that are not learned from measurements. Campaigns use
// DefaultPrior. Experiments also use other values.
type Prior struct {
	Lengths float64 // factor of LengthScales
	// Steps is the greatest fraction of each algorithm's own variance that is a step function. It allows for
	// thresholds at which libraries switch protocols and algorithms.
	Steps float64
	// Split is the greatest fraction of each algorithm's own variance that is independent between message
	// sizes. Protocols switch at sizes, so the time at one size may differ from the times at both
	// neighboring sizes.
	Split float64
}

// DefaultPrior returns the prior that campaigns use.
func DefaultPrior() Prior { return Prior{Lengths: 1, Steps: mostSteps, Split: mostSplit} }

// Validate returns an error if a number is outside its allowed range.
func (p Prior) Validate() error {
	if !(p.Lengths > 0) || math.IsInf(p.Lengths, 0) {
		return fmt.Errorf("lengths %g: want a number above 0", p.Lengths)
	}
	if !(p.Steps >= 0 && p.Steps <= 1) {
		return fmt.Errorf("steps %g: want a number from 0 to 1", p.Steps)
	}
	if !(p.Split >= 0 && p.Split <= 1) {
		return fmt.Errorf("split %g: want a number from 0 to 1", p.Split)
	}
	return nil
}

// Options returns the options of a Gaussian process over preprocess.SurrogateRows.
func (p Prior) Options() gp.Options {
	length := LengthScales()
	for i := range length {
		length[i] *= p.Lengths
	}
	return gp.Options{
		Length: length, Steps: p.Steps, Split: p.Split, SplitColumn: preprocess.BytesColumn, Noise: preprocess.MeasurementNoise,
	}
}

// LengthScales returns the prior length scale of each column of preprocess.SurrogateRows, in doublings. The last
// column says whether the number of ranks is a power of two. Its scale is long, since times at powers of two
// mostly agree with times in between.
func LengthScales() []float64 {
	return []float64{layoutLength, layoutLength, bytesLength, bytesLength}
}

// Observations converts measurements into observations of a Gaussian process. A target is log10 of the
// seconds, a row is the result of preprocess.SurrogateRows for the point, and a task is the algorithm's index.
// Noise in excess of preprocess.MeasurementNoise becomes extra noise.
//
// Measurements of earlier campaigns follow: the first campaign is source 1, the second is source 2, and so
// on. The parameter `index` must contain every algorithm of `ms`. Earlier measurements of algorithms that it
// does not contain are ignored.
func Observations(ms []coll.Measurement, index map[coll.Algorithm]int, noise preprocess.Noise, earlier ...[]coll.Measurement) gp.Observations {
	var o gp.Observations
	row := map[coll.Point]int{}
	var points []coll.Point
	var jobs []sourceJob
	add := func(m coll.Measurement, task, source int) {
		u, known := row[m.Point]
		if !known {
			u = len(points)
			row[m.Point] = u
			points = append(points, m.Point)
		}
		o.At, o.Task, o.Y = append(o.At, u), append(o.Task, task), append(o.Y, math.Log10(m.Seconds))
		o.Extra = append(o.Extra, noise.Of(m)-preprocess.MeasurementNoise)
		jobs = append(jobs, sourceJob{source, m.Job})
		if len(earlier) > 0 {
			o.Source = append(o.Source, source)
		}
	}
	for _, m := range ms {
		add(m, index[m.Algorithm], 0)
	}
	for k, campaign := range earlier {
		for _, m := range campaign {
			if task, known := index[m.Algorithm]; known {
				add(m, task, k+1)
			}
		}
	}
	o.X = preprocess.SurrogateRows(points)
	o.Job = jobNumbers(jobs)
	return o
}

// sourceJob identifies a job by its campaign (source) and its name.
type sourceJob struct {
	source int
	name   string
}

// jobNumbers numbers jobs from 1 in the order of their first occurrence. A job without a name has
// the number 0.
func jobNumbers(jobs []sourceJob) []int {
	number, out := map[sourceJob]int{}, make([]int, len(jobs))
	for i, j := range jobs {
		if j.name == "" {
			continue
		}
		if number[j] == 0 {
			number[j] = len(number) + 1
		}
		out[i] = number[j]
	}
	return out
}
