package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// jobOutput is what can be seen of a job that is over.
type jobOutput struct {
	job         job
	ending      ending
	over        fields // the end file of the script, nil for none
	launches    []launchOutput
	log         []byte            // what the script said
	environment *coll.Environment // nil when the script did not come so far
	planned     time.Time         // when its folder was made; zero when it is gone
	begun       time.Time         // when the script began; zero when it did not
}

type launchOutput struct {
	launchFiles
	benchrunner.Reading
	placement coll.Placement
}

// see reads the folder of a job that is over.
func (m *Machine) see(ctx context.Context, j job, e ending) (jobOutput, error) {
	var s jobOutput
	err := m.read(ctx, j.Name, func(f *folder) {
		s = jobOutput{job: j, ending: e, log: f.text("job.log"), environment: f.environment()}
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
	return s, s.parse(m.opt.Program)
}

// parse lets the program read what its starts printed.
func (s jobOutput) parse(p benchrunner.Program) error {
	for i, st := range s.job.launches {
		one := &s.launches[i]
		if one.begun {
			one.Reading = p.Read(st.Launch, one.Output)
		} else {
			one.Outcomes = make([]benchrunner.Outcome, len(st.Cases))
		}
		for k, o := range one.Outcomes {
			if !one.begun || o.State == benchrunner.OutcomeFailed && one.Parted() {
				one.Outcomes[k] = benchrunner.Outcome{State: benchrunner.OutcomeNotReached}
			}
		}
		if len(one.Outcomes) != len(st.Cases) {
			return fmt.Errorf("program %s: Read returned %d outcomes for %d cases", p.Name(), len(one.Outcomes), len(st.Cases))
		}
	}
	return nil
}

// killGrace is how much longer than a program a script may live when a job is ended:
// schedulers end both, in any order, and the next start may have begun.
const killGrace = 2 * time.Second

// discardExitCodes takes the exit codes from the starts that died with the job.
func (s jobOutput) discardExitCodes() {
	if s.concurrent() {
		s.discardLaterExitCodes()
		return
	}
	var last time.Time // sign of life
	for i := range slices.Backward(s.launches) {
		one := &s.launches[i]
		if !one.begun {
			continue
		}
		if last.IsZero() {
			last = one.changed
		}
		if one.Ended && (one.Exit == 0 || one.TimedOut || last.Sub(one.changed) > killGrace) {
			return
		}
		one.Ended = false
	}
}

// discardLaterExitCodes is excuse for starts side by side: each may have died with the job.
func (s jobOutput) discardLaterExitCodes() {
	var last time.Time
	for _, one := range s.launches {
		last = latest(last, one.changed)
	}
	for i := range s.launches {
		one := &s.launches[i]
		if one.Ended && one.Exit != 0 && !one.TimedOut && last.Sub(one.changed) <= killGrace {
			one.Ended = false
		}
	}
}

// running reports whether a start ran when its job was ended.
func (s jobOutput) running(i int) bool {
	one := &s.launches[i]
	return one.begun && !one.Ended && (s.concurrent() || one == s.last())
}

// last returns the start that was begun last, nil when none was.
func (s jobOutput) last() *launchOutput {
	for i := range slices.Backward(s.launches) {
		if s.launches[i].begun {
			return &s.launches[i]
		}
	}
	return nil
}

// outcome is how the job ended. One without its end file did not complete, whatever
// the scheduler says: its disk may have been full.
func (s jobOutput) outcome() (coll.JobOutcome, string) {
	o := s.ending.status.Outcome
	switch {
	case s.over != nil && s.last() == nil: // whoever cancelled it was quicker than its first start
		return coll.JobCancelled, "it was kept from starting anything"
	case s.over != nil:
		return coll.JobCompleted, ""
	case s.ending.status.NeverStarts:
		return coll.JobCancelled, "it would wait for ever: " + s.ending.status.Reason
	case o == coll.JobCompleted || o == "":
		return coll.JobLost, "its script did not come to its end"
	}
	return o, s.ending.status.Reason
}

// held is how long the nodes were held, in seconds: by the script's own clock when
// it came to its end, else by the scheduler's, else by the last sign of life.
func (s jobOutput) held() float64 {
	held, walls := 0.0, 0.0
	for i, st := range s.launches {
		walls += st.Wall.Seconds() * s.share(i)
	}
	switch st := s.ending.status; {
	case s.over != nil:
		held = s.over.since()
		for i, one := range s.launches {
			if one.Ended && one.run != s.over.first("run") { // before a requeue
				held += one.Wall.Seconds() * s.share(i)
			}
		}
	case !st.Started.IsZero() && st.Ended.After(st.Started):
		held = st.Ended.Sub(st.Started).Seconds()
	default:
		held = s.signs()
	}
	return max(validSeconds(held), walls)
}

// signs is the time from the begin of the script to the last file it wrote.
func (s jobOutput) signs() float64 {
	if s.begun.IsZero() {
		return 0
	}
	last := s.begun
	for _, one := range s.launches {
		last = latest(last, one.changed)
	}
	return last.Sub(s.begun).Seconds()
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// queue is how long the job waited for nodes, in seconds.
func (s jobOutput) queue() float64 {
	submitted, started := s.ending.status.Submitted, s.ending.status.Started
	if submitted.IsZero() {
		submitted = s.planned
	}
	if started.IsZero() {
		started = s.begun
	}
	if submitted.IsZero() || started.IsZero() {
		return 0
	}
	return started.Sub(submitted).Seconds()
}

// concurrent reports whether starts of the job ran side by side.
func (s jobOutput) concurrent() bool { return runsConcurrently(s.job.launches, s.job.Nodes) }

// share is the part of the nodes of the job that a start had.
func (s jobOutput) share(i int) float64 {
	if s.job.Nodes < 1 {
		return 1
	}
	return float64(s.job.launches[i].Layout.Nodes) / float64(s.job.Nodes)
}
