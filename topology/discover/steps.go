package discover

import (
	"math"
	"slices"
	"sync"
)

// confirmedDivisions returns the divisions of the members into groups that both sets of repetitions show. It builds a
// hierarchy of groups from each set, and finds the levels at which the other set's distances clearly differ (steps). If
// the hierarchies have different numbers of steps, it uses the one with fewer. The groups come from the mean of both sets.
func (d *levelFinder) confirmedDivisions(h *hierarchy) []Labels {
	var steps [2][]step
	var both sync.WaitGroup
	for i := range steps {
		both.Go(func() { steps[i] = confirmSteps(d.repeats[i], d.repeats[1-i]) })
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
	return h.divisions(d.mean, few)
}

// confirmSteps groups the members by the distances in the table `train`. It returns the levels of distances between
// these groups that clearly differ in the table `test`.
func confirmSteps(train, test Matrix) []step {
	h := byDistance(train)
	steps := h.steps(test)
	for len(steps) > 1 {
		samples := byLevel(test, h.divisions(train, steps))
		at := weakestStep(samples)
		if at < 0 {
			for i, s := range samples {
				steps[i].level = s.mean()
			}
			break
		}
		steps = mergeSteps(steps, at)
	}
	return steps
}

func mergeSteps(steps []step, at int) []step {
	a, b := steps[at], steps[at+1]
	joined := step{level: (a.level*a.weight + b.level*b.weight) / (a.weight + b.weight), weight: a.weight + b.weight}
	return slices.Replace(slices.Clone(steps), at, at+2, joined)
}

// byLevel returns the statistics of the distances at each level. The divisions are ordered from the finest
// to the coarsest. Element i is for the pairs that share a group in divisions[i] but not in a finer
// division. The last element is for the pairs that share no group.
func byLevel(t Matrix, divisions []Labels) []sample {
	out := make([]sample, len(divisions)+1)
	for i := range t.n {
		for j, x := range t.Row(i)[:i] {
			out[sharedAt(divisions, i, j)].add(x)
		}
	}
	return out
}

// sharedAt returns the index of the finest division in which two members are in the same group. It returns
// len(divisions) if there is none.
func sharedAt(divisions []Labels, i, j int) int {
	for level, labels := range divisions {
		if labels[i] == labels[j] {
			return level
		}
	}
	return len(divisions)
}

// weakestStep compares the distances at each level with those at the next level. It returns the level after which
// distances rise the least, or least certainly. If all increases are large enough, it returns -1. A level without
// distances is the weakest.
func weakestStep(samples []sample) int {
	at, worst := -1, 1.0
	for i := 0; i+1 < len(samples); i++ {
		near, far := samples[i], samples[i+1]
		if near.n == 0 || far.n == 0 {
			return i
		}
		rise := far.mean() - near.mean()
		unsure := math.Sqrt(near.variance()/near.n+far.variance()/far.n) + 1e-12
		if ratio := min(rise/leastStep, rise/unsure/leastConfirmedZ); ratio < worst {
			at, worst = i, ratio
		}
	}
	return at
}
