package campaign_test

import (
	"context"
	"reflect"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
)

// withDefault returns the problem of a machine whose default takes as long as the tree with 30 % more.
func withDefault(t *testing.T, points []coll.Point) campaign.Problem {
	t.Helper()
	truth := testutil.SyntheticMeasurements(points)
	for _, m := range truth[:len(truth):len(truth)] {
		if m.Algorithm.Name == "tree" {
			m.Algorithm, m.Seconds = coll.Default, 1.3*m.Seconds
			truth = append(truth, m)
		}
	}
	m := testutil.Must(replay.New(truth, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}}))(t)
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
	if before, after := guarded.Ledger.CostSeconds(), confirmed.Ledger.CostSeconds(); after > 1.6*before {
		t.Errorf("%g s with confirmation, %g s without", after, before)
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
