package cluster

import (
	"fmt"
	"math"
)

// Points is how many values of a parameter are enough for Search by the experience of
// its source.
const Points = 50

// Search tries values of a parameter, in equal steps above low up to high, and returns
// the one with the highest score, the first among equals. Steps of 1 above 0 try every
// number of groups.
//
// It returns the error of a try, and another when there are no points or high is not
// above low.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023),
// section 3.3 and equation 3.10, where the score is the Accuracy.
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

// Range returns the shortest and the longest distance, between which the thresholds of
// Components and DBSCAN lie. It returns an error matching ErrMatrix when a pair is
// missing.
func (m Matrix) Range() (shortest, longest float64, err error) {
	if err := m.complete(); err != nil {
		return 0, 0, err
	}
	for _, x := range m.d {
		longest = max(longest, x)
	}
	return m.least(), longest, nil
}
