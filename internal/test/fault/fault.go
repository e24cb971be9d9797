package fault

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// Kind is what happens to a job.
type Kind string

// The kinds of faults.
const (
	SubmitFails Kind = "submit fails" // once, with nothing done
	SubmitLost  Kind = "submit lost"  // it arrives, and an error is returned
	Silence     Kind = "silence"      // two answers in a row without the job
	Lost        Kind = "lost"         // ended, and not known any more
	Cancelled   Kind = "cancelled"    // by an operator
	NodeFailure Kind = "node failure" // ended with its node
	OutOfTime   Kind = "out of time"
	OutOfMemory Kind = "out of memory"
	Requeue     Kind = "requeue"     // ended with its node, and run again under its ID
	Late        Kind = "late"        // output comes after the end
	Truncated   Kind = "truncated"   // output ends anywhere
	Missing     Kind = "missing"     // no output
	Interleaved Kind = "interleaved" // lines are cut into one another
	Prefixed    Kind = "prefixed"    // lines begin with the number of a process
	none        Kind = ""
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{
		SubmitFails, SubmitLost, Silence, Lost, Cancelled, NodeFailure, OutOfTime, OutOfMemory, Requeue,
		Late, Truncated, Missing, Interleaved, Prefixed,
	}
}

// Options say what happens and how often.
type Options struct {
	Seed   uint64
	Rate   float64       // proportion of jobs that something happens to
	Kinds  []Kind        // equally likely
	Within time.Duration // after its submission a job is lost, cancelled or run again
	Delay  time.Duration // of late output
}

// Scheduler is one on which things go wrong. It is safe for concurrent use.
type Scheduler struct {
	benchrunner.Scheduler
	opt Options

	mu     sync.Mutex
	ids    int            // handed out by this process
	failed map[string]int // submissions that failed, by name
	silent map[string]int // answers without the job, by name
}

// New returns a scheduler that runs its jobs on inner, which must take the folder
// of a job from its submission.
func New(inner benchrunner.Scheduler, opt Options) (*Scheduler, error) {
	if !(opt.Rate >= 0 && opt.Rate <= 1) {
		return nil, fmt.Errorf("fault: rate %g: want a number from 0 to 1", opt.Rate)
	}
	for _, k := range opt.Kinds {
		if !slices.Contains(Kinds(), k) {
			return nil, fmt.Errorf("fault: kind %q: want one of %q", k, Kinds())
		}
	}
	if len(opt.Kinds) == 0 && opt.Rate > 0 {
		return nil, errors.New("fault: no kinds")
	}
	return &Scheduler{Scheduler: inner, opt: opt, failed: map[string]int{}, silent: map[string]int{}}, nil
}

// Of returns what happens to the job of a name, "" for nothing.
func (s *Scheduler) Of(name string) Kind {
	rng := s.rng(name)
	if rng.Float64() >= s.opt.Rate {
		return none
	}
	return s.opt.Kinds[rng.IntN(len(s.opt.Kinds))]
}

func (s *Scheduler) rng(name string) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, name)
	return rand.New(rand.NewPCG(s.opt.Seed, h.Sum64()))
}

// Name names the inner scheduler, too.
func (s *Scheduler) Name() string { return s.Scheduler.Name() + " with faults" }

// Submit submits to the inner scheduler, unless that is what fails.
func (s *Scheduler) Submit(ctx context.Context, sub benchrunner.Submission) (string, error) {
	kind := s.Of(sub.Name)
	s.mu.Lock()
	s.failed[sub.Name]++
	first := s.failed[sub.Name] == 1
	s.mu.Unlock()
	if kind == SubmitFails && first {
		return "", fmt.Errorf("submit %s: connection refused: %w", sub.Name, benchrunner.ErrUnavailable)
	}
	id, err := s.begin(ctx, sub, kind)
	if err != nil {
		return "", err
	}
	if kind.strikes() {
		go s.strike(id, sub, kind)
	}
	if kind == SubmitLost && first {
		return "", fmt.Errorf("submit %s: timed out: %w", sub.Name, benchrunner.ErrUnavailable)
	}
	return id, nil
}

// begin hands out an ID that this folder has not seen, and runs the job under it.
func (s *Scheduler) begin(ctx context.Context, sub benchrunner.Submission, kind Kind) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := readRecord(sub.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for s.ids++; r.of(strconv.Itoa(s.ids)) >= 0; s.ids++ {
	}
	id := strconv.Itoa(s.ids)
	return id, s.launch(ctx, sub, r, id, kind)
}

