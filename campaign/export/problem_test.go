package export_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/metrics"
	"tutti/report"
)

// concludedFirst runs the campaign of a campaign file. It returns the first problem with its final selection.
func concludedFirst(t testing.TB, file string, change func(*assembly.Campaign), set ...string) campaign.FinalSelection {
	t.Helper()
	return campaigntest.Conclude(t, campaigntest.Run(t, campaigntest.Load(t, file, set...)), change).Problems[0]
}

func madeFirst(t testing.TB, change func(*assembly.Campaign), set ...string) campaign.FinalSelection {
	t.Helper()
	return concludedFirst(t, campaigntest.MadeOpenMPI.Put(t, t.TempDir()), change, set...)
}

func factsOf(t testing.TB, p campaign.FinalSelection) report.ProblemFacts {
	t.Helper()
	return testutil.Must(export.ProblemFacts(p))(t)
}

// removeTruth removes the recorded true times, so that reports compare selections by the measurements instead.
func removeTruth(c *assembly.Campaign) {
	for i := range c.Problems {
		c.Problems[i].Truth = nil
	}
}

// timesOf returns the recorded times of a problem, and the shortest time at each point.
func timesOf(p campaign.FinalSelection) (times map[coll.Candidate]float64, shortest map[coll.Point]float64) {
	times, shortest = map[coll.Candidate]float64{}, map[coll.Point]float64{}
	for _, m := range p.Truth {
		times[m.Candidate] = m.Seconds
		if best, ok := shortest[m.Point]; !ok || m.Seconds < best {
			shortest[m.Point] = m.Seconds
		}
	}
	return times, shortest
}

// TestScoresOfTruth checks what a report says if the true times of all candidates are known: the scores, their
// confidence intervals, and the fastest algorithm at each point of the grid (cell).
func TestScoresOfTruth(t *testing.T) {
	p := madeFirst(t, nil)
	times, shortest := timesOf(p)
	tuned, byDefault, slower := 0.0, 0.0, 0
	for at, best := range shortest {
		chosen := times[coll.Candidate{Point: at, Algorithm: p.Selection.Choose(at)}]
		defaultTime := times[coll.Candidate{Point: at, Algorithm: coll.Default}]
		tuned += chosen / best
		byDefault += defaultTime / best
		if chosen > (1+metrics.TieTolerance)*defaultTime {
			slower++
		}
	}
	n := float64(len(shortest))
	f := factsOf(t, p)
	for i, want := range []struct {
		name     string
		slowdown float64
	}{{"tuned", tuned / n}, {"default", byDefault / n}} {
		s := f.Scores[i]
		if s.Name != want.name || s.Source != "recorded" || s.Points != len(shortest) || math.Abs(s.Slowdown-want.slowdown) > 1e-9 {
			t.Errorf("score %+v, want %s %g at %d points", s, want.name, want.slowdown, len(shortest))
		}
		if s.SlowdownLow > s.Slowdown || s.SlowdownHigh < s.Slowdown || s.MistakesLow > s.Mistakes || s.MistakesHigh < s.Mistakes {
			t.Errorf("the intervals of %+v do not contain its figures", s)
		}
	}
	if got := f.Scores[0].Slower; got == nil || *got != slower || *f.Scores[0].SlowerWorst < 0.5 {
		t.Errorf("slower than the default at %v points, want %d", got, slower)
	}
	for _, c := range f.Cells {
		at := coll.Point{Collective: coll.Bcast, Nodes: c.Nodes, PPN: c.PPN, MsgBytes: c.MsgBytes}
		alg, err := coll.ParseAlgorithm(c.Best)
		if err != nil || times[coll.Candidate{Point: at, Algorithm: alg}] != shortest[at] || c.Algorithm != p.Selection.Choose(at).String() {
			t.Errorf("cell %+v, want the fastest and the selected algorithm: %v", c, err)
		}
	}
	if f.Ties != nil || f.Leaves == 0 || len(f.Curve) == 0 || len(f.Algorithms) != 3 {
		t.Errorf("ties %v, %d leaves, %d evaluations, %d algorithms", f.Ties, f.Leaves, len(f.Curve), len(f.Algorithms))
	}
}

// TestUnsafeFacts checks the report about unsafe algorithms (wrong for some valid calls), which are left out
// by default. It must compare the selection with a selection that may use them.
func TestUnsafeFacts(t *testing.T) {
	f := factsOf(t, madeFirst(t, func(c *assembly.Campaign) {
		p := &c.Problems[0]
		p.Unsafe = []string{"fast"}
		for _, m := range p.Truth {
			m.Algorithm, m.Seconds = coll.Algorithm{Name: "fast"}, m.Seconds/1e6
			p.UnsafeTruth = append(p.UnsafeTruth, m)
		}
	}))
	if u := f.Unsafe; u == nil || *u.Mistakes != 1 || *u.Slowdown < 1e5 || f.Scores[0].Mistakes > 0.1 {
		t.Errorf("unsafe %+v of the scores %+v", u, f.Scores)
	}
	if f := factsOf(t, madeFirst(t, nil)); f.Unsafe != nil {
		t.Errorf("%+v without unsafe algorithms", f.Unsafe)
	}
}

// TestScoresOfMeasurements checks a report without true times. Its score must be the score of the last
// evaluation, and each point must have a predicted slowdown.
func TestScoresOfMeasurements(t *testing.T) {
	f := factsOf(t, madeFirst(t, removeTruth))
	if s := f.Scores[0]; s.Name != "tuned" || s.Source != "cross-validated" || s.Slower != nil || s.Points > f.PointsMeasured {
		t.Errorf("score %+v of %d measured points", s, f.PointsMeasured)
	}
	for _, c := range f.Cells {
		if c.Best != "" || c.Slowdown == nil || *c.Slowdown < 1 {
			t.Errorf("cell %+v, want a predicted slowdown and no best", c)
		}
	}
}

