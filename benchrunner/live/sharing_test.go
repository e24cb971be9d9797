package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// TestConcurrentCosts checks that concurrent launches share the time of their job in proportion to their nodes
// and durations. The shares must add up to that time.
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
	costs := splitCost(walls, 12)
	if a, b := costs[0][0], costs[1][0]; math.Abs(a-4) > 1e-9 || math.Abs(b-8) > 1e-9 {
		t.Errorf("costs %g and %g s, want 4 and 8", a, b)
	}
}

// unwired is a scheduler whose Switches returns no switches or an error.
type unwired struct {
	benchrunner.Scheduler
	err error
}

func (unwired) Name() string                                   { return "unwired" }
func (u unwired) Switches(context.Context) ([][]string, error) { return nil, u.err }

func TestSharingFor(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	apart := benchrunner.Capacity{Nodes: 16, SeparateNodes: true}
	allocated := benchrunner.Capacity{Nodes: 16, SeparateNodes: true, Attached: true}
	two := [][]string{{"n1"}, {"n2"}}
	tests := []struct {
		name  string
		opt   Options
		c     benchrunner.Capacity
		want  sharing
		fails bool
	}{
		{name: "never", opt: Options{Parallel: ParallelNever}, c: apart},
		{name: "imagined nodes", opt: Options{Parallel: ParallelAlways}, c: benchrunner.Capacity{Nodes: 16}},
		{name: "the widest start", opt: Options{Parallel: ParallelAlways}, c: apart, want: sharing{nodes: 4}},
		{name: "as many as said", opt: Options{Parallel: ParallelAlways, ParallelNodes: 12}, c: apart, want: sharing{nodes: 12}},
		{name: "no more than there are", opt: Options{Parallel: ParallelAlways, ParallelNodes: 99}, c: apart, want: sharing{nodes: 16}},
		{name: "all of an allocation", opt: Options{Parallel: ParallelAlways}, c: allocated, want: sharing{nodes: 16, allocated: true}},
		{name: "switches that are named", opt: Options{Parallel: ParallelSwitch, Switches: two}, c: apart, want: sharing{nodes: 4, switches: two}},
		{name: "none", opt: Options{Parallel: ParallelSwitch}, c: apart, fails: true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			tc.opt.Scheduler = unwired{}
			m := &Machine{opt: tc.opt.withDefaults()}
			got, err := m.sharingFor(t.Context(), tc.c, 4)
			if fmt.Sprint(got) != fmt.Sprint(tc.want) || !tc.fails && err != nil {
				t.Errorf("%+v, %v; want %+v", got, err, tc.want)
			}
			if tc.fails {
				golden(tc.name, err, benchrunner.ErrRejected)
			}
		})
	}
	broken := errors.New("no answer")
	m := &Machine{opt: Options{Parallel: ParallelSwitch, Scheduler: unwired{err: broken}}.withDefaults()}
	if _, err := m.sharingFor(t.Context(), apart, 4); !errors.Is(err, broken) {
		t.Errorf("error %v, want the scheduler's", err)
	}
}
