package discover

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"tutti/metrics"
)

// table holds the logarithms of distances, as a Matrix does.
type logTable struct {
	n int
	x []float64
}

func (t logTable) row(i int) []float64 { return t.x[i*t.n : (i+1)*t.n] }

// smallest returns the smallest distance.
func (m Matrix) smallest() float64 {
	out := math.Inf(1)
	for _, x := range m.d {
		if x > 0 {
			out = min(out, x)
		}
	}
	return out
}

// logs returns the logarithms of the distances over a unit.
func logs(m Matrix, unit float64) logTable {
	t := logTable{n: m.n, x: make([]float64, len(m.d))}
	for i, x := range m.d {
		if x > 0 {
			t.x[i] = math.Log(x / unit)
		}
	}
	return t
}

// Clip is the quantile of all distances that Profile cuts longer ones to: outliers are
// late messages, and a few of them would be all that a row's distance to another is
// made of.
const Clip = 0.97

// Profile returns how differently each two members see all others: the root mean square
// difference of the logarithms of their rows, the two members themselves left out and
// distances cut at the Clip quantile. Members of one group see all others alike, so
// this has less noise than the distances have. O(n³).
//
// It returns an error matching ErrMatrix when a pair is missing.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023),
// equations 3.5 and 3.6, with logarithms.
func Profile(m Matrix) (Matrix, error) {
	if err := m.CheckComplete(); err != nil {
		return Matrix{}, err
	}
	return Matrix{n: m.n, d: profile(logs(m, m.smallest()), everyone(m.n))}, nil
}

func everyone(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// mostLandmarks bounds the members whose views are compared: with more of them the
// groups found among 2048 members at 10 % noise were the same.
const mostLandmarks = 512

// landmarks returns the members that rows are compared over, the same for the same n.
func landmarks(n int) []int {
	if n <= mostLandmarks {
		return everyone(n)
	}
	some := rand.New(rand.NewPCG(1, uint64(n))).Perm(n)[:mostLandmarks]
	slices.Sort(some)
	return some
}

// profile compares rows over some columns, n·n. t must be zero on the diagonal. Views of
// many members are compared in single precision, which is far below their noise: half
// the time, and no second n·n matrix.
func profile(t logTable, columns []int) []float64 {
	p := profiler{t: t, columns: columns, most: metrics.Quantile(upper(t.n, t.x), Clip), own: make([]bool, t.n), square: make([]float64, t.n)}
	for _, c := range columns {
		p.own[c] = true
	}
	out := make([]float64, t.n*t.n)
	if len(columns) < t.n {
		p.single(out)
	} else {
		p.double(out)
	}
	return out
}

// profiler compares the views of rows: what they say of the columns.
type profiler struct {
	t       logTable
	columns []int
	most    float64 // longer distances are cut
	own     []bool  // by member: it is a column
	square  []float64
}

// strip is how many rows are multiplied with all before them at a time.
const strip = 512

func (p *profiler) double(out []float64) {
	n, r := p.t.n, len(p.columns)
	view := blas64.General{Rows: n, Cols: r, Stride: r, Data: make([]float64, n*r)}
	for i := range n {
		row := p.t.row(i)
		for k, c := range p.columns {
			x := min(row[c], p.most)
			view.Data[i*r+k] = x
			p.square[i] += x * x
		}
	}
	for from := 0; from < n; from += strip {
		rows := min(strip, n-from)
		a := blas64.General{Rows: rows, Cols: r, Stride: r, Data: view.Data[from*r:]}
		b := blas64.General{Rows: from + rows, Cols: r, Stride: r, Data: view.Data}
		c := blas64.General{Rows: rows, Cols: from + rows, Stride: n, Data: out[from*n:]}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, c)
	}
	for i := range n {
		for j := range i {
			p.put(out, i, j, out[i*n+j])
		}
		out[i*n+i] = 0
	}
}

// single is double with products in single precision, of views from the middle of all
// distances: what they have in common would cost digits.
func (p *profiler) single(out []float64) {
	n, r := p.t.n, len(p.columns)
	middle := p.most / 2
	view := blas32.General{Rows: n, Cols: r, Stride: r, Data: make([]float32, n*r)}
	for i := range n {
		row := p.t.row(i)
		for k, c := range p.columns {
			x := float32(min(row[c], p.most) - middle)
			view.Data[i*r+k] = x
			p.square[i] += float64(x) * float64(x)
		}
	}
	product := make([]float32, strip*n)
	for from := 0; from < n; from += strip {
		rows := min(strip, n-from)
		a := blas32.General{Rows: rows, Cols: r, Stride: r, Data: view.Data[from*r:]}
		b := blas32.General{Rows: from + rows, Cols: r, Stride: r, Data: view.Data}
		c := blas32.General{Rows: rows, Cols: from + rows, Stride: n, Data: product}
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, c)
		p.putStrip(out, from, from+rows, product)
	}
}

// putStrip sets the differences of some rows to all before them, a few columns at a time:
// what is written lies in few rows of out.
func (p *profiler) putStrip(out []float64, from, to int, product []float32) {
	const few = 64
	for first := 0; first < to; first += few {
		for i := max(from, first+1); i < to; i++ {
			for j := first; j < min(first+few, i); j++ {
				p.put(out, i, j, float64(product[(i-from)*p.t.n+j]))
			}
		}
	}
}

// put sets the difference of two rows, given the product of their views.
func (p *profiler) put(out []float64, i, j int, product float64) {
	sum := p.square[i] + p.square[j] - 2*product
	direct := min(p.t.x[i*p.t.n+j], p.most)
	if p.own[i] {
		sum -= direct * direct
	}
	if p.own[j] {
		sum -= direct * direct
	}
	x := math.Sqrt(max(sum, 0) / float64(max(len(p.columns)-2, 1)))
	out[i*p.t.n+j], out[j*p.t.n+i] = x, x
}
