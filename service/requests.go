package service

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode"

	"tutti/internal/config"
	"tutti/journal"
)

// Limits of a request.
const (
	maxKey      = 200 // characters of an idempotency key
	maxName     = 200 // characters
	maxSettings = 32
	maxSetting  = 1000 // bytes of a key and its value
)

// Create creates a campaign and adds it to the queue. If an earlier request had the same key, Create
// returns the campaign of that request, and created is false. If the key is empty, Create always creates a
// campaign.
//
// The error is a *config.FieldError, or matches ErrNoBase, ErrKey, ErrQueueFull, ErrQuota or ErrDraining.
func (q *queue) Create(_ context.Context, r Request, key string) (c Campaign, created bool, err error) {
	if len(key) > maxKey || !isPrintable(key) {
		return Campaign{}, false, &config.FieldError{Field: "Idempotency-Key", Text: fmt.Sprintf("want at most %d printable characters", maxKey)}
	}
	return q.create(r, key, "requested")
}

// create creates a campaign like Create. `reason` becomes Campaign.Reason.
func (q *queue) create(r Request, key, reason string) (c Campaign, created bool, err error) {
	base, budget, err := checkRequest(q.opt, r)
	if err != nil {
		return Campaign{}, false, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if e, known := q.campaigns.byKey[key]; known && key != "" && e.State != Deleted {
		if !e.isFrom(r) {
			return Campaign{}, false, fmt.Errorf("%w: campaign %s", ErrKey, e.ID)
		}
		return e.current(), false, nil
	}
	if err := q.checkPlaceLocked(r.From, budget); err != nil {
		return Campaign{}, false, err
	}
	id := journal.NewID()
	for q.campaigns.byID[id] != nil {
		id = journal.NewID()
	}
	e, err := q.store.create(stored{Key: key, Campaign: Campaign{
		ID: id, Name: r.Name, Base: base.Name, Machine: base.Machine, State: Queued, Exit: ExitUnknown, Reason: reason,
		Set: r.Set, From: r.From, Verify: base.Verify, NodeHours: budget, Created: q.opt.Clock.Now().UTC(),
	}})
	if err != nil {
		return Campaign{}, false, err
	}
	q.campaigns.add(e)
	q.publishLocked(e)
	q.dispatchLocked()
	return e.current(), true, nil
}

// checkPlaceLocked checks whether a new campaign that begins with the measurements of the campaign `from` ("" for
// none) can be added to the queue.
func (q *queue) checkPlaceLocked(from string, budget float64) error {
	if q.stopping.Err() != nil {
		return ErrDraining
	}
	if from != "" {
		e, err := q.campaigns.find(from)
		if err != nil {
			return &config.FieldError{Field: "from", Text: err.Error()}
		}
		if e.State != Done {
			return &config.FieldError{Field: "from", Text: fmt.Sprintf("campaign %s is %s: want one that is done", from, e.State)}
		}
	}
	if err := checkLength(q.opt, q.campaigns.order); err != nil {
		return err
	}
	return q.opt.nodeHours(q.spent, q.campaigns.order).checkToday(budget)
}

// checkRequest checks a request on its own, without looking at other campaigns. It returns the base (a
// campaign file) and the budget in node-hours.
func checkRequest(opt *Options, r Request) (config.Base, float64, error) {
	if len(r.Name) > maxName || !isPrintable(r.Name) {
		return config.Base{}, 0, &config.FieldError{Field: "name", Text: fmt.Sprintf("want at most %d printable characters", maxName)}
	}
	base, err := opt.base(r.Base)
	if err != nil {
		return config.Base{}, 0, err
	}
	if len(r.Set) > maxSettings {
		return config.Base{}, 0, &config.FieldError{Field: "set", Text: fmt.Sprintf("%d keys: want at most %d", len(r.Set), maxSettings)}
	}
	for key, value := range r.Set {
		if len(key)+len(value) > maxSetting || !isPrintable(key) || !isPrintable(value) {
			return config.Base{}, 0, &config.FieldError{Field: "set", Text: fmt.Sprintf("want keys and values of at most %d printable characters", maxSetting)}
		}
	}
	budget, err := budgetOf(opt, base, r.Set)
	return base, budget, err
}

// checkLength returns an error if no more campaigns may wait. The error matches ErrQueueFull.
func checkLength(opt *Options, campaigns []*entry) error {
	n := 0
	for _, e := range campaigns {
		if e.State == Queued {
			n++
		}
	}
	if n >= opt.Limits.Waiting {
		return fmt.Errorf("%w: %d", ErrQueueFull, n)
	}
	return nil
}

func isPrintable(s string) bool {
	return !slices.ContainsFunc([]rune(s), func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) })
}

// Pause stops a campaign so that it can be resumed later. The campaign's jobs stay with the scheduler. The
// error matches ErrNoCampaign or ErrState.
func (s *Service) Pause(id string) (Campaign, error) { return s.request(id, pauseAction, 0) }

