package clustering

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tutti/topology/discover"
)

// Distances returns the time in seconds of a message between each two ranks (Reinfjell, equation 3.4). The
// element pairs[i][j] has the PLogP parameters of the ranks i and j, for j < i. The result has the same shape.
func Distances(pairs [][]discover.Parameters, bytes int) [][]float64 {
	out := make([][]float64, len(pairs))
	for i, row := range pairs {
		out[i] = make([]float64, i)
		for j, p := range row {
			out[i][j] = Time(p, bytes)
		}
	}
	return out
}

// Profiles returns the Euclidean distance between the profiles of each two ranks. The profile of a rank
// consists of the latency, the overheads and the gap of a message to each rank (Reinfjell, equations 3.5 and
// 3.6). `pairs` and the result have the same shape as for Distances. It takes O(n³) time for n
// ranks.
func Profiles(pairs [][]discover.Parameters, bytes int) [][]float64 {
	const each = 4 // number of parameters of a pair
	vectors := make([][]float64, len(pairs))
	for i := range vectors {
		vectors[i] = make([]float64, each*len(pairs))
	}
	for i, row := range pairs {
		for j, p := range row {
			o := At(p, bytes)
			parameters := []float64{p.Latency, o.Send, o.Receive, o.Gap}
			copy(vectors[i][each*j:], parameters)
			copy(vectors[j][each*i:], parameters)
		}
	}
	out := make([][]float64, len(pairs))
	for i := range out {
		out[i] = make([]float64, i)
		for j := range i {
			out[i][j] = floats.Distance(vectors[i], vectors[j], 2)
		}
	}
	return out
}

// At returns the PLogP parameters of a message size, computed by linear interpolation between the measured sizes, or
// by extrapolation. No result is below 0.
func At(p discover.Parameters, bytes int) discover.Overhead {
	if len(p.Sizes) == 1 {
		o := p.Sizes[0]
		o.Bytes = bytes
		return o
	}
	i, _ := slices.BinarySearchFunc(p.Sizes, bytes, func(o discover.Overhead, b int) int { return cmp.Compare(o.Bytes, b) })
	i = min(max(i, 1), len(p.Sizes)-1)
	a, b := p.Sizes[i-1], p.Sizes[i]
	share := float64(bytes-a.Bytes) / float64(b.Bytes-a.Bytes)
	return discover.Overhead{
		Bytes:   bytes,
		Send:    between(a.Send, b.Send, share),
		Receive: between(a.Receive, b.Receive, share),
		Gap:     between(a.Gap, b.Gap, share),
	}
}

func between(a, b, share float64) float64 { return max(a+share*(b-a), 0) }

// Time returns the time of a message in seconds: the sum of the latency, the gap and the mean of both overheads
// (Reinfjell, equation 3.3).
func Time(p discover.Parameters, bytes int) float64 {
	o := At(p, bytes)
	return p.Latency + (o.Send+o.Receive)/2 + o.Gap
}
