package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/synthetic"
	"tutti/journal"
	"tutti/preprocess"
	"tutti/report"
	"tutti/selection"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// memory is a log that keeps its records and can break.
type memory struct {
	records []journal.Record
	limit   int // records after which Append fails; 0: none
}

var errFull = errors.New("log is full")

func (m *memory) Append(recs ...journal.Record) error {
	if m.limit > 0 && len(m.records)+len(recs) > m.limit {
		return errFull
	}
	m.records = append(m.records, recs...)
	return nil
}

func grid(t testing.TB) []coll.Point {
	t.Helper()
	g := coll.Grid{Nodes: []int{2, 4, 6, 8, 16, 32}, PPN: []int{1, 4, 12}}
	for size := int64(8); size <= 1<<20; size *= 4 {
		g.MsgBytes = append(g.MsgBytes, size)
	}
	points, err := g.Points(coll.Bcast)
	if err != nil {
		t.Fatal(err)
	}
	return points
}

func problem(t testing.TB, opt replay.Options) campaign.Problem {
	t.Helper()
	truth := synthetic.Measurements(grid(t))
	m, err := replay.New(truth, opt)
	if err != nil {
		t.Fatal(err)
	}
	sp := coll.NewSpace(grid(t), synthetic.Algorithms(), func(coll.Candidate) error { return nil })
	return campaign.Problem{
		Problem: journal.Problem{Library: "mpich", Collective: coll.Bcast},
		Space:   sp, Runner: m, Truth: truth, ExhaustiveSeconds: m.ExhaustiveSeconds(sp.Candidates()), Fit: fit,
	}
}

func spec(strategy string) campaign.Spec {
	return campaign.Spec{
		Seed: 1, Strategy: strategy,
		Batch:        campaign.Batch{Candidates: 8, Growth: 0.1},
		Criteria:     activelearn.Criteria{Slowdown: 1.03, Mistakes: 0.05, Patience: 2},
		CriteriaFrom: activelearn.CrossValidated,
		Learner:      learner.Options{Scaling: preprocess.AlgorithmLog10, Forest: forest.Options{Trees: 30, Workers: 1}},
		Folds:        5, Attempts: 2, HPO: 3,
	}
}

// fit selects as a library would that compares the message size.
func fit(rows []selection.Row) (activelearn.Selection, error) {
	tree, err := selection.Fit(rows, func(p coll.Point) int64 { return p.MsgBytes }, selection.Options{MaxLoss: 0.01})
	if err != nil {
		return activelearn.Selection{}, err
	}
	choose := func(p coll.Point) coll.Algorithm {
		alg, _ := tree.Select(p)
		return alg
	}
	return activelearn.Selection{Choose: choose, Leaves: tree.Summary.Leaves}, nil
}

// TestConvergesOnKnownMachine: whoever judges, what a campaign says of itself when it
// stops is true.
func TestConvergesOnKnownMachine(t *testing.T) {
	for _, strategy := range activelearn.Names() {
		for _, judge := range activelearn.Sources() {
			t.Run(fmt.Sprintf("%s %s", strategy, judge), func(t *testing.T) {
				if strategy == "regret" && judge == activelearn.CrossValidated {
					testutil.NeedAllCases(t)
				}
				p := problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
				s := spec(strategy)
				s.CriteriaFrom = judge
				res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				f := facts(t, s, p, res)
				tuned := f.Scores[0]
				t.Logf("stop %s after %d rounds, %d of %d candidates, slowdown %.3f, mistakes %.3f",
					res.Stop, res.Rounds, f.Trials, f.Candidates, tuned.Slowdown, tuned.Mistakes)
				if !res.Stop.Good() {
					t.Errorf("stop reason %q, want converged", res.Stop)
				}
				if want := s.Criteria; tuned.Slowdown > want.Slowdown || tuned.Mistakes > want.Mistakes {
					t.Errorf("in truth slowdown %.3f and mistakes %.3f after convergence, want %g and %g at most",
						tuned.Slowdown, tuned.Mistakes, want.Slowdown, want.Mistakes)
				}
			})
		}
	}
}

func TestResumeGivesTheSameResult(t *testing.T) {
	opt := replay.Options{Seed: 2, Noise: replay.Noise{Sigma: 0.05}, FailureRate: 0.1, Launch: benchrunner.LaunchCost{Model: benchrunner.LaunchOSU, Seconds: 1}}
	for _, tc := range []struct {
		strategy string
		judge    activelearn.Source
	}{
		{"regret", activelearn.Predicted}, {"uncertainty", activelearn.CrossValidated}, {"uncertainty", activelearn.Predicted},
	} {
		t.Run(tc.strategy+" "+string(tc.judge), func(t *testing.T) {
			s := spec(tc.strategy)
			s.Learner.Forest.Trees = 10
			s.CriteriaFrom = tc.judge
			if s.CriteriaFrom == activelearn.Predicted {
				s.Batch.Candidates = 60 // each round fits processes, seven times over
			}
			whole := &memory{}
			want, err := campaign.Run(context.Background(), s, problem(t, opt), nil, whole, nil)
			if err != nil {
				t.Fatal(err)
			}
			told := facts(t, s, problem(t, opt), want)
			cuts := []int{len(whole.records) / 2}
			if testutil.AllCases() {
				cuts = append(cuts, 1, len(whole.records)-2, len(whole.records))
			}
			for _, cut := range cuts {
				first := &memory{limit: cut}
				if _, err := campaign.Run(context.Background(), s, problem(t, opt), nil, first, nil); cut < len(whole.records) && !errors.Is(err, errFull) {
					t.Fatalf("cut at %d: %v, want the log's error", cut, err)
				}
				second := &memory{records: first.records}
				got, err := campaign.Run(context.Background(), s, problem(t, opt), past(problem(t, opt), first.records), second, nil)
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				if diff := cmp.Diff(whole.records, second.records, cmp.AllowUnexported(coll.Algorithm{})); diff != "" {
					t.Fatalf("cut at %d: the log differs:\n%s", cut, diff)
				}
				if diff := cmp.Diff(told, facts(t, s, problem(t, opt), got)); diff != "" {
					t.Fatalf("cut at %d: the facts differ:\n%s", cut, diff)
				}
			}
		})
	}
}

