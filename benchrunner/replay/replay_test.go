package replay_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/runnertest"
)

func points() []coll.Point {
	var out []coll.Point
	for _, nodes := range []int{2, 3, 8} {
		for size := int64(1); size <= 1<<16; size *= 16 {
			out = append(out, coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 2, MsgBytes: size})
		}
	}
	return out
}

func machine(t *testing.T, opt replay.Options) *replay.Machine {
	t.Helper()
	return testutil.Must(replay.New(testutil.SyntheticMeasurements(points()), opt))(t)
}

func runAll(t *testing.T, m *replay.Machine, reqs []benchrunner.Request) []coll.Trial {
	t.Helper()
	var out []coll.Trial
	err := m.Run(context.Background(), benchrunner.Batch{Requests: reqs}, benchrunner.TrialLog(func(tr coll.Trial) error {
		out = append(out, tr)
		return nil
	}))
	testutil.NoError(t, err)
	return out
}

func requests(cands []coll.Candidate) []benchrunner.Request {
	out := make([]benchrunner.Request, len(cands))
	for i, c := range cands {
		out[i] = benchrunner.Request{Candidate: c, Attempt: 1}
	}
	return out
}

func TestSuite(t *testing.T) {
	good := machine(t, replay.Options{}).Candidates()
	bad := good[0]
	bad.Nodes = 77
	runnertest.Run(t, runnertest.Case{
		New: func(t *testing.T) benchrunner.Runner {
			return machine(t, replay.Options{Seed: 3, Noise: replay.Noise{Sigma: 0.02}})
		},
		Good: good[:4],
		Bad:  bad,
	})
}

func TestNoiseDeviation(t *testing.T) {
	m := machine(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
	var reqs []benchrunner.Request
	for attempt := 1; attempt <= 40; attempt++ {
		for _, r := range requests(m.Candidates()) {
			r.Attempt = attempt
			reqs = append(reqs, r)
		}
	}
	var sum, square float64
	for _, tr := range runAll(t, m, reqs) {
		truth, _ := m.Truth(tr.Candidate)
		z := math.Log(tr.Seconds / truth.Seconds)
		sum += z
		square += z * z
	}
	n := float64(len(reqs)) // 1 800: the relative standard error of the deviation is 1.7 %
	if sd := math.Sqrt(square/n - sum*sum/n/n); math.Abs(sd-0.02) > 0.002 {
		t.Errorf("log deviation %.4f over %g trials, want 0.02", sd, n)
	}
}

func TestSameSeedSameTrials(t *testing.T) {
	opt := replay.Options{Seed: 9, Noise: replay.Noise{Sigma: 0.1, TailProbability: 0.2}, FailureRate: 0.3}
	forward := requests(machine(t, opt).Candidates())
	backward := make([]benchrunner.Request, len(forward))
	for i, r := range forward {
		backward[len(forward)-1-i] = r
	}
	a, b := runAll(t, machine(t, opt), forward), runAll(t, machine(t, opt), backward)
	failed := 0
	for i := range a {
		if other := b[len(b)-1-i]; a[i] != other {
			t.Errorf("order changes a trial: %+v, %+v", a[i], other)
		}
		if a[i].State == coll.TrialFailed {
			failed++
		}
	}
	if failed == 0 || failed == len(a) {
		t.Errorf("%d of %d failed at rate 0.3", failed, len(a))
	}
}

func TestLaunchesArePaidOnce(t *testing.T) {
	cands := machine(t, replay.Options{}).Candidates()
	base := machine(t, replay.Options{}).ExhaustiveSeconds(cands)
	layouts, algorithms := 3, len(testutil.SyntheticAlgorithms())
	for model, launches := range map[benchrunner.LaunchModel]int{
		benchrunner.LaunchCandidate: len(cands),
		benchrunner.LaunchOSU:       layouts * algorithms,
		benchrunner.LaunchNative:    layouts,
	} {
		m := machine(t, replay.Options{Launch: benchrunner.LaunchCost{Model: model, Seconds: 2}})
		if got, want := m.ExhaustiveSeconds(cands)-base, 2*float64(launches); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: launches cost %g s, want %g", model, got, want)
		}
	}
}

func TestEndedRequestStillPaysItsLaunch(t *testing.T) {
	m := machine(t, replay.Options{Launch: benchrunner.LaunchCost{Model: benchrunner.LaunchNative, Seconds: 5}})
	reqs := requests(m.Candidates()[:2]) // of the same layout
	reqs[0].Ended = true
	truth, _ := m.Truth(reqs[1].Candidate)
	if got := runAll(t, m, reqs); got[0].CostSeconds != truth.CostSeconds {
		t.Errorf("cost %g, want %g: the launch was paid before", got[0].CostSeconds, truth.CostSeconds)
	}
}

func TestNewRejects(t *testing.T) {
	good := testutil.SyntheticMeasurements(points()[:1])
	zero := good[0]
	zero.Seconds = 0
	for name, tc := range map[string]struct {
		ms  []coll.Measurement
		opt replay.Options
	}{
		"twice":          {ms: append(good[:1:1], good[0])},
		"no time":        {ms: []coll.Measurement{zero}},
		"negative noise": {ms: good, opt: replay.Options{Noise: replay.Noise{Sigma: -1}}},
		"failure rate 2": {ms: good, opt: replay.Options{FailureRate: 2}},
	} {
		if _, err := replay.New(tc.ms, tc.opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func ExampleNew() {
	ms := testutil.SyntheticMeasurements([]coll.Point{{Collective: coll.Bcast, Nodes: 8, PPN: 1, MsgBytes: 1 << 20}})
	m, err := replay.New(ms, replay.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range m.Candidates() {
		truth, _ := m.Truth(c)
		fmt.Printf("%v %.0f µs\n", c, truth.Seconds*1e6)
	}
	fmt.Println("best:", testutil.SyntheticBest(ms[0].Point))
	// Output:
	// bcast 8x1 1MiB halving 190 µs
	// bcast 8x1 1MiB linear 635 µs
	// bcast 8x1 1MiB ring 100 µs
	// bcast 8x1 1MiB tree 318 µs
	// best: ring
}
