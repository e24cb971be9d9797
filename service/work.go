package service

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"tutti/internal/exitcode"
	"tutti/journal"
)

// busyWait is how long a service waits for somebody else who is at work on a
// campaign before it tries again.
const busyWait = 5 * time.Second

const othersWork = "for another tutti that is at work on the campaign"

// dispatch starts the campaigns that have waited longest for machines that are
// free. It needs the lock.
func (s *Service) dispatch() {
	if !s.started || s.draining {
		return
	}
	tight := false // an earlier one waits for node-hours: later ones do not take them away
	for _, e := range s.order {
		switch {
		case e.State != Queued || s.machines[e.Machine] != "":
		case e.limited() && (tight || !s.affords(e)):
			tight = true
			s.wait(e, waitsForHours)
		default:
			s.employ(e)
		}
	}
}

// wait says what a campaign waits for, beside its machine. It needs the lock.
func (s *Service) wait(e *entry, what string) {
	if e.Waits == what {
		return
	}
	e.Waits = what
	if err := e.save(); err != nil {
		s.log.Error("state not kept", "campaign", e.ID, "error", err)
	}
	s.tell(e)
}

// employ gives a campaign its machine and a worker. It needs the lock.
func (s *Service) employ(e *entry) {
	if s.machines[e.Machine] == "" {
		s.machines[e.Machine] = e.ID
	}
	s.workers.Go(func() { s.work(e) })
}

// adopt goes on with the campaigns that had a process when an earlier service
// died. It needs the lock.
func (s *Service) adopt() {
	for _, state := range []State{Running, Stopping} { // one that only has to cancel jobs takes no machine from one that runs
		for _, e := range s.order {
			if e.State == state {
				s.log.Info("campaign found again", "campaign", e.ID, "state", e.State)
				s.employ(e)
			}
		}
	}
	for _, e := range s.order {
		if s.events.last[e.ID] != e.State {
			s.tell(e) // the service died before it could
		}
	}
}

// work runs the processes of a campaign until it waits, pauses or is over.
func (s *Service) work(e *entry) {
	s.lookAround(e)
	for {
		p, err := s.launch(e)
		code := exitcode.Unknown
		if err == nil && p != nil {
			code, err = s.attend(e, p)
		}
		if s.processEnded(e, code, err) {
			return
		}
	}
}

// lookAround notes what the machine of a new campaign is like.
func (s *Service) lookAround(e *entry) {
	base, err := s.base(e.Base)
	if err != nil || e.Seen != nil || e.begun() {
		return
	}
	seen, err := s.see(context.Background(), base)
	if err != nil {
		s.log.Warn("machine not seen", "campaign", e.ID, "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Seen = &seen // kept when the process starts
}

// launch finds the process of a campaign or starts one; none for a campaign that
// is to stop and has none.
func (s *Service) launch(e *entry) (process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.orphanOf(e); o != nil {
		e.process = o
		s.log.Info("following a process that is at work on the campaign", "campaign", e.ID)
		if e.Want != "" || s.draining {
			return o, s.urge(e, o)
		}
		if e.State == Queued {
			e.Waits = othersWork
			return o, s.enter(e, Running)
		}
		return o, nil
	}
	if e.Want != "" || s.draining {
		return nil, nil
	}
	args, err := s.args(e)
	if err != nil {
		return nil, err
	}
	c, err := s.start(filepath.Join(e.dir, logName), "", args)
	if err != nil {
		return nil, err
	}
	e.process = c
	if p, err := journal.ProcessOf(c.cmd.Process.Pid); err == nil {
		e.Process = &p
	}
	if e.Started.IsZero() {
		e.Started = s.clock.Now().UTC()
	}
	s.log.Info("process started", "campaign", e.ID, "pid", c.cmd.Process.Pid, "args", args)
	e.Error, e.Waits = "", ""
	return c, s.enter(e, Running)
}

// attend follows the journal until the process ends.
func (s *Service) attend(e *entry, p process) (exitcode.Code, error) {
	s.mu.Lock()
	t := s.trackOf(e)
	s.mu.Unlock()
	t.row.end(false)
	type outcome struct {
		code exitcode.Code
		err  error
	}
	ended := make(chan outcome, 1)
	go func() {
		code, err := p.wait()
		ended <- outcome{code, err}
	}()
	tick := time.NewTicker(s.opt.Poll)
	defer tick.Stop()
	for {
		select {
		case o := <-ended:
			s.look(e, t)
			s.mu.Lock()
			e.process = nil
			s.mu.Unlock()
			return o.code, o.err
		case <-tick.C:
			s.look(e, t)
		}
	}
}

// look takes in what is new of a campaign. What cannot be read is told once and
// does not disturb its process, which knows better.
func (s *Service) look(e *entry, t *track) {
	if err := t.advance(); err != nil && t.tellOnce() {
		s.log.Warn("journal", "campaign", e.ID, "error", err)
	}
	if err := capLog(filepath.Join(e.dir, logName), s.opt.LogBytes); err != nil {
		s.log.Warn("log", "campaign", e.ID, "error", err)
	}
	s.enforce(e)
}

// tell writes the state of a campaign into the service's row. It needs the lock.
func (s *Service) tell(e *entry) {
	s.log.Info("campaign", "campaign", e.ID, "base", e.Base, "state", e.State, "exit", e.Exit, "error", e.Error)
	if err := s.events.append(campaignEvent, e.show()); err != nil {
		s.log.Error("event not kept", "campaign", e.ID, "error", err)
	}
	s.events.last[e.ID] = e.State
	s.wake()
}

// wake tells those who wait for any change. It needs the lock.
func (s *Service) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// urge asks a process to stop, and ends it when it has not stopped in time: its
// journal survives that.
func (s *Service) urge(e *entry, p process) error {
	if err := p.signal(os.Interrupt); err != nil {
		return err
	}
	time.AfterFunc(s.opt.Grace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if e.process == p {
			s.log.Warn("process does not stop: killed", "campaign", e.ID)
			_ = p.signal(syscall.SIGKILL)
		}
	})
	return nil
}
