package journal

import (
	"iter"
	"unique"

	"tutti/coll"
)

// trialList is a list of trials of a round. It takes a third of the memory of a []coll.Trial, because equal
// texts are stored once and candidates are those of the batch.
type trialList []storedTrial

type storedTrial struct {
	candidate                    *coll.Candidate
	text                         unique.Handle[trialText]
	seconds, low, high, cost     float64
	samples, held, rep, attempts int
}

// trialText is the part of a trial that many trials have in common.
type trialText struct {
	job          string
	placement    coll.Placement
	state        coll.TrialState
	phase, error string
}

// add appends a trial of a candidate.
func (l *trialList) add(c *coll.Candidate, t coll.Trial) {
	*l = append(*l, storedTrial{
		candidate: c, text: unique.Make(trialText{t.Job, t.Placement, t.State, t.Phase, t.Error}),
		seconds: t.Seconds, low: t.Low, high: t.High, cost: t.CostSeconds,
		samples: t.Samples, held: t.HeldNodes, rep: t.Rep, attempts: t.Attempt,
	})
}

// all returns the trials in order.
func (l trialList) all() iter.Seq[coll.Trial] {
	return func(yield func(coll.Trial) bool) {
		for _, s := range l {
			text := s.text.Value()
			t := coll.Trial{
				Measurement: coll.Measurement{
					Candidate: *s.candidate, Seconds: s.seconds, Low: s.low, High: s.high, Samples: s.samples, CostSeconds: s.cost,
					HeldNodes: s.held, Rep: s.rep, Job: text.job, Placement: text.placement,
				},
				Attempt: s.attempts, State: text.state, Phase: text.phase, Error: text.error,
			}
			if !yield(t) {
				return
			}
		}
	}
}

// candidate returns a pointer to a candidate of the batch, or to a copy of a candidate that the batch does not
// have. Trials mostly end in the order of the batch, so the search begins after the one before.
func (r *Round) candidate(c coll.Candidate) *coll.Candidate {
	for range r.Batch {
		if r.next >= len(r.Batch) {
			r.next = 0
		}
		r.next++
		if found := &r.Batch[r.next-1]; *found == c {
			return found
		}
	}
	return &c
}

// shareNames replaces the names in candidates by shared copies, because a journal has the same names on every
// line.
func shareNames(candidates []coll.Candidate) {
	for i, c := range candidates {
		candidates[i].Collective, candidates[i].Algorithm = unique.Make(c.Collective).Value(), unique.Make(c.Algorithm).Value()
	}
}

// shareEnvironment replaces the texts in an environment by shared copies.
func shareEnvironment(e *coll.Environment) {
	if e == nil {
		return
	}
	for _, text := range []*string{&e.Library, &e.Checksum, &e.Kernel, &e.CPU, &e.Governor} {
		*text = unique.Make(*text).Value()
	}
	for i, node := range e.Nodes {
		e.Nodes[i] = unique.Make(node).Value()
	}
}
