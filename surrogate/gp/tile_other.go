//go:build !amd64

package gp

// tile adds a 4×3 block of dot products to c. They are the products of the rows of a with the rows of b,
// over the first k numbers of each row. Row r of the block begins at c[r*blockLen].
func tile(a *[tileRows][]float64, b *[tileCols][]float64, c []float64, k int) { tileGo(a, b, c, k) }
