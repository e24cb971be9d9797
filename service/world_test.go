package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
)

// world simulates the machines of a service: processes that outlive services, a disk that fills, a machine that is slow
// to inspect. It notes what must never happen.
type world struct {
	full atomic.Bool // writes fail
	slow atomic.Bool // the inspection of a machine does not end
	auto atomic.Bool // processes finish by themselves

	mu         sync.Mutex
	running    map[string]*simulated // by ID of the campaign
	machines   map[string]string     // by ID of the campaign that began
	completed  map[string]bool       // campaigns whose measurements are complete
	verified   map[string]int        // number of verifications of a campaign that ended by themselves
	unverified map[string]bool       // campaigns one of whose verifications ended otherwise
	failed     map[string]bool       // campaigns one of whose processes ended with an error
	forbidden  map[string]bool       // campaigns that must not start: a pause, cancel or delete was acknowledged
	read       map[string]int        // number of launches of a campaign that read the settings of its machine
	starts     int
	faults     []string
}

func newWorld() *world {
	return &world{
		running: map[string]*simulated{}, machines: map[string]string{}, completed: map[string]bool{},
		verified: map[string]int{}, unverified: map[string]bool{}, failed: map[string]bool{}, forbidden: map[string]bool{}, read: map[string]int{},
	}
}

func (w *world) faultLocked(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// simulated is a simulated process of tutti.
type simulated struct {
	w   *world
	id  string // of the campaign
	pid int

	results string // folder
	deaf    bool   // it ignores SIGTERM
	verb    string
	ended   chan struct{}
	code    ExitCode
}

// end ends a process with an exit code. A negative code stands for a signal.
func (s *simulated) end(code ExitCode) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.endLocked(code)
}

func (s *simulated) endLocked(code ExitCode) {
	if s.w.running[s.id] != s {
		return
	}
	s.code = code
	switch {
	case s.verb == "verify" && (code == ExitDone || code == ExitNotProved):
		s.w.verified[s.id]++
		s.w.report(s.results, s.w.verified[s.id])
	case s.verb == "verify":
		s.w.unverified[s.id] = true
	case code == ExitDone || code == ExitNotConverged:
		s.w.completed[s.id] = true
		s.w.read[s.id]++
		s.append(settings(journal.Record{Kind: journal.KindTrial, Trial: &coll.Trial{Measurement: coll.Measurement{Candidate: settingsCase, Seconds: 1, CostSeconds: 1}, State: coll.TrialDone}}),
			settings(journal.Record{Kind: journal.KindJob, Job: &coll.Job{Name: "settings", State: coll.JobEnded, ID: "1", Requests: []int{0}}}))
		s.w.report(s.results, 0)
	default:
		s.w.failed[s.id] = true
	}
	delete(s.w.running, s.id)
	close(s.ended)
}

// settingsCase is the case of a launch that reads the settings of a machine.
var settingsCase = coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 1, PPN: 1, MsgBytes: 8}, Algorithm: coll.Algorithm{Name: "settings"}}

// settings returns a record of such a launch.
func settings(r journal.Record) journal.Record {
	r.Problem, r.Round = journal.Problem{Library: "mpich", Collective: journal.Preflight}, 1
	return r
}

