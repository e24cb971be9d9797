package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
)

// segments limits the parameter of the algorithm "pipeline" that campaigns may vary: its segment size in bytes.
var segments = coll.Range{Parameter: "segsize", Low: 1 << 10, High: 1 << 20}

// pipeline returns an algorithm that passes segments of the given number of bytes from rank to rank.
func pipeline(segment int64) coll.Algorithm {
	a, err := coll.NewAlgorithm("pipeline", coll.Param{Name: segments.Parameter, Value: fmt.Sprint(segment)})
	if err != nil {
		panic(err)
	}
	return a
}

// cut returns an error for a candidate whose segments are as long as the message or longer.
func cut(c coll.Candidate) error {
	text, ok := c.Algorithm.Param(segments.Parameter)
	if segment, err := strconv.ParseInt(text, 10, 64); ok && (err != nil || segment >= c.MsgBytes) {
		return fmt.Errorf("%v: one segment holds the message", c)
	}
	return nil
}

// segmentedTimes returns times of three algorithms: tree, halving and a pipeline with every power of two as
// segment size. The best segment size grows with the message size and shrinks as ranks are added. It is 1
// KiB to 128 KiB for messages of 4 KiB to 16 MiB on 4 to 64 ranks.
func segmentedTimes(points []coll.Point) []coll.Measurement {
	const startup = 2e-7 // additional seconds of a call for each segment
	var out []coll.Measurement
	for _, p := range points {
		out = append(out, testutil.SyntheticMeasurements([]coll.Point{p})[:2]...)
		for s := segments.Low; s <= segments.High; s *= 2 {
			n := math.Ceil(float64(p.MsgBytes) / float64(s))
			seconds := (float64(p.Ranks()) - 2 + n) * (startup + testutil.SyntheticGap*float64(s))
			if c := (coll.Candidate{Point: p, Algorithm: pipeline(s)}); cut(c) == nil {
				out = append(out, coll.Measurement{Candidate: c, Seconds: seconds, CostSeconds: 1000 * seconds})
			}
		}
	}
	return out
}

// segmented returns a problem with an algorithm that sends a message in segments. It is usually the fastest
// with segment sizes that are not in the initial space.
func segmented(t testing.TB, opt replay.Options) campaign.Problem {
	t.Helper()
	g := coll.Grid{Nodes: []int{4, 8, 16, 32, 64}, PPN: []int{1}}
	for size := int64(4 << 10); size <= 16<<20; size *= 4 {
		g.Sizes = append(g.Sizes, size)
	}
	points := testutil.Must(g.Points(coll.Bcast))(t)
	truth := segmentedTimes(points)
	m := testutil.Must(replay.New(truth, opt))(t)
	listed := append(testutil.SyntheticAlgorithms()[:2], pipeline(8192), pipeline(32768), pipeline(131072))
	return campaign.Problem{
		Problem: journal.Problem{Library: "libtutti", Collective: coll.Bcast},
		Space:   coll.NewSpace(points, listed, cut), Runner: m, Truth: truth,
		Search: &campaign.Search{Check: cut, Ranges: func(a coll.Algorithm) []coll.Range {
			if a.Name != "pipeline" {
				return nil
			}
			return []coll.Range{segments}
		}},
	}
}

func searchSpec() campaign.Spec {
	s := spec("regret")
	s.CriteriaFrom, s.HPO = activelearn.Predicted, 0
	return s
}

// TestSpaceGrows checks that a search finds nearly the best segment size among all powers of two. The
// initial space has only three of them. Without a search, the selection must be worse.
func TestSpaceGrows(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if seed > 0 {
				testutil.NeedAllCases(t)
			}
			mean := map[bool]float64{}
			for _, search := range []bool{false, true} {
				p, s := segmented(t, replay.Options{Seed: seed, Noise: replay.Noise{Sigma: 0.02}}), searchSpec()
				if !search {
					p.Search = nil
				}
				s.Seed = seed
				res := mustRun(t, s, p, nil)
				f := facts(t, s, p, res)
				mean[search] = f.Scores[0].Slowdown
				t.Logf("searching %t: stop %s after %d rounds, %d of %d candidates, %.1f s, slowdown %.3f, mistakes %.3f", search,
					res.Stop, res.Rounds, f.Trials, f.Candidates, f.MachineSeconds, f.Scores[0].Slowdown, f.Scores[0].Mistakes)
				if res.Stop != activelearn.Converged {
					t.Errorf("stop %q, want converged", res.Stop)
				}
			}
			if mean[true] > 1.02 || mean[false] < 1.05 {
				t.Errorf("slowdown %.3f, without a search %.3f: want 1.02 at most, and 1.05 at least", mean[true], mean[false])
			}
		})
	}
}

