package clustering

import (
	"math"
	"slices"

	"tutti/topology/discover"
)

// Accuracy returns the share of the members that are in the right group, for the best one-to-one assignment
// of groups to true groups. Members that are labelled as noise count as wrong. It takes O(k³) time for k
// groups.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023), equations 3.7 to 3.9; for
// the assignment Kuhn, Naval Research Logistics Quarterly 2 (1955).
func Accuracy(labels, truth discover.Labels) float64 {
	k := max(labels.Groups(), truth.Groups())
	shared := make([][]float64, k)
	for i := range shared {
		shared[i] = make([]float64, k)
	}
	for i, g := range labels {
		if g != discover.NoGroup && truth[i] != discover.NoGroup {
			shared[g][truth[i]]--
		}
	}
	return -assign(shared) / float64(len(labels))
}

func assign(cost [][]float64) float64 {
	n := len(cost)
	u, v := make([]float64, n+1), make([]float64, n+1) // potentials of rows and columns; indices start at 1
	row := make([]int, n+1)                            // the row that each column is assigned to, 0 for none
	for r := 1; r <= n; r++ {
		row[0] = r
		augment(cost, u, v, row)
	}
	total := 0.0
	for c := 1; c <= n; c++ {
		total += cost[row[c]-1][c-1]
	}
	return total
}

// augment is one step of the Hungarian method. It assigns a column to the row row[0] at the lowest cost, and
// may change the columns of other rows. u and v are the potentials of the rows and columns.
func augment(cost [][]float64, u, v []float64, row []int) {
	n := len(cost)
	least, way, used := slices.Repeat([]float64{math.Inf(1)}, n+1), make([]int, n+1), make([]bool, n+1)
	at := 0
	for row[at] != 0 {
		used[at] = true
		r, next, delta := row[at], 0, math.Inf(1)
		for c := 1; c <= n; c++ {
			if used[c] {
				continue
			}
			if x := cost[r-1][c-1] - u[r] - v[c]; x < least[c] {
				least[c], way[c] = x, at
			}
			if least[c] < delta {
				next, delta = c, least[c]
			}
		}
		for c := range used {
			if used[c] {
				u[row[c]] += delta
				v[c] -= delta
			} else {
				least[c] -= delta
			}
		}
		at = next
	}
	for at != 0 {
		row[at] = row[way[at]]
		at = way[at]
	}
}

// distanceRange returns the shortest and the longest distance. Thresholds lie between them.
func distanceRange(m discover.Matrix) (shortest, longest float64) {
	shortest = math.Inf(1)
	for i := range m.Len() {
		for _, x := range m.Row(i)[:i] {
			shortest, longest = min(shortest, x), max(longest, x)
		}
	}
	return shortest, longest
}
