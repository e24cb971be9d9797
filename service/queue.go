package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"tutti/internal/config"
)

// queue contains the campaigns of a service. Its lock guards its fields and the fields of all entries. A caller of a
// method whose name ends in Locked must hold the lock, and still holds it afterwards.
type queue struct {
	opt       *Options
	events    *serviceLog
	store     store
	processes launcher

	mu        sync.Mutex
	campaigns *roster
	drifts    map[string]string // machines with a drift measurement, and its description
	spent     daySpending       // of drift measurements and deleted campaigns; the journals show the rest
	started   bool
	closed    bool // the state folder must not be written any more
	changed   bell // rings when a campaign or a machine changes

	stopping context.Context // cancelled when the service stops
	stop     context.CancelFunc
	workers  sync.WaitGroup
}

// bell wakes all goroutines that wait until the channel rung is closed. The lock of the queue guards it.
type bell struct{ rung chan struct{} }

func newBell() bell { return bell{make(chan struct{})} }

func (b *bell) ring() {
	close(b.rung)
	*b = newBell()
}

func newQueue(opt *Options, events *serviceLog) *queue {
	q := &queue{
		opt: opt, events: events, store: store{opt.State, writeJSON},
		processes: processes{opt}, changed: newBell(),
		campaigns: &roster{byID: map[string]*entry{}, byKey: map[string]*entry{}}, drifts: map[string]string{},
	}
	q.stopping, q.stop = context.WithCancel(context.Background())
	return q
}

// load reads all campaigns, and what was spent today. `published` has the last published state of each. No other
// goroutine may use the queue at that time.
func (q *queue) load(published map[string]State) error {
	q.spent, _ = readOrSetAside[daySpending](filepath.Join(q.opt.State, quotaFile), q.opt.Log)
	entries, err := q.store.load()
	if err != nil {
		return err
	}
	today := dayOf(q.opt.Clock.Now())
	for _, e := range entries {
		e.published = published[e.ID]
		q.campaigns.add(e)
		switch {
		case e.State == Unreadable:
			q.opt.Log.Error("campaign not readable", "campaign", e.ID, "error", e.Error)
			continue
		case !e.measures() || !e.begun() || e.State.Over() && dayOf(e.lastEnd()) < today:
			continue
		}
		if err := e.openView(q.opt.Clock).update(context.Background()); err != nil {
			q.opt.Log.Warn("journal not read: the campaign counts with its whole budget", "campaign", e.ID, "error", err)
		}
	}
	return nil
}

// Campaigns returns all campaigns, the newest first, without the points of their verdicts.
func (q *queue) Campaigns() []Campaign {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]Campaign, 0, len(q.campaigns.order))
	for _, e := range slices.Backward(q.campaigns.order) {
		if e.State != Deleted {
			out = append(out, e.current().brief())
		}
	}
	return out
}

// Campaign returns one campaign. The error matches ErrNoCampaign.
func (q *queue) Campaign(id string) (Campaign, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, err := q.campaigns.find(id)
	if err != nil {
		return Campaign{}, err
	}
	return e.current(), nil
}

// changeLocked gives a campaign another stored state: first on disk, then in memory. Then it publishes the campaign.
// If the state cannot be written, the campaign stays as it is. If its folder was removed, it counts as deleted, and
// the error matches ErrNoCampaign.
func (q *queue) changeLocked(e *entry, with func(*stored)) error {
	if q.closed {
		return ErrDraining
	}
	to := e.stored
	with(&to)
	to.Progress = e.current().Progress
	var err error
	if to.State == Deleted {
		err = q.store.remove(e)
	} else {
		err = q.store.save(e.dir, to)
	}
	gone := err != nil && e.isGone()
	if gone {
		now := q.opt.Clock.Now()
		_ = q.store.addSpending(&q.spent, now, e.spentOn(dayOf(now)))
		to.State, err = Deleted, fmt.Errorf("%w: the folder of campaign %s was removed", ErrNoCampaign, e.ID)
	} else if err != nil {
		return err
	}
	e.stored = to
	q.publishLocked(e)
	if e.view != nil {
		e.view.log.setEnded(to.State.Over() || to.State == Deleted)
	}
	if to.State == Deleted {
		if e.worker != nil {
			e.worker.stop()
		} else {
			q.campaigns.remove(e)
		}
	}
	return err
}

// publishLocked publishes a campaign as an event of the service, and logs it. If the event cannot be saved, tick
// publishes it later.
func (q *queue) publishLocked(e *entry) {
	q.opt.Log.Info("campaign", "campaign", e.ID, "base", e.Base, "state", e.State, "exit", e.Exit, "error", e.Error)
	if err := q.events.publish(campaignEvent, e.current().brief()); err != nil {
		q.opt.Log.Error("event not saved", "campaign", e.ID, "error", err)
	} else {
		e.published = e.State
	}
	q.changed.ring()
}

// reasons why a queued campaign waits although its machine is free; see Campaign.WaitsFor.
const (
	waitsForHours   = "node-hours: those of today are spent or reserved"
	waitsForMachine = "the machine or its disk, which hindered it: it is resumed by itself"
)

