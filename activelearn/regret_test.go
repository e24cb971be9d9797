package activelearn

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/metrics"
)

func TestPrices(t *testing.T) {
	ring := coll.Algorithm{Name: "ring"}
	paid := map[coll.Candidate]bool{}
	var ms []coll.Measurement
	add := func(nodes int, bytes int64, seconds, launch float64) {
		executions := 100.0
		if bytes <= 8192 {
			executions = 1000
		}
		m := coll.Measurement{
			Candidate: coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 1, MsgBytes: bytes}, Algorithm: ring},
			Seconds:   seconds, CostSeconds: launch + executions*seconds,
		}
		paid[m.Candidate] = launch > 0
		ms = append(ms, m)
	}
	add(2, 8, 1e-6, 0.5) // the cheapest launch: its run of 1 ms counts as part of the launch
	add(2, 64, 2e-6, 0)
	add(4, 64, 4e-6, 0)
	add(4, 1<<20, 1e-2, 0.5)
	p := pricesOf(len(ms), []iter.Seq[coll.Measurement]{slices.Values(ms)}, paid)
	if math.Abs(p.launch-0.5) > 2e-3 {
		t.Errorf("launch %g s, want about 0.5", p.launch)
	}
	for _, tc := range []struct {
		bytes int64
		want  float64
	}{{32, 1000}, {128, 1000}, {4 << 20, 100}, {1 << 19, 100}} {
		if got := p.run(tc.bytes, 1); math.Abs(got-tc.want) > 0.01*tc.want {
			t.Errorf("%d bytes: %g executions, want %g", tc.bytes, got, tc.want)
		}
	}
}

// TestPricesOfFixedTimeBenchmark checks that all candidates have the same price if the benchmark measures
// each for a fixed time.
func TestPricesOfFixedTimeBenchmark(t *testing.T) {
	var ms []coll.Measurement
	for i := range 2 * powerRuns {
		c := coll.Candidate{
			Point:     coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8 << (i % 3)},
			Algorithm: coll.Algorithm{Name: fmt.Sprint("a", i)},
		}
		ms = append(ms, coll.Measurement{Candidate: c, Seconds: 1e-6 * math.Exp(float64(i)), CostSeconds: 0.7})
	}
	p := pricesOf(len(ms), []iter.Seq[coll.Measurement]{slices.Values(ms)}, nil)
	for _, seconds := range []float64{1e-6, 1, 1e6} {
		if got := p.run(16, seconds); math.Abs(got-0.7) > 1e-9 {
			t.Errorf("executions of %g s: price %g s, want 0.7", seconds, got)
		}
	}
	for i := range ms {
		ms[i].CostSeconds = 100 * ms[i].Seconds
	}
	if got := pricesOf(len(ms), []iter.Seq[coll.Measurement]{slices.Values(ms)}, nil).run(16, 2); math.Abs(got-200) > 1e-6 {
		t.Errorf("100 executions of 2 s: price %g s", got)
	}
}

// TestPricesBeyondMeasuredSizes checks that the price of a message larger than all measured ones grows with its size,
// even if its predicted time does not.
func TestPricesBeyondMeasuredSizes(t *testing.T) {
	var ms []coll.Measurement
	for _, bytes := range []int64{8, 1023} {
		c := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: bytes}, Algorithm: coll.Algorithm{Name: "ring"}}
		ms = append(ms, coll.Measurement{Candidate: c, Seconds: 1e-6, CostSeconds: 1e-3})
	}
	p := pricesOf(len(ms), []iter.Seq[coll.Measurement]{slices.Values(ms)}, nil)
	for _, tc := range []struct {
		bytes         int64
		seconds, want float64
	}{{1023, 1e-6, 1e-3}, {1<<20 - 1, 1e-6, 1.024}, {1<<20 - 1, 2e-3, 2}} {
		if got := p.run(tc.bytes, tc.seconds); math.Abs(got-tc.want) > 1e-9*tc.want {
			t.Errorf("%d bytes, predicted time %g s: price %g s, want %g", tc.bytes, tc.seconds, got, tc.want)
		}
	}
}

// TestLogNormalMean compares the mean with tails with its closed form, 0.9·e^(c·v) + 0.1·e^(c·16·v) with c = ln²10/2.
func TestLogNormalMean(t *testing.T) {
	for _, tc := range []struct{ variance, want float64 }{
		{0, 1}, {0.01, 1.0770070}, {0.25, 4030.4949}, {100, 40287.488}, // 16 · 0.25 and 100 reach the limit of 4
	} {
		if got := logNormalMeanWithTails(tc.variance); math.Abs(got-tc.want) > 1e-6*tc.want {
			t.Errorf("variance %g: mean %g, want %g", tc.variance, got, tc.want)
		}
	}
}

