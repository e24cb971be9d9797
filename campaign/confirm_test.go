package campaign_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
)

// withDefault returns the problem of a machine whose default takes as long as the tree with 30 % more.
func withDefault(t *testing.T, points []coll.Point) campaign.Problem {
	t.Helper()
	return withDefaultOf(t, points, 1.3, 0.02)
}

// withDefaultOf returns the problem of a machine whose default takes the given times as long as the tree. noise is the
// relative standard deviation of all times.
func withDefaultOf(t *testing.T, points []coll.Point, factor, noise float64) campaign.Problem {
	t.Helper()
	truth := testutil.SyntheticMeasurements(points)
	for _, m := range truth[:len(truth):len(truth)] {
		if m.Algorithm.Name == "tree" {
			m.Algorithm, m.Seconds = coll.Default, factor*m.Seconds
			truth = append(truth, m)
		}
	}
	m := testutil.Must(replay.New(truth, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: noise}}))(t)
	return campaign.Problem{
		Problem: journal.Problem{Library: "mpich", Collective: coll.Bcast},
		Space:   m.Space(), Runner: m, Truth: m.Truths(), Merge: fit,
	}
}

// TestConfirm checks that files select an algorithm only where it and the default were measured, that confirmation lets
// them select more, and that it stays within its budget. A campaign that is resumed anywhere in confirmation must
// measure the same.
func TestConfirm(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom, s.Guard, s.Confirm = 0, activelearn.Predicted, true, 0
	selected := func(res campaign.Result) (n int) {
		c := conclude(t, s, withDefault(t, grid(t)), res)
		tuned, _, err := c.Expected(c.Selection.Choose)
		if err != nil {
			t.Fatal(err)
		}
		byDefault, ok, err := c.Expected(func(coll.Point) coll.Algorithm { return coll.Default })
		if err != nil || !ok || tuned.Slowdown > byDefault.Slowdown {
			t.Errorf("the files are expected to have a slowdown of %g, the default %g (%t, %v)", tuned.Slowdown, byDefault.Slowdown, ok, err)
		}
		for _, p := range c.Points {
			alg := c.Selection.Choose(p)
			if alg.IsDefault() {
				continue
			}
			n++
			for _, a := range []coll.Algorithm{alg, coll.Default} {
				if cand := (coll.Candidate{Point: p, Algorithm: a}); !res.Ledger.IsMeasured(cand) {
					t.Errorf("%v is not measured, but the files select %v", cand, alg)
				}
			}
		}
		return n
	}
	guarded := mustRun(t, s, withDefault(t, grid(t)), nil)
	s.Confirm = 0.5
	log := &memory{}
	confirmed := mustRun(t, s, withDefault(t, grid(t)), log)
	if before, after := selected(guarded), selected(confirmed); after <= before {
		t.Errorf("%d points are selected after confirmation, %d before", after, before)
	}
	everything := withDefault(t, grid(t)).Runner.(*replay.Machine).ExhaustiveSeconds(guarded.Ledger.Space().Candidates())
	before, after := guarded.Ledger.CostSeconds(), confirmed.Ledger.CostSeconds()
	if after > before+1.2*s.Confirm*max(before, everything/2) {
		t.Errorf("%g s with confirmation, %g s without, %g s to measure everything", after, before, everything)
	}
	first := 0
	for first = range log.records {
		if log.records[first].Kind == journal.KindConfirm {
			break
		}
	}
	step := max(1, (len(log.records)-first)/4)
	for cut := first; cut < len(log.records); cut += step {
		p := withDefault(t, grid(t))
		rest := &memory{}
		res, err := campaign.Run(context.Background(), s, p, past(p, log.records[:cut]), rest, nil)
		if err != nil {
			t.Fatalf("resumed after %d records: %v", cut, err)
		}
		if whole, resumed := confirmed.Ledger.Measurements(), res.Ledger.Measurements(); !reflect.DeepEqual(whole, resumed) {
			t.Errorf("resumed after %d of %d records: %d other measurements than the %d of the whole campaign", cut, len(log.records), len(resumed), len(whole))
		}
	}
}

