package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/renameio/v2"
)

// agenda is what the schedule knows of one base.
type agenda struct {
	Last     time.Time `json:"last"`     // looked at
	Decision string    `json:"decision"` // of that
	Probed   spending  `json:"probed,omitzero"`
	job      gocron.Job
}

// crontab joins a schedule in cron syntax with its time zone; the one of the
// machine when there is none.
func crontab(schedule, zone string) string {
	if zone == "" {
		zone = "Local"
	}
	return "CRON_TZ=" + zone + " " + schedule
}

// CheckSchedule reports a schedule that is not five fields of cron, or a time zone
// that nobody knows. No schedule is fine.
func CheckSchedule(schedule, zone string) error {
	if schedule == "" && zone == "" {
		return nil
	}
	if _, err := time.LoadLocation(zone); err != nil {
		return fmt.Errorf("time zone %q: %w", zone, err)
	}
	if schedule == "" {
		return errors.New("a time zone without a schedule")
	}
	if err := gocron.NewDefaultCron(false).IsValid(crontab(schedule, zone), time.Local, time.Now()); err != nil {
		lines := strings.Split(err.Error(), "\n") // what it was for, and on the last line why
		return fmt.Errorf("%q: want minute, hour, day of month, month, day of week, as in 30 2 * * 0: %s", schedule, lines[len(lines)-1])
	}
	return nil
}

// after is when a base is due next, later than t.
func (b Base) after(t time.Time) (time.Time, error) {
	cron := gocron.NewDefaultCron(false)
	if err := cron.IsValid(crontab(b.Schedule, b.TimeZone), time.Local, t); err != nil {
		return time.Time{}, err
	}
	return cron.Next(t), nil
}

// Schedule returns when each base that has a schedule was looked at and will be.
func (s *Service) Schedule() []Scheduled {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Scheduled{}
	for _, b := range s.opt.Bases {
		if b.Schedule != "" {
			out = append(out, s.scheduled(b))
		}
	}
	return out
}

// scheduled shows what the schedule knows of a base. It needs the lock.
func (s *Service) scheduled(b Base) Scheduled {
	p := s.agenda(b)
	next := time.Time{}
	if p.job != nil {
		next, _ = p.job.NextRun()
	}
	return Scheduled{Base: b.Name, Schedule: b.Schedule, TimeZone: b.TimeZone, Next: next, Last: p.Last, Decision: p.Decision}
}

// agenda returns what the schedule knows of a base. It needs the lock.
func (s *Service) agenda(b Base) *agenda {
	p, known := s.schedule[b.Name]
	if !known {
		p = &agenda{}
		s.schedule[b.Name] = p
	}
	return p
}

func (s *Service) loadSchedule() error {
	path := filepath.Join(s.opt.State, scheduleName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(content, &s.schedule)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// saveSchedule needs the lock.
func (s *Service) saveSchedule() error {
	content, err := json.MarshalIndent(s.schedule, "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(s.opt.State, scheduleName), append(content, '\n'), 0o600)
}

// startSchedule looks at what became due while no service ran, and follows the
// clock from now on. With Options.Once it looks at what is due and at bases that
// were never looked at, and that is all.
func (s *Service) startSchedule(ctx context.Context) error {
	now := s.clock.Now()
	for _, b := range s.opt.Bases {
		if b.Schedule == "" {
			continue
		}
		s.mu.Lock()
		last := s.agenda(b).Last
		s.mu.Unlock()
		if last.IsZero() {
			if s.opt.Once {
				s.consider(ctx, b, now)
			}
			continue
		}
		if due, err := b.after(last); err == nil && !due.After(now) {
			if s.opt.Once {
				s.consider(ctx, b, due)
			} else {
				s.workers.Go(func() { s.consider(ctx, b, due) })
			}
		}
	}
	if s.opt.Once {
		return nil
	}
	return s.followClock(ctx)
}

// followClock has every base looked at when its schedule says so, one look at a
// time.
func (s *Service) followClock(ctx context.Context) error {
	cron, err := gocron.NewScheduler(gocron.WithClock(s.clock))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.opt.Bases {
		if b.Schedule == "" {
			continue
		}
		job, err := cron.NewJob(gocron.CronJob(crontab(b.Schedule, b.TimeZone), false),
			gocron.NewTask(func() { s.consider(ctx, b, s.clock.Now()) }),
			gocron.WithName(b.Name), gocron.WithSingletonMode(gocron.LimitModeReschedule))
		if err != nil {
			return errors.Join(fmt.Errorf("schedule of %s: %w", b.Name, err), cron.Shutdown())
		}
		s.agenda(b).job = job
	}
	s.cron = cron
	cron.Start()
	return nil
}

// ownWords is an error in words that everybody may read: those of the system, of
// programs and of campaign files stay in the log.
func ownWords(err error) string {
	for _, own := range []error{ErrFull, ErrSpent, ErrDraining, ErrNoBase} {
		if errors.Is(err, own) {
			return err.Error()
		}
	}
	return "the service's log says why"
}

func (s *Service) stopSchedule() {
	if s.cron == nil {
		return
	}
	if err := s.cron.Shutdown(); err != nil {
		s.log.Warn("schedule", "error", err)
	}
}

// consider looks at a base that was due at a time, makes a campaign when its
// conditions hold, and notes why or why not. A service that dies in between makes
// no second one: the time is the key.
func (s *Service) consider(ctx context.Context, b Base, due time.Time) {
	run, from, reason := s.decision(ctx, b)
	if ctx.Err() != nil {
		return // the next service looks again
	}
	if run {
		r := Request{Base: b.Name, Name: b.Name + " " + due.UTC().Format("2006-01-02 15:04"), From: from}
		key := fmt.Sprintf("\x00schedule %s %d", b.Name, due.Truncate(time.Minute).Unix())
		c, _, err := s.create(r, key, "schedule: "+reason)
		if err != nil {
			s.log.Error("no campaign", "base", b.Name, "error", err)
			reason += ", but there is no campaign: " + ownWords(err)
		} else {
			reason = fmt.Sprintf("campaign %s: %s", c.ID, reason)
		}
	} else {
		reason = "no campaign: " + reason
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.agenda(b)
	p.Last, p.Decision = s.clock.Now().UTC(), reason
	err := s.saveSchedule()
	if err == nil {
		err = s.events.append(scheduleEvent, s.scheduled(b))
	}
	if err != nil {
		s.log.Error("decision not kept", "base", b.Name, "error", err)
	}
	s.log.Info("schedule", "base", b.Name, "decision", reason)
	s.wake()
}