// TestScoreOfDefault checks that the predicted score of the library's default includes all points and is
// close to the score computed from the recorded times.
func TestScoreOfDefault(t *testing.T) {
	f := factsOf(t, madeFirst(t, removeTruth, "method=regret", "model.kind=gp", "stop.criteria_from=predicted", "seed=4"))
	if s := f.Scores; len(s) != 2 || s[0].Source != "predicted" || s[1].Source != "predicted" || s[1].Points != 63 || math.Abs(s[1].Slowdown-1.3) > 0.05 {
		t.Errorf("scores %+v, want a default of 1.3 at 63 points", s)
	}
}

// TestScoresOfOnePoint checks that a report has scores but no cross-validation if a single point is tuned.
func TestScoresOfOnePoint(t *testing.T) {
	dir := t.TempDir()
	file := campaigntest.MadeOpenMPI.Put(t, dir)
	const one = "collective,algorithm,nodes,ppn,msg_bytes,time_us\nbcast,binomial,2,1,8,3\nbcast,library_default,2,1,8,4\n"
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "in.csv"), []byte(one), 0o666))
	f := factsOf(t, concludedFirst(t, file, nil))
	if len(f.Scores) != 2 || f.Scores[0].Points != 1 || f.Scores[0].Slowdown != 1 || math.Abs(f.Scores[1].Slowdown-4./3) > 1e-9 {
		t.Errorf("scores %+v", f.Scores)
	}
	for _, a := range f.Algorithms {
		if a.R2 != nil || len(a.Parity) > 0 {
			t.Errorf("%s has held-out predictions: %+v", a.Name, a)
		}
	}
}

// TestScoresWithoutDefault checks that the default has no score if its times are unknown.
func TestScoresWithoutDefault(t *testing.T) {
	f := factsOf(t, concludedFirst(t, campaigntest.Small(t, t.TempDir()), nil))
	if len(f.Scores) != 1 || f.Scores[0].Name != "tuned" || f.Scores[0].Slower != nil || f.Scores[0].SlowerWorst != nil {
		t.Errorf("scores %+v", f.Scores)
	}
	for _, c := range f.Cells {
		if c.DefaultSlowdown != nil {
			t.Errorf("cell %+v has a slowdown of the default", c)
		}
	}
}

// TestOverlap checks that the cells of a nonblocking collective have the overlap of the selected algorithm and of the
// default, where it was measured.
func TestOverlap(t *testing.T) {
	dir := t.TempDir()
	file := campaigntest.MadeMPICH.Put(t, dir)
	const rows = "collective,algorithm,nodes,ppn,msg_bytes,time_us,overall_us\n" +
		"iallreduce,tsp_ring,2,1,8,4,5\niallreduce,library_default,2,1,8,10,20\n" +
		"iallreduce,tsp_ring,4,1,8,4,\niallreduce,library_default,4,1,8,10,14\n"
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "in.csv"), []byte(rows), 0o666))
	cells := testutil.Must(export.Cells(concludedFirst(t, file, nil, "collectives=iallreduce", "stop.patience=1000")))(t)
	none := math.NaN()
	want := [][2]float64{{0.75, 0}, {none, 0.6}}
	for i, c := range cells {
		got := [2]float64{none, none}
		for j, share := range []*float64{c.Overlap, c.DefaultOverlap} {
			if share != nil {
				got[j] = *share
			}
		}
		if c.Algorithm != "tsp_ring" || fmt.Sprint(got) != fmt.Sprint(want[i]) {
			t.Errorf("%v: %s, overlaps %v, want tsp_ring, %v", c.Point, c.Algorithm, got, want[i])
		}
	}
	if len(cells) != len(want) {
		t.Errorf("%d cells, want %d", len(cells), len(want))
	}
}

// TestTies checks the report of a campaign with a Gaussian process. Its number of ties must be the number of
// grid points (cells) that it marks as a tie. It must have no hyperparameter study.
func TestTies(t *testing.T) {
	f := factsOf(t, madeFirst(t, nil, "method=regret", "model.kind=gp", "hpo.trials=3"))
	if f.Ties == nil {
		t.Fatal("no ties were computed")
	}
	ties := 0
	for _, c := range f.Cells {
		if c.Tie && c.Rival == c.Algorithm {
			t.Errorf("%+v ties with itself", c)
		}
		if c.Tie {
			ties++
		}
	}
	if ties != *f.Ties {
		t.Errorf("%d cells with a tie, reported %d", ties, *f.Ties)
	}
	if f.Model != "gp" || len(f.HPO) > 0 {
		t.Errorf("model %s, %d trials", f.Model, len(f.HPO))
	}
}

// TestWeightFacts checks what the report contains about the weights of points. It must contain nothing if all
// weights are equal.
func TestWeightFacts(t *testing.T) {
	p := madeFirst(t, func(c *assembly.Campaign) {
		weights := make([]float64, len(c.Problems[0].Space.Points()))
		weights[3], weights[9] = 42, 21
		c.Problems[0].Weights = weights
	})
	f := factsOf(t, p)
	want := report.WeightFacts{Points: 2, Half: 1, Largest: 42, LargestAt: p.Space.Points()[3].String()}
	if f.Weights == nil || *f.Weights != want {
		t.Errorf("weights %+v, want %+v", f.Weights, want)
	}
	if f.Scores[0].Points != 63 {
		t.Errorf("scored at %d points, want all 63", f.Scores[0].Points)
	}
	if equal := factsOf(t, madeFirst(t, nil)); equal.Weights != nil {
		t.Errorf("equal weights: %+v", equal.Weights)
	}
}
