package clustering

import (
	"math"
	"math/rand/v2"

	"tutti/topology/discover"
)

// Machine is a simulated machine: a tree of equal parts, for which Draw returns random matrices of times.
type Machine struct {
	Name    string
	Shape   []int     // number of parts at each level, outermost first, for example 4 leaves of 8 nodes of 2 sockets
	Seconds []float64 // round trip of two members at each level, innermost first
}

// ThesisMachines returns the machines of Reinfjell (NTNU 2023). Each has the round-trip times of its levels in
// µs.
func ThesisMachines() []Machine {
	return []Machine{
		{Name: "FRAM, 1 node", Shape: []int{2, 16}, Seconds: []float64{0.80, 1.46}},
		{Name: "FRAM, 2 nodes", Shape: []int{2, 2, 16}, Seconds: []float64{0.80, 1.46, 2.60}},
		{Name: "FRAM, 4 nodes", Shape: []int{2, 2, 2, 16}, Seconds: []float64{0.80, 1.46, 2.18, 2.78}},
		{Name: "BETZY, 4 nodes", Shape: []int{4, 2, 64}, Seconds: []float64{0.6, 0.8, 1.8}},
	}
}

// Noise says how measured distances differ from the true ones.
type Noise struct {
	Sigma    float64 // standard deviation of the logarithm of a distance, for the mean of both matrices
	Static   float64 // standard deviation of an error of the logarithm that both matrices share
	Outliers float64 // share of the measured times that are 1.5 to 4 times too long
	// Repetitions is the number of times whose mean is a distance, R in the source. Each has the noise Sigma and
	// may be an outlier. 0 means 1.
	Repetitions int
}

// DefaultNoise returns noise with the given sigma, 2 % static noise and 1 % outliers.
func DefaultNoise(sigma float64) Noise { return Noise{Sigma: sigma, Static: 0.02, Outliers: 0.01} }

// Members returns the number of leaves of the machine's tree, such as the sockets or cores that communicate.
func (m Machine) Members() int {
	n := 1
	for _, parts := range m.Shape {
		n *= parts
	}
	return n
}

// Truth returns the true group of each member at each level, the coarsest level first. `order` contains the
// place of each member in the tree.
func (m Machine) Truth(order []int) []discover.Labels {
	var out []discover.Labels
	size := m.Members()
	for _, parts := range m.Shape[:len(m.Shape)-1] {
		size /= parts
		labels := make(discover.Labels, len(order))
		for i, place := range order {
			labels[i] = place / size
		}
		out = append(out, labels)
	}
	return out
}

// Draw returns two random matrices of distances between members. Each stands for one half of the repetitions of
// a measurement. It also returns the true groups at each level, the coarsest level first.
func (m Machine) Draw(noise Noise, seed uint64) (a, b discover.Matrix, truth []discover.Labels, err error) {
	rng := rand.New(rand.NewPCG(seed, uint64(m.Members())))
	order := rng.Perm(m.Members())
	truth = m.Truth(order)
	a, b, err = noise.Measure(len(order), Nested(truth, m.Seconds), rng)
	return a, b, truth, err
}

// Nested returns a function for the distance of two members: that of the innermost level at which both are in
// the same group. The divisions are ordered from the coarsest to the finest. The slice `seconds` holds the
// distance of each level, the innermost level first.
func Nested(divisions []discover.Labels, seconds []float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		level := len(seconds) - 1
		for _, labels := range divisions {
			if labels[i] == labels[j] {
				level--
			}
		}
		return seconds[level]
	}
}

// Measure draws two matrices from the true distances of n members. Each matrix stands for one half of the
// repetitions.
func (noise Noise) Measure(n int, distance func(i, j int) float64, rng *rand.Rand) (a, b discover.Matrix, err error) {
	var halves [2][][]float64
	for h := range halves {
		halves[h] = make([][]float64, n)
		for i := range n {
			halves[h][i] = make([]float64, i)
		}
	}
	for i := range n {
		for j := range i {
			same := distance(i, j) * math.Exp(noise.Static*rng.NormFloat64())
			for h := range halves {
				halves[h][i][j] = same * noise.mean(math.Sqrt2, rng)
			}
		}
	}
	if a, err = discover.NewMatrix(halves[0]); err != nil {
		return a, b, err
	}
	b, err = discover.NewMatrix(halves[1])
	return a, b, err
}

// mean returns the mean of all repetitions of a measurement whose true result is 1. The standard deviation of each is
// Sigma times the factor.
func (noise Noise) mean(factor float64, rng *rand.Rand) float64 {
	sum, n := 0.0, max(1, noise.Repetitions)
	for range n {
		x := math.Exp(noise.Sigma * factor * rng.NormFloat64())
		if rng.Float64() < noise.Outliers {
			x *= 1.5 + 2.5*rng.Float64()
		}
		sum += x
	}
	return sum / float64(n)
}

// Mean returns the mean of two complete matrices.
func Mean(a, b discover.Matrix) (discover.Matrix, error) {
	return discover.NewMatrix(triangle(a.Len(), func(i, j int) float64 { return (a.At(i, j) + b.At(i, j)) / 2 }))
}
