package gp

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"tutti/internal/testutil"
)

// fit returns the GP with the hyperparameters that Learn returns, conditioned on all observations.
func fit(obs Observations, opt Options) (*GP, error) {
	p, err := Learn(obs, opt)
	if err != nil {
		return nil, err
	}
	return New(p, obs)
}

// related returns noisy observations of several tasks at n random rows. The tasks are similar functions with
// different offsets and phases. Some observations are missing.
func related(n, tasks int) Observations {
	rng := rand.New(rand.NewPCG(1, 2))
	var o Observations
	for i := range n {
		x := []float64{6 * rng.Float64(), 5 * rng.Float64(), 20 * rng.Float64()}
		o.X = append(o.X, x)
		for a := range tasks {
			if a > 0 && rng.Float64() < 0.3 {
				continue
			}
			o.At, o.Task = append(o.At, i), append(o.Task, a)
			o.Y = append(o.Y, 0.2*x[2]+0.3*math.Sin(x[0]+float64(a))+0.1*float64(a)+0.01*rng.NormFloat64())
		}
	}
	return o
}

var relatedOptions = Options{Length: []float64{4, 4, 6}, Steps: 0.5, Split: 0.1, SplitColumn: 2, Noise: 1e-4}

func TestGradient(t *testing.T) {
	alone := related(20, 3)
	several := related(20, 3)
	for j := range several.Y {
		several.Source = append(several.Source, j%3)
	}
	byJobs := several
	byJobs.Job, byJobs.Extra = jobs(len(several.Y)), make([]float64, len(several.Y))
	for j := range byJobs.Extra {
		byJobs.Extra[j] = 1e-3 * float64(j%4)
	}
	theta := []float64{1, 1.2, 1.7, 0.8, 1.1, 1.4, -6.5, 0.1, -2, -1, -5, -4}
	for _, tc := range []struct {
		name  string
		obs   Observations
		theta []float64
	}{
		{"one source", alone, theta},
		{"three sources", several, append(theta, -3, -2.5, -2, -3.5)},
		{"three sources and jobs", byJobs, append(theta, -3, -2.5, -2, -3.5)},
	} {
		grad := make([]float64, len(tc.theta))
		fresh := func() *likelihood { return &likelihood{obs: tc.obs, y: tc.obs.Y, noise: 1e-3} }
		fresh().gradient(tc.theta, grad)
		for k := range tc.theta {
			const h = 1e-5
			at := append([]float64(nil), tc.theta...)
			at[k] += h
			up := fresh().value(at)
			at[k] -= 2 * h
			if want := (up - fresh().value(at)) / (2 * h); math.Abs(grad[k]-want) > 1e-4*max(1, math.Abs(want)) {
				t.Errorf("%s: derivative %d = %g, want %g", tc.name, k, grad[k], want)
			}
		}
	}
}

// jobs returns the job number of each of n observations. Every fifth observation has no job; the others
// belong to six jobs.
func jobs(n int) []int {
	out := make([]int, n)
	for j := range out {
		if j%5 > 0 {
			out[j] = 1 + j%6
		}
	}
	return out
}

// TestSample checks that a sample has all observations at the selected rows, and that the selected rows are
// distributed evenly.
func TestSample(t *testing.T) {
	o := related(100, 4)
	s := o.Sample(120)
	if n := len(s.Y); n < 120 || n > 124 {
		t.Errorf("%d observations, want 120 and the rest of a row", n)
	}
	parts := [4]int{}
	for j, u := range s.At {
		k := slices.IndexFunc(o.Y, func(y float64) bool { return y == s.Y[j] })
		if s.Task[j] != o.Task[k] || &s.X[u][0] != &o.X[o.At[k]][0] {
			t.Fatalf("observation %d is not number %d of all", j, k)
		}
		parts[o.At[k]/25]++
	}
	for q, n := range parts {
		if n < 20 {
			t.Errorf("%d observations in quarter %d, want them even: %v", n, q, parts)
		}
	}
	if all := o.Sample(len(o.Y)); len(all.Y) != len(o.Y) {
		t.Errorf("sample of all has %d of %d", len(all.Y), len(o.Y))
	}
}

