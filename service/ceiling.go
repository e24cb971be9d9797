package service

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Ceilings are the node-hours that campaigns may take of machines. Those from recorded
// data take none.
type Ceilings struct {
	Campaign float64 // budget of a campaign, at most; 0: DefaultCampaign
	Day      float64 // all campaigns and probes from midnight to midnight; 0: DefaultDay
}

// The ceilings of a service that says nothing: what tutti tune takes without asking, and
// one node around the clock.
const (
	DefaultCampaign = 10
	DefaultDay      = 24
)

// Overrun is how far a campaign may pass its budget, as a factor. It looks at its budget
// between rounds and ends by itself; one that goes on in a long round is stopped here.
const Overrun = 1.2

// rounding is what sums of node-hours may be off by.
const rounding = 1e-9

// Ask is what a campaign would ask of its machine.
type Ask struct {
	Measures  bool    // it runs benchmarks
	NodeHours float64 // its budget; 0: it sets none
}

// NodeHours is what campaigns may take and have taken of machines, in node-hours.
type NodeHours struct {
	Campaign float64   `json:"campaign" doc:"Budget of a campaign, at most"`
	Day      float64   `json:"day" doc:"All campaigns from midnight to midnight, at most"`
	Spent    float64   `json:"spent" doc:"Today, by the journals"`
	Promised float64   `json:"promised" doc:"To the campaigns at work, beyond what they have spent"`
	Left     float64   `json:"left" doc:"Today"`
	Until    time.Time `json:"until" doc:"When the next day begins"`
}

// Validate reports ceilings under which a campaign that gets all it may could never begin.
func (c Ceilings) Validate() error {
	if most := Overrun * c.Campaign; most > c.Day+rounding {
		return fmt.Errorf("%s node-hours a day: want at least %s, what one campaign may take with a round that it ends", hours(c.Day), hours(most))
	}
	return nil
}

// budget is what a campaign gets that asks for something, 0 for one that takes nothing.
// To ask for more than the ceiling is a *FieldError.
func (c Ceilings) budget(a Ask) (float64, error) {
	switch {
	case !a.Measures:
		return 0, nil
	case a.NodeHours > c.Campaign:
		return 0, &FieldError{"set.stop.node_hours", fmt.Sprintf("%s: the service allows a campaign at most %s node-hours (node_hours.campaign)", hours(a.NodeHours), hours(c.Campaign))}
	}
	return cmp.Or(a.NodeHours, c.Campaign), nil
}

// budget is what a campaign of a base gets with settings, 0 for one that takes nothing.
func (s *Service) budget(b Base, set map[string]string) (float64, error) {
	if s.opt.Check == nil {
		return 0, nil
	}
	a, err := s.opt.Check(b, set)
	if err != nil {
		return 0, err
	}
	return s.opt.Ceilings.budget(a)
}

// limit is the node-seconds at which a campaign is stopped. It needs the lock.
func (s *Service) limit(e *entry) float64 {
	return 3600 * Overrun * min(e.NodeHours, s.opt.Ceilings.Campaign)
}

// limited reports whether a campaign takes something of a machine.
func (e *entry) limited() bool { return e.NodeHours > 0 }

// toTake is what a campaign may still take, in node-seconds. It needs the lock.
func (s *Service) toTake(e *entry) float64 {
	return max(0, s.limit(e)-e.show().Progress.NodeSeconds)
}

// spentOn returns the node-seconds of a day. It needs the lock of the service.
func (e *entry) spentOn(day string) float64 {
	if e.track == nil {
		return e.spent.on(day)
	}
	return max(e.spent.on(day), e.track.digest.spending().on(day)) // one that is read again knows less at first
}

// NodeHours returns what may be taken today and how much of it is left.
func (s *Service) NodeHours() NodeHours {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodeHours()
}

