package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// TestPlanConcurrent plans concurrent launches. A launch takes the time of its cases, 5 s to
// start and 10 s to end. A job needs 5 s for itself.
func TestPlanConcurrent(t *testing.T) {
	two := func(n int) []requestedCase { // launches of two nodes and 30 s each
		var out []requestedCase
		for i := range n {
			out = append(out, caseAt(i, 2, 15, "a"))
		}
		return out
	}
	pairs := [][]string{{"a1", "a2"}, {"b1", "b2"}, {"c1", "c2"}, {"d1", "d2"}}
	fours := [][]string{{"a1", "a2", "a3", "a4"}, {"b1", "b2", "b3", "b4"}}
	tests := []struct {
		name    string
		cases   []requestedCase
		sharing sharing
		limit   time.Duration
		want    string
	}{
		{"four at the same time", two(4), sharing{nodes: 8}, 0, "8 nodes: [0] [1] [2] [3] 35s"},
		{"no more nodes than are of use", two(3), sharing{nodes: 8}, 0, "6 nodes: [0] [1] [2] 35s"},
		{"one after the other on few nodes", two(2), sharing{nodes: 2}, 0, "2 nodes: [0] [1] 1m5s"},
		{"a wide one and narrow ones that fill", append(two(4), caseAt(9, 8, 15, "a")), sharing{nodes: 8}, 0, "8 nodes: [9] [0] [1] [2] [3] 1m5s"},
		{"a wide one and a narrow one that does not", append(two(1), caseAt(9, 8, 15, "a")), sharing{nodes: 8}, 0, "8 nodes: [9] 35s\n2 nodes: [0] 35s"},
		{"unless the nodes are held", append(two(1), caseAt(9, 8, 15, "a")), sharing{nodes: 8, held: true}, 0, "8 nodes: [9] [0] 1m5s"},
		{"two jobs to keep to the limit", two(8), sharing{nodes: 4}, 2 * time.Minute, "4 nodes: [0] [1] [2] [3] [4] [5] 1m35s\n4 nodes: [6] [7] 35s"},
		{"one for each switch", two(4), sharing{nodes: 8, switches: pairs}, 0, "8 nodes: [0] [1] [2] [3] 35s"},
		{"half of each switch would be idle", two(4), sharing{nodes: 8, switches: fours}, 0, "2 nodes: [0] [1] [2] [3] 2m5s"},
		{"unless the nodes are held", two(4), sharing{nodes: 8, switches: fours, held: true}, 0, "8 nodes: [0] [1] [2] [3] 1m5s"},
		{"nothing", nil, sharing{nodes: 8}, 0, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p := planner{program: sized{most: 1}, bounds: bounds{limit: tc.limit}, launchTime: 5 * time.Second, dir: "/check", sharing: tc.sharing}
			jobs, rejected, err := p.plan(tc.cases)
			if err != nil || len(rejected) > 0 {
				t.Fatal(err, rejected)
			}
			if got := describe(jobs); got != tc.want {
				t.Errorf("jobs\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// TestPlanConcurrentRandom plans random cases for concurrent launches. Each case is in one
// launch, and no job exceeds its bounds.
func TestPlanConcurrentRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var cases []requestedCase
		for i := range rng.IntN(60) {
			cases = append(cases, caseAt(i, 1+rng.IntN(8), int64(1+rng.IntN(100)), "a"))
		}
		p := planner{
			program: sized{most: 1 + rng.IntN(3)}, launchTime: 5 * time.Second, dir: "/check",
			bounds: bounds{limit: 400 * time.Second}, sharing: sharing{nodes: 8 + rng.IntN(9), held: rng.IntN(2) == 0},
		}
		jobs, rejected, err := p.plan(cases)
		if err != nil || len(rejected) > 0 {
			t.Fatal(err, rejected)
		}
		checkPlannedOnce(t, cases, jobs, nil)
		for _, j := range jobs {
			wide := slices.ContainsFunc(j.launches, func(s launch) bool { return s.Layout.Nodes > j.nodes })
			if wide || j.limit > p.bounds.limit || j.nodes > p.sharing.nodes {
				t.Errorf("job %s: want %v and %d nodes at most", describe([]plannedJob{j}), p.bounds.limit, p.sharing.nodes)
			}
		}
	}
}

// TestConcurrentCosts checks that the costs of concurrent launches add up to the time of
// their job, in proportion to their nodes and durations.
func TestConcurrentCosts(t *testing.T) {
	s := jobOutput{job: job{Job: coll.Job{Nodes: 8}, launches: []launch{
		{Launch: benchrunner.Launch{Layout: coll.Layout{Nodes: 2, PPN: 1}}}, {Launch: benchrunner.Launch{Layout: coll.Layout{Nodes: 4, PPN: 1}}},
	}}}
	walls := []launchTimes{
		launchTimes{wall: 10, measure: 4, cases: []float64{4}, decided: []bool{true}}.scaled(s.share(0)),
		launchTimes{wall: 10, measure: 8, cases: []float64{8}, decided: []bool{true}}.scaled(s.share(1)),
	}
	if !s.concurrent() {
		t.Error("launches of 2 and 4 nodes of 8 are not concurrent")
	}
	got := splitTime(walls, 12, 0)
	if want := (coll.Spent{Launch: 2.5, Measure: 5, Idle: 4.5}); got != want {
		t.Errorf("spent %+v, want %+v", got, want)
	}
	costs := splitCost(scaleToJob(walls, 12), 12)
	if a, b := costs[0][0], costs[1][0]; math.Abs(a-4) > 1e-9 || math.Abs(b-8) > 1e-9 {
		t.Errorf("costs %g and %g s, want 4 and 8", a, b)
	}
}

// unwired is a scheduler that knows no switches or returns an error.
type unwired struct {
	benchrunner.Scheduler
	err error
}

func (unwired) Name() string                                   { return "unwired" }
func (u unwired) Switches(context.Context) ([][]string, error) { return nil, u.err }

func TestSharingFor(t *testing.T) {
	apart := benchrunner.Capacity{Nodes: 16, Apart: true}
	held := benchrunner.Capacity{Nodes: 16, Apart: true, Attached: true}
	two := [][]string{{"n1"}, {"n2"}}
	tests := []struct {
		name    string
		opt     Options
		c       benchrunner.Capacity
		want    sharing
		wantErr string
	}{
		{name: "never", opt: Options{Parallel: ParallelNever}, c: apart},
		{name: "imagined nodes", opt: Options{Parallel: ParallelAlways}, c: benchrunner.Capacity{Nodes: 16}},
		{name: "the widest start", opt: Options{Parallel: ParallelAlways}, c: apart, want: sharing{nodes: 4}},
		{name: "as many as said", opt: Options{Parallel: ParallelAlways, ParallelNodes: 12}, c: apart, want: sharing{nodes: 12}},
		{name: "no more than there are", opt: Options{Parallel: ParallelAlways, ParallelNodes: 99}, c: apart, want: sharing{nodes: 16}},
		{name: "all of an allocation", opt: Options{Parallel: ParallelAlways}, c: held, want: sharing{nodes: 16, held: true}},
		{name: "switches that are named", opt: Options{Parallel: ParallelSwitch, Switches: two}, c: apart, want: sharing{nodes: 4, switches: two}},
		{name: "none", opt: Options{Parallel: ParallelSwitch}, c: apart, wantErr: "unwired knows no switches: name the nodes of each"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			tc.opt.Scheduler = unwired{}
			m := &Machine{opt: tc.opt.withDefaults()}
			got, err := m.sharingFor(t.Context(), tc.c, 4)
			if fmt.Sprint(got) != fmt.Sprint(tc.want) || tc.wantErr == "" && err != nil {
				t.Errorf("%+v, %v; want %+v", got, err, tc.want)
			}
			if tc.wantErr != "" && (!errors.Is(err, benchrunner.ErrRejected) || !strings.Contains(err.Error(), tc.wantErr)) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
		})
	}
	broken := errors.New("no answer")
	m := &Machine{opt: Options{Parallel: ParallelSwitch, Scheduler: unwired{err: broken}}.withDefaults()}
	if _, err := m.sharingFor(t.Context(), apart, 4); !errors.Is(err, broken) {
		t.Errorf("error %v, want the scheduler's", err)
	}
}

func TestParseParallel(t *testing.T) {
	for _, p := range []Parallel{ParallelNever, ParallelSwitch, ParallelAlways} {
		if got, err := ParseParallel(string(p)); got != p || err != nil {
			t.Errorf("ParseParallel(%q) = %q, %v", p, got, err)
		}
	}
	if _, err := ParseParallel("yes"); err == nil || !strings.Contains(err.Error(), "never, switch, always") {
		t.Errorf("error %v, want it to name what is allowed", err)
	}
}
