package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unicode"

	"tutti/internal/config"
)

// queue contains the campaigns of a service, and the machines that the campaigns use. Its lock guards its
// fields and the fields of all entries. A caller of a method whose name ends in Locked must hold the lock.
type queue struct {
	opt       *Options
	events    *serviceLog
	processes processes

	mu        sync.Mutex
	campaigns map[string]*entry
	order     []*entry          // by creation
	keys      map[string]*entry // by idempotency key
	machines  map[string]string // busy machines: ID of a campaign, or a description of a drift measurement
	published map[string]State  // last published state of each campaign
	drift     daySpending       // of drift measurements; the journals show what campaigns have spent
	started   bool
	draining  bool
	changed   chan struct{} // closed and replaced when a campaign or a machine changes
	workers   sync.WaitGroup
}

func newQueue(opt *Options, events *serviceLog, published map[string]State) *queue {
	return &queue{
		opt: opt, events: events, processes: processes{opt.Command, opt.Environ, opt.Poll, opt.Drain}, changed: make(chan struct{}),
		published: published, campaigns: map[string]*entry{}, keys: map[string]*entry{}, machines: map[string]string{},
	}
}

// Campaigns returns all campaigns, the newest first.
func (q *queue) Campaigns() []Campaign {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]Campaign, 0, len(q.order))
	for _, e := range slices.Backward(q.order) {
		out = append(out, e.current())
	}
	return out
}

// Campaign returns one campaign. The error matches ErrNoCampaign.
func (q *queue) Campaign(id string) (Campaign, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, err := q.entryLocked(id)
	if err != nil {
		return Campaign{}, err
	}
	return e.current(), nil
}

func (q *queue) entryLocked(id string) (*entry, error) {
	e, ok := q.campaigns[id]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrNoCampaign, id)
	}
	return e, nil
}

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

// create creates a campaign like Create. The parameter `reason` becomes Campaign.Reason.
func (q *queue) create(r Request, key, reason string) (c Campaign, created bool, err error) {
	base, budget, err := q.checkRequest(r)
	if err != nil {
		return Campaign{}, false, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if e, known := q.keys[key]; known && key != "" {
		if !e.isFrom(r) {
			return Campaign{}, false, fmt.Errorf("%w: campaign %s", ErrKey, e.ID)
		}
		return e.current(), false, nil
	}
	if q.draining {
		return Campaign{}, false, ErrDraining
	}
	if err := q.checkFromLocked(r.From); err != nil {
		return Campaign{}, false, err
	}
	if err := q.checkLengthLocked(); err != nil {
		return Campaign{}, false, err
	}
	if err := q.nodeHoursLocked().checkToday(budget); err != nil {
		return Campaign{}, false, err
	}
	e, err := q.createLocked(Campaign{
		Name: r.Name, Base: base.Name, Machine: base.Machine, State: Queued, Exit: ExitUnknown, Reason: reason,
		Set: r.Set, From: r.From, NodeHours: budget,
	}, key)
	if err != nil {
		return Campaign{}, false, err
	}
	q.dispatchLocked()
	return e.current(), true, nil
}

// checkRequest checks a request on its own, without looking at other campaigns. It returns the base (a
// campaign file) and the budget in node-hours.
func (q *queue) checkRequest(r Request) (config.Base, float64, error) {
	if len(r.Name) > maxName || !isPrintable(r.Name) {
		return config.Base{}, 0, &config.FieldError{Field: "name", Text: fmt.Sprintf("want at most %d printable characters", maxName)}
	}
	base, err := q.opt.base(r.Base)
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
	budget, err := q.budget(base, r.Set)
	return base, budget, err
}

func (q *queue) checkFromLocked(id string) error {
	if id == "" {
		return nil
	}
	e, err := q.entryLocked(id)
	if err != nil {
		return &config.FieldError{Field: "from", Text: err.Error()}
	}
	if e.State != Done {
		return &config.FieldError{Field: "from", Text: fmt.Sprintf("campaign %s is %s: want one that is done", id, e.State)}
	}
	return nil
}

func (q *queue) checkLengthLocked() error {
	n := 0
	for _, e := range q.order {
		if e.State == Queued {
			n++
		}
	}
	if n >= q.opt.Limits.Waiting {
		return fmt.Errorf("%w: %d", ErrQueueFull, n)
	}
	return nil
}

func isPrintable(s string) bool {
	return !slices.ContainsFunc([]rune(s), func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) })
}

