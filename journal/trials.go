package journal

import (
	"iter"
	"reflect"
	"slices"
	"unique"

	"tutti/coll"
)

// trialList is a list of trials of a round. It takes a third of the memory of a []coll.Trial. Equal texts
// are stored once, and candidates are shared with the batch.
type trialList []storedTrial

// storedTrial is a trial with shared texts.
type storedTrial struct {
	candidate                    *storedCandidate
	text                         unique.Handle[trialText]
	seconds, low, high, cost     float64
	samples, held, rep, attempts int32
}

// trialText is the part of a trial that many trials have in common.
type trialText struct {
	job          string
	placement    coll.Placement
	state        coll.TrialState
	phase, error string
}

// store returns a trial with the given copy of its candidate.
func store(t coll.Trial, candidate *storedCandidate) storedTrial {
	return storedTrial{
		candidate: candidate, text: unique.Make(trialText{t.Job, t.Placement, t.State, t.Phase, t.Error}),
		seconds: t.Seconds, low: t.Low, high: t.High, cost: t.CostSeconds,
		samples: int32(t.Samples), held: int32(t.HeldNodes), rep: int32(t.Rep), attempts: int32(t.Attempt),
	}
}

// trial converts a stored trial back to a coll.Trial.
func (s storedTrial) trial() coll.Trial {
	text := s.text.Value()
	return coll.Trial{
		Measurement: coll.Measurement{
			Candidate: s.candidate.candidate(), Seconds: s.seconds, Low: s.low, High: s.high, Samples: int(s.samples), CostSeconds: s.cost,
			HeldNodes: int(s.held), Rep: int(s.rep), Job: text.job, Placement: text.placement,
		},
		Attempt: int(s.attempts), State: text.state, Phase: text.phase, Error: text.error,
	}
}

// all returns the trials in order.
func (l trialList) all() iter.Seq[coll.Trial] {
	return func(yield func(coll.Trial) bool) {
		for _, s := range l {
			if !yield(s.trial()) {
				return
			}
		}
	}
}

// storedStep is a step of a verification: a trial, or any other step.
type storedStep struct {
	session, round, stage int32
	trial                 storedTrial
	other                 *VerifyStep
}

// add appends a step. Equal candidates share their memory.
func (v *Verification) add(step VerifyStep) {
	s := storedStep{session: int32(step.Session), round: int32(step.Round), stage: int32(step.Stage)}
	if t := step.Trial; t != nil {
		if v.candidates[t.Candidate] == nil {
			c := storeCandidate(t.Candidate)
			v.candidates[t.Candidate] = &c
		}
		s.trial = store(*t, v.candidates[t.Candidate])
	} else {
		s.other = &step
	}
	if len(v.steps) == 0 || v.session != step.Session {
		v.session, v.steps = step.Session, append(v.steps, nil)
	}
	last := &v.steps[len(v.steps)-1]
	*last = append(*last, s)
}

// Steps returns the steps of all sessions in order. A lean state has none; see State.Lean.
func (v *Verification) Steps() iter.Seq[VerifyStep] {
	return func(yield func(VerifyStep) bool) {
		for _, session := range v.steps {
			for _, s := range session {
				step := s.other
				if step == nil {
					t := s.trial.trial()
					step = &VerifyStep{Library: v.Library, Session: int(s.session), Round: int(s.round), Stage: int(s.stage), Trial: &t}
				}
				if !yield(*step) {
					return
				}
			}
		}
	}
}

// candidate returns a pointer to the equal candidate of the batch, or to a copy if the batch has none.
// Trials mostly end in the order of the batch. The search therefore begins after the candidate of the
// previous trial.
func (r *Round) candidate(c storedCandidate) *storedCandidate {
	for range r.batch {
		if r.next >= len(r.batch) {
			r.next = 0
		}
		r.next++
		if found := &r.batch[r.next-1]; *found == c {
			return found
		}
	}
	return &c
}

// share replaces the texts of a job by shared copies. The parameter `last` is the environment of the
// previous job. An equal environment is stored once.
func share(j *coll.Job, last *coll.Environment) {
	j.State, j.Outcome = unique.Make(j.State).Value(), unique.Make(j.Outcome).Value()
	e := j.Environment
	if e == nil {
		return
	}
	for _, text := range []*string{&e.Library, &e.Checksum, &e.Kernel, &e.CPU, &e.Governor} {
		*text = unique.Make(*text).Value()
	}
	switch {
	case last == nil || !slices.Equal(last.Nodes, e.Nodes):
		for i, node := range e.Nodes {
			e.Nodes[i] = unique.Make(node).Value()
		}
	default:
		e.Nodes = last.Nodes
		if reflect.DeepEqual(e, last) {
			j.Environment = last
		}
	}
}
