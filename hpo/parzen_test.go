package hpo

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/c-bata/goptuna"
)

// TestComponentsSumToOne adds up the density of every component over its values
// and compares the frequency of draws with it.
func TestComponentsSumToOne(t *testing.T) {
	tests := []struct {
		name         string
		distribution any
		values       []float64
		grid         []float64 // all values, or for a continuous axis the middles of equal cells
		cell         float64   // width of a cell; 1 when density is a mass
	}{
		{name: "int", distribution: goptuna.IntUniformDistribution{Low: 1, High: 5}, values: []float64{1, 1, 4}, grid: []float64{1, 2, 3, 4, 5}, cell: 1},
		{name: "log int", distribution: logInt{1, 5}, values: []float64{5, 2}, grid: []float64{1, 2, 3, 4, 5}, cell: 1},
		{name: "step", distribution: goptuna.DiscreteUniformDistribution{Low: 0, High: 1, Q: 0.5}, values: []float64{0.5}, grid: []float64{0, 0.5, 1}, cell: 1},
		{name: "choice", distribution: goptuna.CategoricalDistribution{Choices: []string{"a", "b", "c"}}, values: []float64{2, 2, 0}, grid: []float64{0, 1, 2}, cell: 1},
		{name: "float", distribution: goptuna.UniformDistribution{Low: -1, High: 1}, values: []float64{-1, 0.3, 0.31}, grid: middles(-1, 1, 4000), cell: 2.0 / 4000},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c := newComponents(tc.distribution, tc.values)
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range len(tc.values) + 1 {
				var sum, mean float64
				for _, v := range tc.grid {
					sum += c.density(i, v) * tc.cell
					mean += v * c.density(i, v) * tc.cell
				}
				if math.Abs(sum-1) > 1e-6 {
					t.Errorf("component %d sums to %g", i, sum)
				}
				const draws = 20000
				var drawn float64
				for range draws {
					drawn += c.draw(rng, i) / draws
				}
				// The standard error of the mean is below 0.02 on every axis here.
				if math.Abs(drawn-mean) > 0.06 {
					t.Errorf("component %d: mean of draws %g, of density %g", i, drawn, mean)
				}
			}
		})
	}
}

func middles(low, high float64, n int) []float64 {
	m := make([]float64, n)
	for i := range m {
		m[i] = low + (high-low)*(float64(i)+0.5)/float64(n)
	}
	return m
}

func TestNormalsWidths(t *testing.T) {
	a, err := newAxis(goptuna.UniformDistribution{Low: 0, High: 10})
	if err != nil {
		t.Fatal(err)
	}
	// Sorted: 1, 2, 5 (the prior), 9, and a lower bound of 10/(2·5) = 1.
	n := newNormals(a, []float64{9, 1, 2})
	var got []float64
	for _, k := range n.kernels {
		got = append(got, k.sigma)
	}
	if want := []float64{4, 1, 3, 10}; !slices.Equal(got, want) {
		t.Errorf("sigma = %v, want %v", got, want)
	}
}

func TestWeigh(t *testing.T) {
	tests := []struct {
		n           int
		oldest, sum float64 // the prior's 1 included
	}{
		{n: 0, oldest: 1, sum: 1},
		{n: 25, oldest: 1, sum: 26},
		{n: 26, oldest: 1.0 / 26, sum: 26 + 1.0/26},
		{n: 27, oldest: 1.0 / 27, sum: 27 + 1.0/27},
	}
	for _, tc := range tests {
		w := weigh(tc.n)
		var sum float64
		for _, x := range w {
			sum += x
		}
		if len(w) != tc.n+1 || w[0] != tc.oldest || math.Abs(sum-tc.sum) > 1e-12 {
			t.Errorf("weigh(%d): %d weights from %g, sum %g; want from %g, sum %g", tc.n, len(w), w[0], sum, tc.oldest, tc.sum)
		}
	}
}

func TestRank(t *testing.T) {
	trial := func(number int, state goptuna.TrialState, value float64, steps ...float64) goptuna.FrozenTrial {
		f := newFrozen(number)
		f.State, f.Value = state, value
		for i, v := range steps {
			f.IntermediateValues[i+1] = v
		}
		return f
	}
	trials := []goptuna.FrozenTrial{
		trial(0, goptuna.TrialStatePruned, 0),
		trial(1, goptuna.TrialStatePruned, 1, 1),
		trial(2, goptuna.TrialStateComplete, 5),
		trial(3, goptuna.TrialStateFail, 0),
		trial(4, goptuna.TrialStatePruned, 8, 1, 8),
		trial(5, goptuna.TrialStateComplete, 4),
		trial(6, goptuna.TrialStatePruned, 7, 1, 7),
		trial(7, goptuna.TrialStateComplete, 5),
		trial(8, goptuna.TrialStateRunning, 0),
	}
	tests := []struct {
		direction goptuna.StudyDirection
		want      []int
	}{
		{direction: goptuna.StudyDirectionMinimize, want: []int{5, 2, 7, 6, 4, 1, 0}},
		{direction: goptuna.StudyDirectionMaximize, want: []int{2, 7, 5, 4, 6, 1, 0}},
	}
	for _, tc := range tests {
		var got []int
		for _, r := range rank(trials, tc.direction) {
			got = append(got, r.Number)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("rank, %s = %v, want %v", tc.direction, got, tc.want)
		}
	}
}
