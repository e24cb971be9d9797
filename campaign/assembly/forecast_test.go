package assembly_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"tutti/internal/testutil"
)

// TestForecast checks that every job has a limit, a command and a valid shell script. The node-hours of the
// jobs must add up to the total.
func TestForecast(t *testing.T) {
	c := connected(t, "grid.ppn=2,3")
	f := testutil.Must(c.Forecast(t.Context()))(t)
	sum, problems := 0.0, map[string]bool{}
	for _, j := range f.Jobs {
		sum += j.NodeHours
		problems[j.Problem] = true
		if j.Nodes != 1 || j.PPN < 2 || j.PPN > 3 || j.Launches < 1 || math.Abs(j.NodeHours-j.Limit/3600) > 1e-9 {
			t.Errorf("%s: %d nodes, %d processes each, %d starts, %g s, %g node-hours", j.Name, j.Nodes, j.PPN, j.Launches, j.Limit, j.NodeHours)
		}
		if j.Candidates != len(j.Carries) || j.Candidates == 0 || !strings.HasPrefix(j.Carries[0], strings.Fields(j.Problem)[1]+" ") {
			t.Errorf("%s of %s: %d candidates, carries %q", j.Name, j.Problem, j.Candidates, j.Carries)
		}
		if !strings.Contains(j.Command, j.Name) {
			t.Errorf("%s: command %s", j.Name, j.Command)
		}
		if _, err := syntax.NewParser().Parse(strings.NewReader(j.Script), j.Name); err != nil {
			t.Errorf("%s: %v", j.Name, err)
		}
	}
	if len(problems) != 2 || math.Abs(sum-f.RoundNodeHours) > 1e-9 || f.NodeHours <= f.RoundNodeHours {
		t.Errorf("%v, %g node-hours of jobs, %g of the round, %g of all", problems, sum, f.RoundNodeHours, f.NodeHours)
	}
}

// TestForecastBudget checks the maximum cost that a forecast states. It is the budget, or the cost of the first
// round if that is higher. A budget in machine time is converted to node-hours for the largest number of nodes in
// the grid.
func TestForecastBudget(t *testing.T) {
	all := testutil.Must(connected(t, "grid.ppn=2,3").Forecast(t.Context()))(t)
	for _, tc := range []struct {
		set  string
		want float64
	}{
		{"stop.node_hours=1", 1},
		{"stop.node_hours=0.25", all.RoundNodeHours},
		{"stop.node_hours=1e6", all.NodeHours},
		{"stop.machine_time=1h", 1},
	} {
		if got, err := connected(t, tc.set, "grid.ppn=2,3").Forecast(t.Context()); err != nil || math.Abs(got.NodeHours-tc.want) > 1e-9 || got.Expected <= 0 || got.Expected > got.NodeHours {
			t.Errorf("%s: %+v, %v, want %g of %g at most", tc.set, got, err, tc.want, all.NodeHours)
		}
	}
}

// TestForecastTooLarge checks that a layout that the machine cannot run leads to an error that names the
// problem.
func TestForecastTooLarge(t *testing.T) {
	c := connected(t, "grid.ppn=7,9")
	_, err := c.Forecast(t.Context())
	testutil.GoldenErrors(t)("9 processes a node", err)
}

// TestLeftOut checks that a forecast counts candidates that cannot be measured. Their buffers exceed the memory
// of a node, or the benchmark program does not support the collective.
func TestLeftOut(t *testing.T) {
	f := testutil.Must(connected(t, "runner.node_memory=1700B", "grid.sizes=2B,64B,512B").Forecast(t.Context()))(t)
	var all strings.Builder
	for _, l := range f.LeftOut {
		fmt.Fprintln(&all, l)
		if l.Candidates < 1 || l.Candidates >= l.Of {
			t.Errorf("%+v", l)
		}
	}
	for _, want := range []string{"candidates cannot be measured: osu: OSU begins at 4 bytes", "openmpi alltoall: ", "its buffers take 9.22e-06 GB on a node, a node has 1.7e-06 GB"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, all.String())
		}
	}
}
