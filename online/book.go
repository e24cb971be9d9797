package online

import (
	"math"
	"slices"

	"tutti/coll"
)

// book holds the times of all runs so far, a tally for each class and algorithm, and what
// came from other applications or machines.
type book struct {
	problem Problem
	tallies [][]tally
	earlier [][]coll.Measurement // of each source
	within  tally                // of deviations from the means of runs, see noise

	// Of hold alone.
	timed    []float64 // calls of each class that a job times on average
	standing standing
}

// tally is Welford's running mean and sum of squared deviations of logarithms of times.
type tally struct {
	n        int
	mean, m2 float64
}

func (t *tally) add(x float64) {
	t.n++
	step := x - t.mean
	t.mean += step / float64(t.n)
	t.m2 += step * (x - t.mean)
}

func newBook(p Problem, earlier [][]coll.Measurement) *book {
	b := &book{problem: p, earlier: earlier, tallies: make([][]tally, len(p.Classes))}
	for i, c := range p.Classes {
		b.tallies[i] = make([]tally, len(c.Algorithms))
	}
	return b
}

func (b *book) add(class, algorithm int, seconds float64) {
	t := &b.tallies[class][algorithm]
	before, n := t.m2, t.n
	t.add(math.Log(seconds))
	if n > 0 {
		b.within.n++
		b.within.m2 += t.m2 - before
	}
}

// hold adds the calls that still hold; calls are of each class, in the order of time.
func (b *book) hold(calls [][]timed) {
	b.standing, b.timed = recent(b.problem, calls), make([]float64, len(calls))
	for class, of := range calls {
		b.timed[class] = perJob(of)
		for a, logs := range b.standing.logs[class] {
			for _, x := range clipped(logs) {
				b.add(class, a, math.Exp(x))
			}
		}
	}
}

// perJob returns how many of calls a job has that has some.
func perJob(calls []timed) float64 {
	jobs := map[int]bool{}
	for _, c := range calls {
		jobs[c.job] = true
	}
	return float64(len(calls)) / float64(max(1, len(jobs)))
}

// What a call is taken to differ by before there are repetitions, and how many calls that
// is worth.
const (
	usualNoise  = 0.05
	usualWeight = 10
)

// noise is the variance of the logarithm of a time around that of its algorithm and class.
func (b *book) noise() float64 {
	return (usualWeight*usualNoise*usualNoise + b.within.m2) / float64(usualWeight+b.within.n)
}

// half is what 95 % of normal numbers lie within, in deviations.
const half = 1.96

// measurements returns what is known of a collective: geometric means with the intervals
// that the noise of a call leaves them.
func (b *book) measurements(c coll.Collective) []coll.Measurement {
	deviation := math.Sqrt(b.noise())
	var out []coll.Measurement
	for i, class := range b.problem.Classes {
		if class.Collective != c {
			continue
		}
		for a, t := range b.tallies[i] {
			if t.n == 0 {
				continue
			}
			width := half * deviation / math.Sqrt(float64(t.n))
			out = append(out, coll.Measurement{
				Candidate: coll.Candidate{Point: class.Point, Algorithm: class.Algorithms[a]},
				Seconds:   math.Exp(t.mean), Low: math.Exp(t.mean - width), High: math.Exp(t.mean + width),
				Samples: t.n, CostSeconds: float64(t.n) * math.Exp(t.mean),
			})
		}
	}
	return out
}

// all returns what is known of every collective.
func (b *book) all() []coll.Measurement {
	var out []coll.Measurement
	for _, c := range collectivesOf(b.problem) {
		out = append(out, b.measurements(c)...)
	}
	return out
}

// before returns what other applications or machines said of a collective, by source.
func (b *book) before(c coll.Collective) [][]coll.Measurement {
	var out [][]coll.Measurement
	for _, ms := range b.earlier {
		var of []coll.Measurement
		for _, m := range ms {
			if m.Collective == c {
				of = append(of, m)
			}
		}
		if len(of) > 0 {
			out = append(out, of)
		}
	}
	return out
}

// collectivesOf returns each collective of a problem once, in its order.
func collectivesOf(p Problem) []coll.Collective {
	var out []coll.Collective
	for _, c := range p.Classes {
		if !slices.Contains(out, c.Collective) {
			out = append(out, c.Collective)
		}
	}
	return out
}
