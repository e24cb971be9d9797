package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"tutti/campaign/verification"
	"tutti/internal/config"
)

// Scheduled describes the schedule of a base, which is a campaign file of the service. It contains the last
// decision whether to create a campaign.
type Scheduled struct {
	Base     string    `json:"base"`
	Schedule string    `json:"schedule"`
	TimeZone string    `json:"time_zone"`
	Next     time.Time `json:"next,omitzero"`
	Last     time.Time `json:"last,omitzero"`      // last decision
	Decision string    `json:"decision,omitempty"` // why the last campaign was created or not
}

// schedule creates campaigns from those bases (campaign files) that have a schedule. It is safe for concurrent use.
type schedule struct {
	opt   *Options
	queue *queue
	path  string // of the file with the decisions

	mu        sync.Mutex
	decisions map[string]decision  // by base
	next      map[string]time.Time // time of the next decision, by base; empty before start and with Options.Once
}

// decision is the last decision whether to create a campaign from a base (a campaign file).
type decision struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

func newSchedule(q *queue) *schedule {
	s := &schedule{opt: q.opt, queue: q, path: filepath.Join(q.opt.State, scheduleFile), next: map[string]time.Time{}}
	readable := false
	if s.decisions, readable = readOrSetAside[map[string]decision](s.path, q.opt.Log); s.decisions == nil {
		s.decisions = map[string]decision{}
	}
	for _, b := range q.opt.Bases {
		if !readable && b.Schedule != "" {
			s.decisions[b.Name] = decision{Text: "the earlier decisions were unreadable: the service's log says why"}
		}
	}
	return s
}

func (s *schedule) list() []Scheduled {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Scheduled{}
	for _, b := range s.opt.Bases {
		if b.Schedule != "" {
			out = append(out, s.scheduledLocked(b))
		}
	}
	return out
}

func (s *schedule) scheduledLocked(b config.Base) Scheduled {
	last := s.decisions[b.Name]
	return Scheduled{Base: b.Name, Schedule: b.Schedule, TimeZone: b.TimeZone, Next: s.next[b.Name], Last: last.Time, Decision: last.Text}
}

// start decides whether to create campaigns from the bases (campaign files) at their scheduled times, until ctx
// is cancelled. With Options.Once it decides only about bases that are due or have no decision.
func (s *schedule) start(ctx context.Context, tasks *sync.WaitGroup) {
	for _, b := range s.opt.Bases {
		switch {
		case b.Schedule == "":
		case s.opt.Once:
			s.follow(ctx, b)
		default:
			tasks.Go(func() { s.follow(ctx, b) })
		}
	}
}

// follow decides at each scheduled time of a base (a campaign file) whether to create a campaign. It decides at once
// if such a time passed while no service ran. With Options.Once, it also decides at once if there was no decision
// yet.
func (s *schedule) follow(ctx context.Context, b config.Base) {
	clock := s.opt.Clock
	cron := gocron.NewDefaultCron(false)
	if err := cron.IsValid(b.CronEntry(), time.Local, clock.Now()); err != nil {
		s.opt.Log.Error("no schedule", "base", b.Name, "error", err)
		return
	}
	s.mu.Lock()
	last := s.decisions[b.Name].Time
	s.mu.Unlock()
	if last.IsZero() {
		if s.opt.Once {
			s.decide(ctx, b, clock.Now())
		}
	} else if due := cron.Next(last); !due.After(clock.Now()) {
		s.decide(ctx, b, due)
	}
	for !s.opt.Once && ctx.Err() == nil {
		now := clock.Now()
		next := cron.Next(now)
		timer := clock.NewTimer(min(next.Sub(now), clockPoll))
		s.mu.Lock()
		s.next[b.Name] = next
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.Chan():
			if !clock.Now().Before(next) {
				s.decide(ctx, b, next)
			}
		}
	}
}

// clockPoll is the longest time between two looks at the clock, since it may be set, and a timer does not run while the
// machine is suspended.
const clockPoll = 10 * time.Second

