package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tutti/journal"
)

// foreignRetry is how long a worker waits before it tries again to start a campaign whose journal another
// process has locked.
const foreignRetry = 5 * time.Second

// waitsForForeign is the value of Campaign.WaitsFor as long as another process has locked the campaign's
// journal.
const waitsForForeign = "another tutti that works on the campaign"

// startWorkerLocked reserves the machine of a campaign and starts its worker.
func (q *queue) startWorkerLocked(e *entry) {
	if q.machines[e.Machine] == "" {
		q.machines[e.Machine] = e.ID
	}
	q.workers.Go(func() { q.work(e) })
}

// work runs processes for a campaign until the campaign waits in the queue again, is paused or has ended.
func (q *queue) work(e *entry) {
	q.recordMachine(e)
	for {
		p, err := q.launch(e)
		code := ExitUnknown
		if err == nil && p != nil {
			code, err = q.follow(e, p)
		}
		if q.processEnded(e, code, err) {
			return
		}
	}
}

// recordMachine inspects the machine of a new campaign and stores the result with the campaign.
func (q *queue) recordMachine(e *entry) {
	base, err := q.opt.base(e.Base)
	if err != nil || e.MachineState != nil || e.begun() {
		return
	}
	state, err := q.opt.inspect(context.Background(), base)
	if err != nil {
		q.opt.Log.Warn("machine not inspected", "campaign", e.ID, "error", err)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	e.MachineState = &state // saved when the process starts
}

// launch returns the running process of a campaign, or starts a process if none is running. It returns nil for
// a stopping campaign without a process. It returns a running process even if the campaign's state cannot be
// saved.
func (q *queue) launch(e *entry) (process, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p := q.processes.find(e.results(), e.Process); p != nil {
		e.process, e.since = p, q.opt.Clock.Now()
		q.opt.Log.Info("following a process that works on the campaign", "campaign", e.ID)
		if e.Goal != "" || q.draining {
			q.terminateLocked(e, p)
		} else if e.State == Queued {
			e.WaitsFor = waitsForForeign
			q.logUnsaved(e, q.setStateLocked(e, Running))
		}
		return p, nil
	}
	if e.Goal != "" || q.draining {
		return nil, nil
	}
	args, err := q.argsLocked(e)
	if err != nil {
		return nil, err
	}
	c, err := q.processes.start(context.Background(), e.log(), "", args)
	if err != nil {
		return nil, err
	}
	e.process, e.since = c, q.opt.Clock.Now()
	if p, err := journal.ProcessOf(c.cmd.Process.Pid); err == nil {
		e.Process = &p
	}
	if e.Started.IsZero() {
		e.Started = q.opt.Clock.Now().UTC()
	}
	q.opt.Log.Info("process started", "campaign", e.ID, "pid", c.cmd.Process.Pid, "args", args)
	e.Error, e.WaitsFor = "", ""
	q.logUnsaved(e, q.setStateLocked(e, Running))
	return c, nil
}

// logUnsaved logs that a state was not saved. The next poll saves it.
func (q *queue) logUnsaved(e *entry, err error) {
	if err != nil {
		q.opt.Log.Error("state not saved", "campaign", e.ID, "error", err)
	}
}

// follow reads the growing journal of a campaign until the campaign's process has ended. It returns the
// exit code of the process.
func (q *queue) follow(e *entry, p process) (ExitCode, error) {
	q.mu.Lock()
	v := q.viewLocked(e)
	q.mu.Unlock()
	v.log.setEnded(false)
	type outcome struct {
		code ExitCode
		err  error
	}
	ended := make(chan outcome, 1)
	go func() {
		code, err := p.wait()
		ended <- outcome{code, err}
	}()
	tick := time.NewTicker(q.opt.Poll)
	defer tick.Stop()
	for {
		select {
		case o := <-ended:
			q.poll(e, v)
			q.mu.Lock()
			e.process = nil
			q.mu.Unlock()
			return o.code, o.err
		case <-tick.C:
			q.poll(e, v)
		}
	}
}

// poll reads the new lines of the journal, shortens a long log and saves a state that could not be saved. It
// also stops a campaign that has exceeded its budget. If the journal cannot be read several times in a row,
// only the first failure is logged.
func (q *queue) poll(e *entry, v *journalView) {
	before := v.failure()
	switch err := v.update(context.Background()); {
	case err != nil && before == nil:
		q.opt.Log.Warn("journal not read: the campaign counts with its whole budget", "campaign", e.ID, "error", err)
	case err == nil && before != nil:
		q.opt.Log.Info("journal read again", "campaign", e.ID)
	}
	if err := capLog(e.log(), q.opt.Limits.LogBytes); err != nil {
		q.opt.Log.Warn("log not cut", "campaign", e.ID, "error", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.unsaved && e.save() == nil {
		q.opt.Log.Info("state saved", "campaign", e.ID)
	}
	q.enforceBudgetLocked(e)
}

// enforceBudgetLocked stops a campaign that has used all its node-hours or, on recorded data, all its time.
func (q *queue) enforceBudgetLocked(e *entry) {
	if e.process == nil || e.Goal != "" || !q.overBudgetLocked(e) {
		return
	}
	q.opt.Log.Warn("campaign stopped", "campaign", e.ID, "error", q.budgetErrorLocked(e))
	e.Goal = goalQuota
	q.logUnsaved(e, q.setStateLocked(e, Stopping))
	q.terminateLocked(e, e.process)
}

// processEnded sets the state of a campaign after its process has ended. The parameter `failure` says why the
// exit code is unknown. The result is false if the campaign's worker must start another process.
func (q *queue) processEnded(e *entry, code ExitCode, failure error) (finished bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	stopped := code == ExitCancelled || code == ExitBusy || code == ExitUnknown
	switch {
	case code == ExitDone, code == ExitNotConverged:
		e.Converged = code == ExitDone
		q.endLocked(e, Done, code, nil)
	case e.Goal == goalCancel, e.Goal == goalQuota:
		q.endStoppedLocked(e)
	case stopped && e.Goal == goalPause:
		q.endLocked(e, Paused, ExitCancelled, nil)
	case stopped && q.draining:
		q.endLocked(e, Queued, ExitCancelled, nil)
	case code == ExitBusy:
		q.awaitForeignLocked(e)
		return false
	case code == ExitUnknown && failure == nil:
		return false // not a child: tutti resume finds out how the campaign ended
	default:
		if failure == nil {
			failure = errors.New(lastMessage(e.log()))
		}
		q.endLocked(e, Failed, code, failure)
	}
	return true
}

// endStoppedLocked ends a campaign that was stopped to be cancelled, or because it exceeded its budget. It
// first cancels the jobs of the campaign, and releases the lock of the queue meanwhile.
func (q *queue) endStoppedLocked(e *entry) {
	q.mu.Unlock()
	failure := q.cancelJobs(e)
	q.mu.Lock()
	if e.Goal == goalQuota {
		q.endLocked(e, Failed, ExitCancelled, errors.Join(q.budgetErrorLocked(e), failure))
		return
	}
	q.endLocked(e, Cancelled, ExitCancelled, failure)
}

// awaitForeignLocked is called while another process has locked the journal of a campaign. It releases the
// queue's lock and waits for the time foreignRetry, or until a campaign or machine of the queue changes.
func (q *queue) awaitForeignLocked(e *entry) {
	e.WaitsFor = waitsForForeign
	changed := q.changed
	q.mu.Unlock()
	select {
	case <-q.opt.Clock.After(foreignRetry):
	case <-changed:
	}
	q.mu.Lock()
}

// cancelJobs cancels those jobs of a campaign that the scheduler still has.
func (q *queue) cancelJobs(e *entry) error {
	if !e.begun() {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), q.opt.Drain)
	defer stop()
	if err := q.processes.run(ctx, e.log(), "", "cancel", e.results()); err != nil {
		return fmt.Errorf("jobs may remain in the queue of the scheduler: %w", err)
	}
	return nil
}

// endLocked gives a campaign that has no process its next state. It also releases the campaign's machine.
func (q *queue) endLocked(e *entry, state State, code ExitCode, failure error) {
	e.Exit, e.Goal, e.Process, e.Error, e.WaitsFor = code, "", nil, "", ""
	if failure != nil {
		e.Error = failure.Error()
	}
	if state.Over() {
		e.Ended = q.opt.Clock.Now().UTC()
	}
	if q.machines[e.Machine] == e.ID {
		delete(q.machines, e.Machine)
	}
	q.logUnsaved(e, q.setStateLocked(e, state))
	if e.view != nil {
		e.view.log.setEnded(state.Over())
	}
	q.dispatchLocked()
}