// append adds records to the journal of the campaign, after a header if it is empty.
func (s *simulated) append(records ...journal.Record) {
	f, err := os.OpenFile(filepath.Join(s.results, journal.FileName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.w.faultLocked("journal: %v", err)
		return
	}
	defer f.Close()
	var text []byte
	if at, _ := f.Seek(0, io.SeekEnd); at == 0 {
		text = []byte(`{"kind":"header","schema":3,"spec":{"libraries":[{"name":"mpich"}],"collectives":["bcast"]}}` + "\n")
	}
	for _, r := range records {
		line, marshalErr := jsonv2.Marshal(r)
		text, err = append(append(text, line...), '\n'), errors.Join(err, marshalErr)
	}
	if _, writeErr := f.Write(text); err != nil || writeErr != nil {
		s.w.faultLocked("journal: %v", errors.Join(err, writeErr))
	}
}

// report writes the report of a campaign, whose modification time differs from that of every earlier one.
func (w *world) report(results string, verifications int) {
	path := filepath.Join(results, export.ReportJSON)
	at := time.Unix(int64(verifications), 0)
	if err := errors.Join(os.WriteFile(path, []byte(`{}`), 0o600), os.Chtimes(path, at, at)); err != nil {
		w.faultLocked("report: %v", err)
	}
}

// view is how a service sees a process: as its child, as one that an earlier service started, or as a foreign one.
type view struct {
	*simulated
	service *incarnation
	child   bool
	strange bool
}

func (v view) wait(ctx context.Context) (ExitCode, error) {
	if v.strange {
		select {
		case <-v.ended:
		case <-ctx.Done():
		}
		return ExitUnknown, nil
	}
	<-v.ended
	switch {
	case !v.child:
		return ExitUnknown, nil
	case v.code < 0:
		return ExitUnknown, errors.New("signal: killed")
	}
	return v.code, nil
}

func (v view) signal(s os.Signal) error {
	switch {
	case v.strange, v.service.dead.Load():
	case s == syscall.SIGKILL:
		v.end(-1)
	case !v.deaf:
		v.end(ExitCancelled)
	}
	return nil
}

func (v view) foreign() bool { return v.strange }

func (v view) record() *journal.Process {
	if v.strange {
		return nil
	}
	return &journal.Process{PID: v.pid, Nonce: v.id}
}

// incarnation is the launcher of one service. After the service was killed, it does nothing.
type incarnation struct {
	*world
	dead  atomic.Bool
	dying atomic.Int32 // 1: the service is killed before it writes, 2: after it
}

var errKilled = errors.New("the service was killed")

func idOf(results string) string { return filepath.Base(filepath.Dir(results)) }

func (i *incarnation) start(_ context.Context, log, _ string, args []string) (process, error) {
	id := filepath.Base(filepath.Dir(log))
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dead.Load() {
		return nil, errKilled
	}
	if args[0] == "tune" {
		i.machines[id] = args[slices.Index(args, "-c")+1]
	}
	if i.running[id] != nil {
		i.faultLocked("campaign %s is started twice", id)
	}
	for other := range i.running {
		if other != id && i.machines[other] == i.machines[id] {
			i.faultLocked("campaigns %s and %s run on machine %s", id, other, i.machines[id])
		}
	}
	if i.forbidden[id] {
		i.faultLocked("campaign %s is started by %q after it was stopped", id, args[0])
	}
	if args[0] == "verify" && !i.completed[id] {
		i.faultLocked("campaign %s is verified before its measurements are complete", id)
	}
	i.starts++
	results := filepath.Join(filepath.Dir(log), resultsDir)
	s := &simulated{w: i.world, id: id, pid: i.starts, verb: args[0], results: results, deaf: i.starts%5 == 0, ended: make(chan struct{})}
	i.running[id] = s
	if err := os.MkdirAll(results, 0o700); err != nil {
		return nil, err
	}
	s.append(settings(journal.Record{Kind: journal.KindBatch, Batch: []coll.Candidate{settingsCase}}),
		settings(journal.Record{Kind: journal.KindJob, Job: &coll.Job{Name: "settings", State: coll.JobSubmitted, ID: "1", Requests: []int{0}}}))
	if i.completed[id] && args[0] != "verify" {
		s.endLocked(ExitDone)
	} else if i.auto.Load() {
		time.AfterFunc(time.Millisecond, func() { s.end(ExitDone) })
	}
	return view{s, i, true, false}, nil
}

func (i *incarnation) run(_ context.Context, _, _ string, args ...string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if id := idOf(args[1]); i.running[id] != nil && !i.dead.Load() {
		i.faultLocked("the jobs of campaign %s are cancelled while it runs", id)
	}
	return nil
}

func (i *incarnation) find(results string, last *journal.Process) process {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := i.running[idOf(results)]
	switch {
	case s == nil:
		return nil
	case last != nil && last.PID == s.pid:
		return view{s, i, false, false}
	}
	return view{s, i, false, true}
}

// write is writeJSON without waiting for the disk.
func (i *incarnation) write(path string, v any) error {
	before := i.dying.Load() == 1
	if i.dead.Load() || before {
		i.dead.Store(true)
		return errKilled
	}
	if i.full.Load() {
		return &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
	}
	content, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(path+".new", content, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err == nil && i.dying.Load() == 2 {
		i.dead.Store(true)
		err = errKilled
	}
	return err
}

func (i *incarnation) inspect(ctx context.Context, _ config.Base) (MachineState, error) {
	for i.slow.Load() && ctx.Err() == nil {
		time.Sleep(100 * time.Microsecond)
	}
	return MachineState{}, ctx.Err()
}