// Pause stops a campaign so that it can be resumed later. The campaign's jobs stay with the scheduler. The
// error matches ErrNoCampaign or ErrState.
func (q *queue) Pause(id string) (Campaign, error) { return q.stop(id, goalPause, Paused) }

// Cancel ends a campaign for good and cancels its jobs. The measurements remain. The error matches
// ErrNoCampaign or ErrState.
func (q *queue) Cancel(id string) (Campaign, error) { return q.stop(id, goalCancel, Cancelled) }

// stop sets the goal of a campaign and interrupts its process, if there is one. The parameter `state` is the
// state that the campaign has after the stop.
func (q *queue) stop(id string, goal stopGoal, state State) (Campaign, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, err := q.entryLocked(id)
	if err != nil {
		return Campaign{}, err
	}
	switch {
	case e.State == state, e.State == Stopping && (e.Goal == goal || goal == goalPause):
		return e.current(), nil
	case e.State == Queued && !(goal == goalCancel && e.begun()):
		q.endLocked(e, state, e.Exit, nil)
		return e.current(), nil
	case e.State == Queued, e.State == Paused && goal == goalCancel:
		e.Goal = goalCancel
		err := q.setStateLocked(e, Stopping)
		q.workers.Go(func() { q.cancelIdle(e) })
		return e.current(), err
	case e.State == Running, e.State == Stopping:
		e.Goal = goal
		err := q.setStateLocked(e, Stopping)
		if e.process != nil {
			q.terminateLocked(e, e.process)
		}
		return e.current(), err
	}
	return Campaign{}, fmt.Errorf("%w: campaign %s is %s", ErrState, id, e.State)
}

// cancelIdle cancels a campaign that has no process. It also cancels the campaign's jobs.
func (q *queue) cancelIdle(e *entry) {
	err := q.cancelJobs(e)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.endLocked(e, Cancelled, e.Exit, err)
}

// Resume puts a paused or failed campaign into the queue. The error matches ErrNoCampaign,
// ErrState, ErrQueueFull, ErrQuota or ErrDraining.
func (q *queue) Resume(id string) (Campaign, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, err := q.entryLocked(id)
	switch {
	case err != nil:
		return Campaign{}, err
	case e.State == Queued || e.State == Running:
		return e.current(), nil
	case e.State != Paused && e.State != Failed:
		return Campaign{}, fmt.Errorf("%w: campaign %s is %s", ErrState, id, e.State)
	case q.draining:
		return Campaign{}, ErrDraining
	case e.measures() && q.overBudgetLocked(e):
		return Campaign{}, q.budgetErrorLocked(e)
	}
	if err := q.checkLengthLocked(); err != nil {
		return Campaign{}, err
	}
	e.Ended, e.Error = time.Time{}, ""
	if err := q.setStateLocked(e, Queued); err != nil {
		return Campaign{}, err
	}
	q.viewLocked(e).log.setEnded(false)
	q.dispatchLocked()
	return e.current(), nil
}

// waitsForHours is the value of Campaign.WaitsFor if the campaign's budget exceeds the node-hours that
// remain today.
const waitsForHours = "node-hours: those of today are spent or reserved"

// dispatchLocked starts queued campaigns on free machines, in the order of the queue. If a campaign waits
// for node-hours, all later campaigns that need node-hours wait, too.
func (q *queue) dispatchLocked() {
	if !q.started || q.draining {
		return
	}
	exhausted := false
	for _, e := range q.order {
		switch {
		case e.State != Queued || q.machines[e.Machine] != "":
		case e.measures() && (exhausted || q.reservedLocked(e)/3600 > q.nodeHoursLocked().Remaining+hoursTolerance):
			exhausted = true
			q.setWaitsForLocked(e, waitsForHours)
		default:
			q.startWorkerLocked(e)
		}
	}
}

// setWaitsForLocked sets Campaign.WaitsFor, saves the campaign and publishes it.
func (q *queue) setWaitsForLocked(e *entry, what string) {
	if e.WaitsFor == what {
		return
	}
	e.WaitsFor = what
	q.logUnsaved(e, e.save())
	q.publishLocked(e)
}

