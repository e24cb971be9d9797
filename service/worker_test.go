package service_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/service"
)

// TestStopAdopted checks that a process that an earlier service started, and that ignores SIGTERM, is killed whatever
// stops its campaign.
func TestStopAdopted(t *testing.T) {
	testutil.SkipShort(t)
	for _, tc := range []struct {
		name string
		stop func(s *service.Service, id string) error
		want service.State
	}{
		{"pause", func(s *service.Service, id string) error { _, err := s.Pause(id); return err }, service.Paused},
		{"cancel", func(s *service.Service, id string) error { _, err := s.Cancel(id); return err }, service.Cancelled},
		{"drain", nil, service.Queued},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state, b := t.TempDir(), base(t, "deaf", fakeFile{Trials: 10000, Every: 10 * time.Millisecond, Deaf: true})
			id := killService(t, state, b, 5)
			opt := options(t, state, b)
			opt.Drain = 50 * time.Millisecond
			s, end := running(t, opt)
			awaitTrial(t, s, id)
			if tc.stop == nil {
				end()
			} else {
				testutil.NoError(t, tc.stop(s, id))
			}
			awaitState(t, s, id, tc.want)
			if p, err := journal.Writer(filepath.Join(state, "campaigns", id, "results")); err == nil && !p.Gone() {
				t.Errorf("the process still runs: %v", p)
			}
		})
	}
}

// TestStopForeign checks that a process that no service started outlives every stop, gets no signal, and does not keep
// the service from ending.
func TestStopForeign(t *testing.T) {
	testutil.SkipShort(t)
	for _, name := range []string{"pause", "cancel", "drain"} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			opt := options(t, state, base(t, "slow", fakeFile{Trials: slowTrials, Every: 10 * time.Millisecond}))
			opt.Drain = 30 * time.Millisecond
			s, end := running(t, opt)
			id := create(t, s, service.Request{Base: "slow"})
			awaitTrial(t, s, id)
			pause(t, s, id)
			j, _, err := journal.Open(filepath.Join(state, "campaigns", id, "results"))
			testutil.NoError(t, err)
			defer j.Close()
			if _, err := s.Resume(id); err != nil {
				t.Fatal(err)
			}
			awaitState(t, s, id, service.Running)
			switch name {
			case "pause":
				_, err = s.Pause(id)
			case "cancel":
				_, err = s.Cancel(id)
			}
			testutil.NoError(t, err)
			time.Sleep(5 * opt.Drain)
			end()
			if c := testutil.Must(s.Campaign(id))(t); c.State != service.Running && c.State != service.Stopping {
				t.Errorf("the campaign is %s while a foreign process works on it", c.State)
			}
		})
	}
}

// killService runs a service with one campaign until its journal has some lines, and kills the service. The process of
// the campaign goes on.
func killService(t *testing.T, state string, b config.Base, lines int) (id string) {
	t.Helper()
	cmd := serviceCommand(t, state, b)
	testutil.NoError(t, cmd.Start())
	id = awaitLines(t, state, lines)
	testutil.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait()
	return id
}

