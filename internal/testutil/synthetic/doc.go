// Package synthetic makes the measurements of a machine whose best algorithm is
// known at every point by construction. It is the oracle of tests: replay runs
// them, and what a campaign chose is compared with Best.
//
//	ms := synthetic.Measurements(points)
//	best := synthetic.Best(points[0])
package synthetic
