package online

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
)

// worked are calls of jobs of which each has its factor, of two classes with three algorithms;
// odd is by how much the first algorithm of the first class differs beside.
func worked(factors []float64, odd func(job int) float64) (Problem, [][]timed) {
	p := Problem{Classes: make([]Class, 2)}
	calls := make([][]timed, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	for class := range calls {
		p.Classes[class].Collective = []coll.Collective{coll.Bcast, coll.Reduce}[class]
		for a := range 3 {
			p.Classes[class].Algorithms = append(p.Classes[class].Algorithms, coll.Algorithm{Name: string(rune('a' + a))})
		}
		for job, factor := range factors {
			for n := range 30 {
				t := float64(1+n%3) * 1e-5 * factor * math.Exp(0.05*rng.NormFloat64())
				if class == 0 && n%3 == 0 {
					t *= odd(job)
				}
				calls[class] = append(calls[class], timed{job, n % 3, t})
			}
		}
	}
	return p, calls
}

func always(int) float64 { return 1 }

func TestRecentNothingChanged(t *testing.T) {
	got := recent(worked([]float64{1, 1, 1.03, 1}, always))
	if len(got.shifts) != 0 || len(got.logs[0][0]) != 40 || slices.Max(got.level) != 0 {
		t.Errorf("level %v, shifts %+v, %d calls of 40", got.level, got.shifts, len(got.logs[0][0]))
	}
}

// A job whose calls all take longer teaches what the others teach.
func TestRecentSlowJob(t *testing.T) {
	got := recent(worked([]float64{1, 1, 3, 1}, always))
	if len(got.shifts) != 0 || math.Abs(got.level[2]-math.Log(3)) > 0.1 || got.level[3] != 0 {
		t.Errorf("level %v, shifts %+v", got.level, got.shifts)
	}
	for _, log := range got.logs[0][0] {
		if math.Abs(log-math.Log(1e-5)) > 0.4 {
			t.Errorf("a call of %g s counts", math.Exp(log))
		}
	}
}

// An algorithm that takes longer by itself from a job on: what was timed before does not count.
func TestRecentChange(t *testing.T) {
	got := recent(worked([]float64{1, 1, 1, 1}, func(job int) float64 {
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

// One algorithm alone cannot say whether it changed or the job is another.
func TestRecentAlone(t *testing.T) {
	p, calls := worked([]float64{1, 1, 3, 3}, always)
	for class := range calls {
		calls[class] = slices.DeleteFunc(calls[class], func(c timed) bool { return class == 1 || c.algorithm != 1 })
	}
	if got := recent(p, calls); slices.Max(got.level) != 0 || len(got.shifts) != 1 {
		t.Errorf("level %v, shifts %+v: want a change of the algorithm", got.level, got.shifts)
	}
}
