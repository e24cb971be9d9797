//go:build !amd64

package gp

// tile adds to c the 4×3 block of dot products of the rows of a and b, over their first k numbers. Row r of
// the block starts at c[r*blockLen].
func tile(a *[tileRows][]float64, b *[tileCols][]float64, c []float64, k int) { tileGo(a, b, c, k) }
