// Package clustering compares how well clustering methods find the levels of a machine's network.
//
// A machine is a tree of equal parts. A matrix has a time for each pair of its members. The
// methods divide the members into groups. KMedoids, KMeans, Spectral and hierarchical clustering get the number of
// groups. DBSCAN, HDBSCAN and SSSTree get the parameter with the best Accuracy.
// Compare runs all methods on the machines of the source below. Matrices must be complete, that
// is without discover.Matrix.Holes.
//
// The times of pairs come from round trips or from the PLogP model. Distances and Profiles make a matrix
// from the model's parameters of all pairs.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023).
package clustering

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"tutti/topology/discover"
)

// Method is a clustering method. The function Accuracy divides the members of the matrix m into groups and returns
// how well these agree with the true groups. The method gets the true number of groups. If it has another parameter
// instead, it gets the value with the best accuracy.
type Method struct {
	Name     string
	Accuracy func(m discover.Matrix, truth discover.Labels) float64
}

// Methods returns the methods that Compare runs.
func Methods() []Method {
	return []Method{
		{"k-medoids", withGroups(func(m discover.Matrix, k int) discover.Labels {
			labels, _ := KMedoids(m, k)
			return labels
		})},
		{"k-means", withGroups(KMeans)},
		{"average", cutOf(discover.Average, false)},
		{"complete", cutOf(discover.Complete, false)},
		{"single", cutOf(discover.Single, false)},
		{"ward on profiles", cutOf(discover.Ward, true)},
		{"spectral", withGroups(func(m discover.Matrix, k int) discover.Labels {
			labels, _ := Spectral(m, k)
			return labels
		})},
		{"components", withThreshold(func(m discover.Matrix, x float64) discover.Labels { return DBSCAN(m, x, 1) })},
		{"DBSCAN", withThreshold(func(m discover.Matrix, x float64) discover.Labels { return DBSCAN(m, x, 2) })},
		{"SSSTree", func(m discover.Matrix, truth discover.Labels) float64 {
			return bestAccuracy(0, 5, points, truth, func(x float64) []discover.Labels { return SSSTree(m, x) })
		}},
		{"HDBSCAN", func(m discover.Matrix, truth discover.Labels) float64 {
			most := m.Len() / 2
			return bestAccuracy(1, float64(1+most), min(points, most), truth, func(x float64) []discover.Labels {
				return []discover.Labels{HDBSCAN(m, int(x), Mass), HDBSCAN(m, int(x), Leaves)}
			})
		}},
	}
}

// withGroups returns the Accuracy of a method that gets the true number of groups.
func withGroups(divide func(m discover.Matrix, k int) discover.Labels) func(discover.Matrix, discover.Labels) float64 {
	return func(m discover.Matrix, truth discover.Labels) float64 {
		return Accuracy(divide(m, truth.Groups()), truth)
	}
}

// cutOf returns the Accuracy of agglomerative clustering, whose dendrogram is cut into the true number of groups. If `profile`
// is true, it clusters by the distances between whole rows of the matrix (discover.Profile).
func cutOf(by discover.Linkage, profile bool) func(discover.Matrix, discover.Labels) float64 {
	return withGroups(func(m discover.Matrix, k int) discover.Labels {
		if profile {
			m = discover.Profile(m)
		}
		return discover.Agglomerate(m, by).Cut(k)
	})
}

// withThreshold returns the Accuracy of a method that gets the best threshold between the shortest and the longest distance.
func withThreshold(divide func(m discover.Matrix, x float64) discover.Labels) func(discover.Matrix, discover.Labels) float64 {
	return func(m discover.Matrix, truth discover.Labels) float64 {
		low, high := distanceRange(m)
		return bestAccuracy(low, high, points, truth, func(x float64) []discover.Labels { return []discover.Labels{divide(m, x)} })
	}
}

// points is the number of values that are tried for the parameter of a method.
const points = 50

// bestAccuracy returns the best accuracy over the values of a parameter, in equal steps. The first value is one step above
// `low`, the last is `high`. For each value, a method may return several divisions, of which the best one counts.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023), section 3.3 and equation 3.10.
func bestAccuracy(low, high float64, points int, truth discover.Labels, divide func(x float64) []discover.Labels) float64 {
	best := 0.0
	for i := range points {
		for _, labels := range divide(low + (high-low)*float64(i+1)/float64(points)) {
			best = max(best, Accuracy(labels, truth))
		}
	}
	return best
}

