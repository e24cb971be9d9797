package service_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/service"
)

// fakeMachine is a machine whose libraries and nodes are set by tests.
type fakeMachine struct {
	mu    sync.Mutex
	state service.MachineState
	err   error
}

func (m *fakeMachine) inspect(context.Context, config.Base) (service.MachineState, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state, m.err
}

func (m *fakeMachine) set(libraries []service.LibraryBuild, nodes []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state, m.err = service.MachineState{Libraries: libraries, Nodes: nodes}, err
}

// nightly is a service with one base, a campaign file from which it creates a campaign every night at half past two
// in Berlin. Its fake clock begins at noon of 2026-03-01.
type nightly struct {
	*testing.T
	service *service.Service
	clock   *clockwork.FakeClock
	machine *fakeMachine
	state   string
	base    config.Base
	adjust  func(*service.Options) // changes the options; may be nil
	stop    func()
}

var noon = time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)

func newNightly(t *testing.T, p fakeFile, when config.StartCondition) *nightly {
	t.Helper()
	b := base(t, "night", p)
	b.Schedule, b.TimeZone, b.When, b.FromLast = "30 2 * * *", "Europe/Berlin", when, true
	n := &nightly{T: t, clock: clockwork.NewFakeClockAt(noon), machine: &fakeMachine{}, state: t.TempDir(), base: b}
	n.machine.set([]service.LibraryBuild{{Name: "mpich", Path: "/opt/libmpich.so", Version: "4.0.2", Checksum: "aa"}}, []string{"n1", "n2"}, nil)
	n.start()
	return n
}

func (n *nightly) options() service.Options {
	opt := options(n.T, n.state, n.base)
	opt.Clock, opt.Inspect = n.clock, n.machine.inspect
	if n.adjust != nil {
		n.adjust(&opt)
	}
	return opt
}

func (n *nightly) start() {
	n.Helper()
	n.service, n.stop = running(n.T, n.options())
	waitUntil(n.T, func() bool { return !n.service.Schedule()[0].Next.IsZero() }, func() string { return "the schedule does not start" })
}

// night advances the clock to just after the next half past two. It returns the service's decision whether to create
// a campaign.
func (n *nightly) night() string {
	n.Helper()
	next := n.service.Schedule()[0].Next
	if local := next.In(berlin(n.T)); local.Hour() != 2 || local.Minute() != 30 {
		n.Fatalf("next is %v, want half past two in Berlin", local)
	}
	n.clock.Advance(next.Sub(n.clock.Now()) + time.Second)
	var s service.Scheduled
	waitUntil(n.T, func() bool {
		s = n.service.Schedule()[0]
		return !s.Last.Before(next) && s.Next.After(next)
	}, func() string { return fmt.Sprintf("no decision at %v: %+v", next, s) })
	return s.Decision
}

// done waits until the newest campaign is done.
func (n *nightly) done() service.Campaign {
	n.Helper()
	all := n.service.Campaigns()
	return awaitState(n.T, n.service, all[0].ID, service.Done)
}

func (n *nightly) expect(decision, want string, campaigns int) {
	n.Helper()
	if !strings.Contains(decision, want) {
		n.Errorf("decision %q, want %q", decision, want)
	}
	if got := len(n.service.Campaigns()); got != campaigns {
		n.Errorf("%d campaigns, want %d (decision %q)", got, campaigns, decision)
	}
}

func berlin(t *testing.T) *time.Location {
	t.Helper()
	return testutil.Must(time.LoadLocation("Europe/Berlin"))(t)
}

// TestSchedule checks that every night a new campaign starts from the measurements of the previous one.
// This must also work in the night in which daylight saving time begins.
func TestSchedule(t *testing.T) {
	n := newNightly(t, fakeFile{Trials: 2}, config.StartCondition{})
	last := ""
	for night := range 3 {
		decision := n.night()
		n.expect(decision, "campaign ", night+1)
		c := n.done()
		if !strings.HasPrefix(c.Reason, "schedule: ") || c.From != last {
			t.Errorf("campaign of night %d: reason %q, from %q, want it from %q", night, c.Reason, c.From, last)
		}
		last = c.ID
	}
	content, err := os.ReadFile(filepath.Join(n.state, "campaigns", last, "calls.txt"))
	if err != nil || !strings.Contains(string(content), "--from "+filepath.Join(n.state, "campaigns")) {
		t.Errorf("calls of the last campaign: %s, %v, want --from FOLDER", content, err)
	}
}

