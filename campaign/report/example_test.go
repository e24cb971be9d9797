package report_test

import (
	"fmt"
	"os"
	"strings"

	"tutti/campaign/report"
)

func facts() report.Facts {
	return report.Facts{
		Campaign: "autumn", Machine: "hilltop", Seed: 7,
		Criteria: report.Criteria{Slowdown: 1.03, Mistakes: 0.05, MistakeThreshold: 0.1, Patience: 3},
		Problems: []report.ProblemFacts{{
			Library: "mpich", Collective: "bcast", Stop: "converged", Points: 100, PointsMeasured: 12, Candidates: 300, Trials: 36, MachineSeconds: 754,
			Curve: []report.CurvePoint{{
				Round: 4, Trials: 36, Points: 12, PointShare: 0.12, MachineSeconds: 754, Source: "cross-validated",
				R2: 0.94, Slowdown: 1.018, Accuracy: 0.82, Mistakes: 0.03, P95: 1.08, Worst: 1.3,
			}},
			Scores: []report.Score{{Name: "tuned", Source: "measured", Points: 100, Slowdown: 1.021, Mistakes: 0.04}},
		}},
	}
}

func ExampleWriteSummary() {
	if err := report.WriteSummary(os.Stdout, facts()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ┌─────────┬────────────┬───────────┬──────────┬──────────────┬───────┬─────────┬──────────┐
	// │ library │ collective │ stop      │ measured │ machine time │ tuned │ default │ mistakes │
	// ├─────────┼────────────┼───────────┼──────────┼──────────────┼───────┼─────────┼──────────┤
	// │ mpich   │ bcast      │ converged │     12 % │     12.6 min │ 1.021 │       – │      4 % │
	// └─────────┴────────────┴───────────┴──────────┴──────────────┴───────┴─────────┴──────────┘
}

func ExampleWriteCurve() {
	if err := report.WriteCurve(os.Stdout, facts()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// library,collective,round,trials,points,point_share,machine_seconds,source,slowdown,accuracy,mistakes,p95_slowdown,worst_slowdown,r2,slowdown_upper,mistakes_upper
	// mpich,bcast,4,36,12,0.12,754,cross-validated,1.018,0.82,0.03,1.08,1.3,0.94,,
}

func ExampleSummary() {
	for _, row := range report.Summary(facts()) {
		fmt.Println(row.Library, row.Collective, row.Stop, row.Measured, row.Tuned.Slowdown, row.Default == nil)
	}
	// Output: mpich bcast converged 0.12 1.021 true
}

func ExampleWriteHTML() {
	var page strings.Builder
	if err := report.WriteHTML(&page, facts()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.HasPrefix(page.String(), "<!DOCTYPE html>"), strings.Contains(page.String(), "<svg"))
	// Output: true true
}