// start adopts the campaigns that still had a process when an earlier service ended. It also starts queued
// campaigns.
func (q *queue) start() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.started = true
	for _, state := range []State{Running, Stopping} { // running first: a stopping campaign needs no machine
		for _, e := range q.order {
			if e.State == state {
				q.opt.Log.Info("campaign adopted", "campaign", e.ID, "state", e.State)
				q.startWorkerLocked(e)
			}
		}
	}
	for _, e := range q.order {
		if q.published[e.ID] != e.State {
			q.publishLocked(e) // the earlier service died before it published the state
		}
	}
	q.dispatchLocked()
}

// drain refuses new campaigns, asks every process to stop, and waits for all workers.
func (q *queue) drain() {
	q.mu.Lock()
	q.draining = true
	for _, e := range q.order {
		if e.process != nil {
			q.terminateLocked(e, e.process)
		}
	}
	q.wakeLocked()
	q.mu.Unlock()
	q.workers.Wait()
}

// Ready returns nil if campaigns can be created. Otherwise it returns an error with the reason.
func (q *queue) Ready() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.draining:
		return ErrDraining
	case !q.started:
		return errors.New("the service has not started")
	}
	return nil
}

// waitIdle waits until no machine is busy and no queued campaign can start today. It returns earlier if ctx
// is cancelled.
func (q *queue) waitIdle(ctx context.Context) {
	for {
		q.mu.Lock()
		changed := q.changed
		waiting := slices.ContainsFunc(q.order, func(e *entry) bool { return e.State == Queued && e.WaitsFor != waitsForHours })
		idle := len(q.machines) == 0 && !waiting
		q.mu.Unlock()
		if idle {
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
	if user := q.machines[b.Machine]; user != "" {
		return nil, "the machine is busy with " + user
	}
	if b.Demand.Measures && q.nodeHoursLocked().Remaining == 0 {
		return nil, "the node-hours of today are spent or reserved"
	}
	q.machines[b.Machine] = "a drift measurement of " + b.Name
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.machines, b.Machine)
		q.dispatchLocked()
		q.wakeLocked()
	}, ""
}

// setStateLocked saves and publishes a new state of a campaign.
func (q *queue) setStateLocked(e *entry, state State) error {
	e.State = state
	err := e.save()
	q.publishLocked(e)
	return err
}

// publishLocked publishes a campaign as an event of the service, and logs it.
func (q *queue) publishLocked(e *entry) {
	q.opt.Log.Info("campaign", "campaign", e.ID, "base", e.Base, "state", e.State, "exit", e.Exit, "error", e.Error)
	q.published[e.ID] = e.State
	if err := q.events.publish(campaignEvent, e.current()); err != nil {
		q.opt.Log.Error("event not saved", "campaign", e.ID, "error", err)
	}
	q.wakeLocked()
}

func (q *queue) wakeLocked() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// terminateLocked interrupts a process. If the process has not ended within the time Options.Drain,
// terminateLocked kills it. The journal remains intact.
func (q *queue) terminateLocked(e *entry, p process) {
	if err := p.signal(os.Interrupt); err != nil {
		q.opt.Log.Warn("process not interrupted", "campaign", e.ID, "error", err)
	}
	time.AfterFunc(q.opt.Drain, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if e.process == p {
			q.opt.Log.Warn("process killed: it did not stop in time", "campaign", e.ID)
			_ = p.signal(syscall.SIGKILL)
		}
	})
}

// argsLocked returns the arguments with which tutti is started next for a campaign.
func (q *queue) argsLocked(e *entry) ([]string, error) {
	if e.begun() {
		return []string{"resume", e.results()}, nil
	}
	base, err := q.opt.base(e.Base)
	if err != nil {
		return nil, err
	}
	if e.NodeHours, err = q.budget(base, e.Set); err != nil { // the file may have changed
		return nil, err
	}
	set := maps.Clone(e.Set)
	if e.measures() {
		if set == nil {
			set = map[string]string{}
		}
		set["stop.node_hours"] = strconv.FormatFloat(e.NodeHours, 'g', -1, 64)
	}
	args := []string{"tune", "-c", base.File, "--out", e.results(), "--yes"}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		args = append(args, "--set", key+"="+set[key])
	}
	if e.From != "" {
		from, err := q.entryLocked(e.From)
		if err != nil {
			return nil, err
		}
		args = append(args, "--from", from.results())
	}
	return args, nil
}
