package cluster_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/topology/cluster"
)

// machine is a tree of equal parts that matrices are drawn from.
type machine struct {
	shape   []int     // parts of parts, outermost first: 4 leaves of 8 nodes of 2 sockets of 8 cores
	seconds []float64 // round trip of two members by the part they share, innermost first
	inOrder bool      // members are numbered through the parts; else at random
}

// what is measured of a machine.
type measuring struct {
	noise   float64 // standard deviation of the logarithm of a distance, mean of both halves
	static  float64 // the same of what every measurement of a pair shares
	outlier float64 // share of distances that are 1.5 to 4 times as long
}

// usual is what the recorded matrices were drawn with.
func usual(noise float64) measuring {
	return measuring{noise: noise, static: 0.02, outlier: 0.01}
}

// members returns the number of members.
func (m machine) members() int {
	n := 1
	for _, parts := range m.shape {
		n *= parts
	}
	return n
}

// truth returns the levels, coarsest first, for an order of the members.
func (m machine) truth(order []int) []cluster.Labels {
	var out []cluster.Labels
	size := m.members()
	for _, parts := range m.shape[:len(m.shape)-1] {
		size /= parts
		labels := make(cluster.Labels, len(order))
		for i, place := range order {
			labels[i] = place / size
		}
		out = append(out, labels)
	}
	return out
}

// distance is how far two members are apart.
type distance func(i, j int) float64

// ideal returns the distances that nested divisions, coarsest first, make.
func ideal(truth []cluster.Labels, seconds []float64) distance {
	return func(i, j int) float64 {
		level := len(seconds) - 1
		for _, labels := range truth {
			if labels[i] == labels[j] {
				level--
			}
		}
		return seconds[level]
	}
}

// measure draws the two halves of the repetitions of the distances of n members.
func (by measuring) measure(t testing.TB, n int, d distance, rng *rand.Rand) (a, b cluster.Matrix) {
	t.Helper()
	var halves [2][][]float64
	for h := range halves {
		halves[h] = make([][]float64, n)
		for i := range n {
			halves[h][i] = make([]float64, i)
		}
	}
	for i := range n {
		for j := range i {
			same := d(i, j) * math.Exp(by.static*rng.NormFloat64())
			for h := range halves {
				x := same * math.Exp(by.noise*math.Sqrt2*rng.NormFloat64())
				if rng.Float64() < by.outlier {
					x *= 1.5 + 2.5*rng.Float64()
				}
				halves[h][i][j] = x
			}
		}
	}
	return matrix(t, halves[0]), matrix(t, halves[1])
}

func matrix(t testing.TB, rows [][]float64) cluster.Matrix {
	t.Helper()
	m, err := cluster.New(rows)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// draw returns the halves of a machine's matrix and its levels.
func (m machine) draw(t testing.TB, by measuring, seed uint64) (a, b cluster.Matrix, truth []cluster.Labels) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, uint64(m.members())))
	order := rng.Perm(m.members())
	if m.inOrder {
		for i := range order {
			order[i] = i
		}
	}
	truth = m.truth(order)
	a, b = by.measure(t, len(order), ideal(truth, m.seconds), rng)
	return a, b, truth
}

// mean returns the matrix of the means of two halves.
func mean(t testing.TB, a, b cluster.Matrix) cluster.Matrix {
	t.Helper()
	rows := make([][]float64, a.Len())
	for i := range rows {
		rows[i] = make([]float64, i)
		for j := range rows[i] {
			rows[i][j] = (a.At(i, j) + b.At(i, j)) / 2
		}
	}
	return matrix(t, rows)
}

func accuracy(t testing.TB, labels, truth cluster.Labels) float64 {
	t.Helper()
	share, err := cluster.Accuracy(labels, truth)
	if err != nil {
		t.Fatal(err)
	}
	return share
}

// exact reports whether the levels found are the true ones, all and nothing else.
func exact(t testing.TB, found []cluster.Level, truth []cluster.Labels) bool {
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

func groups(found []cluster.Level) []int {
	out := []int{}
	for _, l := range found {
		out = append(out, l.Labels.Groups())
	}
	return out
}