func TestConditions(t *testing.T) {
	mpich := service.LibraryBuild{Name: "mpich", Path: "/opt/libmpich.so", Version: "4.0.2", Checksum: "aa"}
	nodes := []string{"n1", "n2"}
	changed := func(change func(*service.LibraryBuild)) []service.LibraryBuild {
		l := mpich
		change(&l)
		return []service.LibraryBuild{l}
	}
	tests := []struct {
		name      string
		when      config.StartCondition
		file      fakeFile
		libraries []service.LibraryBuild
		nodes     []string
		err       error
		run       bool
		decision  string
	}{
		{name: "young", when: config.StartCondition{AgeSeconds: (30 * 24 * time.Hour).Seconds()}, decision: "ended 24h"},
		{name: "old", when: config.StartCondition{AgeSeconds: (23 * time.Hour).Seconds()}, run: true, decision: "ended 24h"},
		{name: "same machine", when: config.StartCondition{Library: true, Nodes: true}, decision: "the machine has not changed"},
		{name: "new checksum", when: config.StartCondition{Library: true}, libraries: changed(func(l *service.LibraryBuild) { l.Checksum = "bb" }), run: true, decision: "its file has changed"},
		{name: "new path", when: config.StartCondition{Library: true}, libraries: changed(func(l *service.LibraryBuild) { l.Path = "/new/libmpich.so" }), run: true, decision: "mpich: the path of its file has changed"},
		{name: "new version", when: config.StartCondition{Library: true}, libraries: changed(func(l *service.LibraryBuild) { l.Version = "4.1" }), run: true, decision: "mpich was version 4.0.2 and is 4.1"},
		{name: "library does not count", when: config.StartCondition{Nodes: true}, libraries: changed(func(l *service.LibraryBuild) { l.Checksum = "bb" }), decision: "has not changed"},
		{name: "new node", when: config.StartCondition{Nodes: true}, nodes: []string{"n1", "n2", "n3"}, run: true, decision: "of 2 nodes 0 were removed, 1 are new"},
		{name: "node gone", when: config.StartCondition{Nodes: true}, nodes: []string{"n1"}, run: true, decision: "1 were removed"},
		{name: "nodes do not count", when: config.StartCondition{Library: true}, nodes: []string{"n1"}, decision: "has not changed"},
		{name: "machine unknown", when: config.StartCondition{Library: true}, err: errors.New("sinfo: no such host"), decision: "not known: the service's log says why"},
		{name: "drift", when: config.StartCondition{Drift: 0.1}, file: fakeFile{Change: 0.2}, run: true, decision: "differ by 20.0 %"},
		{name: "little drift", when: config.StartCondition{Drift: 0.1}, file: fakeFile{Change: 0.02}, decision: "differ by 2.0 %"},
		{name: "one of several", when: config.StartCondition{AgeSeconds: (1000 * time.Hour).Seconds(), Library: true, Drift: 0.1}, file: fakeFile{Change: 0.2}, run: true, decision: "differ by 20.0 %"},
	}
	if testing.Short() {
		tests = tests[len(tests)-3:]
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.file.Trials = 1
			n := newNightly(t, tc.file, tc.when)
			n.expect(n.night(), "there is no earlier one", 1)
			first := n.done()
			libraries, now := tc.libraries, tc.nodes
			if libraries == nil {
				libraries = []service.LibraryBuild{mpich}
			}
			if now == nil {
				now = nodes
			}
			n.machine.set(libraries, now, tc.err)
			want := 1
			if tc.run {
				want = 2
			}
			n.expect(n.night(), tc.decision, want)
			if c := n.service.Campaigns()[0]; tc.run && c.From != first.ID {
				t.Errorf("the campaign starts from %q, want %s", c.From, first.ID)
			}
			measured := slices.Contains(commands(t, n.state), "verify")
			if want := tc.when.Drift > 0; measured != want {
				t.Errorf("drift measured: %t, want %t", measured, want)
			}
		})
	}
}

