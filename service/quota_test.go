package service_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/service"
)

// limited returns the options of a service whose campaigns need node-hours. `campaign` and `day` are
// the quotas of one campaign and of a day, in node-seconds. A request sets its budget by the setting "budget".
func limited(t *testing.T, state string, campaign, day float64, bases ...config.Base) service.Options {
	t.Helper()
	opt := options(t, state, bases...)
	opt.Quota = config.Quota{Campaign: campaign / 3600, Day: day / 3600}
	opt.Check = func(_ config.Base, set map[string]string) (config.Demand, error) {
		asked := map[string]float64{"": 0, "5s": 5. / 3600, "10s": 10. / 3600, "11s": 11. / 3600}[set["budget"]]
		return config.Demand{Measures: set["recorded"] == "", NodeHours: asked}, nil
	}
	return opt
}

func asking(base, budget string) service.Request {
	return service.Request{Base: base, Set: map[string]string{"budget": budget}}
}

// budgetOf returns the budget in node-hours with which the service started tutti tune.
func budgetOf(t *testing.T, state, id string) string {
	t.Helper()
	content := testutil.Must(os.ReadFile(filepath.Join(state, "campaigns", id, "calls.txt")))(t)
	_, rest, _ := strings.Cut(string(content), "--set stop.node_hours=")
	budget, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return budget
}

// secondsOf returns the node-seconds that are spent, reserved and available today.
func secondsOf(s *service.Service) (spent, reserved, remaining float64) {
	h := s.NodeHours()
	return 3600 * h.Spent, 3600 * h.Reserved, 3600 * h.Remaining
}

func near(a, b float64) bool { return a > b-1e-6 && a < b+1e-6 }

// TestBudgets checks that a campaign gets the budget in its request, or else the quota of one campaign. A
// larger budget must be refused. A campaign on recorded data must get none.
func TestBudgets(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	s, _ := running(t, limited(t, state, 10, 1000, base(t, "b", fakeFile{Trials: 2})))
	tests := []struct {
		request service.Request
		budget  string // node-hours, in the arguments of tutti tune
		refused bool
	}{
		{request: asking("b", ""), budget: "0.002777777777777778"},
		{request: asking("b", "5s"), budget: "0.001388888888888889"},
		{request: asking("b", "10s"), budget: "0.002777777777777778"},
		{request: asking("b", "11s"), refused: true},
		{request: service.Request{Base: "b", Set: map[string]string{"recorded": "yes", "budget": "11s"}}, budget: ""},
	}
	for _, tc := range tests {
		c, _, err := s.Create(t.Context(), tc.request, "")
		var field *config.FieldError
		if tc.refused {
			if !errors.As(err, &field) || field.Field != "set.stop.node_hours" || !strings.Contains(field.Text, "at most") {
				t.Errorf("%v: %v, want a refusal of stop.node_hours", tc.request, err)
			}
			continue
		}
		testutil.NoError(t, err)
		awaitState(t, s, c.ID, service.Done)
		if got := budgetOf(t, state, c.ID); got != tc.budget {
			t.Errorf("%v: started with a budget of %q, want %q", tc.request, got, tc.budget)
		}
	}
}

// TestDaySurvivesRestart checks that today's spending is known after a restart. Campaigns that exceed the
// remaining node-hours must be refused.
func TestDaySurvivesRestart(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	bases := []config.Base{base(t, "b", fakeFile{Trials: 10}), base(t, "recorded", fakeFile{Trials: 100})}
	opt := limited(t, state, 10, 24, bases...)
	s, stop := running(t, opt)
	runToEnd(t, s, asking("b", ""))
	runToEnd(t, s, service.Request{Base: "recorded", Set: map[string]string{"recorded": "yes"}})
	for range 2 {
		if spent, reserved, remaining := secondsOf(s); !near(spent, 10) || reserved != 0 || !near(remaining, 14) {
			t.Errorf("%g node-seconds spent, %g reserved, %g remaining, want 10, 0, 14", spent, reserved, remaining)
		}
		stop()
		s, stop = running(t, opt)
	}
	runToEnd(t, s, asking("b", "10s"))
	if _, _, err := s.Create(t.Context(), asking("b", ""), ""); !errors.Is(err, service.ErrQuota) || !strings.Contains(err.Error(), "stop.node_hours, or tomorrow") {
		t.Errorf("a third campaign of 12 with 4 left: %v, want ErrQuota", err)
	}
	if _, _, err := s.Create(t.Context(), service.Request{Base: "recorded", Set: map[string]string{"recorded": "yes"}}, ""); err != nil {
		t.Errorf("campaign on recorded data: %v", err)
	}
}

// TestDayOfOneCampaign checks that a campaign can start if its budget is exactly the quota of the day, in
// spite of rounding errors.
func TestDayOfOneCampaign(t *testing.T) {
	testutil.SkipShort(t)
	for _, campaign := range []float64{1.1, 3, 4.7} {
		s, stop := running(t, limited(t, t.TempDir(), campaign, config.Overrun*campaign, base(t, "b", fakeFile{Trials: 1, Cost: 1e-3})))
		runToEnd(t, s, asking("b", ""))
		stop()
	}
}

