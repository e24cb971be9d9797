package live

import (
	"cmp"
	"fmt"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
)

// Doubt is for a machine that has measured nothing yet: its program may be missing, its
// library another one, its folder not seen by the nodes. Jobs go to the scheduler one at
// a time until one has started a program. A job that started none ends Run with an error
// matching benchrunner.ErrNoStart: none of its requests has a trial then, so that they
// are asked for again as if they had never been tried. The machine takes no job
// afterwards; other calls of Run have to be cancelled.
func (m *Machine) Doubt() { m.doubt.Store(true) }

// trust ends the doubt.
func (m *Machine) trust() {
	if m.doubt.CompareAndSwap(true, false) {
		if c := m.said.Load(); c != nil {
			m.slots.setLimit(c.Jobs)
		}
	}
}

// jobsAtOnce is the limit of jobs at the scheduler, zero for none.
func (m *Machine) jobsAtOnce(c benchrunner.Capacity) int {
	if m.doubt.Load() {
		return 1
	}
	return c.Jobs
}

// stillborn says why no program of a job started, "" when one did, when nothing is
// decided, and when the job was ended by others or never ran.
func (s sight) stillborn(outcomes [][]benchrunner.Outcome, r result) string {
	switch {
	case s.ending.status.NeverStarts, r.Outcome == coll.JobCancelled, r.Outcome == coll.JobNodeFail:
		return ""
	}
	first, why := -1, ""
	for i, cases := range outcomes {
		for _, o := range cases {
			switch {
			case o.State == benchrunner.OutcomeFailed && o.Phase == benchrunner.PhaseLaunch:
				why = cmp.Or(why, o.Error)
			case o.State == benchrunner.OutcomeNotReached && r.Outcome == coll.JobLost && !s.starts[i].begun:
				why = cmp.Or(why, s.failure(i, r)+"; do the nodes see its folder?")
			default:
				return ""
			}
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return ""
	}
	if words := tail([]byte(s.starts[first].FirstMessage()), 1); words != "" && !strings.Contains(why, words) {
		why += fmt.Sprintf("; first it said: %s", words)
	}
	return why
}
