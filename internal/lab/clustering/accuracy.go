package clustering

import (
	"fmt"
	"math"

	"tutti/topology/discover"
)

// Accuracy returns the share of the members that are in the right group, for the best one-to-one assignment
// of groups to true groups. Members that are labelled as noise count as wrong. It takes O(k³) time for k
// groups.
//
// It returns an error matching discover.ErrMatrix if the lengths differ or are 0.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023), equations 3.7 to 3.9; for
// the assignment Kuhn, Naval Research Logistics Quarterly 2 (1955).
func Accuracy(labels, truth discover.Labels) (float64, error) {
	if len(labels) != len(truth) || len(labels) == 0 {
		return 0, fmt.Errorf("%w: %d labels and %d true ones", discover.ErrMatrix, len(labels), len(truth))
	}
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
	return -assign(shared) / float64(len(labels)), nil
}

// assign returns the lowest cost of a one-to-one assignment of rows to columns.
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

// augment assigns a column to the row row[0] at the lowest cost. It may change the columns of other rows.
func augment(cost [][]float64, u, v []float64, row []int) {
	n := len(cost)
	least := make([]float64, n+1)
	way := make([]int, n+1)
	used := make([]bool, n+1)
	for c := range least {
		least[c] = math.Inf(1)
	}
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

// Points is the usual number of parameter values that Search tries, as in the paper that Search names.
const Points = 50

// Search tries values of a parameter in equal steps. The first value is one step above low, the last is
// high. It returns the value with the highest score, and among equal scores the first.
//
// It returns the first error of try. It also returns an error if points is below 1 or high is not above
// low.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023), section 3.3 and equation
// 3.10, where the score is the Accuracy.
func Search(low, high float64, points int, try func(x float64) (score float64, err error)) (x, score float64, err error) {
	if points < 1 || !(low < high) {
		return 0, 0, fmt.Errorf("%d points from %g to %g: want 1 or more, upwards", points, low, high)
	}
	score = math.Inf(-1)
	for i := range points {
		at := low + (high-low)*float64(i+1)/float64(points)
		s, err := try(at)
		if err != nil {
			return 0, 0, fmt.Errorf("parameter %g: %w", at, err)
		}
		if s > score {
			x, score = at, s
		}
	}
	return x, score, nil
}

// Range returns the shortest and the longest distance. Thresholds for Components and DBSCAN lie between
// them. It returns an error matching discover.ErrMatrix if a pair is missing.
func Range(m discover.Matrix) (shortest, longest float64, err error) {
	if err := m.CheckComplete(); err != nil {
		return 0, 0, err
	}
	shortest = math.Inf(1)
	for i := range m.Len() {
		for _, x := range m.Row(i)[:i] {
			shortest, longest = min(shortest, x), max(longest, x)
		}
	}
	return shortest, longest, nil
}
