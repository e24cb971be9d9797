package clustering

import "tutti/topology/discover"

// values returns a copy of the distances, one row after another.
func values(m discover.Matrix) []float64 {
	var out []float64
	for i := range m.Len() {
		out = append(out, m.Row(i)...)
	}
	return out
}

// Agglomerate merges the two nearest groups of a matrix until one group remains. It takes O(n²) time and
// memory.
func Agglomerate(m discover.Matrix, by discover.Linkage) discover.Dendrogram {
	return discover.Agglomerate(m.Len(), values(m), by)
}
