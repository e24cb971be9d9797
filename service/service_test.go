package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/service"
)

// options returns the options of a service that runs fakeTutti as its tutti command.
func options(t testing.TB, state string, bases ...config.Base) service.Options {
	t.Helper()
	program := testutil.Must(os.Executable())(t)
	return service.Options{
		Service: config.Service{State: state, Bases: bases, Drain: time.Minute},
		Command: []string{program}, Environ: append(os.Environ(), asTutti), Poll: 2 * time.Millisecond,
	}
}

func base(t *testing.T, name string, p fakeFile) config.Base {
	t.Helper()
	return config.Base{Name: name, Machine: "m", File: p.write(t, name)}
}

// running starts a service. It also returns a function that stops the service and waits for its end.
func running(t *testing.T, opt service.Options) (s *service.Service, stop func()) {
	t.Helper()
	s = testutil.Must(service.New(opt))(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	once := false
	stop = func() {
		if once {
			return
		}
		once = true
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(testutil.HangTimeout):
			t.Error("Run does not end")
		}
	}
	t.Cleanup(stop)
	return s, stop
}

func create(t *testing.T, s *service.Service, r service.Request) string {
	t.Helper()
	c, made, err := s.Create(t.Context(), r, "")
	if err != nil || !made {
		t.Fatalf("Create(%v) = %v, made %t", r, err, made)
	}
	return c.ID
}

// waitUntil waits until holds() returns true. If this takes too long, the test fails with the text that last()
// returns.
func waitUntil(t *testing.T, holds func() bool, last func() string) {
	t.Helper()
	for deadline := time.Now().Add(testutil.HangTimeout); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(last())
		}
	}
}

// await waits until a campaign satisfies the given condition. It returns the campaign.
func await(t *testing.T, s *service.Service, id string, want func(service.Campaign) bool) (c service.Campaign) {
	t.Helper()
	waitUntil(t, func() bool {
		c = testutil.Must(s.Campaign(id))(t)
		return want(c)
	}, func() string { return fmt.Sprintf("campaign %s stays %s (%s): %+v", id, c.State, c.Error, c) })
	return c
}

func awaitState(t *testing.T, s *service.Service, id string, want service.State) service.Campaign {
	t.Helper()
	return await(t, s, id, func(c service.Campaign) bool { return c.State == want })
}

// runToEnd creates a campaign, waits until it is done and returns its ID.
func runToEnd(t *testing.T, s *service.Service, r service.Request) string {
	t.Helper()
	id := create(t, s, r)
	awaitState(t, s, id, service.Done)
	return id
}

// pause pauses a campaign and waits until it is paused.
func pause(t *testing.T, s *service.Service, id string) {
	t.Helper()
	if _, err := s.Pause(id); err != nil {
		t.Fatal(err)
	}
	awaitState(t, s, id, service.Paused)
}

// awaitTrial waits until the journal of a campaign contains a trial.
func awaitTrial(t *testing.T, s *service.Service, id string) {
	t.Helper()
	await(t, s, id, func(c service.Campaign) bool { return c.Progress.Trials > 0 })
}

// TestOneAtATime checks that the campaigns of one machine run one after another, in the order of their
// requests. A campaign on another machine must run at the same time.
func TestOneAtATime(t *testing.T) {
	state := t.TempDir()
	quick := base(t, "quick", fakeFile{Trials: 5, Every: 5 * time.Millisecond})
	other := base(t, "other", fakeFile{Trials: 5, Every: 5 * time.Millisecond, Exit: 4})
	other.Machine = "n"
	s, _ := running(t, options(t, state, quick, other))
	var ids []string
	for range 3 {
		ids = append(ids, create(t, s, service.Request{Base: "quick"}))
	}
	elsewhere := create(t, s, service.Request{Base: "other", Name: "elsewhere"})
	for _, id := range ids {
		c := awaitState(t, s, id, service.Done)
		if !c.Converged || c.Exit != 0 || c.Progress.Trials != 5 || c.Progress.Converged != 1 || c.Progress.Rounds != 5 {
			t.Errorf("campaign %s ended as %+v", id, c)
		}
		checkTrials(t, state, id, 5)
	}
	if c := awaitState(t, s, elsewhere, service.Done); c.Converged || c.Exit != 4 {
		t.Errorf("campaign that did not converge ended as %+v", c)
	}
	// The campaigns on one machine must have run one after another, in the order of their requests.
	var last service.Campaign
	for _, id := range ids {
		c, _ := s.Campaign(id)
		if c.Started.Before(last.Ended) {
			t.Errorf("campaign %s began at %v, before %s ended at %v", id, c.Started, last.ID, last.Ended)
		}
		last = c
	}
	if all := s.Campaigns(); len(all) != 4 || all[0].ID != elsewhere {
		t.Errorf("Campaigns() = %+v, want four, the newest first", all)
	}
}