func facts(t *testing.T, s campaign.Spec, p campaign.Problem, res campaign.Result) report.ProblemFacts {
	t.Helper()
	f, err := export.ProblemFacts(p, res, conclude(t, s, p, res))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func conclude(t *testing.T, s campaign.Spec, p campaign.Problem, res campaign.Result) campaign.Conclusion {
	t.Helper()
	trained, err := campaign.Train(s, p, res)
	if err != nil {
		t.Fatal(err)
	}
	c, err := trained.Conclude(selection.Rejected{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// past is what a log knows of the one problem.
func past(p campaign.Problem, records []journal.Record) *journal.ProblemState {
	return journal.Replay(records).Problem(p.Problem)
}

func TestRecallEqualsRun(t *testing.T) {
	opt := replay.Options{Seed: 2, Noise: replay.Noise{Sigma: 0.05}}
	log := &memory{}
	p := problem(t, opt)
	res, err := campaign.Run(context.Background(), spec("uncertainty"), p, nil, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := campaign.Restore(spec("uncertainty"), p, past(p, log.records))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(facts(t, spec("uncertainty"), p, res), facts(t, spec("uncertainty"), p, back)); diff != "" {
		t.Error(diff)
	}
}

func TestStopReasons(t *testing.T) {
	never := func(s *campaign.Spec) { s.Criteria.Slowdown = 1 }
	tests := []struct {
		name string
		opt  replay.Options
		set  func(s *campaign.Spec)
		want activelearn.StopReason
	}{
		{name: "criteria hold", set: func(*campaign.Spec) {}, want: activelearn.Converged},
		{name: "nothing left", set: never, want: activelearn.Converged},
		{name: "nothing left, held against the truth", set: func(s *campaign.Spec) { never(s); s.CriteriaFrom = activelearn.Reference }, want: activelearn.SpaceExhausted},
		{name: "machine time", set: func(s *campaign.Spec) { never(s); s.Limits.MachineSeconds = 0.001 }, want: activelearn.Budget},
		{name: "wall time", set: func(s *campaign.Spec) { never(s); s.Limits.Wall = 1 }, want: activelearn.TimeUp},
		{name: "everything fails", opt: replay.Options{FailureRate: 1}, set: func(*campaign.Spec) {}, want: activelearn.SpaceExhausted},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := spec("uncertainty")
			s.HPO, s.Learner.Forest.Trees = 0, 10
			s.Batch.Growth = 0.2
			tc.set(&s)
			res, err := campaign.Run(context.Background(), s, problem(t, tc.opt), nil, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if res.Stop != tc.want {
				t.Errorf("stop %q, want %q", res.Stop, tc.want)
			}
		})
	}
}

// What fails in the last round is tried again before the space counts as exhausted.
func TestFailuresOfTheLastRoundAreTriedAgain(t *testing.T) {
	s := spec("uncertainty")
	s.HPO, s.Learner.Forest.Trees = 0, 5
	s.Criteria.Slowdown = 1
	s.Batch = campaign.Batch{Candidates: 1 << 20} // everything in the first round
	p := problem(t, replay.Options{Seed: 4, FailureRate: 0.3})
	res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	failed, size := res.Ledger.Failed(), p.Space.Size()
	if res.Rounds != 2 || res.Ledger.Trials() <= size {
		t.Errorf("%d rounds, %d trials of %d candidates, %d failed: want the failed ones in a second round",
			res.Rounds, res.Ledger.Trials(), size, failed)
	}
	if done := len(res.Ledger.Measurements()); done != res.Ledger.Trials()-failed {
		t.Errorf("%d measured, want %d", done, res.Ledger.Trials()-failed)
	}
}

func TestCancelKeepsTheLog(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	log := &memory{}
	rounds := 0
	res, err := campaign.Run(ctx, spec("uncertainty"), problem(t, replay.Options{}), nil, log, func(campaign.Event) {
		if rounds++; rounds == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || res.Stop != activelearn.Cancelled {
		t.Fatalf("Run = %v, stop %q, want cancelled", err, res.Stop)
	}
	for _, r := range log.records {
		if r.Kind == journal.KindStop {
			t.Error("a cancelled campaign is marked as stopped: it could not be resumed")
		}
	}
}
