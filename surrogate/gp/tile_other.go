//go:build !amd64

package gp

// tile adds a 4×3 block of dot products to c: each row of a times each row of b, over their first k numbers.
// Row r of the block begins at c[r*blockLen].
func tile(a *[tileRows][]float64, b *[tileCols][]float64, c []float64, k int) { tileGo(a, b, c, k) }
