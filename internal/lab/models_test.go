package lab_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/lab"
	"tutti/internal/testutil"
	"tutti/surrogate/learner"
)

// TestCompareModels checks that losses are divided by the limits of the stopping criteria. They must become smaller
// with more measurements and not depend on the number of workers.
func TestCompareModels(t *testing.T) {
	set := setOf(t, func(ms []coll.Measurement) []coll.Measurement { return ms })
	opt := lab.DefaultOptions()
	opt.Trees = 10
	design := lab.Design{Sets: []lab.Set{set}, Strategies: []string{"regret"}, Seeds: lab.Seeds(1, 2)}
	compare := func() []lab.ModelLoss {
		t.Helper()
		return testutil.Must(lab.CompareModels(context.Background(), design, []int{12, 40, 1 << 20}, opt))(t)
	}
	first := compare()
	if want := 2 * 2 * len(learner.Models()); len(first) != want {
		t.Fatalf("%d losses, want %d: no campaign can measure %d candidates", len(first), want, 1<<20)
	}
	lost := map[int]float64{}
	for _, l := range first {
		lost[l.Measured] += l.Loss
		if want := (l.Slowdown-1)/0.03 + l.Mistakes/0.05; l.Loss < want-1e-9 || l.Loss > want+1e-9 {
			t.Errorf("%+v: want a loss of %g", l, want)
		}
	}
	if lost[40] >= lost[12] {
		t.Errorf("losses by measurements %v: want less after more", lost)
	}
	opt.Workers = 2
	if again := compare(); !slices.Equal(again, first) {
		t.Errorf("with two workers %+v, with one %+v", again, first)
	}
	var b strings.Builder
	testutil.NoError(t, lab.WriteModels(&b, first))
	if got := strings.Count(b.String(), "synthetic"); got != 1 {
		t.Errorf("%d rows of one set:\n%s", got, b.String())
	}
}
