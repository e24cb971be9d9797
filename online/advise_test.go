package online

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

// makeSamples returns samples of an allreduce, with the given number of calls for each algorithm. The
// parameter `seconds` holds the time of each algorithm, to which 5 % noise is added. Every tenth call takes ten
// times as long.
func makeSamples(calls int, bytes int64, seconds ...float64) (samples []Sample, algorithms []coll.Algorithm) {
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

func adviceOf(jobs []Job, earlier [][]coll.Measurement, base Base) ([]Advice, error) {
	r, err := Learn(jobs, earlier, base)
	return r.Advice, err
}

func oneJob(samples ...[]Sample) []Job {
	return []Job{{Calls: slices.Concat(samples...)}}
}

func among(algorithms []coll.Algorithm, selected coll.Algorithm) Base {
	return Base{
		Feasible: func(coll.Point) []coll.Algorithm { return algorithms },
		Selected: func(coll.Point) coll.Algorithm { return selected },
	}
}

// TestAdviseOnExcluded checks that samples of excluded algorithms are ignored.
func TestAdviseOnExcluded(t *testing.T) {
	samples, algorithms := makeSamples(10, 1024, 4e-5, 1e-5)
	only := samples[10:] // samples of the second algorithm
	advice, err := adviceOf(oneJob(only), nil, among(algorithms[:1], coll.Default))
	if err != nil || len(advice) != 0 {
		t.Errorf("%v, %v, want no advice", advice, err)
	}
	if advice, err = adviceOf(oneJob(samples), nil, among(algorithms[:1], coll.Default)); err != nil || len(advice) != 1 || advice[0].Samples != 10 {
		t.Errorf("%+v, %v, want ten calls of the default", advice, err)
	}
}

func TestAdvise(t *testing.T) {
	ring := coll.Algorithm{Name: "b"}
	tests := []struct {
		name    string
		calls   int
		seconds []float64
		now     coll.Algorithm // the algorithm that is selected without the samples
		best    int
		untried bool  // one more algorithm, without samples, can run
		weighed []int // indices of the algorithms with a weight above 0
	}{
		{"far apart", 40, []float64{4e-5, 1e-5, 3e-5}, coll.Default, 1, false, []int{1}},
		{"alike: the default stays selected", 40, []float64{1e-5, 0.995e-5, 3e-5}, coll.Default, 0, false, nil},
		{"alike: the selection of a table stays", 40, []float64{1e-5, 0.995e-5, 1.002e-5}, ring, 1, false, nil},
		{"the selection of a table is slower", 40, []float64{1e-5, 4e-5, 2e-5}, ring, 0, false, nil},
		{"one algorithm is untried", 40, []float64{4e-5, 1e-5, 3e-5}, coll.Default, 1, true, []int{3}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			samples, algorithms := makeSamples(tc.calls, 16, tc.seconds...)
			if tc.untried {
				algorithms = append(algorithms, coll.Algorithm{Name: "z"})
			}
			got, err := adviceOf(oneJob(samples), nil, among(algorithms, tc.now))
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

// TestAdviseClasses checks that calls whose sizes have the same number of bits form one class, which has the
// most frequent of these sizes. Points that only earlier measurements have must form classes without calls, and
// these measurements must determine their advice.
func TestAdviseClasses(t *testing.T) {
	small, algorithms := makeSamples(20, 1000, 4e-5, 1e-5)
	other, _ := makeSamples(10, 600, 4e-5, 1e-5)
	large, _ := makeSamples(10, 1024, 4e-4, 1e-4)
	offline := []coll.Measurement{}
	for i, a := range algorithms {
		for _, nodes := range []int{2, 4} {
			offline = append(offline, coll.Measurement{
				Candidate: coll.Candidate{Point: coll.Point{Collective: coll.Allreduce, Nodes: nodes, PPN: 4, MsgBytes: 1 << 20}, Algorithm: a},
				Seconds:   []float64{1e-3, 5e-3}[i], Samples: 10,
			})
		}
	}
	got := testutil.Must(adviceOf(oneJob(small, other, large), [][]coll.Measurement{offline}, among(algorithms, coll.Default)))(t)
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

func TestAdviseWithoutSamples(t *testing.T) {
	if got, err := adviceOf(nil, nil, among(nil, coll.Default)); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAdviseComparesInOneJob checks that an algorithm is selected only if a job timed it and the default in the class.
// Until then both are explored.
func TestAdviseComparesInOneJob(t *testing.T) {
	samples, algorithms := makeSamples(40, 1024, 4e-5, 3e-5, 1e-5)
	byDefault, selected, faster := samples[:40], samples[40:80], samples[80:]
	tests := []struct {
		name    string
		jobs    []Job
		now     coll.Algorithm
		best    int
		explore []int
	}{
		{"the default in another job", []Job{{Calls: byDefault}, {Calls: faster}}, coll.Default, 0, []int{2}},
		{"the selected one in the same job", []Job{{Calls: byDefault}, {Calls: slices.Concat(selected, faster)}}, algorithms[1], 1, []int{0, 2}},
		{"the default in the same job", []Job{{Calls: selected}, {Calls: slices.Concat(byDefault, faster)}}, algorithms[1], 2, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := testutil.Must(adviceOf(tc.jobs, nil, among(algorithms, tc.now)))(t)
			if len(got) != 1 || got[0].Best != tc.best {
				t.Fatalf("%+v, want %v", got, algorithms[tc.best])
			}
			for _, i := range tc.explore {
				if got[0].Weights[i] < 1 {
					t.Errorf("weights %v, want %v explored", got[0].Weights, algorithms[i])
				}
			}
		})
	}
}

// TestAdviseMorePoints checks that a point without samples also gets advice. The advice must follow from the
// times that the model predicts for this point.
func TestAdviseMorePoints(t *testing.T) {
	samples, algorithms := makeSamples(40, 1024, 4e-5, 1e-5)
	base := among(algorithms, coll.Default)
	base.Points = []coll.Point{{Collective: coll.Allreduce, Nodes: 2, PPN: 4, MsgBytes: 2048}, {Collective: coll.Bcast, Nodes: 2, PPN: 4, MsgBytes: 8}}
	got, err := adviceOf(oneJob(samples), nil, base)
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v: want three classes", got, err)
	}
	if near := got[1]; near.MsgBytes != 2048 || near.Samples != 0 || near.Best != 0 || near.Weights[1] < 1 {
		t.Errorf("next to the samples: %+v, want the default, and the faster algorithm explored", near)
	}
	if other := got[2]; other.Best != 0 || !slices.Equal(other.Weights, []float64{1, 1}) {
		t.Errorf("another collective: %+v, want the default, and all explored alike", other)
	}
}

func TestExploreWeights(t *testing.T) {
	tests := []struct {
		name    string
		weights []float64
		calls   float64
		want    []float64
	}{
		{"enough draws", []float64{0, 1, 3, 2}, 6, []float64{0, 1, 3, 2}},
		{"too few draws", []float64{0, 1, 3, 2}, 5, []float64{0, 0.001, 3, 2}},
		{"hardly any draws", []float64{0, 1, 3, 2}, 1, []float64{0, 0.001, 3, 0.002}},
		{"unknown number of draws", []float64{0, 1, 3, 2}, 0, []float64{0, 1, 3, 2}},
		{"the selected one takes its part of them", []float64{6, 1, 3, 2}, 10, []float64{6, 0.001, 3, 2}},
		{"nothing to explore", []float64{0, 0, 0, 0}, 10, []float64{1, 0, 0, 0}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := exploreWeights(tc.weights, 0, tc.calls); !slices.Equal(got, tc.want) {
				t.Errorf("weights %v, want %v", got, tc.want)
			}
		})
	}
}
