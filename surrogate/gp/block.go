package gp

// blockLen is the side length of the square blocks in all computations of cubic cost. It is a multiple of
// the height and width of a tile. It is small, so that diagonal blocks (blockLen³ operations) cost little.
// tile_amd64.s uses it as its row stride.
const blockLen = 48

// tileRows and tileCols are the height and width of a tile of dot products. vectorLen is the number of
// float64 values in a vector register.
const (
	tileRows  = 4
	tileCols  = 3
	vectorLen = 4
)

// chunkLen is the largest number of columns that are processed in one go. The seven rows of a tile (7·512·8
// = 28 kB) then fit into a first-level cache of 32 kB.
const chunkLen = 512

// newRows returns n rows of the given width that share one array.
func newRows(n, width int) [][]float64 {
	all := make([]float64, n*width)
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = all[i*width : (i+1)*width : (i+1)*width]
	}
	return rows
}

// trapezoid allocates the rows `first` to `last`-1 of a lower triangular matrix, in which row i has i+1
// elements. The rows share one array.
func trapezoid(first, last int) [][]float64 {
	all, rows := make([]float64, (first+1+last)*(last-first)/2), make([][]float64, last-first)
	for k := range rows {
		i := first + k + 1
		rows[k], all = all[:i:i], all[i:]
	}
	return rows
}

// block is a scratch matrix of at most blockLen×blockLen numbers with a row stride of blockLen.
type block [blockLen * blockLen]float64

// mul sets c[i][j] = Σ a[i][k]·b[j][k], summed over the columns k with from ≤ k < to. The matrices `a` and `b`
// have at most blockLen rows each. All other entries of c are undefined afterwards.
func (c *block) mul(a, b [][]float64, from, to int) {
	clear(c[:min(len(a)+tileRows-1, blockLen)*blockLen])
	for from < to {
		next := min(from+chunkLen, to)
		even := from + (next-from)&^(vectorLen-1)
		if even > from {
			c.addTiles(a, b, from, even)
		}
		c.addTail(a, b, even, next)
		from = next
	}
}

// addTiles adds to the block the products over a range of columns, whose length is a multiple of vectorLen. If there
// are too few rows to fill a tile, it repeats the last row. The superfluous products go to entries that mul
// leaves undefined.
func (c *block) addTiles(a, b [][]float64, from, to int) {
	var ra [tileRows][]float64
	var rb [tileCols][]float64
	lastA, lastB := len(a)-1, len(b)-1
	for i := 0; i <= lastA; i += tileRows {
		for r := range ra {
			ra[r] = a[min(i+r, lastA)][from:to]
		}
		for j := 0; j <= lastB; j += tileCols {
			rb[0] = b[j][from:to]
			rb[1] = b[min(j+1, lastB)][from:to]
			rb[2] = b[min(j+2, lastB)][from:to]
			tile(&ra, &rb, c[i*blockLen+j:], to-from)
		}
	}
}

// addTail adds to the block the products over the last columns. There are at most three of them, too few for a
// vector register.
func (c *block) addTail(a, b [][]float64, from, to int) {
	if from == to {
		return
	}
	for i, x := range a {
		for j, y := range b {
			var s float64
			for k := from; k < to; k++ {
				s += x[k] * y[k]
			}
			c[i*blockLen+j] += s
		}
	}
}

// tileGo does the same as the assembly function tile, in Go.
func tileGo(a *[tileRows][]float64, b *[tileCols][]float64, c []float64, k int) {
	b0, b1, b2 := b[0][:k], b[1][:k], b[2][:k]
	for r, row := range a {
		row = row[:k]
		var s0, s1, s2 float64
		for i, x := range row {
			s0 += x * b0[i]
			s1 += x * b1[i]
			s2 += x * b2[i]
		}
		d := c[r*blockLen : r*blockLen+tileCols]
		d[0] += s0
		d[1] += s1
		d[2] += s2
	}
}
