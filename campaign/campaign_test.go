package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/preprocess"
	"tutti/report"
	"tutti/selection"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// memory is a campaign log that keeps its records in memory.
type memory struct {
	records []journal.Record
	limit   int // number of records after which Append fails; 0 means no limit
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
		g.Sizes = append(g.Sizes, size)
	}
	return testutil.Must(g.Points(coll.Bcast))(t)
}

func problem(t testing.TB, opt replay.Options) campaign.Problem {
	t.Helper()
	truth := testutil.SyntheticMeasurements(grid(t))
	m := testutil.Must(replay.New(truth, opt))(t)
	sp := coll.NewSpace(grid(t), testutil.SyntheticAlgorithms(), func(coll.Candidate) error { return nil })
	return campaign.Problem{
		Problem: journal.Problem{Library: "mpich", Collective: coll.Bcast},
		Space:   sp, Runner: m, Truth: truth, ExhaustiveSeconds: m.ExhaustiveSeconds, Merge: fit,
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

// fit fits selection rules that depend only on message size. It can be used as Problem.Merge.
func fit(rows []selection.Row) (activelearn.Selection, error) {
	tree, err := selection.Merge(rows, func(p coll.Point) int64 { return p.MsgBytes }, selection.Options{MaxLoss: 0.01})
	if err != nil {
		return activelearn.Selection{}, err
	}
	choose := func(p coll.Point) coll.Algorithm {
		alg, _ := tree.Select(p)
		return alg
	}
	return activelearn.Selection{Choose: choose, Leaves: tree.Summary.Leaves}, nil
}

// TestConvergesOnKnownMachine checks that the selection of a converged campaign meets the stopping criteria.
// It computes this from the machine's true times, which are known here. This must hold for every strategy and
// every value of stop.criteria_from.
func TestConvergesOnKnownMachine(t *testing.T) {
	for _, strategy := range activelearn.Names() {
		for _, source := range activelearn.Sources() {
			t.Run(fmt.Sprintf("%s %s", strategy, source), func(t *testing.T) {
				if strategy == "regret" && source == activelearn.CrossValidated {
					testutil.NeedAllCases(t)
				}
				p := problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
				s := spec(strategy)
				s.CriteriaFrom = source
				res := mustRun(t, s, p, nil)
				f := facts(t, s, p, res)
				tuned := f.Scores[0]
				t.Logf("stop %s after %d rounds, %d of %d candidates, slowdown %.3f, mistakes %.3f",
					res.Stop, res.Rounds, f.Trials, f.Candidates, tuned.Slowdown, tuned.Mistakes)
				if !res.Stop.Good() {
					t.Errorf("stop reason %q, want converged", res.Stop)
				}
				if want := s.Criteria; tuned.Slowdown > want.Slowdown || tuned.Mistakes > want.Mistakes {
					t.Errorf("true slowdown %.3f and mistakes %.3f after convergence, want %g and %g at most",
						tuned.Slowdown, tuned.Mistakes, want.Slowdown, want.Mistakes)
				}
			})
		}
	}
}

// newRounds is a strategy that fails the test if it is asked for a round that is already in the log.
type newRounds struct {
	t *testing.T
	activelearn.Strategy
	logged int // number of rounds in the log
}

func (n newRounds) Ask(s activelearn.State) ([]coll.Candidate, error) {
	if s.Round <= n.logged {
		n.t.Errorf("the strategy is asked for round %d of %d in the log", s.Round, n.logged)
	}
	return n.Strategy.Ask(s)
}

func (n newRounds) Restore(s activelearn.State, batch []coll.Candidate) {
	n.Strategy.(activelearn.Restorer).Restore(s, batch)
}

func (n newRounds) Reason(c coll.Candidate) (activelearn.Reason, bool) {
	if e, ok := n.Strategy.(activelearn.Explainer); ok {
		return e.Reason(c)
	}
	return activelearn.Reason{}, false
}

// TestResumeGivesTheSameResult checks that a campaign that is resumed from a truncated log writes the same
// records and has the same results. It must not ask the strategy for rounds that are in the log.
func TestResumeGivesTheSameResult(t *testing.T) {
	opt := replay.Options{Seed: 2, Noise: replay.Noise{Sigma: 0.05}, FailureRate: 0.1, Launch: benchrunner.LaunchCost{Model: benchrunner.LaunchOSU, Seconds: 1}}
	for _, tc := range []struct {
		strategy string
		source   activelearn.Source
	}{
		{"regret", activelearn.Predicted}, {"uncertainty", activelearn.CrossValidated}, {"uncertainty", activelearn.Predicted},
	} {
		t.Run(tc.strategy+" "+string(tc.source), func(t *testing.T) {
			s := spec(tc.strategy)
			s.Learner.Forest.Trees = 10
			s.CriteriaFrom = tc.source
			s.Batch.Candidates = 60 // few rounds, because each fits models
			whole := &memory{}
			want := mustRun(t, s, problem(t, opt), whole)
			wantFacts := facts(t, s, problem(t, opt), want)
			cuts := []int{len(whole.records) / 2}
			if testutil.AllCases() {
				cuts = append(cuts, 1, len(whole.records)-2, len(whole.records))
			}
			for _, cut := range cuts {
				first := &memory{limit: cut}
				if _, err := campaign.Run(context.Background(), s, problem(t, opt), nil, first, nil); cut < len(whole.records) && !errors.Is(err, errFull) {
					t.Fatalf("cut at %d: %v, want the log's error", cut, err)
				}
				second, logged := &memory{records: first.records}, past(problem(t, opt), first.records)
				resumed := s
				resumed.NewStrategy = func(o activelearn.Options) (activelearn.Strategy, error) {
					strategy, err := activelearn.New(s.Strategy, o)
					return newRounds{t, strategy, logged.Last()}, err
				}
				got, err := campaign.Run(context.Background(), resumed, problem(t, opt), logged, second, nil)
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				if diff := cmp.Diff(whole.records, second.records, cmp.AllowUnexported(coll.Algorithm{})); diff != "" {
					t.Fatalf("cut at %d: the log differs:\n%s", cut, diff)
				}
				if diff := cmp.Diff(wantFacts, facts(t, s, problem(t, opt), got)); diff != "" {
					t.Fatalf("cut at %d: the facts differ:\n%s", cut, diff)
				}
			}
		})
	}
}

func facts(t *testing.T, s campaign.Spec, p campaign.Problem, res campaign.Result) report.ProblemFacts {
	t.Helper()
	return testutil.Must(export.ProblemFacts(conclude(t, s, p, res)))(t)
}

func conclude(t *testing.T, s campaign.Spec, p campaign.Problem, res campaign.Result) campaign.FinalSelection {
	t.Helper()
	trained := testutil.Must(campaign.Train(s, p, res))(t)
	return testutil.Must(trained.Conclude(selection.Rejected{}))(t)
}

// mustRun runs a new campaign and fails the test if there is an error. `log` may be nil.
func mustRun(t *testing.T, s campaign.Spec, p campaign.Problem, log campaign.Log) campaign.Result {
	t.Helper()
	return testutil.Must(campaign.Run(context.Background(), s, p, nil, log, nil))(t)
}

// past returns the state of the problem that a resumed campaign would restore from these records.
func past(p campaign.Problem, records []journal.Record) *journal.ProblemState {
	return campaigntest.State(records).Problem(p.Problem)
}

func TestStopReasons(t *testing.T) {
	never := func(s *campaign.Spec) { s.Criteria.Slowdown = 1 }
	tests := []struct {
		name string
		opt  replay.Options
		set  func(s *campaign.Spec)
		fail bool // every algorithm fails except the first of the space
		want activelearn.StopReason
	}{
		{name: "criteria hold", set: func(*campaign.Spec) {}, want: activelearn.Converged},
		{name: "everything measured", set: never, want: activelearn.SpaceExhausted},
		{name: "everything measured, compared with the truth", set: func(s *campaign.Spec) { never(s); s.CriteriaFrom = activelearn.Reference }, want: activelearn.SpaceExhausted},
		{name: "machine time", set: func(s *campaign.Spec) { never(s); s.Limits.MachineSeconds = 0.001 }, want: activelearn.Budget},
		{name: "wall time", set: func(s *campaign.Spec) { never(s); s.Limits.Wall = 1 }, want: activelearn.TimeUp},
		{name: "wall time that confirmation shares", set: func(s *campaign.Spec) { never(s); s.Limits.Wall, s.Guard, s.Confirm = 1, true, 0.5 }, want: activelearn.TimeUp},
		{name: "everything fails", opt: replay.Options{FailureRate: 1}, set: func(*campaign.Spec) {}, want: activelearn.SpaceExhausted},
		{name: "all but one algorithm fail", set: func(*campaign.Spec) {}, fail: true, want: activelearn.SpaceExhausted},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := spec("uncertainty")
			s.HPO, s.Learner.Forest.Trees = 0, 10
			s.Batch.Growth = 0.2
			tc.set(&s)
			p := problem(t, tc.opt)
			if tc.fail {
				p.Runner = onlyFirst{p.Runner, p.Space.Algorithms()[0]}
			}
			res := mustRun(t, s, p, nil)
			if res.Stop != tc.want {
				t.Errorf("stop %q, want %q", res.Stop, tc.want)
			}
		})
	}
}

