package plogp

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
)

// Distances returns the time that a message takes between each two of n ranks
// (equation 3.4), as rows up to the diagonal, NaN for a pair that was not measured.
// pairs has the parameters of rank i and each rank before it in row i.
//
// It returns an error matching ErrReading when row i has not i pairs.
func Distances(pairs [][]Parameters, bytes int) ([][]float64, error) {
	if err := triangle(pairs); err != nil {
		return nil, err
	}
	out := make([][]float64, len(pairs))
	for i, row := range pairs {
		out[i] = make([]float64, i)
		for j, p := range row {
			out[i][j] = p.Time(bytes)
		}
	}
	return out, nil
}

// Profiles returns how differently each two of n ranks see all ranks: the Euclidean
// distance of the vectors that hold, for each rank, latency, overheads and gap of a
// message to it (equations 3.5 and 3.6). Rows and pairs are those of Distances. O(n³).
//
// It returns an error matching ErrReading when row i has not i pairs or a pair was not
// measured.
func Profiles(pairs [][]Parameters, bytes int) ([][]float64, error) {
	if err := triangle(pairs); err != nil {
		return nil, err
	}
	const each = 4 // parameters of a pair
	vectors := make([][]float64, len(pairs))
	for i := range vectors {
		vectors[i] = make([]float64, each*len(pairs))
	}
	for i, row := range pairs {
		for j, p := range row {
			if len(p.Sizes) == 0 {
				return nil, fmt.Errorf("%w: ranks %d and %d were not measured", ErrReading, j, i)
			}
			o := p.At(bytes)
			of := []float64{p.Latency, o.Send, o.Receive, o.Gap}
			copy(vectors[i][each*j:], of)
			copy(vectors[j][each*i:], of)
		}
	}
	out := make([][]float64, len(pairs))
	for i := range out {
		out[i] = make([]float64, i)
		for j := range i {
			out[i][j] = floats.Distance(vectors[i], vectors[j], 2)
		}
	}
	return out, nil
}

func triangle(pairs [][]Parameters) error {
	for i, row := range pairs {
		if len(row) != i {
			return fmt.Errorf("%w: rank %d has %d pairs: want one with each of %d ranks before it", ErrReading, i, len(row), i)
		}
	}
	return nil
}