// TestPosteriorCondition checks Condition, after which an entry (a task at a row) counts as observed. The covariances
// must be the same as after a real observation of the entry.
func TestPosteriorCondition(t *testing.T) {
	o := related(12, 3)
	m := testutil.Must(fit(o, relatedOptions))(t)
	rows := [][]float64{{1, 2, 3}, {5, 1, 9}, o.X[0]}
	var entries []Entry
	for i := range rows {
		for a := range 3 {
			entries = append(entries, Entry{i, a})
		}
	}
	p := testutil.Must(m.Posterior(rows, entries))(t)
	more := o
	more.X = append(append([][]float64(nil), o.X...), rows[0], rows[1])
	for _, i := range []int{1, 3} {
		before := p.Variance(4)
		step := p.Condition(i)
		if got := before - step[4]*step[4]; math.Abs(got-p.Variance(4)) > 1e-12 {
			t.Errorf("variance %g after the step, want %g", p.Variance(4), got)
		}
		more.At = append(more.At, len(o.X)+entries[i].Row)
		more.Task = append(more.Task, entries[i].Task)
		more.Y = append(more.Y, 7)
	}
	with := testutil.Must(New(m.Params(), more))(t)
	want := testutil.Must(with.Posterior(rows, entries))(t)
	for i := range entries {
		for j := range entries {
			if got, want := p.Covariance(i, j), want.Covariance(i, j); math.Abs(got-want) > 1e-9 {
				t.Errorf("covariance of %d and %d = %g, want %g", i, j, got, want)
			}
			if got, want := p.Difference(i, j), want.Difference(i, j); math.Abs(got-want) > 1e-9 {
				t.Errorf("difference of %d and %d = %g, want %g", i, j, got, want)
			}
		}
	}
	some, others := []int{8, 1, 0, 4}, []int{2, 8, 5}
	for k, row := range p.Covariances(some, others) {
		for l, got := range row {
			if want := p.Covariance(some[k], others[l]); math.Abs(got-want) > 1e-12 {
				t.Errorf("covariance of %d and %d among others = %g, want %g", some[k], others[l], got, want)
			}
		}
	}
}