// TestUnreadableJournalCounts checks that the whole budget of a campaign counts as spent if its journal
// cannot be read.
func TestUnreadableJournalCounts(t *testing.T) {
	state := t.TempDir()
	opt := limited(t, state, 10, 24, base(t, "b", fakeFile{Trials: 1}))
	s, stop := running(t, opt)
	id := runToEnd(t, s, asking("b", ""))
	stop()
	path := filepath.Join(state, "campaigns", id, "results", "journal.jsonl")
	testutil.NoError(t, os.WriteFile(path, []byte("not a journal\n"), 0o600))
	s, _ = running(t, opt)
	if spent, _, _ := secondsOf(s); !near(spent, 12) {
		t.Errorf("%g node-seconds spent, want 12", spent)
	}
}

// TestUnreadableForAMoment checks a running campaign whose journal cannot be read for a moment. Meanwhile its
// whole budget must count as spent, and afterwards only the node-hours that it has used.
func TestUnreadableForAMoment(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	s, _ := running(t, limited(t, state, 10, 24, base(t, "b", fakeFile{Trials: 1000, Every: 5 * time.Millisecond, Cost: 1e-6})))
	id := create(t, s, asking("b", ""))
	awaitTrial(t, s, id)
	path := filepath.Join(state, "campaigns", id, "results", "journal.jsonl")
	testutil.NoError(t, errors.Join(os.Rename(path, path+".moved"), os.Mkdir(path, 0o700)))
	waitUntil(t, func() bool { spent, reserved, _ := secondsOf(s); return near(spent, 12) && reserved == 0 }, func() string { return "" })
	testutil.NoError(t, errors.Join(os.Remove(path), os.Rename(path+".moved", path)))
	before, err := s.Campaign(id)
	testutil.NoError(t, err)
	await(t, s, id, func(c service.Campaign) bool { return c.Progress.Trials > before.Progress.Trials })
	if spent, _, _ := secondsOf(s); spent > 1 {
		t.Errorf("%g node-seconds spent after the journal could be read again", spent)
	}
}

// TestRecordedTime checks that a campaign on recorded data is stopped at its time limit.
func TestRecordedTime(t *testing.T) {
	testutil.SkipShort(t)
	opt := options(t, t.TempDir(), base(t, "b", fakeFile{Trials: 100000, Every: time.Millisecond}))
	opt.Limits.Recorded = 50 * time.Millisecond
	s, _ := running(t, opt)
	if c := awaitState(t, s, create(t, s, service.Request{Base: "b"}), service.Failed); !strings.Contains(c.Error, "more than 50ms (limits.recorded)") {
		t.Errorf("error %q, want the limit", c.Error)
	}
}

// TestReservedHours checks that campaigns wait in the order of their requests if there are not enough
// node-hours today for all of them. When a campaign is cancelled, its reserved node-hours must become free
// for the next one.
func TestReservedHours(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	long, short := fakeFile{Trials: 1000, Every: 10 * time.Millisecond, Cost: 1e-6}, fakeFile{Trials: 1}
	bases := []config.Base{base(t, "a", long), base(t, "b", long), base(t, "c", long), base(t, "d", short), base(t, "e", short)}
	for i := range bases {
		bases[i].Machine = bases[i].Name
	}
	s, _ := running(t, limited(t, state, 10, 25, bases...))
	a, b := create(t, s, asking("a", "")), create(t, s, asking("b", ""))
	c, d := create(t, s, asking("c", "")), create(t, s, asking("d", "5s"))
	free := create(t, s, service.Request{Base: "e", Set: map[string]string{"recorded": "yes"}})
	awaitTrial(t, s, a)
	awaitTrial(t, s, b)
	awaitState(t, s, free, service.Done)
	for _, id := range []string{c, d} {
		if one, _ := s.Campaign(id); one.State != service.Queued || !strings.Contains(one.WaitsFor, "node-hours") {
			t.Errorf("campaign of %s is %s, waits %q: want it queued for node-hours", one.Base, one.State, one.WaitsFor)
		}
	}
	if _, reserved, remaining := secondsOf(s); reserved < 23.9 || reserved > 24 || remaining > 1.1 {
		t.Errorf("%g reserved, %g remaining, want 24 of 25 reserved", reserved, remaining)
	}
	if _, err := s.Cancel(a); err != nil {
		t.Fatal(err)
	}
	awaitTrial(t, s, c)
	if one, _ := s.Campaign(c); one.WaitsFor != "" {
		t.Errorf("a campaign at work waits %q", one.WaitsFor)
	}
	if one, _ := s.Campaign(d); one.State != service.Queued {
		t.Errorf("campaign d is %s, want it still queued", one.State)
	}
}

