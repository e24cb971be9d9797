package learner

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Belief is what measurements let believe of the times of all algorithms: a Gaussian
// process of log10 seconds, see gp.GP. The same belief says what to measure, how good
// the choices are and what is selected. It is safe for concurrent use.
type Belief struct {
	prior      Prior
	algorithms []coll.Algorithm // that were measured, as sorted by coll.CompareAlgorithms
	obs        gp.Observations
	learnt     int                 // measurements that params are learnt from
	repeats    []preprocess.Repeat // those that it was formed with
	noise      preprocess.Noise
	params     gp.Params
	process    *gp.GP // with steps and split
	smooth     func() (*gp.GP, error)
}

// beliefMost is how many measurements a belief is conditioned on, an even sample of the
// points where there are more: its cost grows with the cube.
const beliefMost = 1500

// leastJob is the part of preprocess.MeasurementNoise below which the variance of what jobs do to
// all that they measure is left out: it would change next to nothing, and cost.
const leastJob = 0.25

// Believe forms the belief of measurements and of those of earlier campaigns, which it
// learns the worth of. It depends on its arguments alone: hyperparameters are learnt from
// the first so many of the measurements, see learntFrom. O(n³) operations for n measurements.
func Believe(ms []coll.Measurement, repeats []preprocess.Repeat, earlier ...[]coll.Measurement) (*Belief, error) {
	return Options{}.Nothing().Next(ms, repeats, earlier...)
}

// Next returns the belief of measurements that begin with those of b, or with which those of b
// begin, and of the same earlier campaigns: that of Believe, where the prior is the default, for
// less work where b is not Options.Nothing.
func (b *Belief) Next(ms []coll.Measurement, repeats []preprocess.Repeat, earlier ...[]coll.Measurement) (*Belief, error) {
	next := &Belief{prior: b.prior, repeats: repeats, learnt: learntFrom(len(ms))}
	next.noise = noiseBy(next.learnt, repeats)
	if err := next.follow(b, ms, earlier); err != nil {
		return nil, fmt.Errorf("belief of %d measurements: %w", len(ms), err)
	}
	return next, nil
}

// follow works out the belief, as far as the one before does not have it.
func (b *Belief) follow(before *Belief, ms []coll.Measurement, earlier [][]coll.Measurement) error {
	b.observe(ms, earlier)
	known := before.process != nil && before.learnt == b.learnt && before.learntBy(ms)
	if known {
		b.params = before.params
	} else if err := b.learn(ms, earlier); err != nil {
		return err
	}
	b.noise = b.noise.WithJob(b.params.Job)
	if known && reflect.DeepEqual(b.obs, before.obs) { // what was measured again bore out the first time
		b.process, b.smooth = before.process, before.smooth
		return nil
	}
	return b.form()
}

// learntBy reports whether params were learnt from the first of these measurements: what was
// measured again may have another time now.
func (b *Belief) learntBy(ms []coll.Measurement) bool {
	for j, m := range ms[:b.learnt] {
		if math.Log10(m.Seconds) != b.obs.Y[j] {
			return false
		}
	}
	return true
}

// noiseBy is the noise that was known before the last of so many measurements: repeats that
// came later change nothing that was learnt from these.
func noiseBy(learnt int, repeats []preprocess.Repeat) preprocess.Noise {
	known := 0
	for known < len(repeats) && repeats[known].Seen < learnt {
		known++
	}
	return preprocess.NoiseOf(repeats[:known])
}

const (
	// What is learnt now and then is learnt anew when the measurements have grown by a
	// seventh: in between it hardly moves. Of few it is learnt every time.
	relearnGrowth = 7
	relearnFirst  = 32
)

// learntFrom is how many of the first of n measurements hyperparameters are learnt from.
func learntFrom(n int) int {
	from := min(n, relearnFirst)
	for next := from; next <= n; next += max(1, next/relearnGrowth) {
		from = next
	}
	return from
}

// observe takes the observations of measurements and of earlier ones.
func (b *Belief) observe(ms []coll.Measurement, earlier [][]coll.Measurement) {
	for _, measured := range append([][]coll.Measurement{ms}, earlier...) {
		for _, m := range measured {
			b.algorithms = append(b.algorithms, m.Algorithm)
		}
	}
	slices.SortFunc(b.algorithms, coll.CompareAlgorithms)
	b.algorithms = slices.Compact(b.algorithms)
	b.obs = b.observations(ms, earlier)
}

// learn learns params from the first of the measurements.
func (b *Belief) learn(ms []coll.Measurement, earlier [][]coll.Measurement) (err error) {
	first := b.observations(ms[:b.learnt], earlier).Sample(beliefMost)
	b.params, err = gp.Learn(first, b.prior.Options())
	if b.params.Job < leastJob*preprocess.MeasurementNoise {
		b.params.Job = 0
	}
	return err
}

// form conditions the Gaussian processes.
func (b *Belief) form() (err error) {
	seen := b.obs.Sample(beliefMost)
	b.process, err = gp.New(b.params, seen)
	b.smooth = sync.OnceValues(func() (*gp.GP, error) {
		smooth := b.params
		smooth.Steps, smooth.Split = 0, 0
		return gp.New(smooth, seen)
	})
	return err
}

// observations of measurements and of earlier ones by the belief's algorithms.
func (b *Belief) observations(ms []coll.Measurement, earlier [][]coll.Measurement) gp.Observations {
	index := make(map[coll.Algorithm]int, len(b.algorithms))
	for a, alg := range b.algorithms {
		index[alg] = a
	}
	return preprocess.Observations(ms, index, b.noise, earlier...)
}

// Smooth returns the Gaussian process without steps and split, for what is worth measuring: one
// that expects steps everywhere measures every algorithm everywhere.
func (b *Belief) Smooth() (*gp.GP, error) { return b.smooth() }

// LeftOut returns, for the measurements from the first-th on, by how many deviations the
// logarithm of each time exceeds what all others let expect, without steps and split; 0 for those
// that the belief is not conditioned on.
func (b *Belief) LeftOut(first, measurements int) ([]float64, error) {
	smooth, err := b.Smooth()
	if err != nil {
		return nil, err
	}
	var some, at []int
	for k, j := range b.obs.Sampled(beliefMost) { // as form has sampled them
		if j >= first && j < measurements {
			some, at = append(some, k), append(at, j-first)
		}
	}
	out := make([]float64, measurements-first)
	for i, z := range smooth.LeftOut(some) {
		out[at[i]] = z
	}
	return out, nil
}

// Task returns the task of an algorithm in the Gaussian processes; one of its own, without
// observations, for the i-th of those that were not measured.
func (b *Belief) Task(alg coll.Algorithm, i int) int {
	if at, known := slices.BinarySearchFunc(b.algorithms, alg, coll.CompareAlgorithms); known {
		return at
	}
	return len(b.algorithms) + i
}