func TestFailure(t *testing.T) {
	state := t.TempDir()
	s, _ := running(t, options(t, state, base(t, "bad", fakeFile{Trials: 1, Exit: 1}), config.Base{Name: "gone", Machine: "m", File: "/nowhere"}))
	id := create(t, s, service.Request{Base: "bad"})
	c := awaitState(t, s, id, service.Failed)
	if c.Exit != 1 || !strings.Contains(c.Error, "something is wrong") {
		t.Errorf("failed campaign is %+v", c)
	}
	if _, err := s.Pause(id); !errors.Is(err, service.ErrState) {
		t.Errorf("Pause of a failed campaign = %v, want ErrState", err)
	}
	if _, err := s.Resume(id); err != nil {
		t.Errorf("Resume of a failed campaign = %v", err)
	}
	await(t, s, id, func(c service.Campaign) bool { return c.State == service.Failed && len(calls(t, state, id)) == 2 })
	if got := calls(t, state, id); !slices.Equal(got, []string{"tune", "resume"}) {
		t.Errorf("tutti was called with %v, want tune and resume", got)
	}
	gone := create(t, s, service.Request{Base: "gone"})
	if c := awaitState(t, s, gone, service.Failed); c.Exit != 3 {
		t.Errorf("campaign without a file is %+v, want exit code 3", c)
	}
}

// slowTrials is the number of trials of a campaign that a test stops before the campaign's end. A trial
// takes 10 ms.
const slowTrials = 300

func TestPauseAndResume(t *testing.T) {
	state := t.TempDir()
	s, _ := running(t, options(t, state, base(t, "slow", fakeFile{Trials: slowTrials, Every: 10 * time.Millisecond})))
	id, next := create(t, s, service.Request{Base: "slow"}), create(t, s, service.Request{Base: "slow"})
	if c, err := s.Pause(next); err != nil || c.State != service.Paused {
		t.Errorf("Pause of one that waits = %s, %v", c.State, err)
	}
	awaitTrial(t, s, id)
	if c, err := s.Pause(id); err != nil || c.State != service.Stopping {
		t.Errorf("Pause = %s, %v, want stopping", c.State, err)
	}
	if c := awaitState(t, s, id, service.Paused); c.Exit != 5 || c.Progress.Trials == 0 || c.Progress.Trials == slowTrials {
		t.Errorf("paused campaign is %+v", c)
	}
	if _, err := s.Pause(id); err != nil {
		t.Errorf("pausing again: %v", err)
	}
	if _, err := s.Resume(id); err != nil {
		t.Fatal(err)
	}
	awaitState(t, s, id, service.Done)
	checkTrials(t, state, id, slowTrials)
	if got := calls(t, state, id); !slices.Equal(got, []string{"tune", "resume"}) {
		t.Errorf("tutti was called with %v, want tune and resume", got)
	}
	if c, _ := s.Campaign(next); c.State != service.Paused {
		t.Errorf("the paused campaign is %s", c.State)
	}
}

