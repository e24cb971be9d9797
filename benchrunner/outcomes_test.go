package benchrunner_test

import (
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

func TestOutcomes(t *testing.T) {
	const (
		away    = "srun: error: Unable to confirm allocation for job 1: Unable to contact slurm controller (connect failure)\nsrun: Check SLURM_JOB_ID environment variable. Expired or invalid job 1\n"
		pending = "srun: Cancelled pending job step with signal 15\nsrun: error: Unable to create step for job 1: Job/step already completing or completed\n"
	)
	tests := []struct {
		name string
		said string // numbers of the cases that the output contains
		out  benchrunner.Output
		want string
	}{
		{"all", "123", benchrunner.Output{Ended: true}, "done done done"},
		{"crash", "1", benchrunner.Output{Ended: true, Exit: 9}, "done run -"},
		{"crash before anything", "", benchrunner.Output{Ended: true, Exit: 9}, "launch launch launch"},
		{"hang", "1", benchrunner.Output{TimedOut: true, Wall: time.Minute}, "done run -"},
		{"the job ended", "1", benchrunner.Output{}, "done - -"},
		{"silent", "1", benchrunner.Output{Ended: true}, "done parse parse"},
		{"controller away", "", benchrunner.Output{Ended: true, Exit: 1, Stderr: []byte(away)}, "- - -"},
		{"no step within the limit", "", benchrunner.Output{Ended: true, TimedOut: true, Exit: 124, Stderr: []byte(pending)}, "- - -"},
		{"the job was cancelled as srun began", "", benchrunner.Output{Ended: true, Exit: 1, Stderr: []byte("srun: error: Slurm job 12 has expired\n")}, "- - -"},
		{"a crash, and srun cannot end", "1", benchrunner.Output{Ended: true, Exit: 9, Stderr: []byte(pending)}, "done run -"},
		{"the program speaks like srun", "", benchrunner.Output{Ended: true, Exit: 9, Stderr: []byte("x " + away)}, "launch launch launch"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := benchrunner.Launch{Cases: make([]benchrunner.Case, 3)}
			for i := range s.Cases {
				s.Cases[i].Point = coll.Point{MsgBytes: int64(i + 1)}
			}
			var got []string
			for _, o := range benchrunner.Outcomes(s, tc.out, tc.said != "", func(c benchrunner.Case) (benchrunner.Outcome, bool) {
				return benchrunner.Outcome{State: benchrunner.OutcomeDone}, strings.Contains(tc.said, string(rune('0'+c.MsgBytes)))
			}) {
				switch o.State {
				case benchrunner.OutcomeDone:
					got = append(got, "done")
				case benchrunner.OutcomeNotReached:
					got = append(got, "-")
				default:
					got = append(got, o.Phase)
				}
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("%s, want %s", text, tc.want)
			}
		})
	}
}
