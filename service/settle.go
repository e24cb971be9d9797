package service

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// This file gives a campaign the state that follows the end of a process, as the tables of lifecycle.go say.

// finish gives the campaign the state that follows the end of a process. It returns false if the worker must start
// another process.
func (w *worker) finish(end *ending) (over bool) {
	for {
		switch w.settle(end) {
		case settled:
			return true
		case restart:
			if end.outcome == locked {
				w.pause(foreignRetry)
			}
			return false
		case jobsRemain:
			end.failure = w.cancelJobs()
			if end.jobs = !isShortage(end.failure) || w.q.stopping.Err() != nil; !end.jobs {
				w.await(unsavedRetry, end.failure)
			}
		case unwritten:
			w.pause(unsavedRetry)
		}
	}
}

// verdict is the result of an attempt to give a campaign its next state.
type verdict int

const (
	settled verdict = iota
	restart
	jobsRemain // the jobs of the campaign must be cancelled first
	unwritten  // the state could not be written
)

// settle looks up the state that follows the end of a process and writes it. Then the worker owns the campaign no
// longer.
func (w *worker) settle(end *ending) verdict {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	v := w.settleLocked(end)
	if v == settled {
		w.releaseLocked()
	}
	return v
}

func (w *worker) settleLocked(end *ending) verdict {
	q, e := w.q, w.e
	draining := q.stopping.Err() != nil
	to := end.outcome.after(e.Goal, draining)
	switch {
	case e.State == Deleted, end.outcome == abandoned:
		return settled // the next service takes over what is on disk
	case to == Running:
		if end.outcome == locked {
			q.setWaitsForLocked(e, waitsForForeign)
		}
		return restart
	case (e.Goal == goalCancel || e.Goal == goalQuota) && to != Done && !end.jobs:
		return jobsRemain
	}
	err := q.changeLocked(e, func(s *stored) { w.settleStored(s, end, to) })
	switch {
	case err == nil, e.State == Deleted, draining: // what is on disk holds for the next service
		return settled
	case !w.unsaved:
		w.unsaved = true
		w.log.Error("state not saved: the service tries again", "state", to, "error", err)
	}
	return unwritten
}

// settleStored sets the state that follows the end of a process.
func (w *worker) settleStored(s *stored, end *ending, to State) {
	now := w.q.opt.Clock.Now()
	s.Error = w.failureOf(end, to)
	switch {
	case end.outcome == absent:
	case to == Done || to == Failed && s.Goal != goalQuota:
		s.Exit = end.code
	default:
		s.Exit = ExitCancelled
	}
	s.rest(now)
	w.settleStage(s, end, to)
	s.Goal, s.Process, s.WaitsFor = "", nil, ""
	s.NotBefore = time.Time{}
	switch {
	case end.outcome != hindered || to != Queued:
		s.Hindrances = 0
		return
	case w.e.current().Progress.Trials > w.trials:
		s.Hindrances = 0 // the machine worked for a while
	}
	s.NotBefore = now.Add(min(hindranceMax, hindranceMin<<min(s.Hindrances, 16))).UTC()
	s.Hindrances++
}

// settleStage sets the state after the end of a process: that of the table, unless a verification follows or ends.
func (w *worker) settleStage(s *stored, end *ending, to State) {
	now := w.q.opt.Clock.Now().UTC()
	if end.verdicts != nil {
		s.Verdicts, s.Report = end.verdicts, end.report
	}
	s.State = s.follow(to)
	switch {
	case s.Verifying && s.State == Done:
		s.Verifying, s.Verified = false, now
	case !s.Verifying && to.Over():
		s.Converged, s.Ended = to == Done && end.code == ExitDone, now
		if !s.State.Over() {
			w.e.beginVerification(s)
		}
	}
}

// verificationEnded is entry.verificationEnded for a caller without the lock of the queue.
func (w *worker) verificationEnded() bool {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	return w.e.verificationEnded()
}

// completed returns the end of a process that has written the files of the campaign.
func (w *worker) completed(code ExitCode) ending {
	at := w.e.reportTime()
	verdicts, err := readVerdicts(w.e.results())
	if err != nil {
		w.log.Warn("verdicts not read", "error", err)
	}
	return ending{outcome: completed, code: code, verdicts: verdicts, report: at}
}

// failureOf returns why the campaign gets the state that follows the end of its process, or "" if nothing is wrong.
func (w *worker) failureOf(end *ending, to State) string {
	switch {
	case w.e.Goal == goalQuota && to == Failed:
		return errors.Join(exceeded(w.q.opt, w.e), end.failure).Error()
	case w.e.Goal == goalCancel && end.failure != nil:
		return end.failure.Error()
	case to == Failed && end.failure != nil:
		return end.failure.Error()
	case to == Failed, end.outcome == hindered && to == Queued:
		return lastMessage(w.e.log())
	}
	return ""
}

// cancelJobs cancels those jobs of the campaign that the scheduler still has.
func (w *worker) cancelJobs() error {
	if !w.e.begun() {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), w.q.opt.Drain)
	defer stop()
	if err := w.q.processes.run(ctx, w.e.log(), "", "cancel", w.e.results()); err != nil {
		return fmt.Errorf("jobs may remain in the queue of the scheduler: %w", err)
	}
	return nil
}
