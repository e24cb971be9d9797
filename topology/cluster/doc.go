// Package cluster finds groups of members, ranks or nodes, that are near to one another,
// from the distances of all pairs.
//
// Discover finds the levels of a machine, how many there are and how many groups each
// has, and says nothing where nothing is clear:
//
//	found, err := cluster.Discover(a, b) // half of the repetitions in each matrix
//	if err != nil {
//		return err
//	}
//	for _, l := range found.Levels { // coarsest first; none: no clear level
//		fmt.Println(l.Labels.Groups(), "groups", l.Seconds, "s")
//	}
//
// The methods of the literature divide a Matrix, given the number of groups (KMedoids,
// Spectral, and Agglomerate, best of the Profile of a matrix) or a parameter of their own
// (Components, DBSCAN, HDBSCAN, SSSTree), which Search finds where the true groups are
// known. They yield Labels, which Accuracy holds against the truth.
package cluster