// onlyFirst is a machine on which all algorithms but one fail.
type onlyFirst struct {
	benchrunner.Runner
	works coll.Algorithm
}

func (m onlyFirst) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	return m.Runner.Run(ctx, b, benchrunner.TrialLog(func(t coll.Trial) error {
		if t.Algorithm != m.works {
			t.State, t.Phase, t.Error, t.Seconds = coll.TrialFailed, benchrunner.PhaseRun, "another algorithm ran", 0
		}
		return log.Trial(t)
	}))
}

// endsEarly is a runner that measures the first candidates of a batch, then waits until the time limit is reached.
type endsEarly struct {
	benchrunner.Runner
	first int
}

func (m endsEarly) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	b.Requests = b.Requests[:m.first]
	err := m.Runner.Run(ctx, b, log)
	time.Sleep(time.Until(b.Until))
	return errors.Join(err, fmt.Errorf("%w: 1 pending: Resources", benchrunner.ErrTimeUp))
}

// TestTimeLimitCutsRound checks a campaign whose first round the time limit ends. It must stop with what was measured and
// say what waited, and a restored campaign must measure nothing more.
func TestTimeLimitCutsRound(t *testing.T) { synctest.Test(t, testTimeLimitCutsRound) }

func testTimeLimitCutsRound(t *testing.T) {
	s := spec("uncertainty")
	s.HPO, s.Learner.Forest.Trees, s.Limits.Wall = 0, 5, time.Hour
	p := problem(t, replay.Options{})
	p.Runner = endsEarly{p.Runner, 2}
	var log memory
	res := mustRun(t, s, p, &log)
	if res.Stop != activelearn.TimeUp || res.Ledger.Trials() != 2 || len(res.Warnings) == 0 || !strings.Contains(res.Warnings[0], "1 pending: Resources") {
		t.Errorf("stop %q, %d trials, warnings %q", res.Stop, res.Ledger.Trials(), res.Warnings)
	}
	if free := res.Ledger.FreeCount(); free != p.Space.Size()-2 {
		t.Errorf("%d of %d candidates are free, want all but two", free, p.Space.Size())
	}
	records := len(log.records)
	p.Runner = endsEarly{p.Runner, 0} // would end with a further record
	again := testutil.Must(campaign.Run(context.Background(), s, p, past(p, log.records), &log, nil))(t)
	restored := testutil.Must(campaign.Restore(s, p, past(p, log.records)))(t)
	if d := cmp.Diff(res.Warnings, again.Warnings); d != "" || len(log.records) != records || len(restored.Warnings) == 0 {
		t.Errorf("%d more records, restored warnings %q (-run +resumed):\n%s", len(log.records)-records, restored.Warnings, d)
	}
}

