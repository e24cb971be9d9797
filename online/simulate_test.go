package online_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/online"
	"tutti/preprocess"
)

const data = "../data"

// recorded returns all recorded times of a machine on the grid of powers of two, with the
// default of MPICH.
func recorded(t *testing.T, machine string) []coll.Measurement {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "simgrid", machine+"_*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var all []coll.Measurement
	for _, f := range files {
		if strings.Contains(f, "np2") {
			continue
		}
		table, err := preprocess.ReadTable(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, table.Measurements()...)
	}
	d, err := preprocess.ReadDefaults(filepath.Join(data, "simgrid/defaults.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return append(all, d.Rows(all, machine, "mpich")...)
}

func problem(t *testing.T, application string, recorded []coll.Measurement) online.Problem {
	t.Helper()
	trace, err := preprocess.ReadTrace(filepath.Join(data, "applications", application+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := online.NewProblem(application, trace, recorded, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func simulate(t *testing.T, p online.Problem, policy string, earlier [][]coll.Measurement, opt online.Options) online.Outcome {
	t.Helper()
	o, err := online.Simulate(context.Background(), p, policy, earlier, opt)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Every policy sees the same calls, and a seed tells the whole story.
func TestSameSeedSameStory(t *testing.T) {
	p := problem(t, "mixed", recorded(t, "C"))
	opt := online.DefaultOptions()
	opt.Runs, opt.Iterations = 2, 50
	var best float64
	for _, policy := range online.Policies() {
		o := simulate(t, p, policy, nil, opt)
		if again := simulate(t, p, policy, nil, opt); !reflect.DeepEqual(o, again) {
			t.Errorf("%s: the same seed gave something else", policy)
		}
		r := o.Runs[0]
		if best == 0 {
			best = r.Best
		}
		if r.Best != best || r.Seconds < r.Best {
			t.Errorf("%s: %g s, best %g s, want the same %g s at least", policy, r.Seconds, r.Best, best)
		}
		switch policy {
		case online.PolicyOracle:
			if r.Seconds != r.Best || o.Runs[1].Regret != 0 || r.Tuned != 1 {
				t.Errorf("oracle: %+v", r)
			}
		case online.PolicyDefault:
			if r.Seconds != r.Default || r.Explored != 0 {
				t.Errorf("default: %+v", r)
			}
		}
	}
}

// The bounds for our policy on one machine: first run, end, and regret beside the
// better of IOTA and STAR.
func TestOursOnRecordedTimes(t *testing.T) {
	all := recorded(t, "C")
	for _, application := range []string{"bcast", "alltoall", "allgather", "mixed"} {
		p := problem(t, application, all)
		opt := online.DefaultOptions()
		ours := simulate(t, p, online.PolicyTutti, nil, opt)
		rival := min(simulate(t, p, online.PolicyStar, nil, opt).Runs[7].Regret, simulate(t, p, online.PolicyIOTA, nil, opt).Runs[7].Regret)
		first, second, last := ours.Runs[0], ours.Runs[1], ours.Runs[7]
		t.Logf("%s: first run %.3f of the default, last %.4f of the best, regret %.3f of the rivals'", application, first.OverDefault(), last.OverBest(), last.Regret/rival)
		if first.OverDefault() > 1.03 || second.Tuned > 1.02 || last.OverBest() > 1.02 || last.Regret > rival/2 {
			t.Errorf("%s: first %+v, last %+v, rival's regret %g", application, first, last, rival)
		}
	}
}

// TestExploreOnRecordedTimes: what the mode of libtutti explores stays within its share, its
// price and its bound for a class; of long runs two are enough to know the best, and the second
// has most of the gain.
func TestExploreOnRecordedTimes(t *testing.T) {
	opt := online.DefaultOptions()
	opt.Runs = 2
	p := problem(t, "mixed", recorded(t, "C"))
	for i := range p.Classes {
		p.Classes[i].Calls *= 10
	}
	o := simulate(t, p, online.PolicyExplore, nil, opt)
	first, second := o.Runs[0], o.Runs[1]
	if s := first.ExploredShare(); s < 0.05 || s > 0.15 {
		t.Errorf("%.3f of the calls explored, want about 0.1", s)
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
		t.Errorf("first run %.3f of the default, second has %.3f of the gain, held %.3f of the best", first.OverDefault(), gain, second.Tuned)
	}
	opt.Explored = 3
	if n := simulate(t, p, online.PolicyExplore, nil, opt).Runs[0].Explored; n == 0 || n > 3*len(p.Classes) {
		t.Errorf("%d calls explored, want at most 3 of each of %d classes", n, len(p.Classes))
	}
}

// A run whose calls all take three times as long teaches nothing new; an algorithm that does
// so by itself from one run on is no longer selected in the next.
func TestChangesBetweenRuns(t *testing.T) {
	p := problem(t, "mixed", recorded(t, "C"))
	slowed := map[string][]online.Slow{"none": nil}
	slow := func(a coll.Algorithm) online.Slow {
		return online.Slow{Algorithm: a, Since: 3, From: 0, To: 200, Factor: 3}
	}
	for i, c := range p.Classes {
		p.Classes[i].Calls *= 10
		for _, a := range c.Algorithms {
			if !slices.Contains(slowed["all"], slow(a)) {
				slowed["all"] = append(slowed["all"], slow(a))
			}
		}
	}
	slowed["one"] = []online.Slow{slow(p.Classes[0].Algorithms[p.Classes[0].Best()])}
	for name, slow := range slowed {
		opt := online.DefaultOptions()
		opt.Runs, opt.Slow = 4, slow
		last := simulate(t, p, online.PolicyExplore, nil, opt).Runs[3]
		t.Logf("%s slowed: %.3f of the best, %.3f of the default", name, last.OverBest(), last.OverDefault())
		if last.OverBest() > 1.02 {
			t.Errorf("%s slowed: %.3f of the best in the run after the next", name, last.OverBest())
		}
	}
}

// Calls take twice as long in iterations 250 to 400 and 550 to 700: STAR and ours notice the
// four changes within 20 calls.
func TestLoadChanges(t *testing.T) {
	class := online.Class{Point: coll.Point{Collective: coll.Allgather, Nodes: 8, PPN: 1, MsgBytes: 8}, Calls: 850}
	opt := online.DefaultOptions()
	opt.Runs, opt.Iterations, opt.Noise = 1, 850, 0.1
	for i, name := range []string{"library_default", "a", "b", "c", "d"} {
		algorithm, err := coll.ParseAlgorithm(name)
		if err != nil {
			t.Fatal(err)
		}
		class.Algorithms = append(class.Algorithms, algorithm)
		class.Seconds = append(class.Seconds, []float64{2.1e-5, 1e-5, 1.2e-5, 1.44e-5, 1.73e-5}[i])
		for _, from := range []int{250, 550} {
			opt.Slow = append(opt.Slow, online.Slow{Algorithm: algorithm, From: from, To: from + 150, Factor: 2})
		}
	}
	p := online.Problem{Name: "app", Classes: []online.Class{class}}
	const seeds = 20
	for _, policy := range []string{online.PolicyStar, online.PolicyTutti} {
		missed, others := 0, 0
		for opt.Seed = 1; opt.Seed <= seeds; opt.Seed++ {
			alarms := simulate(t, p, policy, nil, opt).Runs[0].Alarms
			others += len(alarms)
			for _, change := range []int{250, 400, 550, 700} {
				if slices.ContainsFunc(alarms, func(at int) bool { return at >= change && at < change+20 }) {
					others--
				} else {
					missed++
				}
			}
		}
		t.Logf("%s: %d of %d changes missed, %d other alarms in %d calls", policy, missed, 4*seeds, others, 850*seeds)
		if missed > 4*seeds/20 || others > 850*seeds/1000 {
			t.Errorf("%s: %d of %d changes missed, %d other alarms", policy, missed, 4*seeds, others)
		}
	}
}

// What was learnt on machine C makes the first choices on D, which is much like it, as good as
// the best; STAR has no use for it.
func TestFromAnotherMachine(t *testing.T) {
	opt := online.DefaultOptions()
	opt.Runs = 3
	from := simulate(t, problem(t, "mixed", recorded(t, "C")), online.PolicyTutti, nil, opt).Known
	p := problem(t, "mixed", recorded(t, "D"))
	alone, helped := simulate(t, p, online.PolicyTutti, nil, opt), simulate(t, p, online.PolicyTutti, [][]coll.Measurement{from}, opt)
	if helped.Start > 1.02 || alone.Start < 1.2 || helped.Runs[2].Regret > alone.Runs[2].Regret/2 {
		t.Errorf("held %.3f with and %.3f without, regret %g and %g", helped.Start, alone.Start, helped.Runs[2].Regret, alone.Runs[2].Regret)
	}
	if star := simulate(t, p, online.PolicyStar, [][]coll.Measurement{from}, opt); star.Start != alone.Start {
		t.Errorf("STAR begins with %.3f of the best, want the default's %.3f", star.Start, alone.Start)
	}
}

func TestNewProblem(t *testing.T) {
	measured := func(c coll.Collective, name string, nodes int, bytes int64, us float64) coll.Measurement {
		a, err := coll.ParseAlgorithm(name)
		if err != nil {
			t.Fatal(err)
		}
		return coll.Measurement{Candidate: coll.Candidate{Point: coll.Point{Collective: c, Nodes: nodes, PPN: 1, MsgBytes: bytes}, Algorithm: a}, Seconds: us * 1e-6}
	}
	rows := []coll.Measurement{
		measured(coll.Bcast, "zigzag", 4, 64, 3), measured(coll.Bcast, "library_default", 4, 64, 2), measured(coll.Bcast, "binomial", 4, 64, 1),
		measured(coll.Bcast, "binomial", 4, 1024, 1), // without a default: no place
	}
	calls := func(c coll.Collective, bytes int64, n float64) preprocess.Calls {
		return preprocess.Calls{Point: coll.Point{Collective: c, Nodes: 8, PPN: 1, MsgBytes: bytes}, Calls: n, Seconds: n * 5}
	}
	p, err := online.NewProblem("a", []preprocess.Calls{calls(coll.Bcast, 100, 30), calls(coll.Bcast, 4096, 60), calls(coll.Allreduce, 8, 10)}, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Classes) != 1 || p.Classes[0].Calls != 90 || p.Left < 0.0999 || p.Left > 0.1001 {
		t.Fatalf("%+v", p)
	}
	if c := p.Classes[0]; !c.Algorithms[0].IsDefault() || c.Algorithms[c.Best()].String() != "binomial" || c.Seconds[0] != 2e-6 {
		t.Errorf("class %+v", c)
	}
	without := []coll.Algorithm{rows[2].Algorithm}
	if p, err = online.NewProblem("a", []preprocess.Calls{calls(coll.Bcast, 64, 1)}, rows, without); err != nil || len(p.Classes[0].Algorithms) != 2 {
		t.Errorf("%+v, %v: want two algorithms", p, err)
	}
	if _, err := online.NewProblem("a", []preprocess.Calls{calls(coll.Allreduce, 8, 10)}, rows, nil); err == nil || !strings.Contains(err.Error(), "library_default") {
		t.Errorf("error %v, want that no call has a place", err)
	}
	if _, err := online.NewProblem("a", []preprocess.Calls{calls(coll.Bcast, 8, 1e9)}, rows, nil); err == nil {
		t.Error("a thousand million calls are no error")
	}
}

func TestSimulateRefuses(t *testing.T) {
	p := problem(t, "mixed", recorded(t, "C"))
	opt := online.DefaultOptions()
	opt.Runs, opt.Noise = 0, 2
	if _, err := online.Simulate(context.Background(), p, online.PolicyStar, nil, opt); err == nil || !strings.Contains(err.Error(), "runs 0") || !strings.Contains(err.Error(), "noise 2") {
		t.Errorf("error %v, want both faults", err)
	}
	if _, err := online.Simulate(context.Background(), p, "none", nil, online.DefaultOptions()); err == nil {
		t.Error("a policy that is none is no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := online.Simulate(ctx, p, online.PolicyStar, nil, online.DefaultOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
	if _, err := online.ParsePolicies("star,star"); err == nil {
		t.Error("a policy twice is no error")
	}
}
