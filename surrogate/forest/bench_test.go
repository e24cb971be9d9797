package forest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tutti/internal/testutil"
	"tutti/surrogate/forest"
)

// costRows returns n random rows on a grid of benchmark points. The features are (log2 nodes)+1 up to 10,
// (log2 processes per node)+1 up to 6 and (log2 bytes)+1 up to 21. The target is log10 of a cost model with
// jumps and 2 % noise. The same distribution was used to time other implementations.
func costRows(n int, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		a, b, c := float64(1+rng.IntN(10)), float64(1+rng.IntN(6)), float64(1+rng.IntN(21))
		nodes, ppn, bytes := math.Exp2(a-1), math.Exp2(b-1), math.Exp2(c-1)
		t := 1.2*math.Log2(nodes*ppn+1) + 0.3*ppn + bytes/12e3*math.Log2(nodes+1)
		if bytes > 16384 {
			t += 3
		}
		x = append(x, []float64{a, b, c})
		y = append(y, math.Log10(t)+0.0087*rng.NormFloat64())
	}
	return x, y
}

// denseRows returns the rows of costRows with a random offset added to every feature. As a result, hardly
// any value occurs twice.
func denseRows(n int, seed uint64) (x [][]float64, y []float64) {
	x, y = costRows(n, seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, row := range x {
		for j := range row {
			row[j] += rng.Float64() - 0.5
		}
	}
	return x, y
}

var shapes = []struct {
	name string
	rows func(n int, seed uint64) ([][]float64, []float64)
}{{"grid", costRows}, {"dense", denseRows}}

func fit(tb testing.TB, x [][]float64, y []float64, opt forest.Options) *forest.Forest {
	tb.Helper()
	return testutil.Must(forest.Fit(x, y, opt))(tb)
}

func BenchmarkFit100Trees(b *testing.B) {
	for _, shape := range shapes {
		for _, n := range []int{200, 2000, 20000} {
			x, y := shape.rows(n, 1)
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/n=%d/workers=%d", shape.name, n, workers), func(b *testing.B) {
					for b.Loop() {
						fit(b, x, y, forest.Options{Workers: workers})
					}
				})
			}
		}
	}
}

func BenchmarkPredict20000Rows(b *testing.B) {
	for _, shape := range shapes {
		queries, _ := shape.rows(20000, 2)
		for _, n := range []int{200, 2000, 20000} {
			x, y := shape.rows(n, 1)
			f := fit(b, x, y, forest.Options{Workers: 1})
			b.Run(fmt.Sprintf("%s/n=%d", shape.name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := f.Predict(queries); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkPredictVariance1000Rows(b *testing.B) {
	queries, _ := costRows(1000, 2)
	for _, n := range []int{50, 500} {
		x, y := costRows(n, 1)
		f := fit(b, x, y, forest.Options{Workers: 1})
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := f.PredictVariance(queries); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
