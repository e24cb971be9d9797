package online

import (
	"math"
	"slices"

	"tutti/internal/robust"
)

// timed is a call of a class, by the place of its algorithm.
type timed struct {
	job       int // in the order of time
	algorithm int
	seconds   float64
}

// standing is what of all calls still holds.
type standing struct {
	logs   [][][]float64 // of each class and algorithm, logarithms of times at the level of the first jobs
	level  []float64     // of each job: what it did to all its calls alike, as a logarithm
	shifts []shift
}

// shift is a change of an algorithm in a class: from a job on it takes factor times as long.
type shift struct {
	class, algorithm, job int
	factor                float64
}

// recent returns the calls that still hold, of those of each class in the order of time.
//
// What a job did to all its calls alike is taken out of them: its nodes may be slower, or
// another job in its way. What is left is watched by a detector for each algorithm in each
// class; what was timed before the last change does not count.
func recent(p Problem, calls [][]timed) standing {
	out := standing{logs: make([][][]float64, len(calls)), level: levels(p, calls)}
	for class, of := range calls {
		n := len(p.Classes[class].Algorithms)
		out.logs[class] = make([][]float64, n)
		watch, jobs := make([]*Detector, n), make([][]int, n)
		for _, c := range of {
			a := c.algorithm
			log := math.Log(c.seconds) - out.level[c.job]
			logs := append(out.logs[class][a], log)
			jobs[a] = append(jobs[a], c.job)
			if watch[a] == nil {
				watch[a] = NewDetector(alarmRun)
			}
			if _, alarm := watch[a].Add(math.Exp(log)); alarm {
				from, factor := split(logs)
				logs, jobs[a] = slices.Clone(logs[from:]), slices.Clone(jobs[a][from:])
				out.shifts = append(out.shifts, shift{class, a, jobs[a][0], factor})
			}
			out.logs[class][a] = logs
		}
	}
	return out
}

// split returns where two parts of logs are least spread around their own means, and by which
// factor the second is above the first.
func split(logs []float64) (from int, factor float64) {
	cut, sum := clipped(slices.Clone(logs)), 0.0
	for _, x := range cut {
		sum += x
	}
	from = len(cut) - 1
	most, below, n := -1.0, 0.0, float64(len(cut))
	for i, x := range cut[:from] {
		below += x
		k := float64(i + 1)
		step := (sum-below)/(n-k) - below/k
		if between := step * step * k * (n - k); between > most {
			from, most = i+1, between
		}
	}
	middle := func(x []float64) float64 { return robust.Quantile(slices.Clone(x), 0.5) }
	return from, math.Exp(middle(logs[from:]) - middle(logs[:from]))
}

// A job is another one than those before when it differs from them by so much, and by so many
// standard errors. It takes so many pairs of class and algorithm to say that, of several algorithms.
const (
	otherJob   = 0.1
	otherSigma = 3
	otherPairs = 3
)

// pair is an algorithm in a class.
type pair struct{ class, algorithm int }

// levels returns by how much the logarithms of the times of each job are above those of the jobs
// before: the median over the classes and algorithms that both have called.
func levels(p Problem, calls [][]timed) []float64 {
	jobs := byJob(calls)
	level, last := make([]float64, len(jobs)), map[pair]float64{}
	for j, job := range jobs {
		var above []float64
		algorithms := map[string]bool{}
		for at, logs := range job {
			if before, known := last[at]; known {
				above = append(above, robust.Quantile(logs, 0.5)-before)
				c := p.Classes[at.class]
				algorithms[string(c.Collective)+" "+c.Algorithms[at.algorithm].String()] = true
			}
		}
		if len(above) >= otherPairs && len(algorithms) > 1 {
			middle := robust.Quantile(above, 0.5)
			if math.Abs(middle) > max(otherJob, otherSigma*robust.Deviation(above)/math.Sqrt(float64(len(above)))) {
				level[j] = middle
			}
		}
		for at, logs := range job {
			last[at] = robust.Quantile(logs, 0.5) - level[j]
		}
	}
	return level
}

// byJob returns the logarithms of the times of each job.
func byJob(calls [][]timed) []map[pair][]float64 {
	var jobs []map[pair][]float64
	for class, of := range calls {
		for _, c := range of {
			for len(jobs) <= c.job {
				jobs = append(jobs, map[pair][]float64{})
			}
			at := pair{class, c.algorithm}
			jobs[c.job][at] = append(jobs[c.job][at], math.Log(c.seconds))
		}
	}
	return jobs
}
