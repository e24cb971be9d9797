package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Pause has a campaign stop and keep what it has; its jobs stay with the
// scheduler. One that waits leaves the queue at once. Pausing again is no error.
// Errors match ErrNoCampaign or ErrState.
func (s *Service) Pause(id string) (Campaign, error) {
	return s.stop(id, wantPause, Paused)
}

// Cancel ends a campaign for good, and its jobs. What it has measured is kept.
// Cancelling again is no error. Errors match ErrNoCampaign or ErrState.
func (s *Service) Cancel(id string) (Campaign, error) {
	return s.stop(id, wantCancel, Cancelled)
}

func (s *Service) stop(id string, w want, end State) (Campaign, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.entry(id)
	if err != nil {
		return Campaign{}, err
	}
	switch {
	case e.State == end, e.State == Stopping && (e.Want == w || w == wantPause):
		return e.show(), nil
	case e.State == Queued && !(w == wantCancel && e.begun()):
		s.leave(e, end, e.Exit, nil)
		return e.show(), nil
	case e.State == Queued, e.State == Paused && w == wantCancel:
		// It may have jobs, which only its machine's worker may touch.
		e.Want = wantCancel
		err := s.enter(e, Stopping)
		s.workers.Go(func() { s.cancelWaiting(e) })
		return e.show(), err
	case e.State == Running, e.State == Stopping:
		e.Want = w
		err := s.enter(e, Stopping)
		if e.process != nil {
			err = errors.Join(err, s.urge(e, e.process))
		}
		return e.show(), err
	}
	return Campaign{}, fmt.Errorf("%w: campaign %s is %s", ErrState, id, e.State)
}

// cancelWaiting ends the jobs of a campaign that has no process.
func (s *Service) cancelWaiting(e *entry) {
	failure := s.cancelJobs(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(e, Cancelled, e.Exit, failure)
}

// Resume lets a paused or failed campaign wait for its machine again. Errors match
// ErrNoCampaign, ErrState, ErrFull, ErrSpent or ErrDraining.
func (s *Service) Resume(id string) (Campaign, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.entry(id)
	switch {
	case err != nil:
		return Campaign{}, err
	case e.State == Queued || e.State == Running:
		return e.show(), nil
	case e.State != Paused && e.State != Failed:
		return Campaign{}, fmt.Errorf("%w: campaign %s is %s", ErrState, id, e.State)
	case s.draining:
		return Campaign{}, ErrDraining
	case s.waiting() >= s.opt.Waiting:
		return Campaign{}, ErrFull
	case e.limited() && s.toTake(e) == 0:
		return Campaign{}, s.overspent(e)
	}
	e.Ended, e.Error = time.Time{}, ""
	if err := s.enter(e, Queued); err != nil {
		return Campaign{}, err
	}
	s.trackOf(e).row.end(false)
	s.dispatch()
	return e.show(), nil
}

// Run starts what waits, goes on with what an earlier service left and follows the
// schedule until ctx is cancelled. Then it drains: processes are asked to stop,
// what they leave with a scheduler stays there, and their campaigns wait for the
// next service. With Options.Once it returns as soon as nothing is due, runs or
// waits. It can be called once.
func (s *Service) Run(ctx context.Context) error {
	s.mu.Lock()
	s.started = true
	s.adopt()
	s.dispatch()
	s.mu.Unlock()
	days, stop := context.WithCancel(ctx)
	s.workers.Go(func() { s.followDays(days) })
	err := s.follow(ctx)
	stop()
	s.drain()
	return errors.Join(err, s.Close())
}

// follow does what the schedule says until ctx is cancelled.
func (s *Service) follow(ctx context.Context) error {
	for _, w := range s.opt.Online {
		if s.opt.Once {
			s.lookInto(ctx, w)
		} else {
			s.workers.Go(func() { s.watch(ctx, w) })
		}
	}
	if err := s.startSchedule(ctx); err != nil {
		return err
	}
	for !s.opt.Once || !s.quiet() {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if s.opt.Once && s.quiet() {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
	return nil
}

// quiet reports whether nothing runs, and waits only for node-hours of another day.
func (s *Service) quiet() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.machines) == 0 && !slices.ContainsFunc(s.order, func(e *entry) bool { return e.State == Queued && e.Waits != waitsForHours })
}

// drain asks every process to stop and waits for all workers. A process that does
// not stop in time is ended.
func (s *Service) drain() {
	s.mu.Lock()
	s.draining = true
	for _, e := range s.order {
		if e.process == nil {
			continue
		}
		if err := s.urge(e, e.process); err != nil {
			s.log.Warn("process not stopped", "campaign", e.ID, "error", err)
		}
	}
	s.wake()
	s.mu.Unlock()
	s.stopSchedule()
	s.workers.Wait()
}
