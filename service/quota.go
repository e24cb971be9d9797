package service

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/report"
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

// budgetOf returns the budget, in node-hours, of a campaign with the given campaign file and settings. It is 0 for a
// campaign on recorded data. If the demand exceeds the limit for one campaign, the error is a *config.FieldError.
func budgetOf(opt *Options, b config.Base, set map[string]string) (float64, error) {
	if opt.Check == nil {
		return 0, nil
	}
	d, err := opt.Check(b, set)
	most := opt.Quota.Campaign
	switch {
	case err != nil, !d.Measures:
		return 0, err
	case d.NodeHours > most:
		return 0, &config.FieldError{Field: "set.stop.node_hours", Text: fmt.Sprintf(
			"%s: the service allows a campaign at most %s node-hours (node_hours.campaign)", report.FormatNodeHours(d.NodeHours), report.FormatNodeHours(most))}
	}
	return cmp.Or(d.NodeHours, most), nil
}

// maxNodeSeconds returns the number of node-seconds above which a campaign is stopped: the budget and the
// allowed overrun.
func maxNodeSeconds(opt *Options, e *entry) float64 {
	return 3600 * config.Overrun * min(e.budget(), opt.Quota.Campaign)
}

// reserved returns the node-seconds that a campaign may use in addition to those it has used.
func reserved(opt *Options, e *entry) float64 { return max(0, maxNodeSeconds(opt, e)-e.used()) }

// budget returns the budget of the present stage of a campaign in node-hours.
func (e *entry) budget() float64 {
	if hours := e.hoursOf(e.VerifyTime); e.Verifying && hours > 0 {
		return hours
	}
	return e.NodeHours
}

// used returns the node-seconds of the budget that a campaign has used. A verification has a budget of its own, as
// large as that of tuning.
func (e *entry) used() float64 {
	p := e.current().Progress
	if e.Verifying {
		return p.Verification - e.SpentBefore
	}
	return p.NodeSeconds
}

// exceeded returns an error if a campaign has used all that it may use, over all its processes: node-hours, time on
// recorded data, or disk. The error matches ErrQuota or ErrLimit.
func exceeded(opt *Options, e *entry) error {
	limits := opt.Limits
	switch ran := e.ranUntil(opt.Clock.Now()); {
	case e.measures() && reserved(opt, e) == 0:
		return fmt.Errorf("%w: campaign %s has taken %s node-hours of a budget of %s",
			ErrQuota, e.ID, report.FormatNodeHours(e.used()/3600), report.FormatNodeHours(e.budget()))
	case !e.measures() && limits.Recorded > 0 && ran > limits.Recorded:
		return fmt.Errorf("%w: campaign %s on recorded data has run for more than %v (limits.recorded)", ErrLimit, e.ID, limits.Recorded)
	case limits.DiskBytes > 0 && e.disk > limits.DiskBytes:
		return fmt.Errorf("%w: the files of campaign %s, the output of its benchmarks included, take more than %s (limits.disk)",
			ErrLimit, e.ID, coll.FormatBytes(limits.DiskBytes))
	}
	return nil
}

// addSpending adds node-seconds to what was spent today, for what no journal in the folder of campaigns shows: drift
// measurements and deleted campaigns. If the sum cannot be written, it stays as it is.
func (s store) addSpending(sum *daySpending, now time.Time, nodeSeconds float64) error {
	if nodeSeconds == 0 {
		return nil
	}
	after := *sum
	after.add(now, now, nodeSeconds)
	err := s.write(filepath.Join(s.state, quotaFile), after)
	if err == nil {
		*sum = after
	}
	return err
}

// NodeHours returns the node-hours that campaigns have used today and the node-hours that they may still
// use.
func (q *queue) NodeHours() NodeHours {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.opt.nodeHours(q.spent, q.campaigns.order)
}

// nodeHours sums what the campaigns and others have spent today and what the campaigns may still spend. The caller must
// hold the lock of the queue.
func (o *Options) nodeHours(others daySpending, campaigns []*entry) NodeHours {
	now := o.Clock.Now()
	today := dayOf(now)
	spent, kept := others.on(today), 0.0
	for _, e := range campaigns {
		if !e.measures() {
			continue
		}
		if e.unreadable() && !(e.State.Over() && dayOf(e.lastEnd()) < today) {
			spent += max(e.spentOn(today), maxNodeSeconds(o, e)) // all that it may spend
			continue
		}
		spent += e.spentOn(today)
		if e.State == Running || e.State == Stopping || e.usesMachine() {
			kept += reserved(o, e)
		}
	}
	h := NodeHours{Campaign: o.Quota.Campaign, Day: o.Quota.Day, Spent: spent / 3600, Reserved: kept / 3600, Until: nextDay(now)}
	h.Remaining = max(0, h.Day-h.Spent-h.Reserved)
	return h
}

// checkToday returns an error if a campaign with the given budget could not start today even if no other
// campaign ran. The error matches ErrQuota.
func (h NodeHours) checkToday(budget float64) error {
	if budget == 0 || h.Spent+config.Overrun*budget <= h.Day+hoursTolerance {
		return nil
	}
	return fmt.Errorf("%w: %s of today's %s remain, this campaign may take %s: ask for fewer with stop.node_hours, or tomorrow",
		ErrQuota, report.FormatNodeHours(max(0, h.Day-h.Spent)), report.FormatNodeHours(h.Day), report.FormatNodeHours(config.Overrun*budget))
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
