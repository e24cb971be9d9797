package cluster

import "fmt"

// Components divides the members into those that a chain of distances of at most
// threshold seconds joins. O(n²).
//
// It returns an error matching ErrMatrix when a pair is missing.
func Components(m Matrix, threshold float64) (Labels, error) {
	if err := m.complete(); err != nil {
		return nil, err
	}
	group := newSets(m.n)
	for i := range m.n {
		for j, x := range m.row(i)[:i] {
			if a, b := group.find(i), group.find(j); x <= threshold && a != b {
				group.join(b, a)
			}
		}
	}
	raw := make([]int, m.n)
	for i := range raw {
		raw[i] = group.find(i)
	}
	return numbered(raw), nil
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
func DBSCAN(m Matrix, eps float64, minPoints int) (Labels, error) {
	if err := m.complete(); err != nil {
		return nil, err
	}
	if minPoints < 1 {
		return nil, fmt.Errorf("%d points: want 1 or more", minPoints)
	}
	near := make([][]int, m.n)
	for i := range near {
		for j, x := range m.row(i) {
			if x <= eps {
				near[i] = append(near[i], j)
			}
		}
	}
	raw := make([]int, m.n)
	for i := range raw {
		raw[i] = Noise
	}
	for i := range raw {
		if raw[i] != Noise || len(near[i]) < minPoints {
			continue
		}
		raw[i] = i
		for reach := []int{i}; len(reach) > 0; reach = reach[1:] {
			for _, j := range near[reach[0]] {
				if raw[j] != Noise {
					continue
				}
				raw[j] = i
				if len(near[j]) >= minPoints {
					reach = append(reach, j)
				}
			}
		}
	}
	return numbered(raw), nil
}
