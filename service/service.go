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

	"github.com/jonboulle/clockwork"

	"tutti/internal/config"
	"tutti/journal"
)

// Options of a service.
type Options struct {
	State   string // folder of all its files
	Bases   []config.Base
	Samples []config.SampleFolder
	Command []string // of tutti: the program and the arguments before its commands
	Environ []string // of the processes; nil: that of this process
	// Check returns the demand of a campaign, given its base and its settings. Settings that the base does
	// not allow are an error. If one field is wrong, the error is a *config.FieldError. If Check is nil,
	// every campaign uses recorded data.
	Check   func(config.Base, map[string]string) (config.Demand, error)
	Quota   config.Quota // zeros mean the defaults of package config
	Models  Models       // nil: no selection, no predictions
	Machine Machine      // nil: machines are not inspected
	// Readable are patterns, as path.Match takes them, of the files that the role read may
	// download. All others are private.
	Readable []string

	MaxQueue int           // campaigns in the queue, 0: 100
	LogBytes int64         // of the log of one campaign, 0: 1 MiB
	Poll     time.Duration // between two reads of a journal, 0: 250 ms
	Grace    time.Duration // time for a process to stop before it is killed, 0: 1 min
	Once     bool          // Run returns when nothing is due and no campaign can run

	Clock clockwork.Clock // nil: the real one
	Log   *slog.Logger    // nil: silent
}

func (o *Options) setDefaults() {
	o.MaxQueue = cmp.Or(o.MaxQueue, 100)
	o.LogBytes = cmp.Or(o.LogBytes, 1<<20)
	o.Poll = cmp.Or(o.Poll, 250*time.Millisecond)
	o.Grace = cmp.Or(o.Grace, time.Minute)
	if o.Clock == nil {
		o.Clock = clockwork.NewRealClock()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

func (o *Options) base(name string) (config.Base, error) {
	i := slices.IndexFunc(o.Bases, func(b config.Base) bool { return b.Name == name })
	if i < 0 {
		return config.Base{}, fmt.Errorf("%w: %q", ErrNoBase, name)
	}
	return o.Bases[i], nil
}

// Service runs campaigns. Its parts have their own locks; a part that holds its lock calls
// only the parts below: schedule and samples, then queue, then quota and events. Its methods
// are safe for concurrent use.
type Service struct {
	opt      *Options
	events   *serviceLog
	queue    *queue
	schedule *schedule
	samples  *samples
	learned  *learnedCache
	release  func() error // of the lock of the state folder
}

// New reads the state folder and locks it. The error matches journal.ErrLocked while another
// service has the lock. No campaign runs before Run.
func New(opt Options) (*Service, error) {
	opt.setDefaults()
	quota, err := newQuota(opt.Quota, opt.Clock, filepath.Join(opt.State, quotaFile))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(opt.State, campaignsDir), 0o700); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	release, err := journal.Lock(filepath.Join(opt.State, lockFile))
	if err != nil {
		return nil, fmt.Errorf("another service has the state folder: %w", err)
	}
	s := &Service{opt: &opt, learned: newLearnedCache(opt.Models), release: release}
	if err := s.load(quota); err != nil {
		return nil, errors.Join(err, release())
	}
	return s, nil
}

// load makes the parts of the service from the files of the state folder.
func (s *Service) load(quota *quota) (err error) {
	if s.events, err = openServiceLog(filepath.Join(s.opt.State, eventsFile), s.opt.Clock); err != nil {
		return err
	}
	s.queue = newQueue(s.opt, s.events, processes{s.opt.Command, s.opt.Environ, s.opt.Poll}, quota)
	if err = s.queue.load(); err == nil {
		s.schedule, err = newSchedule(s.opt, s.queue)
	}
	if err == nil {
		s.samples, err = newSamples(s.opt, s.queue)
	}
	if err != nil {
		return errors.Join(err, s.events.close())
	}
	return nil
}

// Run adopts the campaigns of an earlier service, starts queued campaigns and follows the schedule
// until ctx is cancelled. Then it stops all processes and leaves their jobs with the scheduler; the
// next service resumes their campaigns. With Options.Once it returns when no campaign is due, runs
// or can run today. Run may be called once.
func (s *Service) Run(ctx context.Context) error {
	s.queue.start()
	running, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() { s.followDays(running) })
	s.samples.start(ctx, &tasks)
	err := s.schedule.start(ctx, &tasks)
	if err == nil {
		if s.opt.Once {
			s.queue.waitIdle(ctx)
		} else {
			<-ctx.Done()
		}
	}
	stop()
	s.queue.drain()
	s.schedule.stop()
	tasks.Wait()
	return errors.Join(err, s.Close())
}

