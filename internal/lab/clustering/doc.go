// Package clustering compares clustering methods on the levels of machines.
//
// A machine is a tree of equal parts; a matrix holds a time for each pair of its members.
// The methods divide a Matrix given the number of groups (KMedoids, Spectral,
// Agglomerate) or a parameter (Components, DBSCAN, HDBSCAN, SSSTree), which Search
// chooses by the Accuracy against the true groups. Compare runs all methods on the
// machines of the source below.
//
// The times of pairs come from measured round trips or from the PLogP model: Sizes, Extra
// and Saturation say what to measure, Distances and Profiles turn the fitted parameters
// of all pairs into a matrix.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023).
package clustering
