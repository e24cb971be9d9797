package lab

import (
	"os"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/metrics"
	"tutti/report"
)

// TestConstants checks that ReadConstants finds the numbers in a source file, and that one of them can be replaced.
// It also checks the table that shows the effects of halving and doubling each number.
func TestConstants(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range methodPackages {
		testutil.NoError(t, os.MkdirAll(dir, 0o777))
		testutil.NoError(t, os.WriteFile(dir+"/constants.go", []byte("package none\n"), 0o600))
	}
	const text = "package pkg\n\nconst low, high = 2, 0.5 // no 7\n\nvar prior = []float64{1, 1e-3}\n"
	testutil.NoError(t, os.WriteFile("hpo/constants.go", []byte(text), 0o600))
	all := testutil.Must(ReadConstants(nil))(t)
	want := []string{"pkg.low", "pkg.high", "pkg.prior[0]", "pkg.prior[1]"}
	for i, c := range all {
		if c.Name != want[i] || len(all) != len(want) {
			t.Fatalf("constants %+v, want %q", all, want)
		}
	}
	if got := string(testutil.Must(all[1].with("(%s*2)"))(t)); got != strings.Replace(text, "0.5", "(0.5*2)", 1) {
		t.Errorf("doubled: %s", got)
	}
	if some, err := ReadConstants([]string{"pkg.none"}); err == nil {
		t.Errorf("unknown name: %v", some)
	}
	facts := func(seconds, mistakes float64) report.Facts {
		return report.Facts{Criteria: report.Criteria{Slowdown: 1.03, Mistakes: 0.05}, Problems: []report.ProblemFacts{
			{Stop: "converged", MachineSeconds: seconds, Scores: []report.Score{{Summary: metrics.Summary{Slowdown: 1.01, Mistakes: mistakes}}}}}}
	}
	all[0].Halved, all[0].Doubled = compareFacts(facts(1, 0), facts(1, 0)), compareFacts(facts(1, 0), facts(1.05, 0.01))
	all[1].Halved, all[1].Doubled = compareFacts(facts(1, 0), facts(2, 0)), compareFacts(facts(1, 0), facts(1, 0.2))
	all[2].Halved = Effect{Failed: "overflow"}
	var table strings.Builder
	testutil.NoError(t, WriteConstants(&table, all[:3]))
	for _, row := range []string{
		"| pkg.low | 2 | = | 1.05, 1.010, 1.0 % | ½ to 2 |", "| pkg.high | 0.5 | 2.00, 1.010, 0.0 % | 1.00, 1.010, 20.0 %, 1 wrong | 1 to 1 |", "| pkg.prior[0] | 1 | fails |",
	} {
		if !strings.Contains(table.String(), row) {
			t.Errorf("no row %q in\n%s", row, &table)
		}
	}
}
