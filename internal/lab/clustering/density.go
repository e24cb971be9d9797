package clustering

import (
	"fmt"

	"tutti/topology/cluster"
)

// Components divides the members into the connected components of the graph whose edges
// are the distances of at most threshold seconds. O(n²).
//
// It returns an error matching cluster.ErrMatrix when a pair is missing.
func Components(m cluster.Matrix, threshold float64) (cluster.Labels, error) {
	return DBSCAN(m, threshold, 1)
}

// DBSCAN divides the members by density: those with at least minPoints members within
// eps seconds, themselves included, are cores; cores within eps of each other are one
// group, and so are members within eps of a core; the others are noise. A member near
// the cores of two groups goes to the first. O(n²).
//
// It returns an error matching ErrMatrix when a pair is missing, and another when
// minPoints is below 1.
//
// Source: Ester, Kriegel, Sander and Xu, KDD 1996.
func DBSCAN(m cluster.Matrix, eps float64, minPoints int) (cluster.Labels, error) {
	if err := m.CheckComplete(); err != nil {
		return nil, err
	}
	if minPoints < 1 {
		return nil, fmt.Errorf("%d points: want 1 or more", minPoints)
	}
	near := make([][]int, m.Len())
	for i := range near {
		for j, x := range m.Row(i) {
			if x <= eps {
				near[i] = append(near[i], j)
			}
		}
	}
	raw := make([]int, m.Len())
	for i := range raw {
		raw[i] = cluster.Noise
	}
	for i := range raw {
		if raw[i] != cluster.Noise || len(near[i]) < minPoints {
			continue
		}
		raw[i] = i
		for reach := []int{i}; len(reach) > 0; reach = reach[1:] {
			for _, j := range near[reach[0]] {
				if raw[j] != cluster.Noise {
					continue
				}
				raw[j] = i
				if len(near[j]) >= minPoints {
					reach = append(reach, j)
				}
			}
		}
	}
	return cluster.NewLabels(raw), nil
}