// TestPosteriorCovarianceIsPositive checks that the covariance matrix of a posterior is positive
// semidefinite.
func TestPosteriorCovarianceIsPositive(t *testing.T) {
	m := testutil.Must(fit(related(20, 3), relatedOptions))(t)
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows := newRows(20, 3)
		var entries []Entry
		for i, row := range rows {
			for d := range row {
				row[d] = 10 * rng.Float64()
			}
			for a := range 3 {
				entries = append(entries, Entry{i, a})
			}
		}
		p := testutil.Must(m.Posterior(rows, entries))(t)
		covariance := mat.NewSymDense(len(entries), nil)
		for i := range entries {
			for j := range i + 1 {
				covariance.SetSym(i, j, p.Covariance(i, j))
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(covariance, false) {
			t.Fatal("no eigenvalues")
		}
		for _, v := range eigen.Values(nil) {
			if v < -1e-12 {
				t.Errorf("seed %d: eigenvalue %g", seed, v)
			}
		}
	}
}

// TestTasksInformEachOther checks that at a distant row an observation of one task improves the prediction
// of the other task.
func TestTasksInformEachOther(t *testing.T) {
	var o Observations
	at := func(x float64, tasks ...int) {
		for _, a := range tasks {
			o.At, o.Task, o.Y = append(o.At, len(o.X)), append(o.Task, a), append(o.Y, 0.01*x*x+0.2*float64(a))
		}
		o.X = append(o.X, []float64{x})
	}
	for x := range 6 {
		at(float64(x), 0, 1)
	}
	at(20, 0)
	m := testutil.Must(fit(o, Options{Length: []float64{5}, Steps: 0.5, Noise: 1e-6}))(t)
	if got := m.Means([][]float64{{20}}, 2)[1][0]; math.Abs(got-4.2) > 0.1 {
		t.Errorf("task 1 at 20 = %g, want about 4.2", got)
	}
}

// TestSteps checks the step function in the covariance of one task (Params.Steps). With it the correlation must
// decrease noticeably even at small distances. Without it the correlation stays close to 1 there.
func TestSteps(t *testing.T) {
	p := Params{
		CommonLength: []float64{4, 6}, OwnLength: []float64{4, 6}, StepLength: []float64{4, 6}, Steps: 0.5,
		Common: 1, Own: 2, Level: 0.5, Noise: 1e-4,
	}
	near, far := []float64{0.04, 0.06}, []float64{400, 600}
	here := newCorrRow(3, 2)
	here.covary(p, []float64{0, 0}, p.scaled([][]float64{{0, 0}, near, far}))
	smooth := []float64{0.0002}
	matern(smooth, nil)
	for i, want := range []float64{2.5, 0.5 + smooth[0] + math.Exp(-0.02), 0.5} {
		if math.Abs(here.own[i]-want) > 1e-12 {
			t.Errorf("own covariance %d = %g, want %g", i, here.own[i], want)
		}
	}
	k := newCorrMatrix(2)
	k.compute(p, [][]float64{{0, 0}, near})
	if got := p.Own*k.own[1][0] + p.Level; math.Abs(got-here.own[1]) > 1e-12 {
		t.Errorf("covariance of two rows %g, want %g", got, here.own[1])
	}
	p.Split, p.SplitColumn = 0.25, 1
	here.covary(p, []float64{0, 0}, p.scaled([][]float64{{0, 0}, near, {0.04, 0}}))
	if want := 0.5 + 0.75*(smooth[0]+math.Exp(-0.02)); math.Abs(here.own[1]-want) > 1e-12 {
		t.Errorf("own covariance %g with another value of the split column, want %g", here.own[1], want)
	}
	smooth[0] = 0.0001
	matern(smooth, nil)
	if want := 0.5 + smooth[0] + math.Exp(-0.01); math.Abs(here.own[2]-want) > 1e-12 {
		t.Errorf("own covariance %g with the same value of the split column, want %g", here.own[2], want)
	}
	p.StepLength = []float64{4}
	if _, err := New(p, related(3, 2)); !errors.Is(err, ErrShape) && !errors.Is(err, ErrValue) {
		t.Errorf("one step length for two columns: %v", err)
	}
}

func TestErrors(t *testing.T) {
	good := related(4, 2)
	bad := func(change func(o *Observations, opt *Options)) error {
		o, opt := related(4, 2), relatedOptions
		change(&o, &opt)
		_, err := fit(o, opt)
		return err
	}
	tests := []struct {
		name   string
		change func(o *Observations, opt *Options)
		want   error
	}{
		{"nothing", func(o *Observations, _ *Options) { *o = Observations{} }, ErrShape},
		{"no targets", func(o *Observations, _ *Options) { o.Y = nil }, ErrShape},
		{"not a number", func(o *Observations, _ *Options) { o.Y[0] = math.NaN() }, ErrValue},
		{"no such row", func(o *Observations, _ *Options) { o.At[0] = 9 }, ErrValue},
		{"two lengths", func(_ *Observations, opt *Options) { opt.Length = opt.Length[:2] }, ErrShape},
		{"one variance too few", func(o *Observations, _ *Options) { o.Extra = make([]float64, len(o.Y)-1) }, ErrShape},
		{"negative variance", func(o *Observations, _ *Options) { o.Extra = make([]float64, len(o.Y)); o.Extra[1] = -1 }, ErrValue},
		{"one source too few", func(o *Observations, _ *Options) { o.Source = make([]int, len(o.Y)-1) }, ErrShape},
		{"negative source", func(o *Observations, _ *Options) { o.Source = make([]int, len(o.Y)); o.Source[2] = -1 }, ErrValue},
		{"one job too few", func(o *Observations, _ *Options) { o.Job = make([]int, len(o.Y)-1) }, ErrShape},
		{"negative job", func(o *Observations, _ *Options) { o.Job = make([]int, len(o.Y)); o.Job[2] = -1 }, ErrValue},
		{"too great a split", func(_ *Observations, opt *Options) { opt.Split = 1.5 }, ErrValue},
		{"split by no column", func(_ *Observations, opt *Options) { opt.SplitColumn = 3 }, ErrValue},
		{"negative noise", func(_ *Observations, opt *Options) { opt.Noise = -1 }, ErrValue},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if err := bad(tc.change); !errors.Is(err, tc.want) {
				t.Errorf("Fit error = %v, want %v", err, tc.want)
			}
		})
	}
	if m, err := fit(good, relatedOptions); err != nil {
		t.Error(err)
	} else if _, err := m.Posterior(good.X, []Entry{{Row: 4}}); !errors.Is(err, ErrShape) {
		t.Errorf("Posterior of a row that is not there: %v", err)
	}
}

