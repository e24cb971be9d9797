package runnertest

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

// Fault is one kind of fault that FaultyScheduler can inject into a job.
type Fault string

// The faults.
const (
	SubmitFails       Fault = "submit fails" // the first submission fails and has no effect
	SubmitLost        Fault = "submit lost"  // the first submission succeeds, but returns an error
	StatusOmitted     Fault = "silence"      // the next two answers of Status omit the job
	JobLost           Fault = "lost"         // the job ends, and the scheduler forgets it
	JobCancelled      Fault = "cancelled"    // by an operator
	NodeFailure       Fault = "node failure"
	OutOfTime         Fault = "out of time"
	OutOfMemory       Fault = "out of memory"
	JobRequeued       Fault = "requeue"     // the node fails, and the job runs again with its ID
	OutputLate        Fault = "late"        // the output appears after the end of the job
	OutputTruncated   Fault = "truncated"   // the output ends at a random byte
	OutputMissing     Fault = "missing"     // there is no output
	OutputInterleaved Fault = "interleaved" // every second line is inserted into the line before
	OutputPrefixed    Fault = "prefixed"    // each line begins with a rank
	noFault           Fault = ""
)

// FaultKinds returns all faults.
func FaultKinds() []Fault {
	return []Fault{
		SubmitFails, SubmitLost, StatusOmitted, JobLost, JobCancelled, NodeFailure, OutOfTime, OutOfMemory, JobRequeued,
		OutputLate, OutputTruncated, OutputMissing, OutputInterleaved, OutputPrefixed,
	}
}

// FaultOptions say which faults occur and how often.
type FaultOptions struct {
	Seed   uint64
	Rate   float64       // proportion of jobs with a fault
	Kinds  []Fault       // equally likely
	Within time.Duration // a job is ended at most this long after its submission
	Delay  time.Duration // of late output
}

// FaultyScheduler runs jobs on another scheduler and injects faults that occur on real machines. The seed
// and the name of a job determine its fault. It is safe for concurrent use.
type FaultyScheduler struct {
	benchrunner.Scheduler
	opt FaultOptions

	mu        sync.Mutex
	lastID    int            // of those that this process has assigned
	submitted map[string]int // submissions by name
	omitted   map[string]int // answers of Status that omitted the job, by name
}

// NewFaultyScheduler returns a scheduler that runs its jobs on the scheduler inner. inner must run each job
// in the folder that the submission names.
func NewFaultyScheduler(inner benchrunner.Scheduler, opt FaultOptions) (*FaultyScheduler, error) {
	if !(opt.Rate >= 0 && opt.Rate <= 1) {
		return nil, fmt.Errorf("rate %g: want a number from 0 to 1", opt.Rate)
	}
	for _, k := range opt.Kinds {
		if !slices.Contains(FaultKinds(), k) {
			return nil, fmt.Errorf("fault %q: want one of %q", k, FaultKinds())
		}
	}
	if len(opt.Kinds) == 0 && opt.Rate > 0 {
		return nil, errors.New("no faults to choose from")
	}
	return &FaultyScheduler{Scheduler: inner, opt: opt, submitted: map[string]int{}, omitted: map[string]int{}}, nil
}

// FaultOf returns the fault of the job with the given name. It returns "" if the job has no fault.
func (s *FaultyScheduler) FaultOf(name string) Fault {
	rng := s.rng(name)
	if rng.Float64() >= s.opt.Rate {
		return noFault
	}
	return s.opt.Kinds[rng.IntN(len(s.opt.Kinds))]
}

func (s *FaultyScheduler) rng(name string) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, name)
	return rand.New(rand.NewPCG(s.opt.Seed, h.Sum64()))
}

// Name returns the name of the inner scheduler, followed by "with faults".
func (s *FaultyScheduler) Name() string { return s.Scheduler.Name() + " with faults" }

// Submit submits a job to the inner scheduler. If the fault of the job is a failed submission, Submit
// returns an error instead.
func (s *FaultyScheduler) Submit(ctx context.Context, sub benchrunner.Submission) (string, error) {
	kind := s.FaultOf(sub.Name)
	s.mu.Lock()
	s.submitted[sub.Name]++
	first := s.submitted[sub.Name] == 1
	s.mu.Unlock()
	if kind == SubmitFails && first {
		return "", fmt.Errorf("submit %s: connection refused: %w", sub.Name, benchrunner.ErrUnavailable)
	}
	id, err := s.begin(ctx, sub, kind)
	if err != nil {
		return "", err
	}
	if kind.endsJob() {
		go s.endEarly(id, sub, kind)
	}
	if kind == SubmitLost && first {
		return "", fmt.Errorf("submit %s: timed out: %w", sub.Name, benchrunner.ErrUnavailable)
	}
	return id, nil
}

