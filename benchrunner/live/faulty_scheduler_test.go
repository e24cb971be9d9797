package live_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"al.essio.dev/pkg/shellescape"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// fault is one kind of fault that faultyScheduler can inject into a job.
type fault string

const (
	submitFails       fault = "submit fails" // the first submission fails and has no effect
	submitLost        fault = "submit lost"  // the first submission succeeds, but returns an error
	statusOmitted     fault = "silence"      // the next two answers of Status omit the job
	jobLost           fault = "lost"         // the job ends, and the scheduler forgets it
	jobCancelled      fault = "cancelled"    // by an operator
	nodeFailure       fault = "node failure"
	outOfTime         fault = "out of time"
	outOfMemory       fault = "out of memory"
	jobRequeued       fault = "requeue"     // the node fails, and the job runs again with its ID
	outputLate        fault = "late"        // the output appears after the end of the job
	outputTruncated   fault = "truncated"   // the output ends at a random byte
	outputMissing     fault = "missing"     // there is no output
	outputInterleaved fault = "interleaved" // every second line is inserted into the line before
	outputPrefixed    fault = "prefixed"    // each line begins with a rank
	noFault           fault = ""
)

var faultKinds = []fault{
	submitFails, submitLost, statusOmitted, jobLost, jobCancelled, nodeFailure, outOfTime, outOfMemory, jobRequeued,
	outputLate, outputTruncated, outputMissing, outputInterleaved, outputPrefixed,
}

// faultyScheduler runs jobs on another scheduler and injects faults that occur on real machines. The seed
// and the name of a job determine its fault.
type faultyScheduler struct {
	benchrunner.Scheduler // runs each job in the folder that the submission names
	seed                  uint64
	rate                  float64       // proportion of jobs with a fault
	kinds                 []fault       // equally likely
	within                time.Duration // a job is ended at most this long after its submission

	mu     sync.Mutex
	lastID int
	runs   map[string][]faultyRun // of each job by name, at the inner scheduler
	faults map[string]int         // how often the fault of a job has occurred, by name
}

// faultyRun is one run of a job on the scheduler that faultyScheduler contains. A job that is requeued has
// several runs with the same ID.
type faultyRun struct {
	id    string
	ended fault // that ended the run, "" for none
}

func faulty(t testing.TB, seed uint64, rate float64, within time.Duration, kinds ...fault) benchrunner.Scheduler {
	t.Helper()
	return &faultyScheduler{
		Scheduler: localScheduler(t), seed: seed, rate: rate, kinds: kinds, within: within,
		runs: map[string][]faultyRun{}, faults: map[string]int{},
	}
}

func (s *faultyScheduler) faultOf(name string) fault {
	rng := s.rng(name)
	if rng.Float64() >= s.rate {
		return noFault
	}
	return s.kinds[rng.IntN(len(s.kinds))]
}

func (s *faultyScheduler) rng(name string) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, name)
	return rand.New(rand.NewPCG(s.seed, h.Sum64()))
}

// occurs reports whether this call for the named job must fail, because the job has the fault `kind`. Only the first
// `calls` such calls for a job fail.
func (s *faultyScheduler) occurs(kind fault, name string, calls int) bool {
	if s.faultOf(name) != kind || s.faults[name] == calls {
		return false
	}
	s.faults[name]++
	return true
}

// Submit submits a job to the inner scheduler. If the fault of the job is a failed submission, Submit
// returns an error.
func (s *faultyScheduler) Submit(ctx context.Context, sub benchrunner.Submission) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.occurs(submitFails, sub.Name, 1) {
		return "", fmt.Errorf("submit %s: connection refused: %w", sub.Name, benchrunner.ErrUnavailable)
	}
	kind := s.faultOf(sub.Name)
	s.lastID++
	id := strconv.Itoa(s.lastID)
	if err := s.begin(ctx, sub, id, kind); err != nil {
		return "", err
	}
	if kind.endsJob() {
		go s.endEarly(sub, len(s.runs[sub.Name])-1, kind)
	}
	if s.occurs(submitLost, sub.Name, 1) {
		return "", fmt.Errorf("submit %s: timed out: %w", sub.Name, benchrunner.ErrUnavailable)
	}
	return id, nil
}

