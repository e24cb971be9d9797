package gp

// useFMA reports whether the processor and the operating system can execute tileFMA.
var useFMA = hasFMA()

//go:noescape
func tileFMA(a *[tileRows][]float64, b *[tileCols][]float64, c *float64, k int)

func hasFMA() bool

// tile adds a 4×3 block of dot products to c: each row of a times each row of b, over their first k numbers.
// Row r of the block begins at c[r*blockLen]. k is a multiple of 4, and each row has at least k numbers.
func tile(a *[tileRows][]float64, b *[tileCols][]float64, c []float64, k int) {
	if useFMA {
		_ = c[(tileRows-1)*blockLen+tileCols-1]
		tileFMA(a, b, &c[0], k)
		return
	}
	tileGo(a, b, c, k)
}