func TestCancel(t *testing.T) {
	state := t.TempDir()
	s, _ := running(t, options(t, state, base(t, "slow", fakeFile{Trials: 1000, Every: 10 * time.Millisecond})))
	id, waits := create(t, s, service.Request{Base: "slow"}), create(t, s, service.Request{Base: "slow"})
	if c, err := s.Cancel(waits); err != nil || c.State != service.Cancelled {
		t.Errorf("Cancel of one that waits = %s, %v", c.State, err)
	}
	awaitTrial(t, s, id)
	if _, err := s.Cancel(id); err != nil {
		t.Fatal(err)
	}
	if c := awaitState(t, s, id, service.Cancelled); c.Error != "" || c.Ended.IsZero() {
		t.Errorf("cancelled campaign is %+v", c)
	}
	if got := calls(t, state, id); !slices.Equal(got, []string{"tune", "cancel"}) {
		t.Errorf("tutti was called with %v, want tune and cancel", got)
	}
	if got := calls(t, state, waits); got != nil {
		t.Errorf("tutti was called with %v for a campaign that never began", got)
	}
	if _, err := s.Resume(id); !errors.Is(err, service.ErrState) {
		t.Errorf("Resume of a cancelled campaign = %v, want ErrState", err)
	}
	// Cancel also cancels the jobs of a paused campaign.
	id = create(t, s, service.Request{Base: "slow"})
	awaitTrial(t, s, id)
	pause(t, s, id)
	if _, err := s.Cancel(id); err != nil {
		t.Fatal(err)
	}
	awaitState(t, s, id, service.Cancelled)
	if got := calls(t, state, id); !slices.Equal(got, []string{"tune", "cancel"}) {
		t.Errorf("tutti was called with %v, want tune and cancel", got)
	}
}

// TestUnsavedState checks that a campaign does not start as long as its state cannot be saved, and that a request
// that cannot be saved has no effect. When the state can be saved, the campaign starts by itself.
func TestUnsavedState(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	opt := options(t, state, base(t, "b", fakeFile{Trials: 1000, Every: 5 * time.Millisecond}))
	opt.Inspect = func(context.Context, config.Base) (service.MachineState, error) { // makes campaign.json impossible to save
		paths, err := filepath.Glob(filepath.Join(state, "campaigns", "*", "campaign.json"))
		for _, path := range paths {
			err = errors.Join(err, os.Remove(path), os.MkdirAll(filepath.Join(path, "in the way"), 0o700))
		}
		return service.MachineState{}, err
	}
	s, _ := running(t, opt)
	id := create(t, s, service.Request{Base: "b"})
	await(t, s, id, func(c service.Campaign) bool { return strings.Contains(c.WaitsFor, "the service") })
	if c, err := s.Cancel(id); err == nil {
		t.Errorf("Cancel = %+v, want an error", c)
	}
	path := filepath.Join(state, "campaigns", id, "campaign.json")
	testutil.NoError(t, os.RemoveAll(path))
	awaitTrial(t, s, id)
	if content := testutil.Must(os.ReadFile(path))(t); !strings.Contains(string(content), `"running"`) {
		t.Errorf("campaign.json is %s", content)
	}
}

func TestKillsDeafProcess(t *testing.T) {
	opt := options(t, t.TempDir(), base(t, "deaf", fakeFile{Trials: 1000, Every: 10 * time.Millisecond, Deaf: true}))
	opt.Drain = 50 * time.Millisecond
	s, _ := running(t, opt)
	id := create(t, s, service.Request{Base: "deaf"})
	awaitTrial(t, s, id)
	pause(t, s, id)
}

func TestDrain(t *testing.T) {
	state := t.TempDir()
	b := base(t, "slow", fakeFile{Trials: slowTrials, Every: 10 * time.Millisecond})
	s, stop := running(t, options(t, state, b))
	id := create(t, s, service.Request{Base: "slow"})
	awaitTrial(t, s, id)
	stop()
	c, err := s.Campaign(id)
	if err != nil || c.State != service.Queued {
		t.Fatalf("after draining the campaign is %s, %v, want queued", c.State, err)
	}
	if _, _, err := s.Create(t.Context(), service.Request{Base: "slow"}, ""); !errors.Is(err, service.ErrDraining) {
		t.Errorf("Create while draining = %v, want ErrDraining", err)
	}
	if err := s.Ready(); !errors.Is(err, service.ErrDraining) {
		t.Errorf("Ready while draining = %v", err)
	}
	s, _ = running(t, options(t, state, b))
	awaitState(t, s, id, service.Done)
	checkTrials(t, state, id, slowTrials)
}