// begin begins a run of a job. The caller must hold the lock s.mu.
func (s *faultyScheduler) begin(ctx context.Context, sub benchrunner.Submission, id string, kind fault) error {
	restarts := 0
	for _, r := range s.runs[sub.Name] {
		if r.id == id {
			restarts++
		}
	}
	in := innerSubmission(sub, len(s.runs[sub.Name]))
	s.runs[sub.Name] = append(s.runs[sub.Name], faultyRun{id: id})
	if err := kind.writeScripts(sub, in, id, restarts); err != nil {
		return err
	}
	_, err := s.Scheduler.Submit(ctx, in)
	return err
}

func (k fault) endsJob() bool {
	_, failed := failures[k]
	return failed || k == jobLost || k == jobRequeued
}

// endEarly ends run i of a job at a random time, at most s.within after its begin. If it cannot end the run,
// the run continues without a fault.
func (s *faultyScheduler) endEarly(sub benchrunner.Submission, i int, kind fault) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	time.Sleep(time.Duration(s.rng(sub.Name+" at").Float64() * float64(s.within)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if st, known, err := s.status(ctx, sub, i); err != nil || !known || st.Phase == benchrunner.JobOver || s.end(ctx, sub, i) != nil {
		return
	}
	if kind == jobRequeued {
		_ = s.begin(ctx, sub, s.runs[sub.Name][i].id, noFault)
		return
	}
	s.runs[sub.Name][i].ended = kind
}

func (s *faultyScheduler) end(ctx context.Context, sub benchrunner.Submission, i int) error {
	inner := innerSubmission(sub, i)
	id, found, err := s.Scheduler.Find(ctx, inner)
	if err != nil || !found {
		return err
	}
	return s.Scheduler.Cancel(ctx, id, inner)
}

// Find returns the ID under which the job was last submitted.
func (s *faultyScheduler) Find(_ context.Context, sub benchrunner.Submission) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := s.runs[sub.Name]
	if len(runs) == 0 {
		return "", false, nil
	}
	return runs[len(runs)-1].id, true, nil
}

// Status returns the statuses that the inner scheduler reports, changed according to the faults of the
// jobs.
func (s *faultyScheduler) Status(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]benchrunner.Status{}
	for id, sub := range jobs {
		i := s.lastRun(sub.Name, id)
		if i < 0 || s.runs[sub.Name][i].ended == jobLost || s.occurs(statusOmitted, sub.Name, 2) {
			continue
		}
		st, known, err := s.status(ctx, sub, i)
		if err != nil {
			return nil, err
		}
		if known {
			out[id] = st
		}
	}
	return out, nil
}

// lastRun returns the index of the last run of a job with the given ID, or -1 if there is none.
func (s *faultyScheduler) lastRun(name, id string) int {
	for i, r := range slices.Backward(s.runs[name]) {
		if r.id == id {
			return i
		}
	}
	return -1
}

// status returns the status of run i at the inner scheduler. If a fault ended the run, the status has that
// fault's outcome.
func (s *faultyScheduler) status(ctx context.Context, sub benchrunner.Submission, i int) (benchrunner.Status, bool, error) {
	inner := innerSubmission(sub, i)
	id, found, err := s.Scheduler.Find(ctx, inner)
	if err != nil || !found {
		return benchrunner.Status{}, false, err
	}
	answer, err := s.Scheduler.Status(ctx, map[string]benchrunner.Submission{id: inner})
	st, known := answer[id]
	if f, ok := failures[s.runs[sub.Name][i].ended]; ok {
		st.Outcome, st.Reason = f.outcome, f.reason
	}
	return st, known, err
}