// TestBudgetIsNotExceeded checks that no measurement begins after a budget is used up, also in the first round, and that
// a restored campaign measures nothing more.
func TestBudgetIsNotExceeded(t *testing.T) {
	s := spec("uncertainty")
	s.HPO, s.Learner.Forest.Trees, s.Criteria.Slowdown = 0, 5, 1
	s.Batch = campaign.Batch{Candidates: 20}
	p := problem(t, replay.Options{})
	whole := mustRun(t, s, p, nil)
	if whole.Ledger.CostSeconds() == 0 {
		t.Fatal("trials cost nothing")
	}
	for name, limits := range map[string]activelearn.Limits{
		"later round": {MachineSeconds: whole.Ledger.CostSeconds() / 2},
		"first round": {MachineSeconds: whole.Ledger.CostSeconds() / 1000},
		"node time":   {NodeSeconds: whole.Ledger.NodeSeconds() / 1000},
		"one trial":   {MachineSeconds: 1e-9},
	} {
		t.Run(name, func(t *testing.T) {
			s.Limits = limits
			var log memory
			res := mustRun(t, s, p, &log)
			ms := res.Ledger.Measurements()
			last := ms[len(ms)-1]
			over := limits.MachineSeconds > 0 && res.Ledger.CostSeconds()-last.CostSeconds >= limits.MachineSeconds
			if res.Stop != activelearn.Budget || over || limits.NodeSeconds > 0 && res.Ledger.NodeSeconds()-last.NodeSeconds() >= limits.NodeSeconds {
				t.Errorf("stop %q after %.2g s, %.2g s without the last trial, limits %+v", res.Stop, res.Ledger.CostSeconds(), res.Ledger.CostSeconds()-last.CostSeconds, limits)
			}
			records := len(log.records)
			again := testutil.Must(campaign.Run(context.Background(), s, p, past(p, log.records), &log, nil))(t)
			if again.Stop != res.Stop || len(log.records) != records {
				t.Errorf("resumed: stop %q, %d more records", again.Stop, len(log.records)-records)
			}
		})
	}
}

