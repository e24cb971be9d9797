package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	// foreignRetry is how long a worker waits before it tries again to start a campaign whose journal another
	// process has locked.
	foreignRetry = 5 * time.Second
	// maxLockouts is the number of processes in a row that may find the journal locked although no process works on
	// the campaign. Then its lock is damaged, and the campaign fails.
	maxLockouts = 3
	// unsavedRetry is how long a worker waits before it tries again to save the state of a campaign.
	unsavedRetry = time.Second
	// A campaign that the machine hinders is resumed after hindranceMin, and after twice as long each time that the
	// machine hinders it again, at most after hindranceMax.
	hindranceMin, hindranceMax = time.Minute, time.Hour
	// shortageMax is the longest time between two attempts to start a process.
	shortageMax = 30 * time.Second
)

// waitsForForeign is the value of Campaign.WaitsFor as long as another process has locked the campaign's
// journal.
const waitsForForeign = "another tutti that works on the campaign"

// worker owns a campaign: it runs processes until the campaign waits in the queue again, is paused or has ended. The
// lock of the queue guards its fields.
type worker struct {
	q         *queue
	e         *entry
	log       *slog.Logger    // names the campaign
	onMachine bool            // the campaign occupies its machine
	stopped   context.Context // cancelled when the campaign or the service must stop
	stop      context.CancelFunc
	process   *running  // nil while none runs
	unsaved   bool      // the last attempt to write campaign.json failed
	trials    int       // of the campaign when the process began
	lockouts  int       // processes in a row that found the journal locked; only run uses it
	counted   time.Time // when the files of the campaign may be counted again; only run uses it
}

// running is a process that a worker follows.
type running struct {
	process
	left chan struct{} // closed when the process has ended
	end  ending        // valid when left is closed
}

// ending says how a process ended.
type ending struct {
	outcome
	code     ExitCode
	failure  error     // why the code is unknown, or what else went wrong
	jobs     bool      // the campaign's jobs were cancelled
	verdicts []Verdict // in the report that the process wrote; nil: those before hold
	report   time.Time // modification time of that report
}

// startWorker starts a worker for a campaign. The caller must hold the lock of the queue.
func startWorker(q *queue, e *entry, onMachine bool) {
	w := &worker{q: q, e: e, onMachine: onMachine, log: q.opt.Log.With("campaign", e.ID)}
	w.stopped, w.stop = context.WithCancel(q.stopping)
	if e.Goal != "" {
		w.stop()
	}
	e.worker = w
	q.workers.Go(w.run)
}

// release ends the ownership of the campaign, if settle has not done so.
func (w *worker) release() {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	w.releaseLocked()
}

func (w *worker) releaseLocked() {
	if w.e.worker != w {
		return
	}
	w.stop()
	w.e.worker = nil
	if w.e.State == Deleted {
		w.q.campaigns.remove(w.e)
	}
	w.q.changed.ring()
	w.q.dispatchLocked()
}

func (w *worker) run() {
	defer w.release()
	defer func() {
		if fault := recover(); fault != nil {
			w.fail(fault)
		}
	}()
	w.inspect()
	attempts := backoff.NewExponentialBackOff()
	attempts.MaxInterval = shortageMax
	for {
		end, err := w.runProcess()
		if err != nil {
			w.await(attempts.NextBackOff(), err)
			continue
		}
		attempts.Reset()
		if w.finish(&end) {
			return
		}
	}
}

// fail ends a campaign whose worker has panicked. It ends the campaign's process, too.
func (w *worker) fail(fault any) {
	defer w.q.opt.recoverFrom("the end of a campaign")
	w.log.Error("fault in the service: the campaign fails", "fault", fault, "stack", string(debug.Stack()))
	w.q.mu.Lock()
	p := w.process
	w.q.mu.Unlock()
	if p != nil && !p.foreign() {
		w.signal(p, syscall.SIGKILL)
		<-p.left
	}
	w.finish(&ending{outcome: broken, code: ExitUnknown, failure: errFault})
}

// errFault is why a campaign fails whose worker has panicked.
var errFault = errors.New("a fault in the service: its log has the details")

// pause waits for the time d. It returns earlier when the service stops or, unless the campaign is already stopping,
// when the campaign must stop.
func (w *worker) pause(d time.Duration) {
	stop := w.stopped.Done()
	if w.stopped.Err() != nil {
		stop = w.q.stopping.Done()
	}
	select {
	case <-w.q.opt.Clock.After(d):
	case <-stop:
	}
}

// await waits after the service itself could not start a process, and says so.
func (w *worker) await(d time.Duration, reason error) {
	w.log.Warn("process not started: the service tries again", "error", reason, "seconds", d.Seconds())
	w.q.mu.Lock()
	w.q.setWaitsForLocked(w.e, "the service, which lacks file descriptors, memory or disk")
	w.q.mu.Unlock()
	w.pause(d)
}

// errUnsaved says that the state in which a process may run could not be written.
var errUnsaved = errors.New("state not saved")