// Row is the result of one clustering method on one machine.
type Row struct {
	Machine  string    `json:"machine"`
	Members  int       `json:"members"`
	Input    string    `json:"input"` // content of the matrix
	Method   string    `json:"method"`
	Accuracy []float64 `json:"accuracy"` // at each level, the coarsest first
}

// Compare runs all methods on the machines. For each machine and method, it returns the accuracy at each level. If `plogp` is
// true, it also runs the methods on distances and profiles of PLogP parameters.
func Compare(ctx context.Context, machines []Machine, noise Noise, plogp bool, seed uint64) ([]Row, error) {
	var out []Row
	for _, machine := range machines {
		a, b, truth, err := machine.Draw(noise, seed)
		if err != nil {
			return nil, err
		}
		mean, err := Mean(a, b)
		if err != nil {
			return nil, err
		}
		inputs := []input{{"round trips", mean}}
		if plogp {
			more, err := plogpInputs(machine, truth, noise, seed)
			if err != nil {
				return nil, err
			}
			inputs = append(inputs, more...)
		}
		rows, err := compare(ctx, machine.Name, inputs, truth)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// compare runs all methods on the inputs of one machine.
func compare(ctx context.Context, machine string, inputs []input, truth []discover.Labels) ([]Row, error) {
	var out []Row
	for _, in := range inputs {
		for _, method := range Methods() {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			row := Row{Machine: machine, Members: in.matrix.Len(), Input: in.name, Method: method.Name}
			for _, labels := range truth {
				row.Accuracy = append(row.Accuracy, method.Accuracy(in.matrix, labels))
			}
			out = append(out, row)
		}
	}
	return out, nil
}

type input struct {
	name   string
	matrix discover.Matrix
}

// plogpBytes is the message size in bytes for which PLogP distances and profiles are computed.
const plogpBytes = 1024

// plogpInputs simulates a link between each two members (ranks) of a machine. It returns two matrices for
// clustering methods: the PLogP distances of the links, and the distances between the ranks' PLogP profiles
// (see Profiles).
func plogpInputs(machine Machine, truth []discover.Labels, noise Noise, seed uint64) ([]input, error) {
	rng := rand.New(rand.NewPCG(seed, uint64(machine.Members())+1))
	roundTrip := Nested(truth, machine.Seconds)
	pairs := make([][]discover.Parameters, machine.Members())
	for i := range pairs {
		for j := range i {
			l := link{roundTrip: roundTrip(i, j) * 1e-6 * math.Exp(noise.Static*rng.NormFloat64())}
			p, err := l.parameters(noise, rng)
			if err != nil {
				return nil, err
			}
			pairs[i] = append(pairs[i], p)
		}
	}
	return inputsOf(pairs, plogpBytes)
}

// inputsOf returns the PLogP distances of all pairs of ranks, and the distances between the ranks' profiles.
func inputsOf(pairs [][]discover.Parameters, bytes int) ([]input, error) {
	var out []input
	for _, in := range []struct {
		name string
		rows [][]float64
	}{{"PLogP distances", Distances(pairs, bytes)}, {"PLogP profiles", Profiles(pairs, bytes)}} {
		m, err := discover.NewMatrix(in.rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.name, err)
		}
		out = append(out, input{in.name, m})
	}
	return out, nil
}

// link is a simulated link that follows the PLogP model. The gaps of sender and receiver for an empty message
// together take a fifth of its round trip, and a byte takes 0.1 ns.
type link struct{ roundTrip float64 }

func (l link) gap(bytes int) float64 { return l.roundTrip/10 + float64(bytes)*1e-10 }

// parameters returns the PLogP parameters of the link, which noisy times of messages of 1 byte to 16 KiB give. Gaps have no
// noise, since each is the mean of a long row of messages.
func (l link) parameters(noise Noise, rng *rand.Rand) (discover.Parameters, error) {
	times := []discover.SizeTimes{{RoundTrip: l.roundTrip * noise.mean(1, rng), Gap: l.gap(0)}}
	for bytes := 1; bytes <= 1<<14; bytes *= 2 {
		times = append(times, discover.SizeTimes{
			Bytes: bytes, RoundTrip: (l.roundTrip + l.gap(bytes) - l.gap(0)) * noise.mean(1, rng),
			Send: l.roundTrip / 20 * noise.mean(1, rng), Receive: l.roundTrip / 20 * noise.mean(1, rng), Gap: l.gap(bytes),
		})
	}
	return discover.FitPLogP(times)
}
