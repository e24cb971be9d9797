package report_test

import (
	"fmt"
	"os"
	"strings"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/metrics"
	"tutti/report"
	"tutti/verify"
)

func facts() report.Facts {
	return report.Facts{
		Campaign: "autumn", Machine: "hilltop", Seed: 7,
		Criteria: report.Criteria{Slowdown: 1.03, Mistakes: 0.05, MistakeThreshold: 0.1, Patience: 3},
		Problems: []report.ProblemFacts{{
			Library: "mpich", Collective: "bcast", Stop: "converged", Points: 100, PointsMeasured: 12, Candidates: 300, Trials: 36, MachineSeconds: 754,
			Curve: []activelearn.Evaluation{{
				Round: 4, Trials: 36, Points: 12, PointShare: 0.12, MachineSeconds: 754, Source: "cross-validated",
				R2: 0.94, Slowdown: 1.018, Accuracy: 0.82, Mistakes: 0.03, P95Slowdown: 1.08, WorstSlowdown: 1.3,
			}},
			Scores: []report.Score{{Name: "tuned", Source: "measured", Summary: metrics.Summary{Points: 100, Slowdown: 1.021, Mistakes: 0.04}}},
		}},
	}
}

func ExampleSummary() {
	fmt.Print(report.Summary(facts()))
	// Output:
	// library  collective  stop       measured  machine   tuned  default  mistakes
	//                                           time
	// ───────  ──────────  ─────────  ────────  ────────  ─────  ───────  ────────
	// mpich    bcast       converged      12 %  12.6 min  1.021        –       4 %
	// figures measured: expected from the times of all candidates and their noise
}

func ExampleWriteCurve() {
	if err := report.WriteCurve(os.Stdout, facts()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// library,collective,round,trials,points,point_share,machine_seconds,source,slowdown,accuracy,mistakes,p95_slowdown,worst_slowdown,r2,slowdown_upper,mistakes_upper
	// mpich,bcast,4,36,12,0.12,754,cross-validated,1.018,0.82,0.03,1.08,1.3,0.94,,
}

func ExampleWriteHTML() {
	var page strings.Builder
	if err := report.WriteHTML(&page, facts()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.HasPrefix(page.String(), "<!DOCTYPE html>"), strings.Contains(page.String(), "<svg"))
	// Output: true true
}

func ExampleWriteJSON() {
	if err := report.WriteJSON(os.Stdout, report.Facts{Campaign: "autumn", Machine: "hilltop", Seed: 7}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {
	//  "tutti": "",
	//  "campaign": "autumn",
	//  "machine": "hilltop",
	//  "seed": 7,
	//  "method": "",
	//  "scaling": "",
	//  "criteria": {
	//   "slowdown": 0,
	//   "mistakes": 0,
	//   "mistake_threshold": 0,
	//   "patience": 0
	//  },
	//  "libraries": [],
	//  "problems": [],
	//  "versions": [],
	//  "warnings": []
	// }
}

func ExampleMachineTimeTable() {
	f := facts()
	f.MachineTime = []report.MachineTimeFacts{{Library: "mpich", Collective: "bcast", Jobs: 3, Queue: 90, Launch: 30, Warmup: 60, Measure: 600, Idle: 10}}
	fmt.Print(report.MachineTimeTable(f))
	// Output:
	// problem  jobs  queue  launch     warm-up    measuring  idle       all
	// ───────  ────  ─────  ─────────  ─────────  ─────────  ─────────  ────────
	// mpich       3   90 s  30 node s  60 node s  10 node    10 node s  11.7
	// bcast                    (4.3%)     (8.6%)  min           (1.4%)  node min
	//                                               (85.7%)
}

func ExampleVerificationTable() {
	f := facts()
	bcast := coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 2, MsgBytes: 8}
	f.Verification = []report.VerificationFacts{{Result: verify.Result{
		Library: "mpich", Ended: true,
		Collectives: []verify.CollectiveResult{{
			Collective: coll.Bcast, Points: 30, ChangedPoints: 21, Reverted: 1,
			Speedup: verify.Interval{Value: 1.21, Low: 1.15, High: 1.28}, ControlSpeedup: verify.Interval{Value: 1.001, Low: 0.99, High: 1.01},
		}},
		ForcingChecks: []verify.ForcingCheck{{TestPoint: verify.TestPoint{Point: bcast}, State: verify.Obeyed}},
	}}}
	fmt.Print(report.VerificationTable(f))
	// Output:
	// library  collective  changed   speed-up  unchanged  reverted  slower  obedience
	//                                [95 %]    [95 %]
	// ───────  ──────────  ────────  ────────  ─────────  ────────  ──────  ─────────
	// mpich    bcast       21 of 30  1.210     1.001             1       0  obeyed
	//                                [1.150,   [0.990,
	//                                  1.280]     1.010]
}