// nodeHours needs the lock.
func (s *Service) nodeHours() NodeHours {
	now := s.clock.Now()
	day := dayOf(now)
	var spent, promised float64
	for _, e := range s.order {
		if !e.limited() {
			continue
		}
		spent += e.spentOn(day)
		if e.State == Running || e.State == Stopping || s.machines[e.Machine] == e.ID {
			promised += s.toTake(e)
		}
	}
	for _, p := range s.schedule {
		spent += p.Probed.on(day)
	}
	h := NodeHours{Campaign: s.opt.Ceilings.Campaign, Day: s.opt.Ceilings.Day, Spent: spent / 3600, Promised: promised / 3600, Until: nextDay(now)}
	h.Left = max(0, h.Day-h.Spent-h.Promised)
	return h
}

// waitsForHours is what a campaign waits for that the rest of today does not suffice for.
const waitsForHours = "for node-hours: those of today are spent or promised"

// affords reports whether what a campaign may take is left today. It needs the lock.
func (s *Service) affords(e *entry) bool {
	return !e.limited() || s.toTake(e)/3600 <= s.nodeHours().Left+rounding
}

// refuse reports why a campaign with a budget cannot be made today, nil when it can: it
// would wait until tomorrow even if nothing else ran. It needs the lock.
func (s *Service) refuse(budget float64) error {
	h := s.nodeHours()
	if budget == 0 || h.Spent+Overrun*budget <= h.Day+rounding {
		return nil
	}
	return fmt.Errorf("%w: %s of today's %s are left, this campaign may take %s: ask for fewer with stop.node_hours, or tomorrow",
		ErrSpent, hours(max(0, h.Day-h.Spent)), hours(h.Day), hours(Overrun*budget))
}

// hours writes node-hours with the digits that count.
func hours(h float64) string {
	if h >= 100 {
		return strconv.FormatFloat(h, 'f', 0, 64)
	}
	return strconv.FormatFloat(h, 'g', 3, 64)
}

// enforce stops a campaign that has taken more than it may.
func (s *Service) enforce(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.process == nil || e.Want != "" || !e.limited() || s.toTake(e) > 0 {
		return
	}
	s.log.Warn("campaign stopped: it has taken all its node-hours", "campaign", e.ID, "node_hours", e.NodeHours)
	e.Want = wantHalt
	err := s.enter(e, Stopping)
	if err == nil {
		err = s.urge(e, e.process)
	}
	if err != nil {
		s.log.Error("campaign not stopped", "campaign", e.ID, "error", err)
	}
}

// overspent says what a stopped campaign has taken. It needs the lock.
func (s *Service) overspent(e *entry) error {
	return fmt.Errorf("%w: campaign %s has taken %s node-hours of a budget of %s", ErrSpent, e.ID, hours(e.show().Progress.NodeSeconds/3600), hours(e.NodeHours))
}

// loadSpending learns from the journals what was taken today. A campaign whose journal
// cannot be read counts with all that it may take. It needs that nobody else has the
// service yet.
func (s *Service) loadSpending() {
	today := dayOf(s.clock.Now())
	for _, e := range s.order {
		if b, err := s.base(e.Base); err == nil && b.Ask.Measures && e.NodeHours == 0 && !e.State.Over() {
			e.NodeHours = s.opt.Ceilings.Campaign // made by a release that knew no budgets
		}
		about, err := os.Stat(e.journal())
		if err != nil || !e.limited() || e.State.Over() && dayOf(about.ModTime()) < today {
			continue
		}
		if err := s.trackOf(e).advance(); err != nil {
			s.log.Warn("journal not read: it counts with all that the campaign may take", "campaign", e.ID, "error", err)
			e.spent = spending{today, s.limit(e)}
		}
	}
}

// followDays gives the campaigns that wait for node-hours their chance when a day begins,
// until ctx is cancelled. It looks every hour: clocks are put right.
func (s *Service) followDays(ctx context.Context) {
	for {
		now := s.clock.Now()
		select {
		case <-ctx.Done():
			return
		case <-s.clock.After(min(time.Hour, nextDay(now).Sub(now))):
		}
		s.mu.Lock()
		s.dispatch()
		s.mu.Unlock()
	}
}

// probed counts what a probe has taken.
func (s *Service) probed(b Base, p Probe) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agenda(b).Probed.add(s.clock.Now(), p.NodeSeconds)
	if err := s.saveSchedule(); err != nil {
		s.log.Error("what a probe took is not kept", "path", filepath.Join(s.opt.State, scheduleName), "error", err)
	}
}
