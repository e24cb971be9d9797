package export

import (
	"strings"
	"testing"
	"time"

	"tutti/internal/config"
	"tutti/report"
)

// TestExceededBudgets checks that a report names the budgets that a campaign exceeded, and no others.
func TestExceededBudgets(t *testing.T) {
	problems := []report.ProblemFacts{{MachineSeconds: 8, NodeSeconds: 16}, {MachineSeconds: 8, NodeSeconds: 20}}
	for _, tc := range []struct {
		stop config.Stop
		want string
	}{
		{config.Stop{}, ""},
		{config.Stop{MachineTime: 16 * time.Second, NodeHours: 0.01}, ""},
		{config.Stop{MachineTime: 10 * time.Second}, "stop.machine_time: 16 s of 10 s"},
		{config.Stop{NodeHours: 0.005}, "stop.node_hours: 36 s of 18 s"},
	} {
		got := strings.Join(exceededBudgets(tc.stop, problems), "\n")
		if !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", tc.stop, got, tc.want)
		}
	}
}
