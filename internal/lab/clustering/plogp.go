package clustering

import (
	"gonum.org/v1/gonum/floats"

	"tutti/topology/discover"
)

// Distances returns the time in seconds of a message between each two ranks (Reinfjell, equation 3.4). The
// element pairs[i][j] has the PLogP parameters of the ranks i and j, for j < i. The result has the same shape.
func Distances(pairs [][]discover.Parameters, bytes int) [][]float64 {
	return triangle(len(pairs), func(i, j int) float64 { return pairs[i][j].Time(bytes) })
}

// triangle returns the rows of a matrix below its diagonal: value(i, j) for j < i.
func triangle(n int, value func(i, j int) float64) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		for j := range i {
			rows[i] = append(rows[i], value(i, j))
		}
	}
	return rows
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
			o := p.At(bytes)
			parameters := []float64{p.Latency, o.Send, o.Receive, o.Gap}
			copy(vectors[i][each*j:], parameters)
			copy(vectors[j][each*i:], parameters)
		}
	}
	return triangle(len(pairs), func(i, j int) float64 { return floats.Distance(vectors[i], vectors[j], 2) })
}