// Cancel ends a campaign for good and cancels its jobs. The measurements remain. The error matches
// ErrNoCampaign or ErrState.
func (s *Service) Cancel(id string) (Campaign, error) { return s.request(id, cancelAction, 0) }

// Resume puts a paused or failed campaign into the queue. The error matches ErrNoCampaign,
// ErrState, ErrQueueFull, ErrQuota or ErrDraining.
func (s *Service) Resume(id string) (Campaign, error) { return s.request(id, resumeAction, 0) }

// Verify verifies the files of a campaign: as soon as it is done, or again if it is. The error is a *config.FieldError, or
// matches ErrNoCampaign, ErrState, ErrQueueFull, ErrLimit or ErrDraining.
func (s *Service) Verify(id string, v Verification) (Campaign, error) {
	var limit time.Duration
	if v.MachineTime != "" {
		var err error
		if limit, err = time.ParseDuration(v.MachineTime); err != nil || limit <= 0 {
			return Campaign{}, &config.FieldError{Field: "machine_time", Text: fmt.Sprintf("%q: want a duration above 0 such as 2h or 90m", v.MachineTime)}
		}
	}
	return s.request(id, verifyAction, limit)
}

// Delete removes a campaign that has ended, with all its files. The error matches ErrNoCampaign or ErrState.
func (s *Service) Delete(id string) (Campaign, error) {
	c, err := s.request(id, deleteAction, 0)
	if err == nil {
		if err := os.RemoveAll(filepath.Join(s.opt.State, deletedDir, c.ID)); err != nil {
			s.opt.Log.Warn("files of a deleted campaign remain until the next start", "campaign", c.ID, "error", err)
		}
	}
	return c, err
}

// request changes the state of a campaign as the table `requested` says. limit is the limit of machine time of a
// verification, 0 for none.
func (q *queue) request(id string, a action, limit time.Duration) (Campaign, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, err := q.campaigns.find(id)
	if err != nil {
		return Campaign{}, err
	}
	to := requested[a][e.State][e.ownership()]
	switch {
	case to == "":
		return Campaign{}, fmt.Errorf("%w: campaign %s is %s", ErrState, id, e.State)
	case to == e.State && e.fulfils(a, limit):
		return e.current(), nil
	}
	if err := q.checkActionLocked(e, a, limit); err != nil {
		return Campaign{}, err
	}
	with := func(s *stored) { s.take(a, to, q.opt.Clock.Now()) }
	if a == verifyAction {
		with = func(s *stored) { e.takeVerify(s, limit) }
	}
	if err := q.changeLocked(e, with); err != nil {
		return Campaign{}, err
	}
	switch {
	case to != Stopping:
		q.dispatchLocked()
	case e.worker != nil:
		e.worker.stop()
	case q.started && q.stopping.Err() == nil:
		startWorker(q, e, false)
	}
	return e.current(), nil
}

// fulfils reports whether a request that keeps the state changes nothing else.
func (s *stored) fulfils(a action, limit time.Duration) bool {
	if a == verifyAction {
		return (s.Verify || s.Verifying) && s.VerifyTime == limit
	}
	return s.State != Stopping || a == pauseAction || s.Goal == goals[a]
}

// take sets the state that follows a request, unless it is verifyAction.
func (s *stored) take(a action, to State, now time.Time) {
	s.State, s.Goal = to, ""
	switch {
	case to == Stopping:
		s.Goal = goals[a]
	case to == Queued:
		s.Error, s.NotBefore, s.Hindrances = "", time.Time{}, 0
		if !s.Verifying {
			s.Ended = time.Time{}
		}
	case to == Cancelled && s.Verifying:
		s.State, s.Verifying, s.WaitsFor = Done, false, ""
	case to == Cancelled:
		s.Ended, s.WaitsFor = now.UTC(), ""
	case to == Paused:
		s.WaitsFor = ""
	}
}

// checkActionLocked checks what the state of a campaign does not tell: whether a resumed campaign may run, and
// whether another one needs a campaign that is to be deleted.
func (q *queue) checkActionLocked(e *entry, a action, limit time.Duration) error {
	if (a == resumeAction || a == verifyAction) && q.stopping.Err() != nil {
		return ErrDraining
	}
	switch a {
	case resumeAction:
		e.disk = diskUse(e.dir)
		if err := exceeded(q.opt, e); err != nil {
			return err
		}
		return checkLength(q.opt, q.campaigns.order)
	case verifyAction:
		if err := e.checkVerify(q.opt, limit); err != nil || e.State != Done {
			return err
		}
		return checkLength(q.opt, q.campaigns.order)
	case deleteAction:
		for _, other := range q.campaigns.order {
			if other.From == e.ID && !other.State.Over() && !other.begun() {
				return fmt.Errorf("%w: campaign %s begins with its measurements", ErrState, other.ID)
			}
		}
		now := q.opt.Clock.Now()
		return q.store.addSpending(&q.spent, now, e.spentOn(dayOf(now)))
	}
	return nil
}