// asService is an environment variable for the test binary. If it is set, the binary runs a service until it is
// killed.
const asService = "FAKE_SERVICE=1"

func fakeService(args []string) int {
	var opt service.Options
	if err := json.Unmarshal([]byte(args[0]), &opt.Bases); err != nil {
		return fail(3, err)
	}
	program, err := os.Executable()
	if err != nil {
		return fail(1, err)
	}
	opt.Bases[0].File = args[2]
	opt.State, opt.Command, opt.Poll = args[1], []string{program}, 2*time.Millisecond
	opt.Environ = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return v == asService }), asTutti)
	s, err := service.New(opt)
	if err != nil {
		return fail(6, err)
	}
	if len(s.Campaigns()) == 0 {
		if _, _, err := s.Create(context.Background(), service.Request{Base: opt.Bases[0].Name}, "k"); err != nil {
			return fail(1, err)
		}
	}
	if err := s.Run(context.Background()); err != nil {
		return fail(1, err)
	}
	return 0
}

// serviceCommand returns the command that runs fakeService.
func serviceCommand(t *testing.T, state string, b config.Base) *exec.Cmd {
	t.Helper()
	about := testutil.Must(json.Marshal([]config.Base{b}))(t)
	cmd := exec.Command(testutil.Must(os.Executable())(t), string(about), state, b.File)
	cmd.Env = append(os.Environ(), asService)
	return cmd
}

// TestKilledService kills a service when the journal has reached various lengths. The next service must
// adopt the campaign, and no candidate may be measured twice.
func TestKilledService(t *testing.T) {
	testutil.SkipShort(t)
	for _, lines := range []int{0, 1, 20, 60} {
		state := t.TempDir()
		b := base(t, "slow", fakeFile{Trials: 60, Every: 5 * time.Millisecond})
		id := killService(t, state, b, lines)
		s, stop := running(t, options(t, state, b))
		c := awaitState(t, s, id, service.Done)
		checkTrials(t, state, id, 60)
		if !c.Converged {
			t.Errorf("killed after %d lines: the campaign ended as %+v", lines, c)
		}
		if got := calls(t, state, id); got[0] != "tune" || slices.Contains(got[1:], "tune") && lines > 0 {
			t.Errorf("killed after %d lines: tutti was called with %v", lines, got)
		}
		// A second request with the same key must return the same campaign.
		again, made, err := s.Create(t.Context(), service.Request{Base: "slow"}, "k")
		if err != nil || made || again.ID != id {
			t.Errorf("the request again: campaign %s, made %t, %v; want %s", again.ID, made, err, id)
		}
		stop()
	}
}

// awaitLines waits until the journal of the only campaign has the given number of lines. It returns the
// campaign's ID.
func awaitLines(t *testing.T, state string, lines int) string {
	t.Helper()
	var id string
	waitUntil(t, func() bool {
		files, _ := filepath.Glob(filepath.Join(state, "campaigns", "*", "campaign.json"))
		if len(files) == 0 {
			return false
		}
		id = filepath.Base(filepath.Dir(files[0]))
		content, _ := os.ReadFile(filepath.Join(filepath.Dir(files[0]), "results", journal.FileName))
		return strings.Count(string(content), "\n") >= lines
	}, func() string { return fmt.Sprintf("no journal of %d lines", lines) })
	return id
}