// TestRetriesAfterTheLastRound checks that the campaign measures failed candidates again before it counts
// the space as exhausted.
func TestRetriesAfterTheLastRound(t *testing.T) {
	s := spec("uncertainty")
	s.HPO, s.Learner.Forest.Trees = 0, 5
	s.Criteria.Slowdown = 1
	s.Batch = campaign.Batch{Candidates: 1 << 20} // everything in the first round
	p := problem(t, replay.Options{Seed: 4, FailureRate: 0.3})
	res := mustRun(t, s, p, nil)
	failed, size := res.Ledger.Failed(), p.Space.Size()
	if res.Rounds != 2 || res.Ledger.Trials() <= size {
		t.Errorf("%d rounds, %d trials of %d candidates, %d failed: want the failed candidates in a second round",
			res.Rounds, res.Ledger.Trials(), size, failed)
	}
	if done := len(res.Ledger.Measurements()); done != res.Ledger.Trials()-failed {
		t.Errorf("%d measured, want %d", done, res.Ledger.Trials()-failed)
	}
}

// TestSuspectAlgorithm checks an algorithm that crashes at every point with all values of its parameter. The
// campaign may try only one of its candidates again. A restored campaign must exclude the same candidates as
// the original one.
func TestSuspectAlgorithm(t *testing.T) {
	truth := testutil.SyntheticMeasurements(grid(t))
	algorithms := testutil.SyntheticAlgorithms()
	for i, alg := range algorithms[1:] {
		algorithms[1+i] = testutil.Must(coll.NewAlgorithm("suspect", coll.Param{Name: "k", Value: fmt.Sprint(i)}))(t)
		for k := range truth {
			if truth[k].Algorithm == alg {
				truth[k].Algorithm = algorithms[1+i]
			}
		}
	}
	m := testutil.Must(replay.New(truth, replay.Options{}))(t)
	p := problem(t, replay.Options{})
	p.Space, p.Truth, p.Runner = m.Space(), truth, onlyFirst{m, algorithms[0]}
	s := spec("uncertainty")
	s.HPO, s.Learner.Forest.Trees = 0, 5
	s.Batch = campaign.Batch{Candidates: 1 << 20} // everything in the first round
	var log memory
	res := mustRun(t, s, p, &log)
	if want := p.Space.Size() + 1; res.Ledger.Trials() != want || res.Stop != activelearn.SpaceExhausted {
		t.Errorf("%d trials, %s, want %d", res.Ledger.Trials(), res.Stop, want)
	}
	restored := testutil.Must(campaign.Restore(s, p, past(p, log.records)))(t)
	for c := range p.Space.All() {
		if bad := c.Algorithm.Name == "suspect"; res.Ledger.Excluded().Has(c) != bad || restored.Ledger.Excluded().Has(c) != bad {
			t.Fatalf("%v: excluded %t, restored %t", c, res.Ledger.Excluded().Has(c), restored.Ledger.Excluded().Has(c))
		}
	}
	if d := cmp.Diff(res.Warnings, restored.Warnings); d != "" || len(res.Warnings) != 1 {
		t.Errorf("%d warnings (-run +restored):\n%s", len(res.Warnings), d)
	}
}