// begin submits a job under an ID that its folder has not used before.
func (s *FaultyScheduler) begin(ctx context.Context, sub benchrunner.Submission, kind Fault) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := readRecord(sub.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for s.lastID++; r.indexOf(strconv.Itoa(s.lastID)) >= 0; s.lastID++ {
	}
	id := strconv.Itoa(s.lastID)
	return id, s.addRun(ctx, sub, r, id, kind)
}

// addRun adds a run to the record of a job and submits it. The caller must hold the lock s.mu.
func (s *FaultyScheduler) addRun(ctx context.Context, sub benchrunner.Submission, r record, id string, kind Fault) error {
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

// endsJob reports whether the fault ends the job early.
func (k Fault) endsJob() bool {
	_, failed := failures[k]
	return failed || k == JobLost || k == JobRequeued
}

// endEarly ends a job at a random time within opt.Within and records the fault. If ending the job fails, it
// runs on without a fault.
func (s *FaultyScheduler) endEarly(id string, sub benchrunner.Submission, kind Fault) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rng := s.rng(sub.Name + " at")
	time.Sleep(time.Duration(rng.Float64() * float64(s.opt.Within)))
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := readRecord(sub.Dir)
	i := r.indexOf(id)
	if err != nil || i < 0 {
		return
	}
	if st, known, err := s.status(ctx, sub, r, i); err != nil || !known || st.Phase == benchrunner.JobOver {
		return // the job ended by itself
	}
	if err := s.end(ctx, sub, i); err != nil {
		return
	}
	if kind == JobRequeued {
		_ = s.addRun(ctx, sub, r, id, noFault)
		return
	}
	r.Runs[i].Fault = kind
	_ = r.write(sub.Dir)
}

// end cancels run i of a job at the inner scheduler.
func (s *FaultyScheduler) end(ctx context.Context, sub benchrunner.Submission, i int) error {
	inner := innerSubmission(sub, i)
	id, found, err := s.Scheduler.Find(ctx, inner)
	if err != nil || !found {
		return err
	}
	return s.Scheduler.Cancel(ctx, id, inner)
}

// Find returns the ID under which the job was last submitted.
func (s *FaultyScheduler) Find(_ context.Context, sub benchrunner.Submission) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := readRecord(sub.Dir)
	return r.lastID(), err == nil && r.lastID() != "", nil
}

// Status returns the statuses that the inner scheduler reports, changed according to the faults of the
// jobs.
func (s *FaultyScheduler) Status(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]benchrunner.Status{}
	for id, sub := range jobs {
		r, err := readRecord(sub.Dir)
		i := r.indexOf(id)
		if err != nil || i < 0 || r.Runs[i].Fault == JobLost || s.omitsStatus(sub.Name) {
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

// omitsStatus reports whether the current answer of Status leaves out the job.
func (s *FaultyScheduler) omitsStatus(name string) bool {
	if s.FaultOf(name) != StatusOmitted || s.omitted[name] == 2 {
		return false
	}
	s.omitted[name]++
	return true
}

// status returns the status of run i at the inner scheduler. If a fault ended the run, the status has that
// fault's outcome.
func (s *FaultyScheduler) status(ctx context.Context, sub benchrunner.Submission, r record, i int) (benchrunner.Status, bool, error) {
	inner := innerSubmission(sub, i)
	id, found, err := s.Scheduler.Find(ctx, inner)
	if err != nil || !found {
		return benchrunner.Status{}, false, err
	}
	answer, err := s.Scheduler.Status(ctx, map[string]benchrunner.Submission{id: inner})
	st, known := answer[id]
	if f, ok := failures[r.Runs[i].Fault]; ok {
		st.Outcome, st.Reason = f.outcome, f.reason
	}
	return st, known, err
}

// failures maps each fault that ends a job to the outcome and the reason that Status reports.
var failures = map[Fault]struct {
	outcome coll.JobOutcome
	reason  string
}{
	JobCancelled: {coll.JobCancelled, "cancelled by an operator"},
	NodeFailure:  {coll.JobNodeFail, "a node went down"},
	OutOfTime:    {coll.JobTimeout, "its time limit"},
	OutOfMemory:  {coll.JobOutOfMemory, "more memory than it asked for"},
}

// Cancel cancels the job if the record in its folder contains the ID.
func (s *FaultyScheduler) Cancel(ctx context.Context, id string, sub benchrunner.Submission) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := readRecord(sub.Dir)
	if i := r.indexOf(id); err == nil && i >= 0 {
		return s.end(ctx, sub, i)
	}
	return nil
}
