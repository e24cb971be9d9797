package online

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
)

// makeCalls returns the calls of several jobs in two classes (calls of one collective), with three algorithms each.
// All times of a job are multiplied by the job's element of `factors`. The times of the first algorithm in the first
// class are also multiplied by the result of `odd` for the job.
func makeCalls(factors []float64, odd func(job int) float64) ([]Class, [][]timedCall) {
	classes := make([]Class, 2)
	calls := make([][]timedCall, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	for class := range calls {
		classes[class].Collective = []coll.Collective{coll.Bcast, coll.Reduce}[class]
		for a := range 3 {
			classes[class].Algorithms = append(classes[class].Algorithms, coll.Algorithm{Name: string(rune('a' + a))})
		}
		for job, factor := range factors {
			for n := range 30 {
				t := float64(1+n%3) * 1e-5 * factor * math.Exp(0.05*rng.NormFloat64())
				if class == 0 && n%3 == 0 {
					t *= odd(job)
				}
				calls[class] = append(calls[class], timedCall{job, n % 3, t})
			}
		}
	}
	return classes, calls
}

func always(int) float64 { return 1 }

func TestValidCallsWithoutChange(t *testing.T) {
	got := validCalls(makeCalls([]float64{1, 1, 1.03, 1}, always))
	if len(got.shifts) != 0 || len(got.logs[0][0]) != 40 || slices.Max(got.level) != 0 {
		t.Errorf("level %v, shifts %+v, %d calls of 40", got.level, got.shifts, len(got.logs[0][0]))
	}
}

// TestValidCallsOfSlowJob checks a job whose calls all take longer by a factor. The factor must be removed
// from their times.
func TestValidCallsOfSlowJob(t *testing.T) {
	got := validCalls(makeCalls([]float64{1, 1, 3, 1}, always))
	if len(got.shifts) != 0 || math.Abs(got.level[2]-math.Log(3)) > 0.1 || got.level[3] != 0 {
		t.Errorf("level %v, shifts %+v", got.level, got.shifts)
	}
	for _, log := range got.logs[0][0] {
		if math.Abs(log-math.Log(1e-5)) > 0.4 {
			t.Errorf("a call of %g s counts", math.Exp(log))
		}
	}
}

// TestValidCallsAfterChange checks that calls before an algorithm became slower do not count.
func TestValidCallsAfterChange(t *testing.T) {
	got := validCalls(makeCalls([]float64{1, 1, 1, 1}, func(job int) float64 {
		if job >= 2 {
			return 2
		}
		return 1
	}))
	if len(got.shifts) != 1 || math.Abs(got.shifts[0].factor-2) > 0.2 || got.shifts[0].job != 2 || got.shifts[0].class != 0 || got.shifts[0].algorithm != 0 {
		t.Fatalf("shifts %+v, level %v", got.shifts, got.level)
	}
	if a, b := len(got.logs[0][0]), len(got.logs[0][1]); a < 20 || a > 22 || b != 40 {
		t.Errorf("%d calls since the change and %d of another algorithm count, want 20 and 40", a, b)
	}
}

// TestValidCallsOfOneAlgorithm checks that, if there is only one algorithm, a slower job counts as a change
// of this algorithm.
func TestValidCallsOfOneAlgorithm(t *testing.T) {
	classes, calls := makeCalls([]float64{1, 1, 3, 3}, always)
	for class := range calls {
		calls[class] = slices.DeleteFunc(calls[class], func(c timedCall) bool { return class == 1 || c.algorithm != 1 })
	}
	if got := validCalls(classes, calls); slices.Max(got.level) != 0 || len(got.shifts) != 1 {
		t.Errorf("level %v, shifts %+v: want a change of the algorithm", got.level, got.shifts)
	}
}

// noisyLogs returns n logarithms of times around 0, with 10 % noise. It adds `step` to those from the index
// `from` on.
func noisyLogs(seed uint64, n, from int, step float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]float64, n)
	for i := range out {
		out[i] = 0.1 * rng.NormFloat64()
		if i >= from {
			out[i] += step
		}
	}
	return out
}

func TestChangePointsWithoutChange(t *testing.T) {
	const calls, seeds = 5000, 20
	alarms := 0
	for seed := range uint64(seeds) {
		alarms += len(changePoints(noisyLogs(seed, calls, calls, 0)))
	}
	if alarms > calls*seeds/5000 {
		t.Errorf("%d changes found in %d calls without one, want one in 10000 at most", alarms, calls*seeds)
	}
}

// TestChangePointsOfLoad checks a series of times that change at the calls 250, 400, 550 and 700. Each change
// must be found within 3 calls of its place, and other changes must be rare.
func TestChangePointsOfLoad(t *testing.T) {
	const seeds, calls = 20, 850
	others := 0
	for _, factor := range []float64{2, 0.5, 1.5} {
		for seed := range uint64(seeds) {
			logs := noisyLogs(seed, calls, calls, 0)
			for i := range logs {
				if i >= 250 && i < 400 || i >= 550 && i < 700 {
					logs[i] += math.Log(factor)
				}
			}
			got := changePoints(logs)
			others += len(got) - 4
			for _, want := range []int{250, 400, 550, 700} {
				if !slices.ContainsFunc(got, func(at int) bool { return at >= want-3 && at <= want+3 }) {
					t.Errorf("factor %g, seed %d: changes %v, want one at call %d", factor, seed, got, want)
				}
			}
		}
	}
	if others > 3*seeds*calls/10000 {
		t.Errorf("%d other changes in %d calls, want one in 10000 at most", others, 3*seeds*calls)
	}
}

// TestChangePointsAtTheEnd checks that a change near the end of the series is found after at most 10 calls.
func TestChangePointsAtTheEnd(t *testing.T) {
	for seed := range uint64(20) {
		if got := changePoints(noisyLogs(seed, 210, 200, math.Log(1.5))); len(got) != 1 {
			t.Errorf("seed %d: changes %v, want one at call 200", seed, got)
		}
	}
}

func TestChangePointsOfOutliers(t *testing.T) {
	outlier := append(append(noisyLogs(1, 100, 100, 0), math.Log(30)), noisyLogs(2, 100, 100, 0)...)
	for name, logs := range map[string][]float64{"one outlier": outlier, "constant": make([]float64, 500), "none": nil, "one call": {1}} {
		if got := changePoints(logs); got != nil {
			t.Errorf("%s: changes %v, want none", name, got)
		}
	}
}
