package service

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"pgregory.net/rapid"

	"tutti/internal/config"
	"tutti/internal/testutil"
)

// model is a service in a simulated world, together with what was acknowledged.
type model struct {
	t     *rapid.T
	world *world
	clock *clockwork.FakeClock
	dir   string

	queue   *queue
	service *incarnation
	wanted  map[string]State // by ID: Done, Paused, Cancelled or Deleted
	unsure  map[string]bool  // the service was killed while it wrote the answer to a request
	asked   map[string]int   // requests for verifications that may have been saved
	verify  map[string]bool  // a verification was acknowledged and not cancelled
	steps   int
}

// start starts a service on the state folder.
func (m *model) start() {
	m.service = &incarnation{world: m.world}
	opt := &Options{
		Service: config.Service{State: m.dir, Drain: 3 * time.Millisecond, Bases: []config.Base{
			{Name: "a", Machine: "m1", File: "m1"}, {Name: "b", Machine: "m1", File: "m1"}, {Name: "c", Machine: "m2", File: "m2"},
		}},
		Poll: time.Millisecond, Clock: m.clock, Inspect: m.service.inspect,
	}
	opt.setDefaults()
	log, published, err := openServiceLog(filepath.Join(m.dir, eventsFile), opt.Clock, slog.New(slog.DiscardHandler))
	if err != nil {
		m.t.Fatal(err)
	}
	m.queue = newQueue(opt, log)
	m.queue.store.write, m.queue.processes = m.service.write, m.service
	if err := m.queue.load(published); err != nil {
		m.t.Fatal(err)
	}
	m.check()
	m.queue.start()
}

// check checks that the service knows every campaign as it was acknowledged, and that nothing happened that must not.
func (m *model) check() {
	m.world.mu.Lock()
	faults := slices.Clone(m.world.faults)
	m.world.mu.Unlock()
	for _, fault := range faults {
		m.t.Fatal(fault)
	}
	for id, want := range m.wanted {
		c, err := m.queue.Campaign(id)
		switch {
		case m.unsure[id]:
		case want == Deleted && !errors.Is(err, ErrNoCampaign):
			m.t.Fatalf("deleted campaign %s is %s", id, c.State)
		case want != Deleted && err != nil:
			m.t.Fatalf("campaign %s: %v", id, err)
		case want == Done && (c.State == Paused || c.State == Cancelled):
			m.t.Fatalf("campaign %s is %s, and nobody asked for it", id, c.State)
		case want == Paused && !slices.Contains([]State{Paused, Stopping, Done, Failed}, c.State):
			m.t.Fatalf("paused campaign %s is %s", id, c.State)
		case want == Cancelled && !slices.Contains([]State{Cancelled, Stopping, Done}, c.State):
			m.t.Fatalf("cancelled campaign %s is %s", id, c.State)
		}
	}
}

// kill ends the service at once. Its goroutines can change nothing from now on.
func (m *model) kill() {
	m.service.dead.Store(true)
	m.queue.events.file.Close()
	m.queue.stop()
}

// restart kills the service, or stops it in order, and starts the next one.
func (m *model) restart(kill bool) {
	if !kill && !m.service.dead.Load() {
		m.queue.drain()
	}
	m.kill()
	m.start()
}

// any returns one of the campaigns.
func (m *model) any() string {
	ids := slices.Sorted(maps.Keys(m.wanted))
	if len(ids) == 0 {
		m.t.Skip("no campaign")
	}
	return ids[rapid.IntRange(0, len(ids)-1).Draw(m.t, "campaign")]
}

// request asks for an action and notes what was acknowledged.
func (m *model) request(a action, to State) {
	id := m.any()
	if a == resumeAction || a == verifyAction {
		m.allow(id, true)
	}
	c, err := m.queue.request(id, a, 0)
	if err == nil && (a == cancelAction || a == verifyAction) {
		m.verify[id] = a == verifyAction
	}
	if a == verifyAction && (err == nil || m.service.dead.Load()) {
		m.asked[id]++
	}
	switch {
	case err == nil && a == verifyAction && c.State != Queued: // it holds later
	case err == nil && a == pauseAction && (m.wanted[id] == Cancelled || m.unsure[id]): // it may be stopping to be cancelled
	case err == nil:
		m.wanted[id], m.unsure[id] = to, false
	case m.service.dead.Load():
		m.unsure[id] = true
	}
	m.allow(id, m.wanted[id] == Done || m.unsure[id])
}

func (m *model) allow(id string, allowed bool) {
	m.world.mu.Lock()
	defer m.world.mu.Unlock()
	m.world.forbidden[id] = !allowed
}

func (m *model) create() {
	base := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(m.t, "base")
	c, created, err := m.queue.Create(context.Background(), Request{Base: base}, "")
	if err == nil && created {
		m.wanted[c.ID] = Done
	}
}

// end ends one of the processes.
func (m *model) end() {
	code := rapid.SampledFrom([]ExitCode{ExitDone, ExitNotConverged, ExitFailed, ExitCancelled, ExitBusy, ExitInterrupted, ExitNotProved, -1}).Draw(m.t, "code")
	m.world.mu.Lock()
	ids := slices.Sorted(maps.Keys(m.world.running))
	var p *simulated
	if len(ids) > 0 {
		p = m.world.running[ids[m.steps%len(ids)]]
	}
	m.world.mu.Unlock()
	if p == nil {
		m.t.Skip("no process")
	}
	if code == ExitNotProved && p.verb != "verify" {
		code = ExitNotConverged
	}
	p.end(code)
}

