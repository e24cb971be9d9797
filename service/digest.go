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
	"tutti/store"
)

// digest is what the records of one journal say, taken in one after another. It is
// safe for concurrent use; what it returns does not change any more.
type digest struct {
	mu       sync.Mutex
	progress Progress
	problems map[store.Problem]*problemDigest
	rounds   []Round // by their first record
	at       map[roundKey]int
	curve    []CurvePoint
	jobs     []Job // by their first record
	job      map[string]int
	spent    spending
}

type roundKey struct {
	store.Problem
	round int
}

// problemDigest is what counts for the progress of one problem.
type problemDigest struct {
	round              int
	slowdown, mistakes float64
}

func newDigest() *digest {
	return &digest{progress: Progress{Failures: map[string]int{}}, problems: map[store.Problem]*problemDigest{}, at: map[roundKey]int{}, job: map[string]int{}}
}

// add takes in a line of the journal.
func (d *digest) add(e Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.progress.Records = e.Seq
	if e.Type == string(store.KindHeader) {
		return d.addHeader(e.Data)
	}
	var r store.Record
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return fmt.Errorf("line %d: %w", e.Seq, err)
	}
	if r.Problem == (store.Problem{}) {
		return nil
	}
	p := d.problem(r.Problem)
	switch {
	case r.Kind == store.KindBatch:
		d.addBatch(p, r)
	case r.Kind == store.KindTrial && r.Trial != nil:
		d.addTrial(r)
	case r.Kind == store.KindJob && r.Job != nil:
		d.addJob(r)
	case r.Kind == store.KindEvaluation && r.Evaluation != nil:
		d.addEvaluation(p, r)
	case r.Kind == store.KindStop && activelearn.StopReason(r.Stop).Good():
		d.progress.Converged++
	}
	return nil
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
			d.problem(store.Problem{Library: lib.Name, Collective: c})
		}
	}
	return nil
}

func (d *digest) problem(id store.Problem) *problemDigest {
	p, known := d.problems[id]
	if !known {
		p = &problemDigest{}
		d.problems[id] = p
		d.progress.Problems = len(d.problems)
	}
	return p
}

func (d *digest) round(r store.Record) *Round {
	key := roundKey{r.Problem, r.Round}
	i, known := d.at[key]
	if !known {
		i = len(d.rounds)
		d.at[key] = i
		d.rounds = append(d.rounds, Round{Problem: r.Problem, Round: r.Round, Batch: []Asked{}})
	}
	return &d.rounds[i]
}

func (d *digest) addBatch(p *problemDigest, r store.Record) {
	batch := make([]Asked, len(r.Batch))
	reasons := slices.Clone(r.Reasons) // no longer than it must be: it stays
	for i, c := range r.Batch {
		batch[i] = Asked{Candidate: shared(c)}
		if len(reasons) == len(r.Batch) {
			reasons[i].Rival = sharedAlgorithm(reasons[i].Rival)
			batch[i].Reason = &reasons[i]
		}
	}
	d.round(r).Batch = batch
	if r.Round > p.round {
		d.progress.Rounds += r.Round - p.round
		p.round = r.Round
	}
}

func (d *digest) addTrial(r store.Record) {
	t, round := r.Trial, d.round(r)
	d.progress.Trials++
	d.progress.MachineSeconds += t.CostSeconds
	d.progress.NodeSeconds += t.NodeSeconds()
	d.spent.add(r.Time, t.NodeSeconds())
	if t.State != coll.TrialDone {
		d.progress.FailedTrials++
		d.progress.Failures[cmp.Or(t.Phase, "other")]++
		round.Failed++
		return
	}
	round.Done++
}

// shared is a candidate whose texts it has in common with all others: a journal
// repeats the same few on every line.
func shared(c coll.Candidate) coll.Candidate {
	c.Collective = unique.Make(c.Collective).Value()
	c.Algorithm = sharedAlgorithm(c.Algorithm)
	return c
}

func sharedAlgorithm(a coll.Algorithm) coll.Algorithm { return unique.Make(a).Value() }

func (d *digest) addJob(r store.Record) {
	i, known := d.job[r.Job.Name]
	if !known {
		i = len(d.jobs)
		d.job[r.Job.Name] = i
		d.jobs = append(d.jobs, Job{Problem: r.Problem, Round: r.Round, Begun: r.Time})
	}
	was, is := known && d.jobs[i].State != coll.JobEnded, r.Job.State != coll.JobEnded
	switch {
	case is && !was:
		d.progress.Jobs++
	case was && !is:
		d.progress.Jobs--
	}
	d.jobs[i].Job, d.jobs[i].Changed = *r.Job, r.Time
}

func (d *digest) addEvaluation(p *problemDigest, r store.Record) {
	d.round(r).Evaluation = r.Evaluation
	d.curve = append(d.curve, CurvePoint{Problem: r.Problem, Evaluation: *r.Evaluation})
	p.slowdown, p.mistakes = r.Evaluation.Slowdown, r.Evaluation.Mistakes
	d.progress.Slowdown, d.progress.Mistakes = 0, 0
	for _, q := range d.problems {
		d.progress.Slowdown = max(d.progress.Slowdown, q.slowdown)
		d.progress.Mistakes = max(d.progress.Mistakes, q.mistakes)
	}
}

// Progress returns the sums.
func (d *digest) Progress() Progress {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.progress
	p.Failures = maps.Clone(p.Failures)
	return p
}

// Rounds returns a copy: the last rounds still change.
func (d *digest) Rounds() []Round {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Round{}, d.rounds...)
}

// Curve returns the evaluations in the order they were made.
func (d *digest) Curve() []CurvePoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.curve[:len(d.curve):len(d.curve)]
}

// Jobs returns a copy: those that have not ended still change.
func (d *digest) Jobs() []Job {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Job{}, d.jobs...)
}

// evaluated is the round of the last evaluation of a problem, 0 before any.
func (d *digest) evaluated(p store.Problem) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.curve) - 1; i >= 0; i-- {
		if d.curve[i].Problem == p {
			return d.curve[i].Round
		}
	}
	return 0
}

// spending returns what was taken on the last day.
func (d *digest) spending() spending {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.spent
}

// Problems returns the problems by name.
func (d *digest) Problems() []store.Problem {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Keys(d.problems), func(a, b store.Problem) int { return strings.Compare(a.String(), b.String()) })
}
