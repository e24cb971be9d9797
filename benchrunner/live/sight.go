package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// sight is what can be seen of a job that is over.
type sight struct {
	job         job
	ending      ending
	over        fields // the end file of the script, nil for none
	starts      []startSight
	log         []byte            // what the script said
	environment *coll.Environment // nil when the script did not come so far
	planned     time.Time         // when its folder was made; zero when it is gone
	begun       time.Time         // when the script began; zero when it did not
}

type startSight struct {
	startFiles
	benchrunner.Reading
	placement coll.Placement
}

// see reads the folder of a job that is over.
func (m *Machine) see(ctx context.Context, j job, e ending) (sight, error) {
	var s sight
	err := m.read(ctx, j.Name, func(f *folder) {
		s = sight{job: j, ending: e, log: f.text("job.log"), environment: f.environment()}
		s.over, _ = f.fields("end")
		s.planned, s.begun = f.changed(planFile), f.changed("begin")
		for i, st := range j.starts {
			s.starts = append(s.starts, startSight{startFiles: f.start(startDir(i), st.Limit)})
		}
	})
	if err != nil {
		return s, err
	}
	if s.over == nil {
		s.excuse()
	}
	m.placed(ctx, s)
	return s, s.understand(m.opt.Program)
}

// understand lets the program read what its starts printed.
func (s sight) understand(p benchrunner.Program) error {
	for i, st := range s.job.starts {
		one := &s.starts[i]
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

// moment is how much longer than a program a script may live when a job is ended:
// schedulers end both, in any order, and the next start may have begun.
const moment = 2 * time.Second

// excuse takes the exit codes from the starts that died with the job.
func (s sight) excuse() {
	if s.beside() {
		s.excuseBeside()
		return
	}
	var last time.Time // sign of life
	for i := range slices.Backward(s.starts) {
		one := &s.starts[i]
		if !one.begun {
			continue
		}
		if last.IsZero() {
			last = one.changed
		}
		if one.Ended && (one.Exit == 0 || one.TimedOut || last.Sub(one.changed) > moment) {
			return
		}
		one.Ended = false
	}
}

// excuseBeside is excuse for starts side by side: each may have died with the job.
func (s sight) excuseBeside() {
	var last time.Time
	for _, one := range s.starts {
		last = latest(last, one.changed)
	}
	for i := range s.starts {
		one := &s.starts[i]
		if one.Ended && one.Exit != 0 && !one.TimedOut && last.Sub(one.changed) <= moment {
			one.Ended = false
		}
	}
}

// running reports whether a start ran when its job was ended.
func (s sight) running(i int) bool {
	one := &s.starts[i]
	return one.begun && !one.Ended && (s.beside() || one == s.last())
}

// last returns the start that was begun last, nil when none was.
func (s sight) last() *startSight {
	for i := range slices.Backward(s.starts) {
		if s.starts[i].begun {
			return &s.starts[i]
		}
	}
	return nil
}

// outcome is how the job ended. One without its end file did not complete, whatever
// the scheduler says: its disk may have been full.
func (s sight) outcome() (coll.JobOutcome, string) {
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
func (s sight) held() float64 {
	held, walls := 0.0, 0.0
	for i, st := range s.starts {
		walls += st.Wall.Seconds() * s.share(i)
	}
	switch st := s.ending.status; {
	case s.over != nil:
		held = s.over.since()
		for i, one := range s.starts {
			if one.Ended && one.run != s.over.first("run") { // before a requeue
				held += one.Wall.Seconds() * s.share(i)
			}
		}
	case !st.Started.IsZero() && st.Ended.After(st.Started):
		held = st.Ended.Sub(st.Started).Seconds()
	default:
		held = s.signs()
	}
	return max(clean(held), walls)
}

// signs is the time from the begin of the script to the last file it wrote.
func (s sight) signs() float64 {
	if s.begun.IsZero() {
		return 0
	}
	last := s.begun
	for _, one := range s.starts {
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
func (s sight) queue() float64 {
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

// beside reports whether starts of the job ran side by side.
func (s sight) beside() bool { return sideBySide(s.job.starts, s.job.Nodes) }

// share is the part of the nodes of the job that a start had.
func (s sight) share(i int) float64 {
	if s.job.Nodes < 1 {
		return 1
	}
	return float64(s.job.starts[i].Layout.Nodes) / float64(s.job.Nodes)
}
