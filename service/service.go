package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tutti/internal/config"
	"tutti/journal"
)

// Options of a service.
type Options struct {
	config.Service          // if limits.waiting, limits.log or drain is 0, its default applies
	Command        []string // of tutti: the program and the arguments before its commands
	Environ        []string // of the processes; nil: that of this process
	// Check returns the machine time that a campaign requests, given its base and its settings. Settings that the base
	// does not allow are an error. If the error concerns one field, it is a *config.FieldError. If Check is nil, every
	// campaign counts as one on recorded data.
	Check   func(config.Base, map[string]string) (config.Demand, error)
	Inspect func(context.Context, config.Base) (MachineState, error) // of the machine of a base; nil: InspectMachine
	// Readable contains patterns for the names of the files that users with the role "read" may download.
	// path.Match defines their syntax. All other files are private.
	Readable []string

	Poll time.Duration // between two reads of a journal, 0: 250 ms
	Once bool          // Run returns when nothing is due and no campaign can run

	Clock clockwork.Clock // nil: the real one
	Log   *slog.Logger    // nil: silent
}

func (o *Options) setDefaults() {
	o.Limits.Waiting = cmp.Or(o.Limits.Waiting, 100)
	o.Limits.LogBytes = cmp.Or(o.Limits.LogBytes, 1<<20)
	o.Poll = cmp.Or(o.Poll, 250*time.Millisecond)
	o.Drain = cmp.Or(o.Drain, time.Minute)
	if o.Inspect == nil {
		o.Inspect = InspectMachine
	}
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

// recoverFrom ends the panic of a goroutine, so that the service goes on. The caller defers it.
func (o *Options) recoverFrom(what string) {
	if fault := recover(); fault != nil {
		o.Log.Error("fault in the service", "in", what, "fault", fault, "stack", string(debug.Stack()))
	}
}

// Service runs campaigns. Each of its parts has its own lock. While a part holds its lock, it may only call
// later parts in this list: schedule and samples, queue, events. The methods of Service are safe for
// concurrent use.
type Service struct {
	*queue
	schedule *schedule
	samples  *samples
	notifier *notifier
	learned  *learnedCache
	release  func() error // of the lock of the state folder
}

// New reads the state folder and locks it. If another service has locked the folder, the error matches
// journal.ErrLocked. Campaigns run only after a call of Run.
func New(opt Options) (*Service, error) {
	opt.setDefaults()
	if err := os.MkdirAll(filepath.Join(opt.State, campaignsDir), 0o700); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	release, err := journal.Lock(filepath.Join(opt.State, lockFile))
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	events, published, err := openServiceLog(filepath.Join(opt.State, eventsFile), opt.Clock, opt.Log)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	s := &Service{queue: newQueue(&opt, events), learned: newLearnedCache(), release: release}
	if err := s.load(published); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.schedule, s.samples, s.notifier = newSchedule(s.queue), newSamples(s.queue), newNotifier(&opt, events.log)
	return s, nil
}

// Run takes over the campaigns of an earlier service, starts queued campaigns and follows the schedule until
// ctx is cancelled. Then it stops all processes. Their jobs stay with the scheduler, and the next service
// resumes the campaigns. With Options.Once, Run returns when no campaign is due, is running or can run today.
// It may be called only once.
func (s *Service) Run(ctx context.Context) error {
	s.queue.start()
	running, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() { keepTime(running, tickInterval, s.queue.tick) })
	tasks.Go(func() { keepTime(running, reportInterval, s.queue.readReports) })
	s.samples.start(ctx, &tasks)
	s.schedule.start(ctx, &tasks)
	if s.opt.Once {
		s.queue.waitIdle(ctx)
		for _, r := range s.opt.Notify {
			s.notifier.catchUp(ctx, r)
		}
	} else {
		s.notifier.start(running, &tasks)
		<-ctx.Done()
	}
	stop()
	s.queue.drain()
	tasks.Wait()
	return s.Close()
}

// tickInterval is the time between two looks at what waits for a later time: a new day, a machine that hindered a
// campaign, free space for an event.
const tickInterval = time.Second

// reportInterval is the time between two looks at the reports of campaigns that are done. Our choice.
const reportInterval = 2 * time.Second

// keepTime calls the function `tick` at regular intervals until ctx is cancelled.
func keepTime(ctx context.Context, interval time.Duration, tick func()) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			tick()
		}
	}
}

// Close releases the state folder. It is needed only for a service whose method Run was not called.
func (s *Service) Close() error { return errors.Join(s.events.close(), s.release()) }

// Events returns the feed of the service itself. An event "campaign" contains a Campaign whose state
// changed. An event "schedule" contains a Scheduled with a new decision. An event "online" contains a
// SampleStatus that changed.
func (s *Service) Events() Feed { return s.events.log }

// Bases returns the campaign files from which the service creates campaigns, in the order of the service file.
func (s *Service) Bases() []config.Base { return slices.Clone(s.opt.Bases) }

// Schedule returns the schedule of every campaign file (base) that has one.
func (s *Service) Schedule() []Scheduled { return s.schedule.list() }

// Samples returns the status of the folders of samples, in the order in which the service file lists them.
func (s *Service) Samples() []SampleStatus { return s.samples.list() }
