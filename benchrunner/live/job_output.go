package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

type jobOutput struct {
	job         job
	ending      ending
	over        fields // the script's end file; nil without one
	launches    []launchOutput
	log         []byte            // output of the script
	environment *coll.Environment // nil if the script did not record it
	planned     time.Time         // creation time of the job's folder; zero if the folder is missing
	begun       time.Time         // start time of the script; zero if it did not start
}

// launchOutput is what a launch printed. Its outputs are dropped as soon as the program has read them.
type launchOutput struct {
	launchFiles
	benchrunner.Reading
	placement coll.Placement
	first     string // the first message of its standard error
	last      string // the last lines of its standard error
}

func (m *Machine) see(ctx context.Context, j job, e ending) (jobOutput, error) {
	var s jobOutput
	err := m.read(ctx, j.Name, func(f *folder) {
		s = jobOutput{job: j, ending: e, log: f.limitedText("job.log", maxStderr), environment: f.environment()}
		s.over, _ = f.fields("end")
		s.planned, s.begun = f.changed(planFile), f.changed("begin")
		for i, st := range j.launches {
			s.launches = append(s.launches, launchOutput{launchFiles: f.launch(launchDir(i), st.Limit)})
		}
	})
	if err != nil {
		return s, err
	}
	if s.over == nil {
		s.discardExitCodes()
	}
	m.recordPlacement(ctx, s)
	m.reading.Lock() // the outputs of one launch at a time are in memory
	defer m.reading.Unlock()
	for i := range s.launches {
		err := m.read(ctx, j.Name, func(f *folder) { f.outputs(launchDir(i), &s.launches[i].launchFiles) })
		if err == nil {
			err = s.parse(m.opt.Program, i)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// parse lets the program read the outputs of a launch. It drops them afterwards. Failures that the job or the launcher
// explains are no failures of the candidates.
func (s jobOutput) parse(p benchrunner.Program, i int) error {
	st, one := s.job.launches[i], &s.launches[i]
	if !one.begun {
		one.Outcomes = slices.Repeat([]benchrunner.Outcome{{State: benchrunner.OutcomeNotReached}}, len(st.Cases))
		return nil
	}
	one.Reading = p.Read(st.Launch, one.Output)
	cause, text := one.Interruption(true)
	if cause == "" && s.ending.status.Outcome == coll.JobNodeFail {
		cause, text = benchrunner.NodeFailed, s.ending.status.Reason
	}
	if cause == "" && one.lost != "" {
		cause, text = benchrunner.OutputLost, one.lost
	}
	for k, o := range one.Outcomes {
		switch {
		case o.State != benchrunner.OutcomeFailed:
		case cause != "":
			one.Outcomes[k] = benchrunner.NotReached(cause, text)
		default:
			one.Outcomes[k].Error += one.cutNote()
		}
	}
	if len(one.Outcomes) != len(st.Cases) {
		return fmt.Errorf("program %s: Read returned %d outcomes for %d cases", p.Name(), len(one.Outcomes), len(st.Cases))
	}
	one.first, one.last = one.FirstMessage(), tail(one.Stderr, 5)
	one.Stdout, one.Stderr = nil, nil
	return nil
}

// killGrace is the longest time by which a script outlives its program if a scheduler kills both with the job. In
// this time the script may begin the next launch of the program.
const killGrace = 2 * time.Second

// discardExitCodes finds launches that ended together with their job. It marks them as not ended, because their exit codes
// say nothing about the program. This applies to the exit code 0, too: srun has it after a failure of a node.
func (s jobOutput) discardExitCodes() {
	last := s.lastWrite()
	for i := range s.launches {
		one := &s.launches[i]
		if one.Ended && !one.TimedOut && last.Sub(one.changed) <= killGrace {
			one.Ended = false
		}
	}
}

func (s jobOutput) running(i int) bool {
	one := &s.launches[i]
	return one.begun && !one.Ended && (s.concurrent() || one == s.last())
}

func (s jobOutput) last() *launchOutput {
	for i := range slices.Backward(s.launches) {
		if s.launches[i].begun {
			return &s.launches[i]
		}
	}
	return nil
}

// outcome returns how the job ended, with a reason. A job without its end file did not
// complete, whatever the scheduler reports, because its disk may have been full.
func (s jobOutput) outcome() (coll.JobOutcome, string) {
	o := s.ending.status.Outcome
	switch {
	case s.over != nil && s.last() == nil: // it was cancelled before its first launch, or their files are gone
		return coll.JobCancelled, "it was stopped before its first launch, or the folders of its launches were deleted"
	case s.over != nil:
		return coll.JobCompleted, ""
	case s.ending.status.NeverStarts:
		return coll.JobCancelled, "it can never start: " + s.ending.status.Reason
	case o == coll.JobCompleted || o == "":
		return coll.JobLost, "its script did not end normally"
	}
	return o, s.ending.status.Reason
}

// allocated returns for how many seconds the job had its nodes. It uses the script's clock if the script
// ended normally. Otherwise it uses the scheduler's times or, without them, the time of the last write.
func (s jobOutput) allocated() float64 {
	allocated, walls := 0.0, 0.0
	for i, st := range s.launches {
		walls += st.Wall.Seconds() * s.share(i)
	}
	switch st := s.ending.status; {
	case s.over != nil:
		allocated = s.over.since()
		for i, one := range s.launches {
			if one.Ended && one.run != s.over.first("run") { // ended before the job was requeued
				allocated += one.Wall.Seconds() * s.share(i)
			}
		}
	case !st.Started.IsZero() && st.Ended.After(st.Started):
		allocated = st.Ended.Sub(st.Started).Seconds()
	default:
		allocated = s.secondsToLastWrite()
	}
	return max(validSeconds(allocated), walls)
}

// secondsToLastWrite returns how long a job surely ran: the seconds from the start of its script to the last write to its files.
func (s jobOutput) secondsToLastWrite() float64 {
	if s.begun.IsZero() {
		return 0
	}
	return latest(s.begun, s.lastWrite()).Sub(s.begun).Seconds()
}

// lastWrite returns the time of the last write to a file of a launch, the zero time if none exists.
func (s jobOutput) lastWrite() (last time.Time) {
	for _, one := range s.launches {
		last = latest(last, one.changed)
	}
	return last
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (s jobOutput) queue() float64 {
	status := s.ending.status
	submitted, started := cmp.Or(status.Submitted, s.planned), cmp.Or(status.Started, s.begun)
	if submitted.IsZero() || started.IsZero() {
		return 0
	}
	return started.Sub(submitted).Seconds()
}

// left returns the processes that the script could not end.
func (s jobOutput) left() []string {
	left := slices.Clone(s.over["left"])
	for _, one := range s.launches {
		left = append(left, one.left...)
	}
	return left
}

func (s jobOutput) concurrent() bool { return runsConcurrently(s.job.launches, s.job.Nodes) }

func (s jobOutput) share(i int) float64 {
	if s.job.Nodes < 1 {
		return 1
	}
	return float64(s.job.launches[i].Layout.Nodes) / float64(s.job.Nodes)
}