// decide checks the conditions of a campaign file whose scheduled time has come. If they are met, it creates a
// campaign. It saves what it decided. A service that dies before saving decides again after its restart; the
// same idempotency key, made of file and scheduled time, then prevents a second campaign.
func (s *schedule) decide(ctx context.Context, b config.Base, due time.Time) {
	defer s.opt.recoverFrom("the schedule of " + b.Name)
	run, from, reason := s.check(ctx, b)
	if ctx.Err() != nil {
		return // the next service makes the decision
	}
	text := "no campaign: " + reason
	if run {
		r := Request{Base: b.Name, Name: b.Name + " " + due.UTC().Format(time.RFC3339), From: from}
		key := fmt.Sprintf("\x00schedule %s %d", b.Name, due.Truncate(time.Minute).Unix())
		text = createScheduled(s.queue, r, key, "schedule", reason)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decisions[b.Name] = decision{s.opt.Clock.Now().UTC(), text}
	err := writeJSON(s.path, s.decisions)
	if err == nil {
		err = s.queue.events.publish(scheduleEvent, s.scheduledLocked(b))
	}
	if err != nil {
		s.opt.Log.Error("decision not saved", "base", b.Name, "error", err)
	}
	s.opt.Log.Info("schedule", "base", b.Name, "decision", text)
}

// createScheduled creates a campaign; the texts `cause` and `reason` say why. It returns a text with the
// campaign's ID, or with the reason why no campaign was created.
func createScheduled(q *queue, r Request, key, cause, reason string) string {
	c, _, err := q.create(r, key, cause+": "+reason)
	if err != nil {
		q.opt.Log.Error("no campaign", "base", r.Base, "cause", cause, "error", err)
		return reason + ", but there is no campaign: " + publicReason(err)
	}
	return fmt.Sprintf("campaign %s: %s", c.ID, reason)
}

// publicReason returns the part of an error's text that every role may read. Errors of the system, of
// programs and of campaign files may contain secrets. These errors appear only in the log.
func publicReason(err error) string {
	for _, own := range []error{ErrQueueFull, ErrQuota, ErrDraining, ErrNoBase} {
		if errors.Is(err, own) {
			return err.Error()
		}
	}
	return "the service's log says why"
}

// check reports whether a scheduled campaign should be created. It also returns the ID of the campaign (`from`)
// whose measurements the new campaign begins with.
func (s *schedule) check(ctx context.Context, b config.Base) (run bool, from, reason string) {
	last, open := s.queue.lastOf(b.Name)
	switch {
	case open != nil:
		return false, "", fmt.Sprintf("campaign %s is %s", open.ID, open.State)
	case last == nil:
		return true, "", "there is no earlier one"
	}
	if b.FromLast {
		from = last.id
	}
	if b.When == (config.StartCondition{}) {
		return true, from, "it has no conditions"
	}
	run, reason = s.checkConditions(ctx, b, last)
	return run, from, reason
}

// checkConditions checks the conditions of a schedule, beginning with the cheapest. The returned reason
// describes the first condition that is met, or all conditions if none is met.
func (s *schedule) checkConditions(ctx context.Context, b config.Base, last *finished) (met bool, reason string) {
	conditions := []struct {
		set   bool
		check func() (bool, string)
	}{
		{b.When.AgeSeconds > 0, func() (bool, string) {
			age := s.opt.Clock.Now().Sub(last.ended)
			return age.Seconds() >= b.When.AgeSeconds, fmt.Sprintf("campaign %s ended %s ago", last.id, formatAge(age))
		}},
		{b.When.Library || b.When.Nodes, func() (bool, string) { return s.checkMachine(ctx, b, last.machine) }},
		{b.When.Drift > 0, func() (bool, string) { return s.checkDrift(ctx, b, last.results) }},
	}
	var reasons []string
	for _, c := range conditions {
		if !c.set {
			continue
		}
		holds, reason := c.check()
		if holds {
			return true, reason
		}
		reasons = append(reasons, reason)
	}
	return false, strings.Join(reasons, "; ")
}

func formatAge(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	}
	return d.Round(time.Second).String()
}

// checkMachine reports whether the machine has changed since the last campaign.
func (s *schedule) checkMachine(ctx context.Context, b config.Base, before *MachineState) (changed bool, reason string) {
	if before == nil {
		return false, "the state of the machine at the last campaign is not known"
	}
	now, err := s.opt.Inspect(ctx, b)
	if err != nil {
		s.opt.Log.Warn("machine not inspected", "base", b.Name, "error", err)
		return false, "the state of the machine is not known: the service's log says why"
	}
	if b.When.Library {
		if text := changedLibrary(before.Libraries, now.Libraries); text != "" {
			s.opt.Log.Info("library changed", "base", b.Name, "before", before.Libraries, "now", now.Libraries)
			return true, text
		}
	}
	if b.When.Nodes {
		if text := changedNodes(before.Nodes, now.Nodes); text != "" {
			return true, text
		}
	}
	return false, "the machine has not changed"
}

// checkDrift reports whether times have changed since the last campaign. If the machine is free, it repeats a
// few measurements of that campaign to find out.
func (s *schedule) checkDrift(ctx context.Context, b config.Base, results string) (drifted bool, reason string) {
	release, busy := s.queue.reserveMachine(b)
	if release == nil {
		return false, "drift was not measured: " + busy
	}
	defer release()
	d, err := s.measureDrift(ctx, b, results)
	if err != nil {
		s.opt.Log.Warn("drift not measured", "base", b.Name, "error", err)
		return false, "drift was not measured: the service's log says why"
	}
	if b.Demand.Measures {
		s.queue.mu.Lock()
		err := s.queue.store.addSpending(&s.queue.spent, s.opt.Clock.Now(), d.NodeSeconds)
		s.queue.mu.Unlock()
		if err != nil {
			s.opt.Log.Error("spending of a drift measurement not saved", "error", err)
		}
	}
	return d.Change >= b.When.Drift, fmt.Sprintf("%d repeated measurements differ by %.1f %%, times are %.3f of the earlier ones",
		d.Candidates, 100*d.Change, d.Ratio)
}

// driftCandidates is the number of candidates that a drift measurement measures again.
const driftCandidates = "16"

// driftTime limits a drift measurement, waiting for nodes included.
const driftTime = 24 * time.Hour

// measureDrift runs the command "tutti verify --drift". It returns the drift that the command measured.
func (s *schedule) measureDrift(ctx context.Context, b config.Base, results string) (d verification.Drift, err error) {
	ctx, stop := context.WithTimeout(ctx, driftTime)
	defer stop()
	dir := filepath.Join(s.opt.State, driftDir, b.Name)
	err = runJSON(ctx, s.queue.processes, dir, &d, "verify", results, "--drift", driftCandidates, "--format", "json")
	if err == nil && d.Candidates == 0 {
		err = fmt.Errorf("nothing was measured, %d failed", d.Failed)
	}
	return d, err
}
