package service

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"tutti/internal/config"
)

// NodeHours contains the limits of node-hours, and the node-hours that were used today.
type NodeHours struct {
	Campaign  float64   `json:"campaign" doc:"Budget of a campaign, at most"`
	Day       float64   `json:"day" doc:"All campaigns from midnight to midnight, at most"`
	Spent     float64   `json:"spent" doc:"Today, according to the journals"`
	Reserved  float64   `json:"reserved" doc:"For running campaigns, in addition to what they have spent"`
	Remaining float64   `json:"remaining" doc:"Of today"`
	Until     time.Time `json:"until" doc:"When the next day begins"`
}

// hoursTolerance is by how many node-hours a sum may exceed a quota, because of rounding errors.
const hoursTolerance = 1e-9

// budget returns the budget, in node-hours, of a campaign with the given campaign file and settings. It is 0 for a
// campaign on recorded data. If the demand exceeds the limit for one campaign, the error is a *config.FieldError.
func (q *queue) budget(b config.Base, set map[string]string) (float64, error) {
	if q.opt.Check == nil {
		return 0, nil
	}
	d, err := q.opt.Check(b, set)
	most := q.opt.Quota.Campaign
	switch {
	case err != nil, !d.Measures:
		return 0, err
	case d.NodeHours > most:
		return 0, &config.FieldError{Field: "set.stop.node_hours", Text: fmt.Sprintf(
			"%s: the service allows a campaign at most %s node-hours (node_hours.campaign)", formatHours(d.NodeHours), formatHours(most))}
	}
	return cmp.Or(d.NodeHours, most), nil
}

// maxNodeSeconds returns the number of node-seconds above which a campaign is stopped: the budget and the
// allowed overrun.
func (q *queue) maxNodeSeconds(e *entry) float64 {
	return 3600 * config.Overrun * min(e.NodeHours, q.opt.Quota.Campaign)
}

// addDrift adds the node-seconds of a measurement of drift (whether the machine has changed) to what was spent
// today.
func (q *queue) addDrift(nodeSeconds float64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.opt.Clock.Now()
	q.drift.add(now, now, nodeSeconds)
	return writeJSON(filepath.Join(q.opt.State, quotaFile), q.drift)
}

// NodeHours returns the node-hours that campaigns have used today and the node-hours that they may still
// use.
func (q *queue) NodeHours() NodeHours {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.nodeHoursLocked()
}

func (q *queue) nodeHoursLocked() NodeHours {
	now := q.opt.Clock.Now()
	today := dayOf(now)
	spent, reserved := q.drift.on(today), 0.0
	for _, e := range q.order {
		if !e.measures() {
			continue
		}
		if e.unreadable() && !(e.State.Over() && dayOf(e.Ended) < today) {
			spent += max(e.spentOn(today), q.maxNodeSeconds(e)) // all that it may spend
			continue
		}
		spent += e.spentOn(today)
		if e.State == Running || e.State == Stopping || q.machines[e.Machine] == e.ID {
			reserved += q.reservedLocked(e)
		}
	}
	h := NodeHours{Campaign: q.opt.Quota.Campaign, Day: q.opt.Quota.Day, Spent: spent / 3600, Reserved: reserved / 3600, Until: nextDay(now)}
	h.Remaining = max(0, h.Day-h.Spent-h.Reserved)
	return h
}

// reservedLocked returns the node-seconds that a campaign may use in addition to those it has used.
func (q *queue) reservedLocked(e *entry) float64 {
	return max(0, q.maxNodeSeconds(e)-e.current().Progress.NodeSeconds)
}

// overBudgetLocked reports whether a campaign has used all its node-hours or, on recorded data, all its time.
func (q *queue) overBudgetLocked(e *entry) bool {
	if e.measures() {
		return q.reservedLocked(e) == 0
	}
	return q.opt.Limits.Recorded > 0 && q.opt.Clock.Since(e.since) > q.opt.Limits.Recorded
}

func (q *queue) budgetErrorLocked(e *entry) error {
	if !e.measures() {
		return fmt.Errorf("campaign %s on recorded data has run for more than %v (limits.recorded)", e.ID, q.opt.Limits.Recorded)
	}
	return fmt.Errorf("%w: campaign %s has taken %s node-hours of a budget of %s",
		ErrQuota, e.ID, formatHours(e.current().Progress.NodeSeconds/3600), formatHours(e.NodeHours))
}

// checkToday returns an error if a campaign with the given budget could not start today even if no other
// campaign ran. The error matches ErrQuota.
func (h NodeHours) checkToday(budget float64) error {
	if budget == 0 || h.Spent+config.Overrun*budget <= h.Day+hoursTolerance {
		return nil
	}
	return fmt.Errorf("%w: %s of today's %s remain, this campaign may take %s: ask for fewer with stop.node_hours, or tomorrow",
		ErrQuota, formatHours(max(0, h.Day-h.Spent)), formatHours(h.Day), formatHours(config.Overrun*budget))
}

// formatHours writes node-hours with three significant digits.
func formatHours(h float64) string {
	if h >= 100 {
		return strconv.FormatFloat(h, 'f', 0, 64)
	}
	return strconv.FormatFloat(h, 'g', 3, 64)
}

// daySpending contains the node-seconds that were spent on one day. It keeps only the latest day.
type daySpending struct {
	Day         string  `json:"day"` // 2006-01-02, local time
	NodeSeconds float64 `json:"node_seconds"`
}

// add adds node-seconds that were spent at the time t. If t is in the future, they count for today: only the
// latest day is kept, so another day would delete what was spent today. If t is before the stored day, they
// count for the stored day.
func (s *daySpending) add(t, now time.Time, nodeSeconds float64) {
	if t.After(now) {
		t = now
	}
	if day := dayOf(t); day > s.Day {
		*s = daySpending{Day: day}
	}
	s.NodeSeconds += nodeSeconds
}

// on returns the node-seconds that were spent on a day. It returns 0 for days after the stored one.
func (s daySpending) on(day string) float64 {
	if s.Day < day {
		return 0
	}
	return s.NodeSeconds
}

func dayOf(t time.Time) string { return t.Local().Format(time.DateOnly) }

// nextDay returns the time at which the day of t ends.
func nextDay(t time.Time) time.Time {
	year, month, day := t.Local().Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.Local)
}