// TestConfirmUntilCriterion checks that confirmation goes on where learning is cheap until the files meet the criterion of
// slowdown, and that it does not measure everything for that.
func TestConfirmUntilCriterion(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom, s.Guard, s.Confirm = 0, activelearn.Predicted, true, 2
	for _, slowdown := range []float64{1.03, 1.2} {
		s.Criteria.Slowdown = slowdown
		p := withDefault(t, grid(t))
		res := mustRun(t, s, p, nil)
		left, err := conclude(t, s, p, res).Unconfirmed()
		testutil.NoError(t, err)
		if left.Loss > slowdown-1 {
			t.Errorf("the default costs %g where nothing was measured, and a slowdown of %g is allowed", left.Loss, slowdown)
		}
		everything := p.Runner.(*replay.Machine).ExhaustiveSeconds(p.Space.Candidates())
		if cost := res.Ledger.CostSeconds(); cost > everything/3 {
			t.Errorf("slowdown %g: %g s of %g s to measure everything", slowdown, cost, everything)
		}
	}
}

// TestConfirmWithoutGain checks that confirmation takes no more machine time than learning where the default is the fastest.
func TestConfirmWithoutGain(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom, s.Guard, s.Confirm = 0, activelearn.Predicted, true, 0
	p := withDefaultOf(t, grid(t), 0.1, 0)
	learning := mustRun(t, s, p, nil).Ledger.CostSeconds()
	s.Confirm = 1
	if all := mustRun(t, s, p, nil).Ledger.CostSeconds(); all > 2.05*learning { // the price of a pair is predicted
		t.Errorf("%g s, of which learning took %g", all, learning)
	}
}

// slow is a machine that takes four times the machine time of each trial.
type slow struct{ benchrunner.Runner }

func (m slow) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	return m.Runner.Run(ctx, b, benchrunner.TrialLog(func(t coll.Trial) error {
		time.Sleep(time.Duration(4 * t.CostSeconds * float64(time.Second)))
		return log.Trial(t)
	}))
}

// TestConfirmWithinWallTime checks that a round of confirmation has fewer pairs if the time is short, and that a campaign
// resumed in this round measures all of them.
func TestConfirmWithinWallTime(t *testing.T) { synctest.Test(t, testConfirmWithinWallTime) }

func testConfirmWithinWallTime(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom, s.Guard, s.Confirm = 0, activelearn.Predicted, true, 0.5
	points := testutil.Must(coll.Grid{Nodes: []int{2, 4, 8, 32}, PPN: []int{1, 12}, Sizes: []int64{8, 128, 2048, 32768, 1 << 19}}.Points(coll.Bcast))(t)
	confirm := func(log *memory, wall time.Duration) (first []coll.Candidate, measured []coll.Measurement, took time.Duration) {
		p, s := withDefault(t, points), s
		p.Runner = slow{p.Runner}
		tuning := testutil.Must(campaign.Learn(t.Context(), s, p, past(p, log.records), log, nil))(t)
		began := time.Now()
		s.Limits.Wall = wall
		testutil.NoError(t, campaign.Confirm(t.Context(), s, []*campaign.Tuning{tuning}, 1))
		at := slices.IndexFunc(log.records, func(r journal.Record) bool { return r.Kind == journal.KindConfirm })
		return log.records[at+1].Batch, tuning.Result().Ledger.Measurements(), time.Since(began)
	}
	all, _, whole := confirm(&memory{}, 0)
	log := &memory{}
	some, measured, _ := confirm(log, whole/20)
	if len(some) == 0 || len(some) >= len(all) {
		t.Fatalf("%d candidates in the first round, %d without a limit", len(some), len(all))
	}
	batch := slices.IndexFunc(log.records, func(r journal.Record) bool { return r.Kind == journal.KindConfirm }) + 1
	_, resumed, _ := confirm(&memory{records: log.records[:batch+1]}, whole/20)
	if len(resumed) < len(measured) || !reflect.DeepEqual(measured, resumed[:len(measured)]) {
		t.Errorf("%d measurements after a resume in the round, %d before", len(resumed), len(measured))
	}
}
