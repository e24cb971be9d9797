package online

import (
	"math"
	"slices"

	"tutti/metrics"
)

// timedCall is a call whose time was measured. It names the algorithm by its index in Class.Algorithms.
type timedCall struct {
	job       int // index in the order of time
	algorithm int
	seconds   float64
}

// validTimes holds the calls whose times are still valid. If an algorithm has become slower or faster, the
// times of its earlier calls are not valid any more.
type validTimes struct {
	logs   [][][]float64 // for each class and algorithm: natural logarithms of seconds, minus the level of the call's job
	level  []float64     // of each job: the logarithm of the factor by which it slowed all its calls
	shifts []shift
}

// shift says that the times of an algorithm changed for one class of calls. From the given job on, the algorithm
// takes `factor` times as long.
type shift struct {
	class, algorithm, job int
	factor                float64
}

// validCalls returns the calls of each class whose times are still valid. `calls` must be in the order
// of jobs.
//
// It first removes the level of each job, the factor by which the whole job was slower. The cause may be slower
// nodes or another job. After that, it keeps only the calls after the last change of their algorithm in their class.
func validCalls(classes []Class, calls [][]timedCall) validTimes {
	out := validTimes{logs: make([][][]float64, len(calls)), level: jobLevels(classes, calls)}
	for class, of := range calls {
		n := len(classes[class].Algorithms)
		logs, jobs := make([][]float64, n), make([][]int, n)
		for _, c := range of {
			logs[c.algorithm] = append(logs[c.algorithm], math.Log(c.seconds)-out.level[c.job])
			jobs[c.algorithm] = append(jobs[c.algorithm], c.job)
		}
		for a := range logs {
			from, changes := 0, append(changePoints(logs[a]), len(logs[a]))
			for i, at := range changes[:len(changes)-1] {
				factor := math.Exp(median(logs[a][at:changes[i+1]]) - median(logs[a][from:at]))
				out.shifts = append(out.shifts, shift{class, a, jobs[a][at], factor})
				from = at
			}
			logs[a] = logs[a][from:]
		}
		out.logs[class] = logs
	}
	return out
}

// A change is a step between the means of the logarithms of times before and after it. The step must be larger than
// changeErrors standard errors and than the standard deviation of one call. In a series without a change, a false
// change is found less often than once in ten thousand calls.
const (
	changeErrors = 5.0
	minDeviation = 0.01 // of logarithms; clocks are not more precise
)

// changePoints returns the indices of the first calls after changes in a series of logarithms of times, in ascending
// order. It uses binary segmentation: as long as the largest step is significant, the series is split there.
//
// Source: Scott and Knott, A cluster analysis method for grouping means in the analysis of variance
// (Biometrics 30, 1974).
func changePoints(logs []float64) []int {
	return segmentStarts(clip(slices.Clone(logs)), max(minDeviation, stepDeviation(logs)), 0)
}

// segmentStarts returns the indexes at which all segments except the first begin, in ascending order. It
// adds `offset` to each index.
func segmentStarts(logs []float64, deviation float64, offset int) []int {
	n, sum := float64(len(logs)), 0.0
	for _, x := range logs {
		sum += x
	}
	at, most, before := 0, 0.0, 0.0
	for i := 1; i < len(logs); i++ {
		before += logs[i-1]
		k := float64(i)
		step := math.Abs((sum-before)/(n-k) - before/k)
		if errors := step / deviation * math.Sqrt(k*(n-k)/n); step >= deviation && errors > most {
			at, most = i, errors
		}
	}
	if most < changeErrors {
		return nil
	}
	starts := append(segmentStarts(logs[:at], deviation, offset), offset+at)
	return append(starts, segmentStarts(logs[at:], deviation, offset+at)...)
}

// stepDeviation estimates the standard deviation of a single call. It uses the differences between
// successive calls, because changes hardly affect them.
func stepDeviation(logs []float64) float64 {
	var steps []float64
	for i := 1; i < len(logs); i++ {
		steps = append(steps, math.Abs(logs[i]-logs[i-1]))
	}
	if len(steps) == 0 {
		return usualNoise
	}
	return median(steps) / (0.6745 * math.Sqrt2) // 0.6745: the median of |z| for a standard normal z
}

func median(x []float64) float64 { return metrics.Quantile(x, 0.5) }

// The level of a job is the logarithm of the factor by which all its times exceed those of earlier jobs. It is 0
// unless its absolute value exceeds minLevel and levelErrors standard errors. It is computed from the pairs of a
// class and an algorithm that also occur in earlier jobs. It is 0 if they are fewer than minPairs or all have
// the same algorithm.
const (
	minLevel    = 0.1
	levelErrors = 3
	minPairs    = 3
)

type pair struct{ class, algorithm int }

// jobLevels returns the level of each job. The level says by how much the logarithms of the job's times
// exceed those of earlier jobs. It is the median of this difference over all algorithms of all classes that
// occur both in the job and in earlier jobs. It is 0 if the difference is not significant.
func jobLevels(classes []Class, calls [][]timedCall) []float64 {
	jobs := logsByJob(calls)
	level, last := make([]float64, len(jobs)), map[pair]float64{}
	for j, job := range jobs {
		var above []float64
		algorithms := map[string]bool{}
		for at, logs := range job {
			if before, called := last[at]; called {
				above = append(above, median(logs)-before)
				c := classes[at.class]
				algorithms[string(c.Collective)+" "+c.Algorithms[at.algorithm].String()] = true
			}
		}
		if len(above) >= minPairs && len(algorithms) > 1 {
			middle := median(above)
			if math.Abs(middle) > max(minLevel, levelErrors*metrics.RobustDeviation(above)/math.Sqrt(float64(len(above)))) {
				level[j] = middle
			}
		}
		for at, logs := range job {
			last[at] = median(logs) - level[j]
		}
	}
	return level
}

// logsByJob returns, for each job, the logarithms of the job's times. They are grouped by class of calls and algorithm.
func logsByJob(calls [][]timedCall) []map[pair][]float64 {
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
