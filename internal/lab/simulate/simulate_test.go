package simulate

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/online"
	"tutti/preprocess"
)

const data = "../../../data"

// recorded returns all recorded times of a machine at powers of two, including the times of MPICH's
// default.
func recorded(t *testing.T, machine string) []coll.Measurement {
	t.Helper()
	files := testutil.Must(filepath.Glob(filepath.Join(data, "simgrid", machine+"_*.csv")))(t)
	var all []coll.Measurement
	for _, f := range files {
		if strings.Contains(f, "np2") {
			continue
		}
		table := testutil.Must(preprocess.ReadTable(f))(t)
		all = append(all, table.Measurements()...)
	}
	d := testutil.Must(preprocess.ReadDefaults(filepath.Join(data, "simgrid/defaults.csv")))(t)
	return append(all, d.Rows(all, machine, "mpich")...)
}

func application(t *testing.T, name string, recorded []coll.Measurement) Application {
	t.Helper()
	trace := testutil.Must(preprocess.ReadTrace(filepath.Join(data, "applications", name+".csv")))(t)
	app := testutil.Must(NewApplication(name, trace.Calls, recorded, nil))(t)
	return app
}

// buildOnce compiles the program of libtutti once for all tests.
var buildOnce = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "tutti-simulate-test-")
	if err != nil {
		return "", err
	}
	return BuildProgram(context.Background(), folder)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := buildOnce(); err == nil {
		os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

// options returns the default options with a program that makes libtutti's decisions. It skips the test if
// there is no C compiler.
func options(t *testing.T) Options {
	t.Helper()
	opt := DefaultOptions()
	var err error
	if opt.Program, err = buildOnce(); err != nil {
		testutil.NeedMPI.Missing(t, "%v: needs apt-get install gcc", err)
	}
	return opt
}

func simulate(t *testing.T, app Application, policy string, earlier [][]coll.Measurement, opt Options) Outcome {
	t.Helper()
	o := testutil.Must(Run(t.Context(), app, policy, earlier, opt))(t)
	return o
}

// TestSameSeedSameOutcome checks that an outcome depends only on the seed, and that every policy gets the
// same calls.
func TestSameSeedSameOutcome(t *testing.T) {
	p := application(t, "mixed", recorded(t, "C"))
	opt := options(t)
	opt.Runs, opt.Iterations = 2, 50
	var best float64
	for _, policy := range Policies() {
		o := simulate(t, p, policy, nil, opt)
		if again := simulate(t, p, policy, nil, opt); !reflect.DeepEqual(o, again) {
			t.Errorf("%s: another outcome with the same seed", policy)
		}
		r := o.Runs[0]
		if best == 0 {
			best = r.Best
		}
		if r.Best != best || r.Seconds < r.Best {
			t.Errorf("%s: %g s, best %g s, want the same %g s at least", policy, r.Seconds, r.Best, best)
		}
		switch policy {
		case PolicyOracle:
			if r.Seconds != r.Best || o.Runs[1].Regret != 0 || r.Tuned != 1 {
				t.Errorf("oracle: %+v", r)
			}
		case PolicyDefault:
			if r.Seconds != r.Default || r.Explored != 0 {
				t.Errorf("default: %+v", r)
			}
		}
	}
}

// TestLearningOnRecordedTimes checks policies that learn within a run. The first run must take little longer
// than with the default, and the last run than with the best algorithms. The choices after the second run
// must be nearly the best, and eight runs may lose only a part of the possible gain.
func TestLearningOnRecordedTimes(t *testing.T) {
	bounds := map[string]struct{ first, tuned, last, lost float64 }{
		PolicyTutti: {1.03, 1.02, 1.02, 0.05},
		PolicyLearn: {1.03, 1.02, 1.2, 0.4},
	}
	all := recorded(t, "C")
	names := []string{"mixed", "bcast"}
	if testutil.AllCases() {
		names = append(names, "alltoall", "allgather")
	}
	for _, name := range names {
		app := application(t, name, all)
		for policy, most := range bounds {
			o := simulate(t, app, policy, nil, options(t))
			first, tuned, last, lost := o.Runs[0].OverDefault(), o.Runs[1].Tuned, o.Runs[7].OverBest(), o.LostGain()
			t.Logf("%s, %s: first run %.3f of the default, choices after the second %.3f of the best, last run %.4f, lost gain %.3f", name, policy, first, tuned, last, lost)
			if first > most.first || tuned > most.tuned || last > most.last || lost > most.lost {
				t.Errorf("%s, %s: %.3f, %.3f, %.4f, %.3f: want %+v at most", name, policy, first, tuned, last, lost, most)
			}
		}
	}
}

// TestExploreOnRecordedTimes checks that the mode `explore` of libtutti keeps to its share of calls and its
// budget. The second of two long runs must use the best algorithms.
func TestExploreOnRecordedTimes(t *testing.T) {
	opt := options(t)
	opt.Runs = 2
	p := application(t, "mixed", recorded(t, "C"))
	for i := range p.Classes {
		p.Classes[i].Calls *= 10
	}
	o := simulate(t, p, PolicyExplore, nil, opt)
	first, second := o.Runs[0], o.Runs[1]
	if s := first.ExploredShare(); s < 0.05 || s > 0.15 {
		t.Errorf("%.3f of the calls explored, want 0.05 to 0.15", s)
	}
	calls := 0
	for _, n := range second.Served {
		calls += n
	}
	if best := o.Class.Best(); len(second.Served) != len(o.Class.Algorithms) || second.Served[best] < calls*8/10 {
		t.Errorf("the best serves %d of %d calls of %v in the second run", second.Served[best], calls, o.Class.Point)
	}
	gain := (second.Default - second.Seconds) / (second.Default - second.Best)
	if first.OverDefault() > 1.03 || second.Tuned > 1.02 || gain < 0.7 {
		t.Errorf("first run %.3f of the default, second has %.3f of the gain, choices %.3f of the best", first.OverDefault(), gain, second.Tuned)
	}
}

// TestChangesBetweenRuns checks that run 4 makes the best choices although calls have become slower. From run
// 3 on, calls take three times as long: all calls, or only those of one algorithm that was the best.
func TestChangesBetweenRuns(t *testing.T) {
	p := application(t, "mixed", recorded(t, "C"))
	slowed := map[string][]Slow{"none": nil}
	slow := func(a coll.Algorithm) Slow {
		return Slow{Algorithm: a, Since: 3, From: 0, To: 200, Factor: 3}
	}
	for i, c := range p.Classes {
		p.Classes[i].Calls *= 10
		for _, a := range c.Algorithms {
			if !slices.Contains(slowed["all"], slow(a)) {
				slowed["all"] = append(slowed["all"], slow(a))
			}
		}
	}
	slowed["one"] = []Slow{slow(p.Classes[0].Algorithms[p.Classes[0].Best()])}
	if !testutil.AllCases() {
		slowed = map[string][]Slow{"one": slowed["one"]}
	}
	for name, slow := range slowed {
		opt := options(t)
		opt.Runs, opt.Slow = 4, slow
		last := simulate(t, p, PolicyExplore, nil, opt).Runs[3]
		t.Logf("%s slowed: %.3f of the best, %.3f of the default", name, last.OverBest(), last.OverDefault())
		if last.OverBest() > 1.02 {
			t.Errorf("%s slowed: %.3f of the best in the run after the next", name, last.OverBest())
		}
	}
}

// TestLoadChanges checks that the mode `learn` of libtutti detects changes within 20 calls. Calls take twice
// as long in iterations 250 to 400 and 550 to 700, so there are four changes.
func TestLoadChanges(t *testing.T) {
	class := Class{Class: online.Class{Point: coll.Point{Collective: coll.Allgather, Nodes: 8, PPN: 1, MsgBytes: 8}}, Calls: 850}
	opt := options(t)
	opt.Runs, opt.Iterations, opt.Noise = 1, 850, 0.1
	for i, name := range []string{"library_default", "a", "b", "c", "d"} {
		algorithm := testutil.Must(coll.ParseAlgorithm(name))(t)
		class.Algorithms = append(class.Algorithms, algorithm)
		class.Seconds = append(class.Seconds, []float64{2.1e-5, 1e-5, 1.2e-5, 1.44e-5, 1.73e-5}[i])
		for _, from := range []int{250, 550} {
			opt.Slow = append(opt.Slow, Slow{Algorithm: algorithm, From: from, To: from + 150, Factor: 2})
		}
	}
	app := Application{Name: "app", Classes: []Class{class}}
	const seeds = 20
	missed, others := 0, 0
	for opt.Seed = 1; opt.Seed <= seeds; opt.Seed++ {
		detected := simulate(t, app, PolicyLearn, nil, opt).Runs[0].Changes
		others += len(detected)
		for _, change := range []int{250, 400, 550, 700} {
			if slices.ContainsFunc(detected, func(at int) bool { return at >= change && at < change+20 }) {
				others--
			} else {
				missed++
			}
		}
	}
	t.Logf("%d of %d changes missed, %d other alarms in %d calls", missed, 4*seeds, others, 850*seeds)
	if missed > 4*seeds/20 || others > 850*seeds/1000 {
		t.Errorf("%d of %d changes missed, %d other alarms", missed, 4*seeds, others)
	}
}

// TestFromAnotherMachine checks that measurements of a similar machine help. After learning from machine C,
// the first choices on machine D must be nearly the best.
func TestFromAnotherMachine(t *testing.T) {
	opt := options(t)
	opt.Runs = 3
	from := simulate(t, application(t, "mixed", recorded(t, "C")), PolicyTutti, nil, opt).Measured
	p := application(t, "mixed", recorded(t, "D"))
	without, with := simulate(t, p, PolicyTutti, nil, opt), simulate(t, p, PolicyTutti, [][]coll.Measurement{from}, opt)
	if with.Start > 1.02 || without.Start < 1.2 || with.Runs[2].Regret > without.Runs[2].Regret/2 {
		t.Errorf("first choices %.3f with and %.3f without, regret %g and %g", with.Start, without.Start, with.Runs[2].Regret, without.Runs[2].Regret)
	}
}

func TestNewApplication(t *testing.T) {
	measured := func(c coll.Collective, name string, nodes int, bytes int64, us float64) coll.Measurement {
		a := testutil.Must(coll.ParseAlgorithm(name))(t)
		return coll.Measurement{Candidate: coll.Candidate{Point: coll.Point{Collective: c, Nodes: nodes, PPN: 1, MsgBytes: bytes}, Algorithm: a}, Seconds: us * 1e-6}
	}
	rows := []coll.Measurement{
		measured(coll.Bcast, "zigzag", 4, 64, 3), measured(coll.Bcast, "library_default", 4, 64, 2), measured(coll.Bcast, "binomial", 4, 64, 1),
		measured(coll.Bcast, "binomial", 4, 1024, 1), // ignored: the point has no time of the default
	}
	calls := func(c coll.Collective, bytes int64, n float64) preprocess.Calls {
		return preprocess.Calls{Point: coll.Point{Collective: c, Nodes: 8, PPN: 1, MsgBytes: bytes}, Calls: n, Seconds: n * 5}
	}
	p := testutil.Must(NewApplication("a", []preprocess.Calls{calls(coll.Bcast, 100, 30), calls(coll.Bcast, 4096, 60), calls(coll.Allreduce, 8, 10)}, rows, nil))(t)
	if len(p.Classes) != 1 || p.Classes[0].Calls != 90 || math.Abs(p.Unrecorded-0.1) > 0.0001 {
		t.Fatalf("%+v", p)
	}
	if c := p.Classes[0]; !c.Algorithms[0].IsDefault() || c.Algorithms[c.Best()].String() != "binomial" || c.Seconds[0] != 2e-6 {
		t.Errorf("class %+v", c)
	}
	without := []coll.Algorithm{rows[2].Algorithm}
	if p, err := NewApplication("a", []preprocess.Calls{calls(coll.Bcast, 64, 1)}, rows, without); err != nil || len(p.Classes[0].Algorithms) != 2 {
		t.Errorf("%+v, %v: want two algorithms", p, err)
	}
	golden := testutil.GoldenErrors(t)
	_, err := NewApplication("a", []preprocess.Calls{calls(coll.Allreduce, 8, 10)}, rows, nil)
	golden("no call has a recorded point", err)
	_, err = NewApplication("a", []preprocess.Calls{calls(coll.Bcast, 8, 1e9)}, rows, nil)
	golden("10⁹ calls", err)
}

func TestRunRefuses(t *testing.T) {
	p := application(t, "mixed", recorded(t, "C"))
	opt := options(t)
	opt.Runs, opt.Noise = 0, 2
	golden := testutil.GoldenErrors(t)
	_, err := Run(t.Context(), p, PolicyIOTA, nil, opt)
	golden("two faults", err)
	_, err = Run(t.Context(), p, "none", nil, options(t))
	golden("an unknown policy", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, p, PolicyIOTA, nil, options(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
	_, err = ParsePolicies("learn,learn")
	golden("a policy twice", err)
}

func TestRunWithoutProgram(t *testing.T) {
	app := application(t, "mixed", recorded(t, "C"))
	opt := DefaultOptions()
	opt.Program = filepath.Join(t.TempDir(), "none")
	if _, err := Run(t.Context(), app, PolicyLearn, nil, opt); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that the program is missing", err)
	}
	opt.Program = filepath.Join(t.TempDir(), "broken")
	testutil.NoError(t, os.WriteFile(opt.Program, []byte("#!/bin/sh\necho no >&2\nexit 1\n"), 0o700))
	if _, err := Run(t.Context(), app, PolicyExplore, nil, opt); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("error %v, want one that names the program", err)
	}
	t.Setenv("CC", filepath.Join(t.TempDir(), "cc"))
	if _, err := BuildProgram(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "CC") {
		t.Errorf("error %v, want one that names the variable CC", err)
	}
}

func TestDrawByWeights(t *testing.T) {
	weights := []float64{3, 2, 1, 1, 2, 1}
	for u, want := range map[float64]int{0: 0, 0.29: 0, 0.31: 1, 0.645: 3, 0.999: 5, 1: 5} { // 0.645: the example of Steiner (2023), table 4.2
		if got := draw(weights, u); got != want {
			t.Errorf("%g draws %d, want %d", u, got, want)
		}
	}
}

func TestTraceBudget(t *testing.T) {
	b := traceBudget{share: 0.03, calls: make([]float64, 1)}
	if b.affords(1, 1.01) {
		t.Error("affords a slower call before any")
	}
	b.debit(0, 100, 1, 1) // credits three seconds for the run
	if !b.affords(1, 3.9) || b.affords(1, 4.1) {
		t.Errorf("balance %g, want 3", b.balance)
	}
	b.debit(0, 100, 1, 3.5)
	b.debit(0, 100, 1, 0.5)
	if math.Abs(b.balance-1) > 1e-12 {
		t.Errorf("balance %g, want 1", b.balance)
	}
	for range 98 {
		b.debit(0, 100, 1, 1)
	}
	if math.Abs(b.balance-1.03) > 1e-12 { // the 101st call was not traced
		t.Errorf("balance %g, want 1.03", b.balance)
	}
}

// TestIOTALearns checks that IOTA draws algorithms with equal probabilities until there are enough calls. After that
// the probabilities must be proportional to 1/t, within the limits of IOTA.
func TestIOTALearns(t *testing.T) {
	class := Class{Class: online.Class{Point: coll.Point{Collective: coll.Allreduce, Nodes: 2, PPN: 4, MsgBytes: 16}}}
	class.Seconds = []float64{4e-5, 1e-5, 2e-5, 8e-5, 4e-5}
	for i := range class.Seconds {
		class.Algorithms = append(class.Algorithms, coll.Algorithm{Name: string(rune('a' + i))})
	}
	class.Algorithms[0] = coll.Default
	p := &iota{learner: newLearner(Application{Classes: []Class{class}}, nil), opt: DefaultOptions(), share: 1}
	run := func(calls int) (best int, weights []float64) {
		testutil.NoError(t, p.begin(t.Context()))
		for n := range calls * len(class.Seconds) {
			a := n % len(class.Seconds)
			testutil.Must(p.observe(0, a, class.Seconds[a]))(t)
		}
		testutil.NoError(t, p.end())
		return p.best(0), p.advice[0].Weights
	}
	if best, w := run(3); best != 0 || slices.Min(w) != slices.Max(w) {
		t.Fatalf("%d, %v: want the default, all drawn alike", best, w)
	}
	if best, w := run(30); best != 1 || !(w[1] > w[2] && w[2] > w[0] && w[0] > w[3]) || math.Abs(w[1]/w[2]-2) > 0.3 || w[3] < 0.03/1.1 {
		t.Errorf("best %d, weights %v of %v", best, w, class.Seconds)
	}
}

func TestBestMap(t *testing.T) {
	var recorded []coll.Measurement
	add := func(nodes int, bytes int64, name string, seconds float64) {
		recorded = append(recorded, coll.Measurement{Seconds: seconds, Samples: 10, Candidate: coll.Candidate{
			Point: coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 1, MsgBytes: bytes}, Algorithm: coll.Algorithm{Name: name},
		}})
	}
	for _, at := range []struct {
		nodes int
		bytes int64
	}{{2, 8}, {2, 1024}, {4, 8}} {
		add(at.nodes, at.bytes, coll.Default.Name, 2e-5)
		add(at.nodes, at.bytes, "ring", 1e-5)
		add(at.nodes, at.bytes, "tree", 4e-5)
	}
	add(8, 8, "ring", 1e-5) // not in the map: the point has no time of the default
	maps, err := BestMap(PolicyExplore, recorded, nil, [][]coll.Measurement{recorded}, DefaultOptions())
	if err != nil || len(maps) != 1 {
		t.Fatalf("%v, %v", maps, err)
	}
	m := maps[0]
	if m.Title != "bcast" || len(m.Rows) != 2 || len(m.Columns) != 2 {
		t.Fatalf("%+v, want bcast, 2 layouts by 2 sizes", m)
	}
	if m.Cells[0][0] != 0.5 || m.Cells[0][1] != 0.5 || m.Cells[1][0] != 0.5 || !math.IsNaN(m.Cells[1][1]) {
		t.Errorf("%v, want 0.5, and NaN at the point without recorded times", m.Cells)
	}
}