func TestLoss(t *testing.T) {
	model := newLossModel(metrics.Allowed{})
	if got := model.loss(0.1, 0); got != 0 {
		t.Errorf("a sure choice loses %g", got)
	}
	tie, close, far := model.loss(0, 0.01*0.01), model.loss(0, 0.1*0.1), model.loss(0.5, 0.1*0.1)
	if !(far < tie && tie < close) {
		t.Errorf("losses: far apart %g, a tie within 2 %% %g, open %g: want them to rise", far, tie, close)
	}
	before := math.Inf(1)
	for s := 0.3; s > 0.01; s -= 0.01 {
		now := model.loss(0.05, s*s)
		if now > before {
			t.Fatalf("deviation %g: loss rises to %g from %g as it becomes sure", s, now, before)
		}
		before = now
	}
}

// machine records a measurement of a candidate on a simulated machine with three algorithms. The times of
// two of them cross at 1 KiB, and the third one is ten times slower. `launch` is the cost of a
// launch in seconds.
func machine(t *testing.T, l *Ledger, c coll.Candidate, launch float64) {
	t.Helper()
	if l.IsFree(c) {
		testutil.NoError(t, l.Pend(c))
	}
	x := math.Log2(float64(c.MsgBytes))
	log := -5 + 0.1*x + 0.05*math.Log2(float64(c.Nodes))
	switch c.Algorithm.Name {
	case "late":
		log += 0.04 * (10 - x)
	case "slow":
		log++
	}
	seconds := math.Pow(10, log)
	m := coll.Measurement{Candidate: c, Seconds: seconds, CostSeconds: launch + 100*seconds}
	testutil.NoError(t, l.Record(coll.Trial{Measurement: m, State: coll.TrialDone}))
}

func crossing() *coll.Space {
	var points []coll.Point
	for n := 2; n <= 32; n *= 2 {
		for i := range 20 {
			points = append(points, coll.Point{Collective: coll.Bcast, Nodes: n, PPN: 2, MsgBytes: 1 << i})
		}
	}
	return coll.NewSpace(points, []coll.Algorithm{{Name: "early"}, {Name: "late"}, {Name: "slow"}}, func(coll.Candidate) error { return nil })
}

// TestRegretAvoidsSlowAlgorithm checks that an algorithm that is ten times slower than the others is rarely
// measured after the first two rounds.
func TestRegretAvoidsSlowAlgorithm(t *testing.T) {
	for seed := range uint64(3) {
		l := NewLedger(crossing())
		s := testutil.Must(New("regret", Options{Seed: seed}))(t)
		slow, all := 0, 0
		for round := 1; round <= 6; round++ {
			batch := testutil.Must(s.Ask(State{Round: round, Want: 6, Ledger: l}))(t)
			for _, c := range batch {
				if round > 2 {
					all++
					if c.Algorithm.Name == "slow" {
						slow++
					}
				}
				machine(t, l, c, 0)
			}
		}
		if 5*slow > all {
			t.Errorf("seed %d: %d of %d measurements of an algorithm ten times slower", seed, slow, all)
		}
	}
}

// shared returns a function whose results are equal for candidates that can share a launch. If each candidate
// has its own launch, shared returns nil instead of a function.
func shared(model benchrunner.LaunchModel) func(coll.Candidate) any {
	if model == benchrunner.LaunchCandidate {
		return nil
	}
	return func(c coll.Candidate) any { return model.Key(c, nil) }
}

// TestRegretFillsLaunches checks that a launch that can measure several candidates is filled with further
// candidates. The more candidates can share a launch, the more must be measured in each launch.
func TestRegretFillsLaunches(t *testing.T) {
	layouts := func(model benchrunner.LaunchModel) (perLaunch float64) {
		l := NewLedger(crossing())
		s := testutil.Must(New("regret", Options{Seed: 1, SharedLaunch: shared(model)}))(t)
		candidates, launches := 0, 0
		for round := 1; round <= 4; round++ {
			batch := testutil.Must(s.Ask(State{Round: round, Want: 6, Ledger: l}))(t)
			costs := benchrunner.LaunchCost{Model: model, Seconds: 0.5}.Costs(batch, nil)
			for i, c := range batch {
				if round > 1 {
					candidates++
					if costs[i] > 0 {
						launches++
					}
				}
				machine(t, l, c, costs[i])
			}
		}
		return float64(candidates) / float64(launches)
	}
	if got := layouts(benchrunner.LaunchCandidate); got != 1 {
		t.Errorf("%g candidates a launch of one each", got)
	}
	osu, native := layouts(benchrunner.LaunchOSU), layouts(benchrunner.LaunchNative)
	if osu < 2 || native < osu {
		t.Errorf("%.1f candidates a launch of an algorithm at a layout, %.1f of a layout: want 2 or more, and more", osu, native)
	}
}