// followDays starts campaigns that wait for node-hours when a day begins, until ctx is
// cancelled. It wakes every hour in case the clock was adjusted.
func (s *Service) followDays(ctx context.Context) {
	for {
		now := s.opt.Clock.Now()
		select {
		case <-ctx.Done():
			return
		case <-s.opt.Clock.After(min(time.Hour, nextDay(now).Sub(now))):
		}
		s.queue.dispatch()
	}
}

// Close releases the state folder. Call it for a service whose method Run was not called.
func (s *Service) Close() error { return errors.Join(s.events.close(), s.release()) }

// Ready returns why the service cannot create campaigns, nil when it can.
func (s *Service) Ready() error { return s.queue.ready() }

// Events returns the service's own feed: an event "campaign" with a Campaign for every change
// of a state, "schedule" with a Scheduled for every decision, and "online" with a
// SampleStatus for every change of a folder of samples.
func (s *Service) Events() Feed { return s.events.log }

// Bases returns the bases in the order of the configuration.
func (s *Service) Bases() []config.Base { return slices.Clone(s.opt.Bases) }

// Schedule returns the schedule of every base that has one.
func (s *Service) Schedule() []Scheduled { return s.schedule.list() }

// Samples returns the status of the folders of samples in the order of the configuration.
func (s *Service) Samples() []SampleStatus { return s.samples.list() }

// NodeHours returns the node-hours that campaigns have used today and the node-hours that they may still
// use.
func (s *Service) NodeHours() NodeHours { return s.queue.nodeHours() }

// Campaigns returns all campaigns, the newest first.
func (s *Service) Campaigns() []Campaign { return s.queue.list() }

// Campaign returns one campaign. The error matches ErrNoCampaign.
func (s *Service) Campaign(id string) (Campaign, error) { return s.queue.campaign(id) }

// Create makes a campaign that waits for its machine. If an earlier request had the same key, Create
// returns the campaign of that request, and created is false. Requests with an empty key are never
// repetitions.
//
// The error is a *config.FieldError, or matches ErrNoBase, ErrKey, ErrQueueFull, ErrQuota or ErrDraining.
func (s *Service) Create(_ context.Context, r Request, key string) (c Campaign, created bool, err error) {
	if len(key) > maxKey || !isPrintable(key) {
		return Campaign{}, false, &config.FieldError{Field: "Idempotency-Key", Text: fmt.Sprintf("want at most %d printable characters", maxKey)}
	}
	return s.queue.create(r, key, "requested")
}

const maxKey = 200 // characters of an idempotency key

// Pause stops a campaign so that it can be resumed. Its jobs stay with the scheduler. The
// error matches ErrNoCampaign or ErrState.
func (s *Service) Pause(id string) (Campaign, error) { return s.queue.stop(id, goalPause, Paused) }

// Cancel stops a campaign for good and cancels its jobs. Its measurements are kept. The error
// matches ErrNoCampaign or ErrState.
func (s *Service) Cancel(id string) (Campaign, error) {
	return s.queue.stop(id, goalCancel, Cancelled)
}

// Resume puts a paused or failed campaign into the queue. The error matches ErrNoCampaign,
// ErrState, ErrQueueFull, ErrQuota or ErrDraining.
func (s *Service) Resume(id string) (Campaign, error) { return s.queue.resume(id) }