// TestNextDay checks that a campaign that waits for node-hours starts on the next day.
func TestNextDay(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	clock := clockwork.NewFakeClockAt(time.Now())
	b := base(t, "a", fakeFile{Trials: 11})
	opt := limited(t, state, 10, 24, b)
	opt.Clock = clock
	s, _ := running(t, opt)
	first := create(t, s, asking("a", ""))
	second, third := create(t, s, asking("a", "")), create(t, s, asking("a", "5s"))
	awaitState(t, s, first, service.Done) // spent 11 of 24
	awaitState(t, s, second, service.Done)
	c := await(t, s, third, func(c service.Campaign) bool { return c.WaitsFor != "" })
	if c.State != service.Queued {
		t.Fatalf("campaign %s is %s, want it queued", c.ID, c.State)
	}
	clock.Advance(25 * time.Hour)
	awaitState(t, s, third, service.Done)
}

// TestOverrunIsStopped checks that a campaign over its budget is stopped and that its jobs are cancelled.
// It cannot be resumed, even if it was paused in the meantime.
func TestOverrunIsStopped(t *testing.T) {
	state := t.TempDir()
	opt := limited(t, state, 10, 24, base(t, "b", fakeFile{Trials: 1e6, Every: 5 * time.Millisecond}))
	s, _ := running(t, opt)
	id := create(t, s, asking("b", "5s"))
	c := await(t, s, id, func(c service.Campaign) bool { return c.State == service.Stopping || c.State == service.Failed })
	if _, err := s.Pause(id); err != nil && !errors.Is(err, service.ErrState) {
		t.Errorf("Pause = %v", err)
	}
	c = awaitState(t, s, id, service.Failed)
	if c.Progress.NodeSeconds < 6 || !strings.Contains(c.Error, "has taken") || !strings.Contains(c.Error, "of a budget of") {
		t.Errorf("stopped campaign is %+v", c)
	}
	if got := calls(t, state, id); len(got) != 2 || got[1] != "cancel" {
		t.Errorf("tutti was called with %v, want tune and cancel", got)
	}
	if _, err := s.Resume(id); !errors.Is(err, service.ErrQuota) {
		t.Errorf("Resume = %v, want ErrQuota", err)
	}
}

// TestLoweredQuota checks that, when the quota is lowered, the lower quota also limits campaigns that started
// before.
func TestLoweredQuota(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	b := base(t, "b", fakeFile{Trials: 1e6, Every: 20 * time.Millisecond})
	s, stop := running(t, limited(t, state, 1000, 2000, b))
	id := create(t, s, asking("b", ""))
	awaitTrial(t, s, id)
	stop()
	s, _ = running(t, limited(t, state, 1, 24, b))
	if c := awaitState(t, s, id, service.Failed); !strings.Contains(c.Error, "has taken") {
		t.Errorf("campaign is %+v", c)
	}
}

// TestScheduleSpends checks that drift measurements count as spending of the day. A schedule must create no
// campaign if no node-hours remain.
func TestScheduleSpends(t *testing.T) {
	testutil.SkipShort(t)
	n := newNightly(t, fakeFile{Trials: 10, Change: 0.5, Cost: 2}, config.StartCondition{Drift: 0.1})
	n.stop()
	n.adjust = func(o *service.Options) {
		own := limited(t, n.state, 20, 24)
		o.Check, o.Quota = own.Check, own.Quota
		o.Bases[0].Demand.Measures = true
	}
	n.start()
	n.expect(n.night(), "there is no earlier one", 1)
	n.done()
	if spent, _, remaining := secondsOf(n.service); !near(spent, 20) || !near(remaining, 4) {
		t.Errorf("%g spent, %g remaining, want 20 and 4: times after the clock of the service count as now", spent, remaining)
	}
	decision := n.night() // the drift measurement spends 16 of 24
	n.expect(decision, "there is no campaign: not enough node-hours remain: 0.0022 of today's 0.0067 remain", 1)
	if spent, _, _ := secondsOf(n.service); !near(spent, 16) {
		t.Errorf("%g node-seconds spent, want the 16 of the drift measurement", spent)
	}
	n.stop()
	n.start()
	if spent, _, _ := secondsOf(n.service); !near(spent, 16) {
		t.Errorf("%g node-seconds spent after a restart, want the 16 of the drift measurement", spent)
	}
}

// TestOnceDoesNotWaitForTomorrow checks that a service with Options.Once does not wait for the next day.
func TestOnceDoesNotWaitForTomorrow(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	b := base(t, "b", fakeFile{Trials: 11})
	b.Schedule = "30 2 * * *"
	opt := limited(t, state, 10, 24, b)
	s, stop := running(t, opt)
	for range 3 {
		create(t, s, asking("b", ""))
	}
	stop()
	opt.Once = true
	s = testutil.Must(service.New(opt))(t)
	ctx, cancel := context.WithTimeout(t.Context(), testutil.HangTimeout)
	defer cancel()
	if err := s.Run(ctx); err != nil || ctx.Err() != nil {
		t.Fatalf("Run = %v, the test's time limit: %v", err, ctx.Err())
	}
	waiting := 0
	for _, c := range s.Campaigns() {
		if c.State == service.Queued {
			waiting++
		}
	}
	if waiting == 0 {
		t.Error("no campaign waits for another day")
	}
}
