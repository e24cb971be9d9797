package report_test

import (
	"fmt"

	"tutti/metrics"
	"tutti/report"
)

func ExampleSummary() {
	fmt.Print(report.Summary(report.Facts{
		Campaign: "autumn", Machine: "hilltop",
		Problems: []report.ProblemFacts{{
			Library: "mpich", Collective: "bcast", Stop: "converged", Points: 100, PointsMeasured: 12, Candidates: 300, Trials: 36, MachineSeconds: 754,
			Scores: []report.Score{{Name: "tuned", Source: "measured", Summary: metrics.Summary{Points: 100, Slowdown: 1.021, Mistakes: 0.04}}},
		}},
	}))
	// Output:
	// library  collective  stop       measured  machine   tuned  default  mistakes
	//                                           time
	// ───────  ──────────  ─────────  ────────  ────────  ─────  ───────  ────────
	// mpich    bcast       converged      12 %  12.6 min  1.021        –       4 %
}