// isShortage reports whether an error shows that this service lacks something that it may get later.
func isShortage(err error) bool {
	for _, e := range []error{errUnsaved, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// inspect inspects the machine of a new campaign, until the campaign must stop.
func (w *worker) inspect() {
	q, e := w.q, w.e
	q.mu.Lock()
	base, err := q.opt.base(e.Base)
	known := err != nil || e.MachineState != nil || e.begun() || w.stopped.Err() != nil
	q.mu.Unlock()
	if known {
		return
	}
	state, err := q.opt.Inspect(w.stopped, base)
	if err != nil {
		w.log.Warn("machine not inspected", "error", err)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	e.MachineState = &state // saved when the process starts
}

// runProcess finds or starts a process of the campaign and waits for its end. It returns an error if the service lacks
// what it needs to start a process, for the moment.
func (w *worker) runProcess() (ending, error) {
	p, err := w.launch()
	switch {
	case isShortage(err):
		return ending{}, err
	case err != nil:
		return ending{outcome: broken, code: ExitUnknown, failure: err}, nil
	case p == nil && w.verificationEnded():
		return w.completed(ExitUnknown), nil
	case p == nil:
		return ending{outcome: absent}, nil
	}
	end := w.follow(p)
	if end.outcome == completed || end.outcome == unobserved && w.verificationEnded() {
		end = w.completed(end.code)
	}
	if w.lockouts++; end.outcome != locked {
		w.lockouts = 0
	}
	if w.lockouts == maxLockouts {
		end.outcome = broken
	}
	return end, nil
}

// launch returns the running process of the campaign, or starts a process if none is running. It returns nil if the
// campaign must stop and has no process.
func (w *worker) launch() (*running, error) {
	q, e := w.q, w.e
	q.mu.Lock()
	last := e.Process
	q.mu.Unlock()
	p := q.processes.find(e.results(), last)
	q.mu.Lock()
	defer q.mu.Unlock()
	if p != nil {
		w.log.Info("following a process that works on the campaign")
		return w.adoptLocked(p)
	}
	if !e.Since.IsZero() {
		e.rest(lastChange(e.journal(), e.Since)) // the process ended while no service followed it
	}
	if e.State == Deleted || e.Goal != "" || q.stopping.Err() != nil || e.verificationEnded() {
		return nil, nil
	}
	args, err := w.argsLocked()
	if err != nil {
		return nil, err
	}
	if err := q.changeLocked(e, func(s *stored) { s.begin(q.opt.Clock.Now()) }); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsaved, err)
	}
	if p, err = q.processes.start(context.Background(), e.log(), "", args); err != nil {
		e.rest(e.Since)
		return nil, err
	}
	w.log.Info("process started", "args", args)
	defer w.saveProcessLocked()
	return w.watchLocked(p), nil
}

// adoptLocked begins to follow a process that this service did not start.
func (w *worker) adoptLocked(p process) (*running, error) {
	e, now := w.e, w.q.opt.Clock.Now()
	if e.State == Queued || e.State == Running && p.foreign() {
		err := w.q.changeLocked(e, func(s *stored) {
			s.begin(now)
			s.WaitsFor = waitsForForeign
		})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errUnsaved, err)
		}
	}
	if e.Since.IsZero() {
		e.Since = now
	}
	return w.watchLocked(p), nil
}

// watchLocked waits for the end of a process in the background.
func (w *worker) watchLocked(p process) *running {
	r := &running{process: p, left: make(chan struct{}), end: ending{outcome: broken, code: ExitUnknown, failure: errFault}}
	w.process, w.trials = r, w.e.current().Progress.Trials
	go func() {
		defer close(r.left)
		defer w.q.opt.recoverFrom("the wait for a process")
		code, err := p.wait(w.q.stopping)
		r.end = ending{outcome: outcomeOf(code, err), code: code, failure: err}
	}()
	return r
}

// begin sets the state that a campaign has from just before its process starts.
func (s *stored) begin(now time.Time) {
	s.State, s.Error, s.WaitsFor, s.Process = Running, "", "", nil
	if s.Started.IsZero() {
		s.Started = now.UTC()
	}
	if s.Since.IsZero() {
		s.Since = now
	}
}

// saveProcessLocked saves which process works on the campaign. If this fails, the next poll tries again. If the
// campaign's folder is gone, the campaign is deleted.
func (w *worker) saveProcessLocked() {
	e := w.e
	e.Process = w.process.record()
	s := e.stored
	s.Progress = e.current().Progress
	err := w.q.store.save(e.dir, s)
	switch {
	case err != nil && e.isGone():
		_ = w.q.changeLocked(e, func(*stored) {})
	case err != nil && !w.unsaved:
		w.log.Error("process not saved: the service tries again", "error", err)
	}
	w.unsaved = err != nil || e.Process == nil && !w.process.foreign()
}

// lastChange returns when a file was last written, or the time `otherwise` if this is unknown.
func lastChange(path string, otherwise time.Time) time.Time {
	about, err := os.Stat(path)
	if err != nil {
		return otherwise
	}
	return about.ModTime()
}

