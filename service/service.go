package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"

	"tutti/journal"
)

// Options of a service.
type Options struct {
	State   string // folder of everything it keeps
	Bases   []Base
	Online  []Watched // folders of samples
	Command []string  // how tutti is called: the program and what comes before its verbs
	Environ []string  // of the campaigns' processes
	// Check returns what a campaign of a base with settings would ask of its machine. It
	// reports settings that the base cannot be run with, as a *FieldError where one field
	// is to blame. nil: every campaign is from recorded data.
	Check    func(Base, map[string]string) (Ask, error)
	Ceilings Ceilings
	Views    Views
	Site     Site
	// Shown are patterns, as path.Match takes them, of the files that those may read
	// who may only look. All others are private.
	Shown []string

	Waiting  int           // campaigns that may wait at most, 0: 100
	LogBytes int64         // of the log of one campaign, 0: 1 MiB
	Poll     time.Duration // how often journals are looked at, 0: 250 ms
	Grace    time.Duration // what a process has to stop, 0: 1 min
	Once     bool          // Run returns when nothing is due and nothing waits

	Clock clockwork.Clock // nil: the real one
	Log   *slog.Logger    // nil: silent
}

// Views says what a campaign has learnt. It may take long; the service asks for
// one thing at a time.
type Views interface {
	// Learnt returns what the journal in a folder amounts to for one problem by
	// now. The error matches ErrNotYet when there is nothing to learn from.
	Learnt(ctx context.Context, dir string, p journal.Problem) (Learnt, error)
}

// Learnt is what is known of a problem.
type Learnt struct {
	Selection   Selection
	Predictions []Prediction // by nodes, ppn, bytes, algorithm
}

// Service runs campaigns. Make one with New; its methods are safe for concurrent
// use.
type Service struct {
	opt    Options
	clock  clockwork.Clock
	log    *slog.Logger
	events *journalOfService
	views  *viewCache

	mu        sync.Mutex
	campaigns map[string]*entry
	order     []*entry              // as they were made
	keys      map[string]*entry     // by idempotency key
	machines  map[string]string     // what a machine is busy with: the ID of a campaign, or a probe
	schedule  map[string]*agenda    // by base
	online    map[string]keptOnline // by name
	cron      gocron.Scheduler      // nil before Run, and with Options.Once
	draining  bool
	started   bool
	idle      []*entry // campaigns that are over and whose track is in memory, oldest use first
	workers   sync.WaitGroup
	release   func() error  // of the state folder's lock
	changed   chan struct{} // closed and made anew when a campaign's state or a machine changes
}

// New reads what the state folder holds and takes its lock, which the error
// matches journal.ErrLocked for while another service has it. Nothing runs before
// Run.
func New(opt Options) (*Service, error) {
	opt.Waiting = cmp.Or(opt.Waiting, 100)
	opt.LogBytes = cmp.Or(opt.LogBytes, 1<<20)
	opt.Poll = cmp.Or(opt.Poll, 250*time.Millisecond)
	opt.Grace = cmp.Or(opt.Grace, time.Minute)
	opt.Ceilings.Campaign = cmp.Or(opt.Ceilings.Campaign, DefaultCampaign)
	opt.Ceilings.Day = cmp.Or(opt.Ceilings.Day, DefaultDay)
	if err := opt.Ceilings.Validate(); err != nil {
		return nil, fmt.Errorf("ceilings: %w", err)
	}
	s := &Service{
		opt: opt, clock: opt.Clock, log: opt.Log,
		campaigns: map[string]*entry{}, keys: map[string]*entry{}, machines: map[string]string{},
		schedule: map[string]*agenda{}, online: map[string]keptOnline{}, changed: make(chan struct{}),
	}
	if s.clock == nil {
		s.clock = clockwork.NewRealClock()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.views = newViewCache(opt.Views)
	if err := os.MkdirAll(filepath.Join(opt.State, campaignsDir), 0o700); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	release, err := journal.Lock(filepath.Join(opt.State, lockName))
	if err != nil {
		return nil, fmt.Errorf("another service has the state folder: %w", err)
	}
	s.release = release
	if err := s.load(); err != nil {
		return nil, errors.Join(err, release())
	}
	return s, nil
}

// Close gives back a service that is not Run after all.
func (s *Service) Close() error { return errors.Join(s.events.close(), s.release()) }

// Bases returns what campaigns can be made from, in the order of the configuration.
func (s *Service) Bases() []Base { return slices.Clone(s.opt.Bases) }

func (s *Service) base(name string) (Base, error) {
	for _, b := range s.opt.Bases {
		if b.Name == name {
			return b, nil
		}
	}
	return Base{}, fmt.Errorf("%w: %q", ErrNoBase, name)
}

// Campaigns returns all campaigns, the newest first.
func (s *Service) Campaigns() []Campaign {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Campaign, 0, len(s.order))
	for _, e := range slices.Backward(s.order) {
		out = append(out, e.show())
	}
	return out
}

// Campaign returns one campaign. The error matches ErrNoCampaign.
func (s *Service) Campaign(id string) (Campaign, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.entry(id)
	if err != nil {
		return Campaign{}, err
	}
	return e.show(), nil
}

// entry needs the lock.
func (s *Service) entry(id string) (*entry, error) {
	e, ok := s.campaigns[id]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrNoCampaign, id)
	}
	return e, nil
}

// Ready reports why the service cannot take campaigns, nil when it can.
func (s *Service) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.draining:
		return ErrDraining
	case !s.started:
		return errors.New("the service has not started")
	}
	return nil
}

// Events returns the service's own row: "campaign" with a Campaign whenever the
// state of one changes, "schedule" with a Scheduled for every decision, and "online" with
// an Online whenever there is news of a watched folder.
func (s *Service) Events() Feed { return s.events.row }