// actions returns the steps of a random sequence.
func (m *model) actions() map[string]func(*rapid.T) {
	step := func(do func()) func(*rapid.T) {
		return func(t *rapid.T) {
			m.t = t
			if m.service.dead.Load() {
				m.restart(true)
			}
			m.steps++
			do()
		}
	}
	toggle := func(b interface{ Store(bool) }) func() {
		return func() { b.Store(rapid.Bool().Draw(m.t, "on")) }
	}
	return map[string]func(*rapid.T){
		"create": step(m.create), "create again": step(m.create),
		"pause":  step(func() { m.request(pauseAction, Paused) }),
		"resume": step(func() { m.request(resumeAction, Done) }),
		"cancel": step(func() { m.request(cancelAction, Cancelled) }),
		"verify": step(func() { m.request(verifyAction, Done) }),
		"delete": step(func() { m.request(deleteAction, Deleted) }),
		"end":    step(m.end), "end another": step(m.end),
		"kill":    step(func() { m.restart(true) }),
		"restart": step(func() { m.restart(false) }),
		"kill at the next write": step(func() {
			m.service.dying.Store(int32(rapid.IntRange(1, 2).Draw(m.t, "when")))
		}),
		"full disk":  step(toggle(&m.world.full)),
		"slow sinfo": step(toggle(&m.world.slow)),
		"time passes": step(func() {
			m.queue.tick()
			time.Sleep(time.Duration(rapid.IntRange(0, 3000).Draw(m.t, "microseconds")) * time.Microsecond)
		}),
		"": func(t *rapid.T) {
			m.t = t
			if !m.service.dead.Load() {
				m.check()
			}
		},
	}
}

// finish lets everything come to rest. Every campaign must then be as it was acknowledged, also for the next service.
func (m *model) finish() {
	m.world.full.Store(false)
	m.world.slow.Store(false)
	m.world.auto.Store(true)
	for range 2 {
		m.restart(true)
		deadline := time.Now().Add(testutil.HangTimeout)
		for !m.atRest() {
			if time.Now().After(deadline) {
				m.t.Fatalf("no rest: %+v", m.queue.Campaigns())
			}
			m.world.mu.Lock()
			for _, p := range m.world.running {
				p.endLocked(ExitDone)
			}
			m.world.mu.Unlock()
			m.queue.tick()
			time.Sleep(time.Millisecond)
		}
		m.check()
		m.world.mu.Lock()
		for _, c := range m.queue.Campaigns() {
			if m.wanted[c.ID] == Done && !m.unsure[c.ID] && c.State != Done && !m.world.failed[c.ID] {
				m.t.Errorf("campaign %s is %s (%s), want it done", c.ID, c.State, c.Error)
			}
			m.checkProgress(c.ID)
			if c.State == Done && !m.world.completed[c.ID] {
				m.t.Errorf("campaign %s is done without its measurements", c.ID)
			}
			if n := m.world.verified[c.ID]; n > m.asked[c.ID] || c.State == Done && n == 0 && m.verify[c.ID] && !m.unsure[c.ID] && !m.world.unverified[c.ID] {
				m.t.Errorf("campaign %s has %d verifications, %d were asked for", c.ID, n, m.asked[c.ID])
			}
		}
		m.world.mu.Unlock()
	}
	m.queue.drain()
	m.queue.events.file.Close()
}

// checkProgress checks that launches that read the settings of the machine cost machine time, and are no rounds and trials.
func (m *model) checkProgress(id string) {
	v, err := m.queue.view(context.Background(), id)
	if err != nil {
		m.t.Fatalf("campaign %s: %v", id, err)
	}
	if p, want := v.progress(), float64(m.world.read[id]); p.NodeSeconds != want || p.Trials != 0 || p.Rounds != 0 {
		m.t.Errorf("campaign %s: %g node-seconds, %d rounds, %d trials, want %g, 0, 0", id, p.NodeSeconds, p.Rounds, p.Trials, want)
	}
}

// atRest reports whether no campaign waits or runs.
func (m *model) atRest() bool {
	return !slices.ContainsFunc(m.queue.Campaigns(), func(c Campaign) bool { return slices.Contains([]State{Queued, Running, Stopping}, c.State) })
}

// TestModel drives a service with random sequences of requests, ends of processes, kills, restarts, a full disk and
// a machine that is slow to inspect. Nothing that was acknowledged may be lost, no campaign may run twice, and at most
// one campaign or verification may run on a machine. A verification that was acknowledged runs, and runs once.
func TestModel(t *testing.T) {
	checks := "10"
	if testutil.AllCases() {
		checks = "200"
	}
	testutil.NoError(t, errors.Join(flag.Set("rapid.checks", checks), flag.Set("rapid.steps", "100"), flag.Set("rapid.shrinktime", "1s"), flag.Set("rapid.nofailfile", "true")))
	steps, starts, verifications := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("/dev/shm", "tutti-model") // where fsync costs nothing
		if err != nil {
			dir, err = os.MkdirTemp("", "tutti-model")
		}
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, campaignsDir), 0o700)
		}
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := &model{t: rt, world: newWorld(), clock: clockwork.NewFakeClock(), dir: dir, wanted: map[string]State{}, unsure: map[string]bool{}, asked: map[string]int{}, verify: map[string]bool{}}
		stop := fastClock(m.clock)
		defer stop()
		m.start()
		rt.Repeat(m.actions())
		m.t = rt
		m.finish()
		steps, starts = steps+m.steps, starts+m.world.starts
		for _, n := range m.world.verified {
			verifications += n
		}
	})
	t.Logf("%d steps, %d processes, %d verifications", steps, starts, verifications)
}

// fastClock lets a clock run about a thousand times as fast as time, until the function `stop` is called.
func fastClock(clock *clockwork.FakeClock) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				clock.Advance(time.Second)
			}
		}
	}()
	return func() { close(done) }
}
