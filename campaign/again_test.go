package campaign_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// changing is a machine on which every other size becomes slower with a tree after a round.
type changing struct {
	benchrunner.Runner
	after int
}

func (m changing) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	return m.Runner.Run(ctx, b, benchrunner.TrialLog(func(t coll.Trial) error {
		if b.Round > m.after && t.Algorithm.Name == "tree" {
			t.Seconds *= 4
		}
		return log.Trial(t)
	}))
}

// locked is a log of several problems.
type locked struct {
	sync.Mutex
	memory
}

func (l *locked) Append(recs ...journal.Record) error {
	l.Lock()
	defer l.Unlock()
	return l.memory.Append(recs...)
}

// tuneAll tunes problems together, as far as the records of a log say.
func tuneAll(t *testing.T, s campaign.Spec, problems []campaign.Problem, logged []journal.Record, workers int) ([]campaign.Result, []journal.Record) {
	t.Helper()
	state, log := campaigntest.State(logged), &locked{}
	tunings := make([]*campaign.Tuning, len(problems))
	for i, p := range problems {
		tunings[i] = testutil.Must(campaign.Learn(context.Background(), s, p, state.Problem(p.Problem), log, nil))(t)
	}
	if err := campaign.Confirm(context.Background(), s, tunings, workers); err != nil {
		t.Fatal(err)
	}
	out := make([]campaign.Result, len(problems))
	for i, tuning := range tunings {
		if err := tuning.Finish(context.Background()); err != nil {
			t.Fatal(err)
		}
		out[i] = tuning.Result()
	}
	return out, log.records
}

// changingCampaign returns two problems. The criteria of the first one no longer hold after confirmation, because its
// machine changes when learning has stopped. The results are those of learning alone.
func changingCampaign(t *testing.T) (s campaign.Spec, problems []campaign.Problem, alone []campaign.Result) {
	t.Helper()
	s = spec("regret")
	s.HPO, s.CriteriaFrom, s.Guard, s.Confirm = 0, activelearn.Predicted, true, 0
	g := coll.Grid{Nodes: []int{2, 4, 8, 16, 32}, PPN: []int{1, 12}, Sizes: []int64{8, 128, 2048, 32768, 1 << 19}}
	points := testutil.Must(g.Points(coll.Bcast))(t)
	problems = []campaign.Problem{withDefault(t, points), withDefault(t, points)}
	problems[1].Collective = coll.Reduce
	alone, _ = tuneAll(t, s, problems, nil, 1)
	for i := range problems {
		if alone[i].Stop != activelearn.Converged {
			t.Fatalf("%v: %s", problems[i].Problem, alone[i].Stop)
		}
	}
	s.Confirm = 0.5
	problems[0].Runner = changing{problems[0].Runner, alone[0].Rounds}
	return s, problems, alone
}

// TestLearnsAgain checks that a problem learns again, once, if the criteria no longer hold after confirmation, and that
// problems whose criteria hold are confirmed again but do not learn. A campaign that is resumed anywhere must write the
// same records, with any number of workers.
func TestLearnsAgain(t *testing.T) {
	s, problems, alone := changingCampaign(t)
	whole, records := tuneAll(t, s, problems, nil, 1)
	reopened := slices.DeleteFunc(slices.Clone(records), func(r journal.Record) bool { return r.Kind != journal.KindReopen })
	if len(reopened) != 1 || !reflect.DeepEqual(reopened[0].Reopen, []journal.Problem{problems[0].Problem}) {
		t.Fatalf("%d records: %v", len(reopened), reopened)
	}
	at := 1 + slices.IndexFunc(records, func(r journal.Record) bool { return r.Kind == journal.KindReopen })
	again := slices.ContainsFunc(records[at:], func(r journal.Record) bool { return r.Kind == journal.KindStop && r.Problem == problems[0].Problem })
	if !again {
		t.Error("learning did not stop again")
	}
	if learning, all := alone[1].Ledger.CostSeconds(), whole[1].Ledger.CostSeconds(); all < learning {
		t.Errorf("%g s with confirmation, %g s without", all, learning)
	}
	begins := slices.IndexFunc(records, func(r journal.Record) bool { return r.Kind == journal.KindConfirm })
	cuts := []int{begins + 1, at}
	if testutil.AllCases() {
		for cut := 1; cut < len(records); cut += len(records) / 50 {
			cuts = append(cuts, cut)
		}
	}
	for _, cut := range cuts {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("%d of %d records, %d workers", cut, len(records), workers), func(t *testing.T) {
				res, rest := tuneAll(t, s, problems, records[:cut], workers)
				if workers == 1 && !reflect.DeepEqual(slices.Concat(records[:cut], rest), records) {
					t.Errorf("%d other records", len(rest))
				}
				for i := range res {
					if !reflect.DeepEqual(whole[i].Ledger.Measurements(), res[i].Ledger.Measurements()) || !reflect.DeepEqual(whole[i].Files, res[i].Files) || whole[i].Stop != res[i].Stop {
						t.Errorf("%v: %d measurements, %d of the whole campaign; %s, %s", problems[i].Problem, res[i].Ledger.CandidatesMeasured(), whole[i].Ledger.CandidatesMeasured(), res[i].Stop, whole[i].Stop)
					}
				}
			})
		}
	}
}

// TestAmendedAfterReopening checks a campaign whose budget ends it while it learns again. With a larger budget it goes on.
// If it is resumed anywhere after that, it writes the same records.
func TestAmendedAfterReopening(t *testing.T) {
	testutil.NeedAllCases(t)
	s, problems, alone := changingCampaign(t)
	var results []campaign.Result
	var ended []journal.Record
	stopsAgain := func() bool {
		results, ended = tuneAll(t, s, problems, nil, 1)
		reopened := slices.ContainsFunc(ended, func(r journal.Record) bool { return r.Kind == journal.KindReopen })
		return reopened && results[0].Stop == activelearn.Budget
	}
	for s.Limits.MachineSeconds = 1.6 * alone[0].Ledger.CostSeconds(); !stopsAgain(); s.Limits.MachineSeconds *= 1.12 {
		if s.Limits.MachineSeconds > 8*alone[0].Ledger.CostSeconds() {
			t.Fatal("no budget ends learning after it was reopened")
		}
	}
	s.Limits.MachineSeconds *= 10
	amended := append(slices.Clone(ended), journal.Record{Kind: journal.KindSpec, Reopen: []journal.Problem{problems[0].Problem}})
	whole, more := tuneAll(t, s, problems, amended, 1)
	if after, before := whole[0].Ledger.CostSeconds(), results[0].Ledger.CostSeconds(); whole[0].Stop != activelearn.Converged || after <= before {
		t.Fatalf("%s after %g s, %g s before: want that learning goes on", whole[0].Stop, after, before)
	}
	records := slices.Concat(amended, more)
	for cut := len(amended); cut < len(records); cut++ {
		res, rest := tuneAll(t, s, problems, records[:cut], 2)
		if len(rest) != len(records)-cut || !reflect.DeepEqual(res[0].Ledger.Measurements(), whole[0].Ledger.Measurements()) || !reflect.DeepEqual(res[0].Files, whole[0].Files) {
			t.Errorf("cut after %d of %d records: %d other records, %s", cut, len(records), len(rest), res[0].Stop)
		}
	}
}
