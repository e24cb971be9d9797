package discover

import (
	"math"
	"slices"
	"sync"

	"tutti/metrics"
)

// held returns the divisions that one half of the repetitions shows and the other one
// confirms, both ways, with the groups that both together show.
func (d *levelFinder) held(h *hierarchy) []Labels {
	var steps [2][]step
	var both sync.WaitGroup
	for i := range steps {
		both.Go(func() { steps[i] = heldSteps(d.halves[i], d.halves[1-i]) })
	}
	both.Wait()
	few := steps[0]
	switch {
	case len(steps[1]) < len(few):
		few = steps[1]
	case len(steps[1]) == len(few):
		for i, s := range steps[1] {
			few[i].level = (few[i].level + s.level) / 2
		}
	}
	return h.divideBy(d.mean, few, func(parts []Labels) int {
		return weakest(byLevel(d.mean, parts), sureHeld)
	})
}

// heldSteps returns the steps that a hierarchy of one half finds in the other one.
func heldSteps(train, test logTable) []step {
	h := byDistance(train)
	steps := h.steps(test, leastStep, sureHeld)
	for len(steps) > 1 {
		samples := byLevel(test, h.divide(train, steps))
		at := weakest(samples, sureHeld)
		if at < 0 {
			for i, s := range samples {
				steps[i].level = s.mean()
			}
			break
		}
		steps = drop(steps, at)
	}
	return steps
}

// single returns the divisions whose steps are large beside the spread of one distance.
func (h *hierarchy) single(t logTable) []Labels {
	return h.divideBy(t, h.steps(t, leastStep, sureSingle), func(parts []Labels) int {
		return narrowest(t, parts)
	})
}

// divideBy divides, and drops the steps that fails names, one at a time.
func (h *hierarchy) divideBy(t logTable, steps []step, fails func(parts []Labels) int) []Labels {
	for len(steps) > 1 {
		parts := h.divide(t, steps)
		at := fails(parts)
		if at < 0 {
			return parts
		}
		steps = drop(steps, at)
	}
	return nil
}

// drop makes one of a step and the next.
func drop(steps []step, at int) []step {
	a, b := steps[at], steps[at+1]
	joined := step{level: (a.level*a.weight + b.level*b.weight) / (a.weight + b.weight), weight: a.weight + b.weight}
	return slices.Replace(slices.Clone(steps), at, at+2, joined)
}

// byLevel returns the distances between members that share a group in a division and in
// no finer one, and last those that share none. Divisions are finest first.
func byLevel(t logTable, divisions []Labels) []sample {
	out := make([]sample, len(divisions)+1)
	for i := range t.n {
		for j, x := range t.row(i)[:i] {
			out[sharedAt(divisions, i, j)].add(x)
		}
	}
	return out
}

// sharedAt returns the finest division in which two members share a group.
func sharedAt(divisions []Labels, i, j int) int {
	for level, labels := range divisions {
		if labels[i] == labels[j] {
			return level
		}
	}
	return len(divisions)
}

// weakest returns the level whose step to the next is too small or too unsure, the
// most so, or -1. A level without distances is the weakest.
func weakest(samples []sample, sure float64) int {
	at, worst := -1, 1.0
	for i := 0; i+1 < len(samples); i++ {
		near, far := samples[i], samples[i+1]
		if near.n == 0 || far.n == 0 {
			return i
		}
		rise := far.mean() - near.mean()
		unsure := math.Sqrt(near.variance()/near.n+far.variance()/far.n) + 1e-12
		if ratio := min(rise/leastStep, rise/unsure/sure); ratio < worst {
			at, worst = i, ratio
		}
	}
	return at
}

// narrowest is weakest with the spread of one distance for the standard error.
func narrowest(t logTable, divisions []Labels) int {
	at, worst := -1, 1.0
	all := distances(t, divisions)
	for i := 0; i+1 < len(all); i++ {
		if len(all[i]) == 0 || len(all[i+1]) == 0 {
			return i
		}
		rise := metrics.Quantile(all[i+1], 0.5) - metrics.Quantile(all[i], 0.5)
		spread := max(metrics.RobustDeviation(slices.Clone(all[i])), metrics.RobustDeviation(slices.Clone(all[i+1])), 1e-12)
		if ratio := min(rise/leastStep, rise/spread/sureSingle); ratio < worst {
			at, worst = i, ratio
		}
	}
	return at
}

// distances returns what byLevel sums up.
func distances(t logTable, divisions []Labels) [][]float64 {
	out := make([][]float64, len(divisions)+1)
	for i := range t.n {
		for j, x := range t.row(i)[:i] {
			level := sharedAt(divisions, i, j)
			out[level] = append(out[level], x)
		}
	}
	return out
}