// TestRegretCountsPendingAsMeasured checks that pending and selected candidates have the same effect on the
// acquisition values of other candidates.
func TestRegretCountsPendingAsMeasured(t *testing.T) {
	laid := func(under ...coll.Candidate) *batchSelector {
		l := NewLedger(crossing())
		for i := 0; i < 100; i += 9 {
			for _, c := range l.Space().At(i) {
				machine(t, l, c, 0)
			}
		}
		for _, c := range under {
			testutil.NoError(t, l.Pend(c))
		}
		r := newRegret(Options{Seed: 1, Initial: initialPoints}, lossReduction{})
		r.start(l)
		s := State{Round: 2, Want: 1, Ledger: l}
		r.posterior = testutil.Must(s.posterior(nil))(t)
		return testutil.Must(r.newSelector(s, r.samplePoints(s), s.Ledger.prices(r.opt.Earlier, r.launching)))(t)
	}
	picked := laid()
	first, _ := picked.best()
	before := first.acquisition
	picked.pick(first)
	if picked.update(first); first.acquisition > before/2 {
		t.Errorf("%v is worth %g, and %g once it is known", first.candidate, before, first.acquisition)
	}
	pending := laid(first.candidate)
	values := map[coll.Candidate]float64{}
	for i := range pending.scored {
		values[pending.scored[i].candidate] = pending.scored[i].acquisition
	}
	for i := range picked.scored {
		o := &picked.scored[i]
		if o.picked {
			continue
		}
		picked.update(o)
		if want := values[o.candidate]; math.Abs(o.acquisition-want) > 1e-6*max(1, want) {
			t.Errorf("with %v picked %v is worth %g, with it under way %g", first.candidate, o.candidate, o.acquisition, want)
		}
	}
}

// TestRegretInitialPointsAreCheap checks that the initial points lie in the lower half of the space, where
// they are likely to be cheap.
func TestRegretInitialPointsAreCheap(t *testing.T) {
	sp := crossing()
	s := testutil.Must(New("regret", Options{Seed: 3}))(t)
	batch, err := s.Ask(State{Round: 1, Want: 1, Ledger: NewLedger(sp)})
	if err != nil || len(batch) != 3*initialPoints {
		t.Fatalf("first batch %v, %v, want all algorithms at %d points", batch, err, initialPoints)
	}
	for _, c := range batch {
		if where := (math.Log2(float64(c.Nodes)/2)/4 + math.Log2(float64(c.MsgBytes))/19) / 2; where > 0.5+1e-12 {
			t.Errorf("%v lies at %.2f of the space", c, where)
		}
	}
}

// TestRegretGivesReasons checks that each candidate that the model chose has a reason. The reason has the
// rival algorithm, the expected slowdown of the choice, the expected gain and the expected machine time.
func TestRegretGivesReasons(t *testing.T) {
	l := NewLedger(crossing())
	s := testutil.Must(New("regret", Options{Seed: 2, SharedLaunch: shared(benchrunner.LaunchOSU)}))(t)
	open := 0
	for round := 1; round <= 4; round++ {
		batch := testutil.Must(s.Ask(State{Round: round, Want: 6, Ledger: l}))(t)
		for i, launch := range (benchrunner.LaunchCost{Model: benchrunner.LaunchOSU, Seconds: 0.5}).Costs(batch, nil) {
			why, known := s.(Explainer).Reason(batch[i])
			if known != (round > 1) {
				t.Fatalf("round %d: reason for %v known: %v", round, batch[i], known)
			}
			machine(t, l, batch[i], launch)
			if !known {
				continue
			}
			if why.Seconds <= 0 || why.Uncertainty < 0 || why.Gain < 0 || why.Rival == batch[i].Algorithm || why.Rival.Name == "" {
				t.Errorf("round %d: %v: %+v", round, batch[i], why)
			}
			if why.Uncertainty > 1e-3 && why.Gain > 0 {
				open++
			}
		}
	}
	if open < 5 {
		t.Errorf("%d candidates at points of open choice, want 5 or more of 20", open)
	}
}
