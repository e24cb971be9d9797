package discover_test

import (
	"math/rand/v2"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/internal/testutil"
	"tutti/topology/discover"
)

// seeds returns n in make test-all and at most 2 otherwise.
func seeds(n uint64) uint64 {
	if testutil.AllCases() {
		return n
	}
	return min(n, 2)
}

// draw draws a machine's levels and two matrices of repetitions.
func draw(t testing.TB, m clustering.Machine, noise clustering.Noise, seed uint64) (a, b discover.Matrix, truth []discover.Labels) {
	t.Helper()
	a, b, truth, err := m.Draw(noise, seed)
	if err != nil {
		t.Fatal(err)
	}
	return a, b, truth
}

// measure draws two matrices of repetitions of n members.
func measure(t testing.TB, noise clustering.Noise, n int, distance func(i, j int) float64, rng *rand.Rand) (a, b discover.Matrix) {
	t.Helper()
	a, b, err := noise.Measure(n, distance, rng)
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

func mean(t testing.TB, a, b discover.Matrix) discover.Matrix {
	t.Helper()
	m, err := clustering.Mean(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func accuracy(t testing.TB, labels, truth discover.Labels) float64 {
	t.Helper()
	share, err := clustering.Accuracy(labels, truth)
	if err != nil {
		t.Fatal(err)
	}
	return share
}

// exact reports whether the found levels equal the true ones.
func exact(t testing.TB, found []discover.Level, truth []discover.Labels) bool {
	t.Helper()
	if len(found) != len(truth) {
		return false
	}
	for i, l := range found {
		if accuracy(t, l.Labels, truth[i]) < 1 {
			return false
		}
	}
	return true
}

// groups returns the number of groups of each level.
func groups(found []discover.Level) []int {
	out := []int{}
	for _, l := range found {
		out = append(out, l.Labels.Groups())
	}
	return out
}