// follow reads the growing journal of the campaign until its process has ended. When the campaign must stop,
// it interrupts the process, and kills it after the time Options.Drain; the journal remains intact. A foreign process
// gets no signal. When the service stops, it leaves a process that it may not or cannot end to the next service.
func (w *worker) follow(p *running) ending {
	q := w.q
	q.mu.Lock()
	v := w.e.openView(q.opt.Clock)
	q.mu.Unlock()
	v.log.setEnded(false)
	tick := time.NewTicker(q.opt.Poll)
	defer tick.Stop()
	stopped, leave := w.stopped.Done(), (<-chan struct{})(nil)
	if p.foreign() {
		stopped, leave = nil, q.stopping.Done()
	}
	var overdue <-chan time.Time
	for killed := false; ; {
		select {
		case <-p.left:
			w.poll(v)
			q.mu.Lock()
			defer q.mu.Unlock()
			w.process = nil
			return p.end
		case <-tick.C:
			w.poll(v)
		case <-leave:
			return ending{outcome: abandoned}
		case <-stopped:
			stopped, overdue = nil, time.After(q.opt.Drain)
			w.signal(p, syscall.SIGTERM) // it may have inherited that SIGINT is ignored: a script starts background commands so
		case <-overdue:
			if killed {
				leave = q.stopping.Done()
			}
			killed, overdue = true, time.After(q.opt.Drain)
			w.log.Warn("process killed: it did not stop in time")
			w.signal(p, syscall.SIGKILL)
		}
	}
}

func (w *worker) signal(p process, s os.Signal) {
	if err := p.signal(s); err != nil {
		w.log.Warn("process not signalled", "signal", s, "error", err)
	}
}

// poll reads the new lines of the journal, shortens a long log and saves a process that could not be saved. It
// also stops a campaign that has exceeded a limit. If the journal cannot be read several times in a row,
// only the first failure is logged.
func (w *worker) poll(v *journalView) {
	q, e := w.q, w.e
	before := v.failure()
	switch err := v.update(context.Background()); {
	case err != nil && before == nil:
		w.log.Warn("journal not read: the campaign counts with its whole budget", "error", err)
	case err == nil && before != nil:
		w.log.Info("journal read again")
	}
	if err := capLog(e.log(), q.opt.Limits.LogBytes); err != nil {
		w.log.Warn("log not cut", "error", err)
	}
	disk, counted := w.countDisk()
	q.mu.Lock()
	defer q.mu.Unlock()
	if counted {
		e.disk = disk
	}
	if w.unsaved || e.isGone() && e.State != Deleted {
		w.saveProcessLocked()
	}
	w.enforceLimitsLocked()
}

// Counting the files of a campaign takes at most one part in diskShare of the time.
const (
	diskInterval = time.Second
	diskShare    = 20
)

// countDisk counts the bytes in the campaign's folder, unless it did so a short time ago.
func (w *worker) countDisk() (bytes int64, counted bool) {
	begin := time.Now()
	if begin.Before(w.counted) {
		return 0, false
	}
	bytes = diskUse(w.e.dir)
	w.counted = time.Now().Add(max(diskInterval, diskShare*time.Since(begin)))
	return bytes, true
}

// enforceLimitsLocked stops a campaign that has exceeded a limit.
func (w *worker) enforceLimitsLocked() {
	e := w.e
	if w.process == nil || e.Goal != "" || e.State == Deleted {
		return
	}
	err := exceeded(w.q.opt, e)
	if err == nil {
		return
	}
	w.log.Warn("campaign stopped", "error", err)
	if err := w.q.changeLocked(e, func(s *stored) { s.State, s.Goal = Stopping, goalQuota }); err != nil {
		w.log.Error("stop not saved: the service tries again", "error", err)
		return
	}
	w.stop()
}

// argsLocked returns the arguments with which tutti is started next for the campaign.
func (w *worker) argsLocked() ([]string, error) {
	q, e := w.q, w.e
	switch {
	case e.Verifying:
		return e.verifyArgs(), nil
	case e.begun():
		return []string{"resume", e.results()}, nil
	}
	base, err := q.opt.base(e.Base)
	if err != nil {
		return nil, err
	}
	if e.NodeHours, err = budgetOf(q.opt, base, e.Set); err != nil { // the file may have changed
		return nil, err
	}
	args := []string{"tune", "-c", base.File, "--out", e.results(), "--yes"}
	args = append(args, settingArgs(e)...)
	if e.From != "" {
		from, err := q.campaigns.find(e.From)
		if err != nil {
			return nil, err
		}
		args = append(args, "--from", from.results())
	}
	return args, nil
}

// settingArgs returns the flags for the settings of a campaign and for its budget.
func settingArgs(e *entry) (args []string) {
	set := maps.Clone(e.Set)
	if e.measures() {
		if set == nil {
			set = map[string]string{}
		}
		set["stop.node_hours"] = strconv.FormatFloat(e.NodeHours, 'g', -1, 64)
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		args = append(args, "--set", key+"="+set[key])
	}
	return args
}
