package gp

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/internal/testutil"
)

// earlier returns observations of two sources. Source 1 has many observations. Their targets differ from
// those of source 0 by change(task). Source 0 has `fresh` observations, each of one task at one row.
func earlier(rows, fresh, tasks int, change func(task int) float64) Observations {
	o := related(rows, tasks)
	o.Source = make([]int, len(o.Y))
	rng := rand.New(rand.NewPCG(3, 4))
	for j := range o.Y {
		o.Source[j] = 1
	}
	for k := range fresh {
		u, a := k*rows/fresh, k%tasks
		o.At, o.Task, o.Source = append(o.At, u), append(o.Task, a), append(o.Source, 0)
		o.Y = append(o.Y, relatedAt(o.X[u], a)+0.01*rng.NormFloat64())
	}
	for j := range o.Y {
		if o.Source[j] == 1 {
			o.Y[j] += change(o.Task[j])
		}
	}
	return o
}

// relatedAt returns the value for task a at the row x of which `related` returns a noisy observation.
func relatedAt(x []float64, a int) float64 {
	return 0.2*x[2] + 0.3*math.Sin(x[0]+float64(a)) + 0.1*float64(a)
}

// taskErrors returns, for each task, the mean squared error and the mean variance at unobserved rows.
func taskErrors(t *testing.T, m *GP, tasks int) (squared, variance []float64) {
	t.Helper()
	rows := related(50, 1).X
	var entries []Entry
	for i := range rows {
		for a := range tasks {
			entries = append(entries, Entry{i, a})
		}
	}
	p := testutil.Must(m.Posterior(rows, entries))(t)
	means := m.Means(rows, tasks)
	squared, variance = make([]float64, tasks), make([]float64, tasks)
	for k, e := range entries {
		d := means[e.Task][e.Row] - relatedAt(rows[e.Row], e.Task)
		squared[e.Task] += d * d / float64(len(rows))
		variance[e.Task] += p.Variance(k) / float64(len(rows))
	}
	return squared, variance
}

// TestSources checks that a few observations of source 0, which is predicted, are enough to make use of many
// observations of source 1. If nothing changed between the sources, all observations are equally useful. If one task
// changed, only its predictions change.
func TestSources(t *testing.T) {
	const tasks = 4
	own := testutil.Must(fit(related(50, tasks), relatedOptions))(t)
	best, _ := taskErrors(t, own, tasks)
	unchanged := func(int) float64 { return 0 }
	shifted := func(a int) float64 {
		if a == 2 {
			return -0.3
		}
		return 0
	}
	for _, tc := range []struct {
		name   string
		change func(int) float64
	}{{"nothing", unchanged}, {"task 2 takes twice as long", shifted}, {"everything does", func(int) float64 { return -0.3 }}} {
		m := testutil.Must(fit(earlier(50, 8, tasks, tc.change), relatedOptions))(t)
		squared, variance := taskErrors(t, m, tasks)
		p := m.Params()
		t.Logf("%s: squared errors %.2g, %.2g with own ones, variances %.2g; changes %.2g %.2g, of a task %.2g %.2g",
			tc.name, squared, best, variance, p.ChangeLevel, p.Change, p.ChangeOwnLevel, p.ChangeOwn)
		for a := range tasks {
			if squared[a] > best[a]+0.03*0.03 {
				t.Errorf("%s: task %d has the error %.3f, %.3f with own observations", tc.name, a, math.Sqrt(squared[a]), math.Sqrt(best[a]))
			}
			if variance[a] < squared[a]/9 {
				t.Errorf("%s: task %d is squared by %.3f and doubts %.3f", tc.name, a, math.Sqrt(squared[a]), math.Sqrt(variance[a]))
			}
		}
	}
}

// TestSampleOfSources checks that a sample prefers the rows with observations of source 0, which is predicted.
func TestSampleOfSources(t *testing.T) {
	o := earlier(100, 10, 4, func(int) float64 { return 0 })
	s := o.Sample(120)
	fresh := 0
	for _, source := range s.Source {
		if source == 0 {
			fresh++
		}
	}
	if fresh != 10 || len(s.Y) < 120 || len(s.Y) > 125 {
		t.Errorf("%d of source 0 among %d, want all 10 among 120", fresh, len(s.Y))
	}
}

// TestJobVarianceIsLearned checks that the variance between jobs is learned. The common shift of a job's
// observations must not affect the means.
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
		m := testutil.Must(fit(o, relatedOptions))(t)
		if got, want := m.Params().Job, part*sd*sd; got > 2.5*want+0.1*sd*sd || got < want/2.5 {
			t.Errorf("jobs have the variance %.2g, want %.2g", got, want)
		}
		alone := o
		alone.Job = nil
		without := testutil.Must(fit(alone, relatedOptions))(t)
		if got, before := meanError(m, quiet), meanError(without, quiet); part > 0 && got > 0.6*before || got > 1.05*before {
			t.Errorf("%g of the noise by jobs: means are off by %.3f, by %.3f without jobs", part, got, before)
		}
	}
}

// meanError returns the root mean square error of the posterior means at the observed rows.
func meanError(m *GP, y []float64) float64 {
	means, sum := m.Means(m.obs.X, len(m.cov.tasks)), 0.0
	for j, v := range y {
		d := means[m.obs.Task[j]][m.obs.At[j]] - v
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(y)))
}