// commands returns the tutti commands that the service ran for all campaigns.
func commands(t *testing.T, state string) []string {
	t.Helper()
	var out []string
	dirs, _ := filepath.Glob(filepath.Join(state, "campaigns", "*"))
	for _, dir := range dirs {
		out = append(out, calls(t, state, filepath.Base(dir))...)
	}
	return out
}

// TestScheduleWaits checks that a schedule creates no campaign while an earlier campaign runs.
func TestScheduleWaits(t *testing.T) {
	n := newNightly(t, fakeFile{Trials: 100000, Every: time.Second}, config.StartCondition{})
	n.expect(n.night(), "there is no earlier one", 1)
	awaitState(n.T, n.service, n.service.Campaigns()[0].ID, service.Running)
	n.expect(n.night(), " is running", 1)
}

// TestScheduleCatchesUp checks a schedule whose nights passed while no service ran. The service must create one
// campaign when it starts, and none when it is started again.
func TestScheduleCatchesUp(t *testing.T) {
	testutil.SkipShort(t)
	n := newNightly(t, fakeFile{Trials: 1}, config.StartCondition{})
	if got := len(n.service.Campaigns()); got != 0 {
		t.Fatalf("%d campaigns before the first night", got)
	}
	n.night()
	n.done()
	n.stop()
	n.clock.Advance(5 * 24 * time.Hour)
	n.start()
	waitUntil(t, func() bool { return len(n.service.Campaigns()) == 2 }, func() string { return "no campaign after five missed nights" })
	n.done()
	n.stop()
	n.start()
	time.Sleep(50 * time.Millisecond) // time for a wrong decision
	if got := len(n.service.Campaigns()); got != 2 {
		t.Errorf("%d campaigns after another start, want 2", got)
	}
}

// setClock is a clock that can be set while its timers run on.
type setClock struct {
	*clockwork.FakeClock
	ahead atomic.Int64 // in nanoseconds
}

func (c *setClock) Now() time.Time { return c.FakeClock.Now().Add(time.Duration(c.ahead.Load())) }

// TestScheduleClockSet checks that a schedule follows a clock that is set.
func TestScheduleClockSet(t *testing.T) {
	n := newNightly(t, fakeFile{Trials: 1}, config.StartCondition{})
	n.stop()
	c := &setClock{FakeClock: n.clock}
	n.adjust = func(o *service.Options) { o.Clock = c }
	n.start()
	next := n.service.Schedule()[0].Next
	c.ahead.Store(int64(next.Sub(noon)))
	waitUntil(t, func() bool {
		n.clock.Advance(10 * time.Second)
		return len(n.service.Campaigns()) == 1
	}, func() string { return fmt.Sprintf("no campaign: %+v", n.service.Schedule()) })
}

// TestOnce checks that a service with Options.Once runs the campaigns that are due and then ends.
func TestOnce(t *testing.T) {
	b := base(t, "night", fakeFile{Trials: 3})
	b.Schedule, b.TimeZone = "30 2 * * *", "UTC"
	opt := options(t, t.TempDir(), b, base(t, "by hand", fakeFile{}))
	clock := clockwork.NewFakeClockAt(noon)
	opt.Once, opt.Clock = true, clock
	run := func(want int) {
		t.Helper()
		s := testutil.Must(service.New(opt))(t)
		testutil.NoError(t, s.Run(t.Context()))
		all := s.Campaigns()
		if len(all) != want {
			t.Fatalf("%d campaigns, want %d", len(all), want)
		}
		if all[0].State != service.Done {
			t.Errorf("the campaign is %s, want done", all[0].State)
		}
	}
	run(1) // no decision yet
	run(1) // not due
	clock.Advance(24 * time.Hour)
	run(2)
}
