package gp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
)

// cpuSeconds is the processor time this process has used, which other work on the machine
// disturbs less than the clock.
func cpuSeconds(b *testing.B) float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) * 1e-9
}

// shaped returns rows and targets like those of a collective: three integer columns and the
// logarithm of a smooth cost with a jump and 2 % noise, as testdata/time_sklearn.py makes them.
func shaped(n int, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
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

// sizes of the training sets that the benchmarks run at.
var sizes = []int{200, 500, 2000}

func BenchmarkEvaluation(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			x, y := shaped(n, 1)
			std, _, _, _ := standardise(y)
			l := newLikelihood(x, std)
			theta := []float64{1, 1, 1, 0, math.Log(1e-3)}
			grad := make([]float64, len(theta))
			start := cpuSeconds(b)
			for b.Loop() {
				theta[0] += 1e-9 // or the last factorisation would be used again
				l.gradient(theta, grad)
			}
			b.ReportMetric((cpuSeconds(b)-start)/float64(b.N), "cpu-s/op")
		})
	}
}

// BenchmarkFit is the search of Fit with one start. Evaluations are counted, since another
// implementation may need more or fewer of them.
func BenchmarkFit(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			x, y := shaped(n, 1)
			std, _, _, _ := standardise(y)
			prior := newBelief(x)
			l := &counted{objective: newLikelihood(x, std)}
			start := cpuSeconds(b)
			for b.Loop() {
				if _, err := learn(l, prior, [][]float64{prior.start(0, 0)}, Options{}.withDefaults().tolerance()); err != nil {
					b.Fatal(err)
				}
			}
			used := cpuSeconds(b) - start
			b.ReportMetric(used/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(l.evals)/float64(b.N), "evals/op")
			b.ReportMetric(used/float64(l.evals), "cpu-s/eval")
		})
	}
}

// fixed is a model of n rows whose hyper-parameters need no search.
func fixed(b *testing.B, n int) *GP {
	x, y := shaped(n, 1)
	return with(b, params{length: []float64{3, 3, 3}, signal: 1, noise: 1e-3}, x, y)
}

// BenchmarkPool20k predicts mean and variance of 20 000 candidates from nothing.
func BenchmarkPool20k(b *testing.B) {
	xq, _ := shaped(20000, 2)
	for _, n := range sizes {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			g := fixed(b, n)
			start := cpuSeconds(b)
			for b.Loop() {
				if _, err := g.NewPool(xq); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpuSeconds(b)-start)/float64(b.N), "cpu-s/op")
		})
	}
}

// BenchmarkStep20k is one acquisition step: a row appended, then mean and variance of 20 000
// candidates brought up to date. It starts at n rows and drops what it appended at 1.1·n.
func BenchmarkStep20k(b *testing.B) {
	xq, _ := shaped(20000, 2)
	for _, n := range sizes[:2] {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			more, y := shaped(n/10, 3)
			var p *Pool
			var g *GP
			used := 0.0
			for i := 0; b.Loop(); i++ {
				k := i % len(more)
				if k == 0 {
					b.StopTimer()
					g = fixed(b, n)
					p, _ = g.NewPool(xq)
					b.StartTimer()
				}
				start := cpuSeconds(b)
				if err := g.Append(more[k], y[k]); err != nil {
					b.Fatal(err)
				}
				p.Mean()
				used += cpuSeconds(b) - start
			}
			b.ReportMetric(used/float64(b.N), "cpu-s/op")
		})
	}
}

// BenchmarkCondition20k is one pending candidate of a batch: variance of 20 000 candidates.
func BenchmarkCondition20k(b *testing.B) {
	xq, _ := shaped(20000, 2)
	for _, n := range sizes[:2] {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			p, err := fixed(b, n).NewPool(xq)
			if err != nil {
				b.Fatal(err)
			}
			start := cpuSeconds(b)
			for i := 0; b.Loop(); i++ {
				if i%16 == 0 {
					p.Reset()
				}
				if err := p.Condition(i % len(xq)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpuSeconds(b)-start)/float64(b.N), "cpu-s/op")
		})
	}
}