// TestForeignProcess checks that a service does not run a campaign while another process has locked the
// campaign's journal.
func TestForeignProcess(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	s, _ := running(t, options(t, state, base(t, "slow", fakeFile{Trials: slowTrials, Every: 10 * time.Millisecond})))
	id := create(t, s, service.Request{Base: "slow"})
	awaitTrial(t, s, id)
	pause(t, s, id)
	j, _, err := journal.Open(filepath.Join(state, "campaigns", id, "results"))
	testutil.NoError(t, err)
	if _, err := s.Resume(id); err != nil {
		t.Fatal(err)
	}
	c := awaitState(t, s, id, service.Running)
	if !strings.Contains(c.WaitsFor, "another tutti") || c.Error != "" {
		t.Errorf("the campaign waits for %q, error %q", c.WaitsFor, c.Error)
	}
	time.Sleep(20 * time.Millisecond)
	if got := calls(t, state, id); !slices.Equal(got, []string{"tune"}) {
		t.Errorf("tutti was called with %v while another process had locked the journal", got)
	}
	testutil.NoError(t, j.Close())
	if c := awaitState(t, s, id, service.Done); c.Error != "" || c.WaitsFor != "" {
		t.Errorf("at the end the campaign has the error %q and waits for %q", c.Error, c.WaitsFor)
	}
	checkTrials(t, state, id, slowTrials)
}

func TestTwoServices(t *testing.T) {
	opt := options(t, t.TempDir(), base(t, "b", fakeFile{}))
	running(t, opt)
	if _, err := service.New(opt); !errors.Is(err, journal.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("in use by another process: process %d on ", os.Getpid())) {
		t.Errorf("a second service for the same folder: %v, want ErrLocked with the process", err)
	}
}

func TestCreateRefuses(t *testing.T) {
	opt := options(t, t.TempDir(), base(t, "b", fakeFile{Trials: 1000, Every: time.Second}))
	opt.Check = func(_ config.Base, set map[string]string) (config.Demand, error) {
		if _, bad := set["bad"]; bad {
			return config.Demand{}, &config.FieldError{Field: "set.bad", Text: "no"}
		}
		return config.Demand{}, nil
	}
	s, _ := running(t, opt)
	first := create(t, s, service.Request{Base: "b", Name: "<script>", Set: map[string]string{"seed": "2"}})
	awaitState(t, s, first, service.Running)
	faults := []struct {
		name    string
		request service.Request
		key     string
		field   string
		err     error
	}{
		{name: "no base", request: service.Request{Base: "x"}, err: service.ErrNoBase},
		{name: "set", request: service.Request{Base: "b", Set: map[string]string{"bad": "1"}}, field: "set.bad"},
		{name: "from nowhere", request: service.Request{Base: "b", From: "../.."}, field: "from"},
		{name: "from one that is not done", request: service.Request{Base: "b", From: first}, field: "from"},
		{name: "name", request: service.Request{Base: "b", Name: "a\nb"}, field: "name"},
		{name: "long name", request: service.Request{Base: "b", Name: strings.Repeat("x", 201)}, field: "name"},
		{name: "long value", request: service.Request{Base: "b", Set: map[string]string{"k": strings.Repeat("x", 1001)}}, field: "set"},
		{name: "key", request: service.Request{Base: "b"}, key: "a\x00b", field: "Idempotency-Key"},
	}
	for _, tc := range faults {
		_, _, err := s.Create(t.Context(), tc.request, tc.key)
		var field *config.FieldError
		if tc.err != nil && !errors.Is(err, tc.err) || tc.field != "" && (!errors.As(err, &field) || field.Field != tc.field) {
			t.Errorf("%s: %v, want %v %s", tc.name, err, tc.err, tc.field)
		}
	}
	if _, err := s.Campaign("../b"); !errors.Is(err, service.ErrNoCampaign) {
		t.Errorf("Campaign(../b) = %v", err)
	}
}

