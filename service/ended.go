package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"tutti/internal/exitcode"
)

// processEnded decides what a campaign is after its process has ended with a code, and reports
// whether its worker is done with it.
func (s *Service) processEnded(e *entry, code exitcode.Code, failure error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case code == exitcode.Done, code == exitcode.NotConverged:
		e.Converged = code == exitcode.Done
		s.leave(e, Done, code, nil)
	case e.Want == wantCancel, e.Want == wantHalt:
		s.endJobs(e)
	case code == exitcode.Busy:
		return s.busy(e)
	case code == exitcode.Cancelled, code == exitcode.Unknown:
		return s.stopped(e, code, failure)
	default:
		s.fail(e, code, failure)
	}
	return true
}

// stopped is for a process that was interrupted, or of which nobody heard how it ended.
// It needs the lock.
func (s *Service) stopped(e *entry, code exitcode.Code, failure error) bool {
	switch {
	case e.Want == wantPause:
		s.leave(e, Paused, exitcode.Cancelled, nil)
	case s.draining:
		s.leave(e, Queued, exitcode.Cancelled, nil)
	case code == exitcode.Unknown && failure == nil:
		return false // an orphan ended: resuming tells how
	default:
		s.fail(e, code, failure)
	}
	return true
}

// busy is for a process that found somebody else at work on its campaign. It has the
// lock before and after.
func (s *Service) busy(e *entry) bool {
	if s.mayWait(e) {
		return false
	}
	state := Queued
	if e.Want == wantPause {
		state = Paused
	}
	s.leave(e, state, exitcode.Busy, nil)
	return true
}

// mayWait waits a moment for whoever is at work on the campaign, unless it is to
// stop. It has the lock before and after.
func (s *Service) mayWait(e *entry) bool {
	if e.Want != "" || s.draining {
		return false
	}
	e.Waits = othersWork
	changed := s.changed
	s.mu.Unlock()
	select {
	case <-s.clock.After(busyWait):
	case <-changed:
	}
	s.mu.Lock()
	return true
}

// fail is for a process that ended with an error, or that could not be started. It needs
// the lock.
func (s *Service) fail(e *entry, code exitcode.Code, failure error) {
	if failure == nil {
		failure = errors.New(lastLine(filepath.Join(e.dir, logName)))
	}
	s.leave(e, Failed, code, failure)
}

// endJobs ends a campaign that is to be cancelled or halted, and what it has left with a
// scheduler. It has the lock before and after.
func (s *Service) endJobs(e *entry) {
	s.mu.Unlock()
	failure := s.cancelJobs(e)
	s.mu.Lock()
	if e.Want == wantHalt {
		s.leave(e, Failed, exitcode.Cancelled, errors.Join(s.overspent(e), failure))
		return
	}
	s.leave(e, Cancelled, exitcode.Cancelled, failure)
}

// cancelJobs ends the jobs that a campaign has left with a scheduler.
func (s *Service) cancelJobs(e *entry) error {
	if !e.begun() {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), s.opt.Grace)
	defer stop()
	if err := s.once(ctx, filepath.Join(e.dir, logName), "", "cancel", e.results()); err != nil {
		return fmt.Errorf("jobs may be left in the queue: %w", err)
	}
	return nil
}

// leave takes its machine from a campaign. It needs the lock.
func (s *Service) leave(e *entry, state State, code exitcode.Code, failure error) {
	e.Exit, e.Want, e.Process, e.Error, e.Waits = code, "", nil, "", ""
	if failure != nil {
		e.Error = failure.Error()
	}
	if state.Over() {
		e.Ended = s.clock.Now().UTC()
	}
	if s.machines[e.Machine] == e.ID {
		delete(s.machines, e.Machine)
	}
	if err := s.enter(e, state); err != nil {
		s.log.Error("state not kept", "campaign", e.ID, "error", err)
	}
	if e.track != nil {
		e.track.row.end(state.Over())
		s.trackOf(e) // counts as idle now
	}
	s.dispatch()
}

// enter gives a campaign a state, keeps it and tells it. It needs the lock.
func (s *Service) enter(e *entry, state State) error {
	e.State = state
	err := e.save()
	s.tell(e)
	return err
}