// dispatchLocked starts queued campaigns on free machines, in the order of the queue. If a campaign waits
// for node-hours, all later campaigns that need node-hours wait, too.
func (q *queue) dispatchLocked() {
	if !q.started || q.stopping.Err() != nil {
		return
	}
	busy := q.busyLocked()
	remaining, exhausted := q.opt.nodeHours(q.spent, q.campaigns.order).Remaining, false
	for _, e := range q.campaigns.order {
		switch {
		case e.State != Queued || e.worker != nil:
		case e.mustWait(q.opt.Clock.Now()):
			q.setWaitsForLocked(e, waitsForMachine)
		case busy[e.Machine] != "":
		case e.measures() && (exhausted || reserved(q.opt, e)/3600 > remaining+hoursTolerance):
			exhausted = true
			q.setWaitsForLocked(e, waitsForHours)
		default:
			busy[e.Machine] = e.ID
			if e.measures() {
				remaining -= reserved(q.opt, e) / 3600
			}
			startWorker(q, e, true)
		}
	}
}

// busyLocked returns the machines that are occupied, each with the campaign or the drift measurement on it.
func (q *queue) busyLocked() map[string]string {
	busy := maps.Clone(q.drifts)
	for _, e := range q.campaigns.order {
		if e.usesMachine() {
			busy[e.Machine] = e.ID
		}
	}
	return busy
}

// setWaitsForLocked sets Campaign.WaitsFor and publishes the campaign.
func (q *queue) setWaitsForLocked(e *entry, what string) {
	if e.WaitsFor != what {
		e.WaitsFor = what
		q.publishLocked(e)
	}
}

// start adopts the campaigns that still had a process when an earlier service ended. It also starts queued
// campaigns.
func (q *queue) start() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.started = true
	for _, e := range q.campaigns.order {
		if e.State == Running || e.State == Stopping {
			q.opt.Log.Info("campaign adopted", "campaign", e.ID, "state", e.State)
			startWorker(q, e, true)
		}
		if e.published != e.State {
			q.publishLocked(e) // the earlier service died before it published the state
		}
	}
	q.dispatchLocked()
}

// tick starts campaigns that have waited long enough, and publishes again what could not be saved.
func (q *queue) tick() {
	defer q.opt.recoverFrom("the queue")
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.campaigns.order {
		if e.published != e.State {
			q.publishLocked(e)
		}
	}
	q.dispatchLocked()
}

// drain refuses new campaigns, asks every process to stop, and waits for all workers.
func (q *queue) drain() {
	q.mu.Lock()
	q.stop()
	q.changed.ring()
	q.mu.Unlock()
	q.workers.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

// Ready returns nil if campaigns can be created. Otherwise it returns an error with the reason.
func (q *queue) Ready() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.stopping.Err() != nil:
		return ErrDraining
	case !q.started:
		return errors.New("the service has not started")
	}
	return nil
}

// waitIdle waits until no campaign has a worker, no machine is busy and no queued campaign can start now. It returns
// earlier if ctx is cancelled.
func (q *queue) waitIdle(ctx context.Context) {
	for {
		q.mu.Lock()
		changed := q.changed.rung
		busy := len(q.drifts) > 0 || slices.ContainsFunc(q.campaigns.order, func(e *entry) bool { return e.worker != nil || e.State == Queued && e.WaitsFor == "" })
		q.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// reserveMachine reserves the machine of a base (a campaign file) for a drift measurement. If this is not
// possible, the result `reason` says why.
func (q *queue) reserveMachine(b config.Base) (release func(), reason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if user := q.busyLocked()[b.Machine]; user != "" {
		return nil, "the machine is busy with " + user
	}
	if b.Demand.Measures && q.opt.nodeHours(q.spent, q.campaigns.order).Remaining == 0 {
		return nil, "the node-hours of today are spent or reserved"
	}
	q.drifts[b.Machine] = "a drift measurement of " + b.Name
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.drifts, b.Machine)
		q.dispatchLocked()
		q.changed.ring()
	}, ""
}

// view returns the summary of a campaign's journal. If the campaign has no process, view reads the journal
// until ctx is cancelled. Otherwise it returns the summary that the last poll made.
func (q *queue) view(ctx context.Context, id string) (*journalView, error) {
	q.mu.Lock()
	e, err := q.campaigns.find(id)
	if err != nil {
		q.mu.Unlock()
		return nil, err
	}
	v := e.openView(q.opt.Clock)
	polled := e.worker != nil && e.worker.process != nil && v.log.Last() > 0
	q.mu.Unlock()
	if polled {
		return v, nil
	}
	return v, v.update(ctx)
}

func (q *queue) resultsOf(id string) (string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, err := q.campaigns.find(id)
	if err != nil {
		return "", err
	}
	return e.results(), nil
}

// lastOf returns the campaigns that roster.last finds.
func (q *queue) lastOf(base string) (last *finished, open *Campaign) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.campaigns.last(base)
}