// failures maps each fault that ends a job to the outcome and the reason that Status reports.
var failures = map[fault]struct {
	outcome coll.JobOutcome
	reason  string
}{
	jobCancelled: {coll.JobCancelled, "cancelled by an operator"},
	nodeFailure:  {coll.JobNodeFail, "a node went down"},
	outOfTime:    {coll.JobTimeout, "its time limit"},
	outOfMemory:  {coll.JobOutOfMemory, "more memory than it asked for"},
}

// Cancel cancels the last run of the job with the given ID.
func (s *faultyScheduler) Cancel(ctx context.Context, id string, sub benchrunner.Submission) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.lastRun(sub.Name, id); i >= 0 {
		return s.end(ctx, sub, i)
	}
	return nil
}

// innerSubmission returns the submission of run i to the inner scheduler. The run's folder is inside the
// folder of the job.
func innerSubmission(sub benchrunner.Submission, i int) benchrunner.Submission {
	sub.Dir = filepath.Join(sub.Dir, "fault-"+strconv.Itoa(i+1))
	sub.Name = fmt.Sprintf("%s-%d", sub.Name, i+1)
	sub.Script = filepath.Join(sub.Dir, "run.sh")
	return sub
}

// endDelay is the number of seconds by which a run is extended if a fault ends it early. The extension
// ensures that the script has not ended before the fault occurs, even on a busy machine.
const endDelay = 60

// writeScripts creates a folder for a run of a job, with a script that executes the job's script under the
// given ID. If the fault concerns the output, PATH begins with a folder of commands that replace those of the
// system.
func (k fault) writeScripts(sub, in benchrunner.Submission, id string, restarts int) error {
	bin := filepath.Join(in.Dir, "bin")
	job := "exec bash " + shellescape.Quote(sub.Script)
	if k.endsJob() {
		job = fmt.Sprintf("bash %s; sleep %d", shellescape.Quote(sub.Script), endDelay)
	}
	files := map[string]string{in.Script: fmt.Sprintf("#!/bin/bash\nexport TUTTI_JOB_ID=%s TUTTI_RESTART_COUNT=%d PATH=%s:$PATH\n%s\n",
		shellescape.Quote(id), restarts, shellescape.Quote(bin), job)}
	switch body := damagingTimeout[k]; {
	case k == outputLate:
		files[filepath.Join(bin, "stat")] = statHidingOutput
	case body != "":
		files[filepath.Join(bin, "timeout")] = "#!/bin/bash\nPATH=${PATH#*:}\n" + body
	}
	for path, text := range files {
		if err := testutil.WriteExecutable(path, text); err != nil {
			return err
		}
	}
	return nil
}

// statHidingOutput replaces stat(1), which job scripts call after each launch. After each call of stat it hides
// the file stdout for the given number of seconds.
const statHidingOutput = `#!/bin/bash
PATH=${PATH#*:}
stat "$@" || exit
mv stdout .late
setsid bash -c 'sleep 0.1; mv .late stdout' >/dev/null 2>&1 </dev/null &
`

// damagingTimeout has scripts that replace timeout(1), with which job scripts run each launch. They damage the
// launch's output.
var damagingTimeout = map[fault]string{
	outputTruncated: `timeout "$@" >.whole
code=$?
head -c $((RANDOM % ($(stat -c %s .whole) + 1))) .whole
exit "$code"
`,
	outputMissing: `timeout "$@"
code=$?
rm -f stdout
exit "$code"
`,
	outputInterleaved: `timeout "$@" | awk 'NR % 2 { held = $0; next } { print substr(held, 1, 4) $0; print substr(held, 5) } END { if (NR % 2) print held }'
exit "${PIPESTATUS[0]}"
`,
	outputPrefixed: `timeout "$@" | sed 's/^/[0] /'
exit "${PIPESTATUS[0]}"
`,
}