// failsAs is a runner whose trials of some candidates fail in a phase.
type failsAs struct {
	benchrunner.Runner
	phase string
	fails func(coll.Candidate) bool
}

func (m failsAs) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	return m.Runner.Run(ctx, b, benchrunner.TrialLog(func(t coll.Trial) error {
		if m.fails(t.Candidate) {
			t.State, t.Phase, t.Error, t.Seconds = coll.TrialFailed, m.phase, "for a test", 0
		}
		return log.Trial(t)
	}))
}

// TestGivenUpProvesNothing checks campaigns in which candidates get no time: the default fails in one layout, the layout is
// refused, one candidate is noisy. Points without a default or any candidate must be left to the library, named, and keep
// the campaign from converging. A refused candidate must not be tried again, a noisy one must not be given up as failed.
func TestGivenUpProvesNothing(t *testing.T) {
	s := spec("uncertainty")
	s.HPO, s.Learner.Forest.Trees = 0, 5
	s.Criteria = activelearn.Criteria{Slowdown: 100, Mistakes: 1.1} // met by everything that was measured
	s.Batch = campaign.Batch{Candidates: 1 << 20}                   // everything in the first round
	truth := testutil.SyntheticMeasurements(grid(t))
	first := testutil.SyntheticAlgorithms()[0]
	for k := range truth {
		if truth[k].Algorithm == first {
			truth[k].Algorithm = coll.Default
		}
	}
	m := testutil.Must(replay.New(truth, replay.Options{}))(t)
	space := m.Space()
	layout := space.Points()[0].Layout()
	noisy := coll.Candidate{Point: space.Points()[1], Algorithm: testutil.SyntheticAlgorithms()[1]}
	inLayout := 0
	for _, p := range space.Points() {
		if p.Layout() == layout {
			inLayout++
		}
	}
	for _, tc := range []struct {
		name, phase string
		fails       func(coll.Candidate) bool
		left, again int // points left to the library; trials besides the first of each candidate
		stop        activelearn.StopReason
	}{
		{"default", benchrunner.PhaseRun, func(c coll.Candidate) bool { return c.Algorithm.IsDefault() && c.Layout() == layout }, inLayout, inLayout, activelearn.Unmeasurable},
		{"layout", benchrunner.PhaseRefused, func(c coll.Candidate) bool { return c.Layout() == layout }, inLayout, 0, activelearn.Unmeasurable},
		{"noise", benchrunner.PhaseNoise, func(c coll.Candidate) bool { return c == noisy }, 0, s.Attempts - 1, activelearn.NoiseLimited},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := problem(t, replay.Options{})
			p.Space, p.Truth, p.Runner = space, truth, failsAs{m, tc.phase, tc.fails}
			var log memory
			res := mustRun(t, s, p, &log)
			if left := res.Ledger.LeftToLibrary(); res.Stop != tc.stop || len(left) != tc.left || res.Ledger.Trials() != space.Size()+tc.again {
				t.Errorf("stopped %s, %d points left to the library, %d trials of %d candidates; want %s, %d, %d more\n%s",
					res.Stop, len(left), res.Ledger.Trials(), space.Size(), tc.stop, tc.left, tc.again, strings.Join(res.Warnings, "\n"))
			}
			trained := testutil.Must(campaign.Train(s, p, res))(t)
			c := testutil.Must(trained.Conclude(selection.Rejected{}))(t)
			for _, point := range res.Ledger.LeftToLibrary() {
				if alg := c.Selection.Choose(point); !alg.IsDefault() {
					t.Errorf("%v: %v is selected, want it left to the library", point, alg)
				}
			}
			restored := testutil.Must(campaign.Restore(s, p, past(p, log.records)))(t)
			if !slices.Equal(restored.Ledger.LeftToLibrary(), res.Ledger.LeftToLibrary()) || restored.Ledger.Noisy() != res.Ledger.Noisy() {
				t.Error("the restored campaign has other candidates without a time")
			}
		})
	}
}

// TestCancelKeepsTheLog checks that a cancelled campaign writes no stop record, so it can be resumed.
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
			t.Error("a cancelled campaign has a stop record, so that it cannot be resumed")
		}
	}
}
