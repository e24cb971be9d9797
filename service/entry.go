package service

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/jonboulle/clockwork"

	"tutti/journal"
)

// entry is a campaign in a queue. The lock of the queue guards the fields of an entry.
type entry struct {
	stored
	dir    string
	view   *journalView // nil until somebody reads the journal
	worker *worker      // owns the campaign; nil if nobody works on it
	disk   int64        // bytes in the campaign's folder when they were last counted
	unread bool         // the last attempt to take over its report failed

	published State // the last one that was published; empty if none was
}

// stored is the content of the file campaign.json.
type stored struct {
	Campaign
	Goal         stopGoal         `json:"goal,omitempty"`          // what a stopping campaign becomes
	Process      *journal.Process `json:"process,omitempty"`       // the last process that was started
	Key          string           `json:"key,omitempty"`           // idempotency key
	MachineState *MachineState    `json:"machine_state,omitempty"` // before its first process
	Ran          time.Duration    `json:"ran,omitempty"`           // of all processes that have ended
	Since        time.Time        `json:"since,omitzero"`          // when the process began to run, with the monotonic clock; zero without a process
	Hindrances   int              `json:"hindrances,omitempty"`    // processes in a row that the machine hindered
	NotBefore    time.Time        `json:"not_before,omitzero"`     // when a hindered campaign is resumed

	SpentBefore float64       `json:"spent_before,omitzero"` // node-seconds of earlier verifications when this one was asked for
	VerifyTime  time.Duration `json:"verify_time,omitempty"` // limit of machine time that was asked for; 0: tutti's default
	Report      time.Time     `json:"report,omitzero"`       // modification time of the report with the verdicts; while verifying, of that before
}

// stopGoal says why a campaign is being stopped. It determines the state of the campaign after the stop.
type stopGoal string

const (
	goalPause  stopGoal = "pause"
	goalCancel stopGoal = "cancel"
	goalQuota  stopGoal = "quota" // failed, with its jobs cancelled, because it has exceeded a limit
)

// rest adds the time since the process began to the time that the campaign ran. The process has ended at the time
// `at`.
func (s *stored) rest(at time.Time) {
	if !s.Since.IsZero() {
		s.Ran += max(0, at.Sub(s.Since))
		s.Since = time.Time{}
	}
}

// ranUntil returns how long the processes of the campaign have run.
func (s stored) ranUntil(now time.Time) time.Duration {
	s.rest(now)
	return s.Ran
}

// mustWait reports whether a campaign that the machine hindered waits before it is resumed. A time that is too far away
// was set by a clock that was wrong.
func (s stored) mustWait(now time.Time) bool {
	left := s.NotBefore.Sub(now)
	return left > 0 && left <= hindranceMax
}

func (e *entry) results() string { return filepath.Join(e.dir, resultsDir) }

func (e *entry) journal() string { return filepath.Join(e.dir, resultsDir, journal.FileName) }

func (e *entry) log() string { return filepath.Join(e.dir, logFile) }

// begun reports whether the campaign has a journal. If the file system cannot tell, it returns true.
func (e *entry) begun() bool {
	_, err := os.Stat(e.journal())
	return !errors.Is(err, fs.ErrNotExist)
}

// ownership says who works on the campaign.
func (e *entry) ownership() ownership {
	switch {
	case e.worker != nil:
		return owned
	case e.begun():
		return begun
	}
	return fresh
}

// isGone reports whether the campaign's folder was removed.
func (e *entry) isGone() bool {
	_, err := os.Lstat(e.dir)
	return errors.Is(err, fs.ErrNotExist)
}

// openView returns the summary of the campaign's journal, and creates it if necessary. The caller must hold the lock of the
// queue.
func (e *entry) openView(clock clockwork.Clock) *journalView {
	if e.view == nil {
		e.view = newJournalView(e.journal(), clock)
		e.view.log.setEnded(e.State.Over() || e.State == Unreadable)
	}
	return e.view
}

// usesMachine reports whether the campaign occupies its machine.
func (e *entry) usesMachine() bool { return e.worker != nil && e.worker.onMachine }

// measures reports whether the campaign runs benchmarks, so that it may use node-hours.
func (e *entry) measures() bool { return e.NodeHours > 0 }

// current returns the campaign with its latest known progress. This is the progress in the journal, or the
// stored progress while the journal has not been read completely since the service's start.
func (e *entry) current() Campaign {
	c := e.Campaign
	if e.view != nil {
		if p := e.view.progress(); p.Records >= c.Progress.Records {
			c.Progress = p
		}
	}
	if c.State.Over() {
		c.Progress.GoesOn = nil
	}
	c.Next = c.next()
	return c
}

// spentOn returns the number of node-seconds that the campaign used on a day.
func (e *entry) spentOn(day string) float64 {
	if e.view == nil {
		return 0 // it ended before the service started
	}
	return e.view.spending().on(day)
}

// unreadable reports whether the end of the journal could not be read.
func (e *entry) unreadable() bool { return e.view != nil && e.view.failure() != nil }

// isFrom reports whether a request equals the one by which the campaign was created.
func (c Campaign) isFrom(r Request) bool {
	return c.Base == r.Base && c.Name == r.Name && c.From == r.From && maps.Equal(c.Set, r.Set)
}
