package service

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unique"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
)

// digest is what the records of one journal amount to, taken in one after another, with
// the sums that a list of campaigns shows. It is safe for concurrent use; what it
// returns does not change any more.
type digest struct {
	mu       sync.Mutex
	state    journal.State
	problems []journal.Problem // of the header and of the records
	latest   map[journal.Problem]journal.Evaluation
	curve    []CurvePoint
	progress Progress
	spent    spending
}

func newDigest() *digest {
	return &digest{
		state:    journal.State{Lean: true},
		latest:   map[journal.Problem]journal.Evaluation{},
		progress: Progress{Failures: map[string]int{}},
	}
}

// add takes in a line of the journal.
func (d *digest) add(e Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.progress.Records = e.Seq
	if e.Type == string(journal.KindHeader) {
		return d.addHeader(e.Data)
	}
	var r journal.Record
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return fmt.Errorf("line %d: %w", e.Seq, err)
	}
	if err := r.Validate(); err != nil {
		return fmt.Errorf("line %d: %w", e.Seq, err)
	}
	share(&r)
	d.state.Add(r)
	if r.Problem == (journal.Problem{}) {
		return nil
	}
	d.addProblem(r.Problem)
	d.count(r)
	return nil
}

// count adds a record of a problem to the sums.
func (d *digest) count(r journal.Record) {
	switch r.Kind {
	case journal.KindTrial:
		d.progress.Trials++
		d.progress.MachineSeconds += r.Trial.CostSeconds
		d.progress.NodeSeconds += r.Trial.NodeSeconds()
		d.spent.add(r.Time, r.Trial.NodeSeconds())
		if r.Trial.State != coll.TrialDone {
			d.progress.FailedTrials++
			d.progress.Failures[cmp.Or(r.Trial.Phase, "other")]++
		}
	case journal.KindEvaluation:
		d.curve = append(d.curve, CurvePoint{Problem: r.Problem, Evaluation: *r.Evaluation})
		d.latest[r.Problem] = *r.Evaluation
		d.progress.Slowdown, d.progress.Mistakes = 0, 0
		for _, e := range d.latest {
			d.progress.Slowdown = max(d.progress.Slowdown, e.Slowdown)
			d.progress.Mistakes = max(d.progress.Mistakes, e.Mistakes)
		}
	case journal.KindStop:
		if activelearn.StopReason(r.Stop).Good() {
			d.progress.Converged++
		}
	}
}

// addHeader counts the problems of the campaign file.
func (d *digest) addHeader(line json.RawMessage) error {
	var header struct {
		Spec struct {
			Libraries   []struct{ Name string }
			Collectives []coll.Collective
		}
	}
	if err := json.Unmarshal(line, &header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	for _, lib := range header.Spec.Libraries {
		for _, c := range header.Spec.Collectives {
			d.addProblem(journal.Problem{Library: lib.Name, Collective: c})
		}
	}
	return nil
}

func (d *digest) addProblem(id journal.Problem) {
	if !slices.Contains(d.problems, id) {
		d.problems = append(d.problems, id)
	}
}

// share gives the candidates of a batch texts that they have in common with all others:
// a journal repeats the same few on every line. What stays is no longer than it must be.
func share(r *journal.Record) {
	r.Batch, r.Reasons = slices.Clone(r.Batch), slices.Clone(r.Reasons)
	for i, c := range r.Batch {
		r.Batch[i].Collective, r.Batch[i].Algorithm = unique.Make(c.Collective).Value(), unique.Make(c.Algorithm).Value()
	}
	for i, w := range r.Reasons {
		r.Reasons[i].Rival = unique.Make(w.Rival).Value()
	}
}

// Progress returns the sums.
func (d *digest) Progress() Progress {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.progress
	p.Failures = maps.Clone(p.Failures)
	p.Problems = len(d.problems)
	for _, r := range d.state.Rounds {
		if len(r.Batch) > 0 {
			p.Rounds++
		}
	}
	for _, j := range d.state.Jobs {
		if tuning(j) && j.Open() {
			p.Jobs++
		}
	}
	return p
}

// Rounds returns the rounds of all problems, in the order of their first record.
func (d *digest) Rounds() []Round {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Round, len(d.state.Rounds))
	for i, r := range d.state.Rounds {
		out[i] = Round{Problem: r.Problem, Round: r.Number, Batch: make([]Asked, len(r.Batch)), Done: r.Done, Failed: r.Failed, Evaluation: r.Evaluation}
		for k, c := range r.Batch {
			out[i].Batch[k] = Asked{Candidate: c}
			if len(r.Reasons) > 0 {
				out[i].Batch[k].Reason = &r.Reasons[k]
			}
		}
	}
	return out
}

// Curve returns the evaluations in the order they were made.
func (d *digest) Curve() []CurvePoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.curve[:len(d.curve):len(d.curve)]
}

// Jobs returns the jobs as they were last heard of, in the order they began.
func (d *digest) Jobs() []Job {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := []Job{}
	for _, j := range d.state.Jobs {
		if tuning(j) {
			out = append(out, Job{Problem: j.Problem, Round: j.Round, Begun: j.Begun, Changed: j.Changed, Job: j.Job})
		}
	}
	return out
}

// tuning reports whether a job is none of a verification.
func tuning(j *journal.Job) bool { return j.Problem.Collective != "" }

// evaluated is the round of the last evaluation of a problem, 0 before any.
func (d *digest) evaluated(p journal.Problem) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.latest[p].Round
}

// spending returns what was taken on the last day.
func (d *digest) spending() spending {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.spent
}

// Problems returns the problems by name.
func (d *digest) Problems() []journal.Problem {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(slices.Values(d.problems), func(a, b journal.Problem) int { return strings.Compare(a.String(), b.String()) })
}
