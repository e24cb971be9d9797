package live_test

import (
	"testing"

	"tutti/benchrunner"
	"tutti/benchrunner/pbs"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/runnertest"
)

// TestSuitePBS runs the tests that all runners share with jobs of a fake PBS, which has one of several faults.
func TestSuitePBS(t *testing.T) {
	testutil.SkipShort(t)
	for _, fault := range []string{"", "history-off", "lost-answer", "drop", "no-json", "node-lost"} {
		t.Run(fault, func(t *testing.T) {
			if fault != "history-off" {
				testutil.NeedAllCases(t)
			}
			runnertest.Run(t, runnertest.Case{
				New: func(t *testing.T) benchrunner.Runner {
					bin := testutil.PBS(t)
					if fault != "" {
						testutil.PBSFault(t, bin, fault)
					}
					return machine(t, options(t, t.TempDir(), testutil.Must(pbs.New(pbs.Options{Bin: bin, MaxJobs: 2}))(t)))
				},
				Good: []coll.Candidate{at(1, 1, "a"), at(1, 2, "a"), at(1, 4, "b")},
				Bad:  at(1, 9, "crash"),
			})
		})
	}
}
