package measured

import (
	"fmt"
	"math"
	"slices"

	"tutti/internal/robust"
	"tutti/topology/cluster"
	"tutti/topology/suspect"
)

// Levels finds the levels among the members that pairs were measured of. Of the times of
// a pair every other one goes into each half; without two of any pair there are no
// halves. The members are in the order of the pairs; errors count them from 0.
//
// It returns an error matching suspect.ErrPair for a pair that nobody can have measured,
// and one matching cluster.ErrMatrix when more than half of a member's pairs are missing.
func Levels(pairs []suspect.Pair) (found cluster.Result, members []string, err error) {
	m, err := gather(pairs)
	if err != nil {
		return cluster.Result{}, nil, err
	}
	found, err = m.discover()
	return found, m.members, err
}

// matrix is all times of each pair.
type matrix struct {
	members []string
	times   map[[2]int][]float64 // by the numbers of two members, the greater one first
	most    int                  // times of one pair
}

func gather(pairs []suspect.Pair) (matrix, error) {
	m := matrix{times: map[[2]int][]float64{}}
	number := map[string]int{}
	for i, p := range pairs {
		if err := p.Check(); err != nil {
			return matrix{}, fmt.Errorf("pair %d: %w", i+1, err)
		}
		for _, n := range []string{p.A, p.B} {
			if _, seen := number[n]; !seen {
				number[n] = len(m.members)
				m.members = append(m.members, n)
			}
		}
		a, b := number[p.A], number[p.B]
		key := [2]int{max(a, b), min(a, b)}
		m.times[key] = append(m.times[key], p.Seconds)
		m.most = max(m.most, len(m.times[key]))
	}
	return m, nil
}

func (m matrix) discover() (cluster.Result, error) {
	first, err := m.half(0)
	if err != nil {
		return cluster.Result{}, err
	}
	if m.most == 1 {
		return cluster.DiscoverSingle(first)
	}
	second, err := m.half(1)
	if err != nil {
		return cluster.Result{}, err
	}
	return cluster.Discover(first, second)
}

// half returns the medians of every other time of each pair, from the given one on.
func (m matrix) half(from int) (cluster.Matrix, error) {
	rows := make([][]float64, len(m.members))
	for i := range rows {
		rows[i] = slices.Repeat([]float64{math.NaN()}, i)
	}
	for pair, all := range m.times {
		var own []float64
		for k := from; k < len(all); k += 2 {
			own = append(own, all[k])
		}
		rows[pair[0]][pair[1]] = robust.Quantile(own, 0.5)
	}
	return cluster.New(rows)
}