// TestStopBeforeStart checks that a campaign that is stopped while its machine is inspected never starts, however often
// it is resumed and stopped.
func TestStopBeforeStart(t *testing.T) {
	state := t.TempDir()
	opt := options(t, state, base(t, "b", fakeFile{Trials: 1}))
	opt.Inspect = func(ctx context.Context, _ config.Base) (service.MachineState, error) {
		<-ctx.Done()
		return service.MachineState{}, ctx.Err()
	}
	s, _ := running(t, opt)
	id := create(t, s, service.Request{Base: "b"})
	for range 5 {
		pause(t, s, id)
		if _, err := s.Resume(id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Cancel(id); err != nil {
		t.Fatal(err)
	}
	awaitState(t, s, id, service.Cancelled)
	if got := calls(t, state, id); got != nil {
		t.Errorf("tutti was called with %v", got)
	}
}

// TestPanic checks that a panic ends the campaign in whose worker it happens, and nothing else.
func TestPanic(t *testing.T) {
	opt := options(t, t.TempDir(), base(t, "bad", fakeFile{Trials: 1}), base(t, "b", fakeFile{Trials: 1}))
	opt.Inspect = func(_ context.Context, b config.Base) (service.MachineState, error) {
		if b.Name == "bad" {
			panic("on purpose")
		}
		return service.MachineState{}, nil
	}
	s, _ := running(t, opt)
	bad, good := create(t, s, service.Request{Base: "bad"}), create(t, s, service.Request{Base: "b"})
	if c := awaitState(t, s, bad, service.Failed); !strings.Contains(c.Error, "a fault in the service") {
		t.Errorf("error %q", c.Error)
	}
	awaitState(t, s, good, service.Done)
}

// TestRecordedTimeOfAllProcesses checks that limits.recorded counts the time of all processes of a campaign: a resumed
// campaign gets no new time.
func TestRecordedTimeOfAllProcesses(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	opt := options(t, state, base(t, "b", fakeFile{Trials: 100000, Every: time.Millisecond}))
	opt.Limits.Recorded = 50 * time.Millisecond
	s, stop := running(t, opt)
	id := create(t, s, service.Request{Base: "b"})
	awaitState(t, s, id, service.Failed)
	for range 2 {
		if _, err := s.Resume(id); !errors.Is(err, service.ErrLimit) {
			t.Errorf("Resume = %v, want ErrLimit", err)
		}
		stop()
		s, stop = running(t, opt)
	}
}

// TestDiskOfCampaign checks that a campaign whose benchmarks fill the disk is stopped, and is not resumed.
func TestDiskOfCampaign(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	opt := options(t, state, base(t, "b", fakeFile{Trials: 100000, Every: time.Millisecond}))
	opt.Limits.DiskBytes = 1 << 20
	s, _ := running(t, opt)
	id := create(t, s, service.Request{Base: "b"})
	awaitTrial(t, s, id)
	output := filepath.Join(state, "campaigns", id, "results", "jobs", "j1", "stdout")
	testutil.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(output), 0o700), os.WriteFile(output, make([]byte, 2<<20), 0o600)))
	if c := awaitState(t, s, id, service.Failed); !strings.Contains(c.Error, "limits.disk") {
		t.Errorf("error %q, want the limit", c.Error)
	}
	if _, err := s.Resume(id); !errors.Is(err, service.ErrLimit) {
		t.Errorf("Resume = %v, want ErrLimit", err)
	}
}

// TestHindered checks that a campaign that the machine or a full disk interrupts is resumed by itself, later each time, and
// that its machine is free meanwhile.
func TestHindered(t *testing.T) {
	testutil.SkipShort(t)
	for _, code := range []service.ExitCode{service.ExitInterrupted, service.ExitOutput} {
		t.Run(strconv.Itoa(int(code)), func(t *testing.T) { checkHindered(t, code) })
	}
}

func checkHindered(t *testing.T, code service.ExitCode) {
	t.Helper()
	state, clock := t.TempDir(), clockwork.NewFakeClockAt(time.Now())
	opt := options(t, state, base(t, "b", fakeFile{Exit: int(code)}), base(t, "other", fakeFile{Trials: 1}))
	opt.Clock = clock
	s, _ := running(t, opt)
	id := create(t, s, service.Request{Base: "b"})
	for processes, wait := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		c := await(t, s, id, func(c service.Campaign) bool {
			return c.State == service.Queued && len(calls(t, state, id)) == processes+1
		})
		if !strings.Contains(c.Error, "something is wrong") {
			t.Errorf("error %q, want that of the process", c.Error)
		}
		clock.Advance(wait - time.Second)
		runToEnd(t, s, service.Request{Base: "other"})
		if n := len(calls(t, state, id)); n != processes+1 {
			t.Fatalf("%d processes before the time to wait has passed, want %d", n, processes+1)
		}
		clock.Advance(time.Second)
	}
}