// TestExtremes checks that these inputs are valid: constant targets, a single target, and more observations
// than Learn uses.
func TestExtremes(t *testing.T) {
	many := related(200, 3)
	constant := related(5, 2)
	for j := range constant.Y {
		constant.Y[j] = -3
	}
	for _, o := range []Observations{many, constant, {X: [][]float64{{1, 1, 1}}, At: []int{0}, Task: []int{0}, Y: []float64{2}}} {
		m := testutil.Must(fit(o, relatedOptions))(t)
		for _, row := range m.Means([][]float64{{3, 3, 3}}, 4) {
			if math.IsNaN(row[0]) || math.Abs(row[0]) > 10 {
				t.Errorf("%d observations: mean %g", len(o.Y), row[0])
			}
		}
	}
}

// TestExtraNoise checks that an observation with large extra noise has less effect on the means and the
// hyperparameters.
func TestExtraNoise(t *testing.T) {
	good := related(30, 3)
	wrong := good
	wrong.Y = slices.Clone(good.Y)
	wrong.Y[7] += 2
	uncertain := wrong
	uncertain.Extra = make([]float64, len(good.Y))
	uncertain.Extra[7] = 100
	at := good.X[good.At[7]]
	mean := func(o Observations) float64 {
		m := testutil.Must(fit(o, relatedOptions))(t)
		return m.Means([][]float64{at}, 3)[good.Task[7]][0]
	}
	right, trusting, downweighted := mean(good), mean(wrong), mean(uncertain)
	if off := math.Abs(downweighted - right); off > math.Abs(trusting-right)/3 {
		t.Errorf("mean %g with extra noise of the wrong observation, %g without, want %g", downweighted, trusting, right)
	}
}

// TestLOOResiduals checks that each leave-one-out residual equals the residual of a GP that was fitted
// without the observation.
func TestLOOResiduals(t *testing.T) {
	o := related(30, 4)
	o.Y[7] += 1
	p := testutil.Must(Learn(o, relatedOptions))(t)
	m := testutil.Must(New(p, o))(t)
	for _, j := range []int{0, 7, len(o.Y) - 1} {
		others := o
		drop := func(s []int) []int { return slices.Delete(slices.Clone(s), j, j+1) }
		others.At, others.Task, others.Y = drop(o.At), drop(o.Task), slices.Delete(slices.Clone(o.Y), j, j+1)
		without := testutil.Must(New(p, others))(t)
		posterior := testutil.Must(without.Posterior(o.X[o.At[j]:o.At[j]+1], []Entry{{0, o.Task[j]}}))(t)
		want, sd := o.Y[j]-posterior.Mean(0), math.Sqrt(posterior.Variance(0)+p.Noise)
		if got, deviations := m.LOOResiduals([]int{j}); math.Abs(got[0]-want) > 1e-6*(1+math.Abs(want)) || math.Abs(deviations[0]-sd) > 1e-6*sd {
			t.Errorf("observation %d has the residual %g ± %g, want %g ± %g", j, got[0], deviations[0], want, sd)
		}
	}
}
