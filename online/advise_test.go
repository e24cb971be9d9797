package online

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
)

// played are samples of calls whose true times are known: the algorithms of an allreduce, in
// the order of their places, each so many times. One call in ten takes ten times as long.
func played(calls int, bytes int64, seconds ...float64) (samples []Sample, algorithms []coll.Algorithm) {
	rng := rand.New(rand.NewPCG(1, uint64(bytes)))
	for i, t := range seconds {
		a := coll.Algorithm{Name: string(rune('a' + i))}
		if i == 0 {
			a = coll.Default
		}
		algorithms = append(algorithms, a)
		for n := range calls {
			took := t * math.Exp(0.05*rng.NormFloat64())
			if n%10 == 9 {
				took *= 10
			}
			samples = append(samples, Sample{coll.Candidate{
				Point: coll.Point{Collective: coll.Allreduce, Nodes: 2, PPN: 4, MsgBytes: bytes}, Algorithm: a,
			}, 3 * took, took})
		}
	}
	return samples, algorithms
}

// adviceOf is what is learnt.
func adviceOf(policy string, jobs []Job, earlier [][]coll.Measurement, sel Selected) ([]Advice, error) {
	l, err := Learn(policy, jobs, earlier, sel, DefaultOptions())
	return l.Advice, err
}

// oneJob is a job that has left samples.
func oneJob(samples ...[]Sample) []Job {
	return []Job{{Samples: Samples{Calls: slices.Concat(samples...)}}}
}

func among(algorithms []coll.Algorithm, now coll.Algorithm) Selected {
	return Selected{
		Feasible: func(coll.Point) []coll.Algorithm { return algorithms },
		Now:      func(coll.Point) coll.Algorithm { return now },
	}
}

// Samples of algorithms that are excluded, and nothing else, are no fault.
func TestAdviseOnExcluded(t *testing.T) {
	samples, algorithms := played(10, 1024, 4e-5, 1e-5)
	for _, policy := range []string{PolicyTutti, PolicyIOTA} {
		only := samples[10:] // of the second
		advice, err := adviceOf(policy, oneJob(only), nil, among(algorithms[:1], coll.Default))
		if err != nil || len(advice) != 0 {
			t.Errorf("%s: %v, %v, want no advice", policy, advice, err)
		}
		if advice, err = adviceOf(policy, oneJob(samples), nil, among(algorithms[:1], coll.Default)); err != nil || len(advice) != 1 || advice[0].Samples != 10 {
			t.Errorf("%s: %+v, %v, want ten calls of the default", policy, advice, err)
		}
	}
}

func TestAdvise(t *testing.T) {
	ring := coll.Algorithm{Name: "b"}
	tests := []struct {
		name    string
		calls   int
		seconds []float64
		now     coll.Algorithm
		best    int
		untried bool // one more algorithm is feasible
		weighed []int
	}{
		{"far apart", 40, []float64{4e-5, 1e-5, 3e-5}, coll.Default, 1, false, []int{1}},
		{"alike: what is selected stays", 40, []float64{1e-5, 0.995e-5, 3e-5}, coll.Default, 0, false, nil},
		{"alike: what a table selects stays", 40, []float64{1e-5, 0.995e-5, 1.002e-5}, ring, 1, false, nil},
		{"what a table selects is slower", 40, []float64{1e-5, 4e-5, 2e-5}, ring, 0, false, nil},
		{"untried", 40, []float64{4e-5, 1e-5, 3e-5}, coll.Default, 1, true, []int{3}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			samples, algorithms := played(tc.calls, 16, tc.seconds...)
			if tc.untried {
				algorithms = append(algorithms, coll.Algorithm{Name: "z"})
			}
			got, err := adviceOf(PolicyTutti, oneJob(samples), nil, among(algorithms, tc.now))
			if err != nil || len(got) != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
			a := got[0]
			if a.Best != tc.best || a.Samples != len(samples) || a.Low != 16 || a.High != 31 {
				t.Errorf("%d of %d samples, %d to %d bytes: want %v", a.Best, a.Samples, a.Low, a.High, algorithms[tc.best])
			}
			for i, w := range a.Weights {
				if tc.weighed != nil && (w > 0) != slices.Contains(tc.weighed, i) {
					t.Errorf("weights %v: want some of %v alone", a.Weights, tc.weighed)
				}
			}
		})
	}
}

// IOTA draws uniformly until there are enough calls, then by 1/t between its bounds.
func TestAdviseIOTA(t *testing.T) {
	seconds := []float64{4e-5, 1e-5, 2e-5, 8e-5, 4e-5}
	few, algorithms := played(3, 16, seconds...)
	got, err := adviceOf(PolicyIOTA, oneJob(few), nil, among(algorithms, coll.Default))
	if err != nil || got[0].Best != 0 || math.Abs(got[0].Weights[0]-got[0].Weights[3]) > 1e-9 {
		t.Fatalf("%d, %v, %v: want the default, all drawn alike", got[0].Best, got[0].Weights, err)
	}
	many, _ := played(30, 16, seconds...)
	got, err = adviceOf(PolicyIOTA, oneJob(many), nil, among(algorithms, coll.Default))
	if err != nil {
		t.Fatal(err)
	}
	w := got[0].Weights
	if got[0].Best != 1 || !(w[1] > w[2] && w[2] > w[0] && w[0] > w[3]) || math.Abs(w[1]/w[2]-2) > 0.3 || w[3] < leastChance/1.1 {
		t.Errorf("weights %v of %v", w, seconds)
	}
}

// Sizes with as many bits are one class, at the size that most calls have. Offline
// measurements are classes without a call, and what is known there counts.
func TestAdviseClasses(t *testing.T) {
	small, algorithms := played(20, 1000, 4e-5, 1e-5)
	other, _ := played(10, 600, 4e-5, 1e-5)
	large, _ := played(10, 1024, 4e-4, 1e-4)
	offline := []coll.Measurement{}
	for i, a := range algorithms {
		for _, nodes := range []int{2, 4} {
			offline = append(offline, coll.Measurement{
				Candidate: coll.Candidate{Point: coll.Point{Collective: coll.Allreduce, Nodes: nodes, PPN: 4, MsgBytes: 1 << 20}, Algorithm: a},
				Seconds:   []float64{1e-3, 5e-3}[i], Samples: 10,
			})
		}
	}
	got, err := adviceOf(PolicyTutti, oneJob(small, other, large), [][]coll.Measurement{offline}, among(algorithms, coll.Default))
	if err != nil {
		t.Fatal(err)
	}
	type class struct {
		nodes                  int
		bytes, low, high       int64
		samples, best, choices int
	}
	want := []class{
		{2, 1000, 512, 1023, 60, 1, 2}, {2, 1024, 1024, 2047, 20, 1, 2}, {2, 1 << 20, 1 << 20, 1<<21 - 1, 0, 0, 2}, {4, 1 << 20, 1 << 20, 1<<21 - 1, 0, 0, 2},
	}
	var have []class
	for _, a := range got {
		have = append(have, class{a.Nodes, a.MsgBytes, a.Low, a.High, a.Samples, a.Best, len(a.Weights)})
	}
	if !slices.Equal(have, want) {
		t.Errorf("classes\n%+v\nwant\n%+v", have, want)
	}
}

func TestAdviseNothing(t *testing.T) {
	if got, err := adviceOf(PolicyTutti, nil, nil, among(nil, coll.Default)); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := adviceOf(PolicyStar, nil, nil, among(nil, coll.Default)); err == nil {
		t.Error("star advises")
	}
}
