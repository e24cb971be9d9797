package service

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/google/renameio/v2"
	"github.com/jonboulle/clockwork"

	"tutti/internal/config"
)

// NodeHours has the limits on node-hours, and how many node-hours were used today.
type NodeHours struct {
	Campaign  float64   `json:"campaign" doc:"Budget of a campaign, at most"`
	Day       float64   `json:"day" doc:"All campaigns from midnight to midnight, at most"`
	Spent     float64   `json:"spent" doc:"Today, according to the journals"`
	Reserved  float64   `json:"reserved" doc:"For running campaigns, in addition to what they have spent"`
	Remaining float64   `json:"remaining" doc:"Of today"`
	Until     time.Time `json:"until" doc:"When the next day begins"`
}

// hoursTolerance is the largest accepted rounding error of a sum of node-hours.
const hoursTolerance = 1e-9

// quota limits the node-hours of a campaign and of a day. The journals show what campaigns have spent.
// quota itself counts only what drift measurements have spent. It is safe for concurrent use.
type quota struct {
	config.Quota
	clock clockwork.Clock
	path  string // of the file with the spending of drift measurements

	mu    sync.Mutex
	drift daySpending
}

func newQuota(limits config.Quota, clock clockwork.Clock, path string) (*quota, error) {
	limits.Campaign = cmp.Or(limits.Campaign, config.DefaultCampaignHours)
	limits.Day = cmp.Or(limits.Day, config.DefaultDayHours)
	if err := limits.Validate(); err != nil {
		return nil, fmt.Errorf("quota: %w", err)
	}
	q := &quota{Quota: limits, clock: clock, path: path}
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &q.drift)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return q, nil
}

// budget returns the budget of a campaign in node-hours, or 0 for a campaign on recorded data. If the
// demand exceeds the limit for one campaign, the error is a *config.FieldError.
func (q *quota) budget(d config.Demand) (float64, error) {
	switch {
	case !d.Measures:
		return 0, nil
	case d.NodeHours > q.Campaign:
		return 0, &config.FieldError{Field: "set.stop.node_hours", Text: fmt.Sprintf(
			"%s: the service allows a campaign at most %s node-hours (node_hours.campaign)", formatHours(d.NodeHours), formatHours(q.Campaign))}
	}
	return cmp.Or(d.NodeHours, q.Campaign), nil
}

// maxNodeSeconds returns the number of node-seconds at which a campaign with the given budget is stopped.
func (q *quota) maxNodeSeconds(budget float64) float64 {
	return 3600 * config.Overrun * min(budget, q.Campaign)
}

// addDrift adds the node-seconds of a drift measurement to what was spent today.
func (q *quota) addDrift(nodeSeconds float64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	q.drift.add(now, now, nodeSeconds)
	return writeJSON(q.path, q.drift)
}

// nodeHours returns the node-hours of today. The parameters are the node-seconds that campaigns have spent,
// and those reserved for campaigns.
func (q *quota) nodeHours(spent, reserved float64) NodeHours {
	now := q.clock.Now()
	q.mu.Lock()
	spent += q.drift.on(dayOf(now))
	q.mu.Unlock()
	h := NodeHours{Campaign: q.Campaign, Day: q.Day, Spent: spent / 3600, Reserved: reserved / 3600, Until: nextDay(now)}
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
		ErrQuota, formatHours(max(0, h.Day-h.Spent)), formatHours(h.Day), formatHours(config.Overrun*budget))
}

// formatHours writes node-hours with three significant digits.
func formatHours(h float64) string {
	if h >= 100 {
		return strconv.FormatFloat(h, 'f', 0, 64)
	}
	return strconv.FormatFloat(h, 'g', 3, 64)
}

// daySpending has the node-seconds that were spent on one day: the latest day for which any were added.
type daySpending struct {
	Day         string  `json:"day"` // 2006-01-02, local time
	NodeSeconds float64 `json:"node_seconds"`
}

// add adds node-seconds that were spent at t. A time after now counts as now, because a later day would end
// the limit of today. A time before the day counts on the day.
func (s *daySpending) add(t, now time.Time, nodeSeconds float64) {
	if t.After(now) {
		t = now
	}
	if day := dayOf(t); day > s.Day {
		*s = daySpending{Day: day}
	}
	s.NodeSeconds += nodeSeconds
}

// on returns the node-seconds that count on a day: none after the latest day.
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

// writeJSON atomically writes a value as JSON into a file that only its owner can read.
func writeJSON(path string, v any) error {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, append(content, '\n'), 0o600)
}
