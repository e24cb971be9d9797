//go:build !amd64

package gp

// tile adds a 4×3 block of dot products to c: those of the rows of a and the rows of b, over their first k
// numbers. Row r of the block begins at c[r*blockLen].
func tile(a *[tileRows][]float64, b *[tileCols][]float64, c []float64, k int) { tileGo(a, b, c, k) }
