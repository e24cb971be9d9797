package assembly_test

import (
	"testing"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// TestFACT checks that the journal of the method "fact" has the steps of the published method FACT (ExaMPI
// 2021, figure 1). All algorithms of a point are measured. Each round retrains the forests and records their
// cross-validated slowdown and mistakes. The campaign stops when the criteria hold. A hyperparameter study
// then makes the final model.
func TestFACT(t *testing.T) {
	testutil.SkipShort(t)
	cfg := campaigntest.Load(t, "../../configs/fact.yaml", "output="+t.TempDir(), "collectives=reduce", "hpo.trials=3")
	dir := campaigntest.Run(t, cfg)
	contents := testutil.Must(journal.Read(dir))(t)
	c, results := campaigntest.RestoreAll(t, dir)
	for i, p := range c.Problems {
		past := contents.State().Problem(p.Problem)
		for n := 1; n <= past.Last(); n++ {
			round, ok := past.Learning(n)
			if !ok { // the pairs of choice and default are not part of the published method
				break
			}
			checkWholePoints(t, p.Space, round)
			if e := round.Evaluation; n > 1 && (e == nil || e.Slowdown < 1 || e.Source != activelearn.CrossValidated) {
				t.Errorf("%s: round %d has the evaluation %+v", p.Problem, n, e)
			}
		}
		study := results[i].Study
		if past.Stop != "converged" || len(study.Trials) != 3 || study.Comparison != nil {
			t.Errorf("%s: stop %q, %d forests, comparison %v", p.Problem, past.Stop, len(study.Trials), study.Comparison)
		}
	}
	done := campaigntest.Conclude(t, dir, nil)
	for _, conclusion := range done.Problems {
		if conclusion.Learner.Model != "forest" {
			t.Errorf("the final model is %s", conclusion.Learner.Model)
		}
	}
}

// checkWholePoints checks that a round contains every algorithm at each of its points. The first round must
// have five points.
func checkWholePoints(t *testing.T, space *coll.Space, round *journal.Round) {
	t.Helper()
	points := map[coll.Point]int{}
	for _, c := range testutil.Must(round.Batch())(t) {
		points[c.Point]++
	}
	if round.Number == 1 && len(points) != 5 {
		t.Errorf("the first round has %d points, want 5", len(points))
	}
	for p, n := range points {
		at, ok := space.Index(p)
		if want := len(space.At(at)); !ok || n != want {
			t.Errorf("round %d has %d of the %d algorithms at %v", round.Number, n, want, p)
		}
	}
}