// TestCreateAgain checks that two requests with the same key create one campaign, and that the length of
// the queue is limited.
func TestCreateAgain(t *testing.T) {
	opt := options(t, t.TempDir(), base(t, "b", fakeFile{Trials: 1000, Every: time.Second}))
	opt.Limits.Waiting = 2
	s, _ := running(t, opt)
	awaitState(t, s, create(t, s, service.Request{Base: "b"}), service.Running)
	one, made, err := s.Create(t.Context(), service.Request{Base: "b"}, "key")
	if err != nil || !made {
		t.Fatal(err)
	}
	if same, made, err := s.Create(t.Context(), service.Request{Base: "b"}, "key"); err != nil || made || same.ID != one.ID {
		t.Errorf("the same request again: %s, %t, %v", same.ID, made, err)
	}
	if _, _, err := s.Create(t.Context(), service.Request{Base: "b", Name: "x"}, "key"); !errors.Is(err, service.ErrKey) {
		t.Errorf("another request with the key: %v, want ErrKey", err)
	}
	create(t, s, service.Request{Base: "b"})
	if _, _, err := s.Create(t.Context(), service.Request{Base: "b"}, ""); !errors.Is(err, service.ErrQueueFull) {
		t.Errorf("one more than may wait: %v, want ErrQueueFull", err)
	}
}

// measured returns the measurements that follow a line of a campaign's journal.
func measured(t *testing.T, s *service.Service, id string, after int64) (out []service.Measurement, err error) {
	t.Helper()
	for m, fault := range testutil.Must(s.Measurements(t.Context(), id, after))(t) {
		if fault != nil {
			err = fault
			continue
		}
		out = append(out, m)
	}
	return out, err
}

// TestMeasurementsOfALongJournal checks that measurements that are not in memory are read from the file. A
// missing file must be an error.
func TestMeasurementsOfALongJournal(t *testing.T) {
	testutil.SkipShort(t)
	const trials = 3000 // more lines than an event log keeps in memory
	state := t.TempDir()
	s, _ := running(t, options(t, state, base(t, "b", fakeFile{Trials: trials})))
	id := runToEnd(t, s, service.Request{Base: "b"})
	all, err := measured(t, s, id, 0)
	if err != nil || len(all) != trials {
		t.Fatalf("%d measurements, %v, want %d", len(all), err, trials)
	}
	if last, err := measured(t, s, id, all[700].Seq); err != nil || !reflect.DeepEqual(all[701:], last) {
		t.Errorf("%d measurements after line %d, %v", len(last), all[700].Seq, err)
	}
	testutil.NoError(t, os.Remove(filepath.Join(state, "campaigns", id, "results", journal.FileName)))
	if got, err := measured(t, s, id, 0); err == nil {
		t.Errorf("%d measurements without a journal, want an error", len(got))
	}
}

// TestResults checks that the measurements and problems of a finished campaign are returned, and that an
// unknown problem is an error.
func TestResults(t *testing.T) {
	s, _ := running(t, options(t, t.TempDir(), base(t, "b", fakeFile{Trials: 7, Every: time.Millisecond})))
	id := runToEnd(t, s, service.Request{Base: "b"})
	all, err := measured(t, s, id, 0)
	if err != nil || len(all) != 7 || all[3].MsgBytes != 4 || all[3].Library != "mpich" {
		t.Errorf("Measurements = %+v, %v", all, err)
	}
	problems, err := s.Problems(t.Context(), id)
	want := journal.Problem{Library: "mpich", Collective: coll.Bcast}
	if err != nil || !slices.Equal(problems, []journal.Problem{want}) {
		t.Errorf("Problems = %v, %v, want %v", problems, err, want)
	}
	if _, err := s.Selection(t.Context(), id, journal.Problem{Library: "intel"}); !errors.Is(err, service.ErrNoProblem) {
		t.Errorf("Selection of no problem = %v, want ErrNoProblem", err)
	}
}

// TestExitMeanings checks that the list of exit codes and their meanings is sorted by code, without gaps.
func TestExitMeanings(t *testing.T) {
	for i, m := range service.ExitMeanings() {
		if int(m.Code) != i || m.Text == "" {
			t.Errorf("meaning %d has code %d and text %q, want code %[1]d and a text", i, m.Code, m.Text)
		}
	}
}
