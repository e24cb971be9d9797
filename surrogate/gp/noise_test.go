package gp

import (
	"math"
	"math/rand/v2"
	"testing"
	"tutti/internal/testutil"
)

// The variance between jobs is learned, and the common shift of a job's observations does not
// affect the means.
func TestJobVarianceIsLearned(t *testing.T) {
	const sd = 0.1
	for _, part := range []float64{0, 0.9} {
		rng := rand.New(rand.NewPCG(7, 8))
		o := related(40, 4)
		quiet := o.Y
		o.Y, o.Job, o.Extra = make([]float64, len(quiet)), make([]int, len(quiet)), make([]float64, len(quiet))
		done := make([]float64, 12) // shift of each job
		for k := range done {
			done[k] = sd * math.Sqrt(part) * rng.NormFloat64()
		}
		for j, y := range quiet {
			k := rng.IntN(len(done))
			o.Job[j], o.Extra[j] = k+1, sd*sd
			o.Y[j] = y + done[k] + sd*math.Sqrt(1-part)*rng.NormFloat64()
		}
		m := testutil.Must(Fit(o, relatedOptions))(t)
		if got, want := m.Params().Job, part*sd*sd; got > 2.5*want+0.1*sd*sd || got < want/2.5 {
			t.Errorf("jobs have the variance %.2g, want %.2g", got, want)
		}
		alone := o
		alone.Job = nil
		without := testutil.Must(Fit(alone, relatedOptions))(t)
		if got, before := meanError(m, quiet), meanError(without, quiet); part > 0 && got > 0.6*before || got > 1.05*before {
			t.Errorf("%g of the noise by jobs: means are off by %.3f, by %.3f without jobs", part, got, before)
		}
	}
}

// meanError returns the root mean square error of the means at the observed rows.
func meanError(m *GP, y []float64) float64 {
	means, sum := m.Means(m.obs.X, len(m.cov.tasks)), 0.0
	for j, v := range y {
		d := means[m.obs.Task[j]][m.obs.At[j]] - v
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(y)))
}
