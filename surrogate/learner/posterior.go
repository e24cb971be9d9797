package learner

import (
	"fmt"
	"iter"
	"maps"
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
// selects the algorithms. It is safe for concurrent use. The zero value has no measurements; Update adds them.
type Posterior struct {
	algorithms []coll.Algorithm // algorithms with a measurement, sorted by coll.CompareAlgorithms
	count      int              // number of measurements, without those of earlier campaigns
	obs        gp.Observations  // of the process: a sample of the measurements
	indices    []int            // of the measurements in obs; those of earlier campaigns follow the others
	learned    int              // params were learned from this number of measurements, the first ones
	learnedY   []float64        // targets from which params were learned
	noise      preprocess.Noise
	params     gp.Params
	gaussian   *gp.GP
}

// NewPosterior returns the posterior given the data. The result depends only on the data. The hyperparameters are
// learned from the first measurements; see learnedPrefix. It takes O(n³) operations for n measurements.
func NewPosterior(d Data) (*Posterior, error) { return new(Posterior).Update(d) }

// Update returns the posterior given the data d. The result is the same as that of NewPosterior. Update costs less if d
// has the same earlier campaigns as p and begins with the measurements of p.
func (p *Posterior) Update(d Data) (*Posterior, error) {
	next := &Posterior{}
	next.count, next.algorithms = algorithmsOf(d)
	next.learned = learnedPrefix(next.count)
	next.noise = noiseKnownAt(next.learned, d.Replicates)
	if err := next.follow(p, d); err != nil {
		return nil, fmt.Errorf("posterior of %d measurements: %w", next.count, err)
	}
	return next, nil
}

// follow computes the posterior given d. It reuses the parts of the previous posterior that have not changed.
func (p *Posterior) follow(previous *Posterior, d Data) (err error) {
	p.obs, p.indices = p.sample(d.Measurements, d.Earlier)
	first, _ := p.sample(firstOf(d.Measurements, p.learned), d.Earlier)
	p.learnedY = first.Y
	sameParams := previous.gaussian != nil && previous.learned == p.learned && slices.Equal(previous.learnedY, first.Y)
	if sameParams {
		p.params = previous.params
	} else if err = p.learn(first); err != nil {
		return err
	}
	p.noise = p.noise.WithJob(p.params.Job)
	if sameParams && reflect.DeepEqual(p.obs, previous.obs) { // for example after a replicate that changed no time
		p.gaussian = previous.gaussian
		return nil
	}
	p.gaussian, err = gp.New(p.params, p.obs)
	return err
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

// learnedPrefix returns from how many of n measurements, the first ones, hyperparameters are learned.
func learnedPrefix(n int) int {
	prefix := min(n, relearnFirst)
	for next := prefix; next <= n; next += max(1, next/relearnGrowth) {
		prefix = next
	}
	return prefix
}

// algorithmsOf returns the number of measurements without those of earlier campaigns, and the algorithms of all
// measurements, sorted by coll.CompareAlgorithms.
func algorithmsOf(d Data) (count int, algorithms []coll.Algorithm) {
	measured := map[coll.Algorithm]bool{}
	for m := range d.Measurements {
		measured[m.Algorithm] = true
		count++
	}
	for _, ms := range d.Earlier {
		for _, m := range ms {
			measured[m.Algorithm] = true
		}
	}
	return count, slices.SortedFunc(maps.Keys(measured), coll.CompareAlgorithms)
}

// learn estimates the hyperparameters of the Gaussian process from observations of the first measurements.
func (p *Posterior) learn(first gp.Observations) (err error) {
	if p.params, err = gp.Learn(first, GPOptions()); err != nil {
		return err
	}
	if p.params.Job < minJobShare*preprocess.MeasurementNoise {
		p.params.Job = 0
	}
	return p.learnSteps(first)
}

// learnSteps sets the parameters Steps and Split to a share of mostSteps and mostSplit (see stepShares).
// Each share is scored by how well it predicts each observation from all others; see leaveOneOut. Some shares
// have scores within one standard error of the best one. Of these, the greatest is chosen, because greater
// shares make predictions less certain.
//
// Source: the one-standard-error rule of Breiman, Friedman, Olshen and Stone, Classification and Regression
// Trees (1984), section 3.4.3.
func (p *Posterior) learnSteps(obs gp.Observations) error {
	densities, scores := make([][]float64, len(stepShares)), make([]float64, len(stepShares))
	for k, share := range stepShares {
		p.params.Steps, p.params.Split = share*mostSteps, share*mostSplit
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
	p.params.Steps, p.params.Split = stepShares[greatest]*mostSteps, stepShares[greatest]*mostSplit
	return nil
}

// sample returns observations of a sample of the measurements, in which each algorithm of p is a task.
func (p *Posterior) sample(ms iter.Seq[coll.Measurement], earlier [][]coll.Measurement) (o gp.Observations, indices []int) {
	index := make(map[coll.Algorithm]int, len(p.algorithms))
	for a, alg := range p.algorithms {
		index[alg] = a
	}
	return Observations(maxObservations, ms, index, p.noise, earlier...)
}

// Noise returns the noise of the measurements, as it is estimated from replicates.
func (p *Posterior) Noise() preprocess.Noise { return p.noise }

// GP returns the Gaussian process from which the posterior is computed; see Task.
func (p *Posterior) GP() *gp.GP { return p.gaussian }

// LOOResiduals returns the standardized leave-one-out residuals of the measurements with the indices `first` to
// `end`-1. A residual is log10 of the time minus its prediction from all other measurements, divided by its
// standard deviation. If the posterior does not use a measurement (see maxObservations), the residual is 0.
func (p *Posterior) LOOResiduals(first, end int) []float64 {
	var some, at []int
	for k, j := range p.indices {
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

// Knows reports whether the posterior has a measurement of an algorithm.
func (p *Posterior) Knows(alg coll.Algorithm) bool {
	_, known := slices.BinarySearchFunc(p.algorithms, alg, coll.CompareAlgorithms)
	return known
}

// Task returns the number of an algorithm's task in the Gaussian process. An algorithm without measurements
// gets a task without observations; the caller numbers such algorithms by `i`.
func (p *Posterior) Task(alg coll.Algorithm, i int) int {
	if at, known := slices.BinarySearchFunc(p.algorithms, alg, coll.CompareAlgorithms); known {
		return at
	}
	return len(p.algorithms) + i
}

// GPOptions returns the options of a Gaussian process that has the prior of campaigns and the inputs of
// preprocess.SurrogateRows.
func GPOptions() gp.Options {
	return gp.Options{
		Length: LengthScales(), Steps: mostSteps, Split: mostSplit, SplitColumn: preprocess.BytesColumn, Noise: preprocess.MeasurementNoise,
	}
}

// LengthScales returns the prior length scale of each column of preprocess.SurrogateRows, in doublings. The last
// column says whether the number of ranks is a power of two. Its scale is long, since times at powers of two
// mostly agree with times in between.
func LengthScales() []float64 {
	length := slices.Repeat([]float64{layoutLength}, preprocess.NumFeatures+1)
	length[preprocess.BytesColumn], length[preprocess.NumFeatures] = bytesLength, bytesLength
	return length
}