// betweenSizes returns a problem whose data also have sizes that lie halfway between neighbouring sizes of
// the grid.
func betweenSizes(t testing.TB, opt replay.Options) campaign.Problem {
	t.Helper()
	p := problem(t, opt)
	points := grid(t)
	for _, at := range grid(t) {
		at.MsgBytes *= 2
		points = append(points, at)
	}
	p.Truth = testutil.SyntheticMeasurements(points)
	m := testutil.Must(replay.New(p.Truth, opt))(t)
	p.Runner, p.ExhaustiveSeconds, p.Search = m, m.ExhaustiveSeconds, campaign.SearchRecorded(m.Space(), p.Space)
	return p
}

// TestSizesJoin checks that a campaign adds message sizes between two sizes of the grid where the selection
// changes, and only there. The final selection must then have rules for them, and the time of measuring everything
// includes them.
func TestSizesJoin(t *testing.T) {
	p, s := betweenSizes(t, replay.Options{Seed: 3, Noise: replay.Noise{Sigma: 0.02}}), searchSpec()
	res := mustRun(t, s, p, nil)
	c := conclude(t, s, p, res)
	if got, want := facts(t, s, p, res).ExhaustiveSeconds, p.ExhaustiveSeconds(res.Ledger.Space().Candidates()); got != want || got <= p.ExhaustiveSeconds(p.Space.Candidates()) {
		t.Errorf("measuring everything takes %g s, want %g with the sizes that joined", got, want)
	}
	joined, same := 0, 0
	for _, row := range c.Rows {
		low, high := row.Point, row.Point
		if _, ok := p.Space.Index(row.Point); ok {
			continue
		}
		joined++
		low.MsgBytes, high.MsgBytes = low.MsgBytes/2, high.MsgBytes*2
		if c.Selection.Choose(low) == c.Selection.Choose(high) {
			same++
		}
	}
	if n := len(p.Space.Points()); joined == 0 || joined > n/2 {
		t.Errorf("%d sizes joined a grid of %d points", joined, n)
	}
	if same > joined/4 { // later measurements made the selection equal on both sides
		t.Errorf("%d of %d sizes joined between two points with the same algorithm", same, joined)
	}
}

// TestGrownSpaceResumes truncates the log near the records that add candidates to the space. The resumed
// campaign must have the same result.
func TestGrownSpaceResumes(t *testing.T) {
	opt := replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}, FailureRate: 0.05}
	t.Run("parameters", func(t *testing.T) { resumesGrown(t, segmented(t, opt)) })
	t.Run("sizes", func(t *testing.T) {
		testutil.NeedAllCases(t)
		resumesGrown(t, betweenSizes(t, opt))
	})
}

func resumesGrown(t *testing.T, p campaign.Problem) {
	t.Helper()
	s, whole := searchSpec(), &memory{}
	want := mustRun(t, s, p, whole)
	wantFacts := facts(t, s, p, want)
	var cuts []int
	for i, rec := range whole.records {
		if rec.Kind == journal.KindGrow {
			cuts = append(cuts, i, i+1)
		}
	}
	if len(cuts) == 0 {
		t.Fatal("the space did not grow")
	}
	cuts = cuts[len(cuts)-2:]
	if testutil.AllCases() {
		cuts = append(cuts, cuts[1]+1, len(whole.records))
	} else {
		cuts = cuts[:1]
	}
	for _, cut := range cuts {
		first := &memory{records: whole.records[:cut:cut]}
		got, err := campaign.Run(context.Background(), s, p, past(p, first.records), first, nil)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if diff := cmp.Diff(whole.records, first.records, cmp.AllowUnexported(coll.Algorithm{})); diff != "" {
			t.Fatalf("cut at %d: the log differs:\n%s", cut, diff)
		}
		if diff := cmp.Diff(wantFacts, facts(t, s, p, got)); diff != "" {
			t.Fatalf("cut at %d: the facts differ:\n%s", cut, diff)
		}
		restored := testutil.Must(campaign.Restore(s, p, past(p, first.records)))(t)
		if diff := cmp.Diff(wantFacts, facts(t, s, p, restored)); diff != "" {
			t.Errorf("cut at %d: the restored facts differ:\n%s", cut, diff)
		}
	}
	p.Search = nil
	if _, err := campaign.Restore(s, p, past(p, whole.records)); !errors.Is(err, campaign.ErrLog) {
		t.Errorf("restored without a search: %v, want %v", err, campaign.ErrLog)
	}
}