// launch adds a run to the record and submits it; the lock is held.
func (s *Scheduler) launch(ctx context.Context, sub benchrunner.Submission, r record, id string, kind Kind) error {
	r.Runs = append(r.Runs, run{ID: id})
	if err := r.write(sub.Dir); err != nil {
		return err
	}
	in, err := r.prepare(sub, kind, s.opt.Delay)
	if err != nil {
		return err
	}
	_, err = s.Scheduler.Submit(ctx, in)
	return err
}

// strikes reports whether the kind ends a job.
func (k Kind) strikes() bool {
	_, fatal := fates[k]
	return fatal || k == Lost || k == Requeue
}

// strike ends a job at a time within Within and writes what became of it. What
// cannot be done is done to no job.
func (s *Scheduler) strike(id string, sub benchrunner.Submission, kind Kind) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rng := s.rng(sub.Name + " at")
	time.Sleep(time.Duration(rng.Float64() * float64(s.opt.Within)))
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := readRecord(sub.Dir)
	i := r.of(id)
	if err != nil || i < 0 {
		return
	}
	if st, known, err := s.status(ctx, sub, r, i); err != nil || !known || st.Phase == benchrunner.JobOver {
		return // too late
	}
	if err := s.end(ctx, sub, i); err != nil {
		return
	}
	if kind == Requeue {
		_ = s.launch(ctx, sub, r, id, none)
		return
	}
	r.Runs[i].Fate = kind
	_ = r.write(sub.Dir)
}

// end cancels run i at the inner scheduler.
func (s *Scheduler) end(ctx context.Context, sub benchrunner.Submission, i int) error {
	inner := innerOf(sub, i)
	id, found, err := s.Scheduler.Find(ctx, inner)
	if err != nil || !found {
		return err
	}
	return s.Scheduler.Cancel(ctx, id, inner)
}

// Find tells the ID of the last submission of the job.
func (s *Scheduler) Find(_ context.Context, sub benchrunner.Submission) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := readRecord(sub.Dir)
	return r.last(), err == nil && r.last() != "", nil
}

// Status asks the inner scheduler.
func (s *Scheduler) Status(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]benchrunner.Status{}
	for id, sub := range jobs {
		r, err := readRecord(sub.Dir)
		i := r.of(id)
		if err != nil || i < 0 || r.Runs[i].Fate == Lost || s.isSilent(sub.Name) {
			continue
		}
		st, known, err := s.status(ctx, sub, r, i)
		if err != nil {
			return nil, err
		}
		if known {
			out[id] = st
		}
	}
	return out, nil
}

// isSilent reports whether this answer leaves a job out that is there.
func (s *Scheduler) isSilent(name string) bool {
	if s.Of(name) != Silence || s.silent[name] == 2 {
		return false
	}
	s.silent[name]++
	return true
}

func (s *Scheduler) status(ctx context.Context, sub benchrunner.Submission, r record, i int) (benchrunner.Status, bool, error) {
	inner := innerOf(sub, i)
	id, found, err := s.Scheduler.Find(ctx, inner)
	if err != nil || !found {
		return benchrunner.Status{}, false, err
	}
	answer, err := s.Scheduler.Status(ctx, map[string]benchrunner.Submission{id: inner})
	st, known := answer[id]
	if f, ok := fates[r.Runs[i].Fate]; ok {
		st.Outcome, st.Reason = f.outcome, f.reason
	}
	return st, known, err
}

// fates is what is said of jobs that were ended.
var fates = map[Kind]struct {
	outcome coll.JobOutcome
	reason  string
}{
	Cancelled:   {coll.JobCancelled, "cancelled by an operator"},
	NodeFailure: {coll.JobNodeFail, "a node went down"},
	OutOfTime:   {coll.JobTimeout, "its time limit"},
	OutOfMemory: {coll.JobOutOfMemory, "more memory than it asked for"},
}

// Cancel ends the job of the ID, if that is known.
func (s *Scheduler) Cancel(ctx context.Context, id string, sub benchrunner.Submission) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := readRecord(sub.Dir)
	if i := r.of(id); err == nil && i >= 0 {
		return s.end(ctx, sub, i)
	}
	return nil
}
