package service

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/jonboulle/clockwork"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
)

// journalView contains the events in a campaign's growing journal, and a summary of them. It is safe for
// concurrent use.
type journalView struct {
	log     *eventLog
	summary *summary

	mu  sync.Mutex
	err error // of the last update
}

func newJournalView(path string, clock clockwork.Clock) *journalView {
	return &journalView{log: newEventLog(path), summary: newSummary(clock)}
}

// update reads the lines that were appended since the last call, until ctx is cancelled. After an error the
// next call begins with the same line.
func (v *journalView) update(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.log.update(ctx, v.summary.add)
	if ctx.Err() == nil {
		v.err = err
	}
	return err
}

// failure returns the error of the last update that was not cancelled.
func (v *journalView) failure() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// measurements returns the measurements that follow a line of the journal, in order. It returns at most
// limit of them, or all if limit is 0. Its time grows with the number of lines in the journal. It stops when
// ctx is cancelled.
func (v *journalView) measurements(ctx context.Context, after int64, limit int) ([]Measurement, error) {
	page := pageEvents
	if limit > 0 {
		page = min(page, 2*limit)
	}
	out := []Measurement{}
	for last := v.log.Last(); after < last; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		events, _ := v.log.After(after, page)
		if len(events) == 0 {
			return nil, fmt.Errorf("%s: line %d cannot be read", v.log.path, after+1)
		}
		for _, e := range events {
			m, ok, err := parseMeasurement(e)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", v.log.path, e.Seq, err)
			}
			if ok {
				out = append(out, m)
			}
			if len(out) == limit && limit > 0 {
				return out, nil
			}
		}
		after = events[len(events)-1].Seq
	}
	return out, nil
}

// parseMeasurement returns the measurement in a line of the journal. For any other line ok is false.
func parseMeasurement(e Event) (m Measurement, ok bool, err error) {
	if e.Type != string(journal.KindTrial) {
		return Measurement{}, false, nil
	}
	var r journal.Record
	if err := jsonv2.Unmarshal(e.Data, &r); err != nil {
		return Measurement{}, false, err
	}
	if r.Trial == nil || r.Trial.State != coll.TrialDone {
		return Measurement{}, false, nil
	}
	return Measurement{Seq: e.Seq, Library: r.Problem.Library, Round: r.Round, Measurement: r.Trial.Measurement}, true, nil
}

// summary sums up the records of one journal as they are added. It is safe for concurrent use, and the
// values that it returns do not change.
type summary struct {
	mu       sync.Mutex
	state    journal.State
	problems []journal.Problem // of the header and of the records
	latest   map[journal.Problem]activelearn.Evaluation
	curve    []CurvePoint
	progress Progress
	spent    daySpending
	clock    clockwork.Clock
}

func newSummary(clock clockwork.Clock) *summary {
	return &summary{
		clock:    clock,
		state:    journal.State{Lean: true},
		latest:   map[journal.Problem]activelearn.Evaluation{},
		progress: Progress{Failures: map[string]int{}},
	}
}

// add adds a line of the journal. After an error the summary is unchanged.
func (s *summary) add(e Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Type == string(journal.KindHeader) {
		if err := s.addHeaderLocked(e.Data); err != nil {
			return err
		}
		s.progress.Records = e.Seq
		return nil
	}
	var r journal.Record
	if err := jsonv2.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	if err := r.Validate(); err != nil {
		return err
	}
	s.progress.Records = e.Seq
	s.state.Add(r)
	if r.Problem != (journal.Problem{}) {
		s.addProblemLocked(r.Problem)
		s.addRecordLocked(r)
	}
	return nil
}

// addRecordLocked adds a record of a problem to the summary.
func (s *summary) addRecordLocked(r journal.Record) {
	switch r.Kind {
	case journal.KindTrial:
		s.progress.Trials++
		s.progress.MachineSeconds += r.Trial.CostSeconds
		s.progress.NodeSeconds += r.Trial.NodeSeconds()
		s.spent.add(r.Time, s.clock.Now(), r.Trial.NodeSeconds())
		if r.Trial.State != coll.TrialDone {
			s.progress.FailedTrials++
			s.progress.Failures[cmp.Or(r.Trial.Phase, "other")]++
		}
	case journal.KindEvaluation:
		s.curve = append(s.curve, CurvePoint{Problem: r.Problem, Evaluation: *r.Evaluation})
		s.latest[r.Problem] = *r.Evaluation
		s.progress.Slowdown, s.progress.Mistakes = 0, 0
		for _, e := range s.latest {
			s.progress.Slowdown = max(s.progress.Slowdown, e.Slowdown)
			s.progress.Mistakes = max(s.progress.Mistakes, e.Mistakes)
		}
	case journal.KindStop:
		if activelearn.StopReason(r.Stop).Good() {
			s.progress.Converged++
		}
	}
}

// addHeaderLocked adds the problems that the campaign file in the header describes.
func (s *summary) addHeaderLocked(line json.RawMessage) error {
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
			s.addProblemLocked(journal.Problem{Library: lib.Name, Collective: c})
		}
	}
	return nil
}

func (s *summary) addProblemLocked(p journal.Problem) {
	if !slices.Contains(s.problems, p) {
		s.problems = append(s.problems, p)
	}
}

// Progress returns how far the campaign is: its state, rounds and used budgets.
func (s *summary) Progress() Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.progress
	p.Failures = maps.Clone(p.Failures)
	p.Problems = len(s.problems)
	for _, r := range s.state.Rounds {
		if len(r.Batch) > 0 {
			p.Rounds++
		}
	}
	for _, j := range s.state.Jobs {
		if isTuning(j) && j.Open() {
			p.Jobs++
		}
	}
	return p
}

// Rounds returns the rounds of all problems, in the order of their first record.
func (s *summary) Rounds() []Round {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Round, len(s.state.Rounds))
	for i, r := range s.state.Rounds {
		out[i] = Round{Problem: r.Problem, Round: r.Number, Batch: make([]BatchItem, len(r.Batch)), Done: r.Done, Failed: r.Failed, Evaluation: r.Evaluation}
		for k, c := range r.Batch {
			out[i].Batch[k] = BatchItem{Candidate: c}
			if len(r.Reasons) > 0 {
				out[i].Batch[k].Reason = &r.Reasons[k]
			}
		}
	}
	return out
}

// Curve returns the evaluations in the order of the journal.
func (s *summary) Curve() []CurvePoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.curve[:len(s.curve):len(s.curve)]
}

// Jobs returns every job with its last known state, in the order of submission.
func (s *summary) Jobs() []Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Job{}
	for _, j := range s.state.Jobs {
		if isTuning(j) {
			out = append(out, Job{Problem: j.Problem, Round: j.Round, Begun: j.Begun, Changed: j.Changed, Job: j.Job})
		}
	}
	return out
}

// isTuning reports whether a job measures for the tuning. Jobs of verifications have no collective.
func isTuning(j *journal.Job) bool { return j.Problem.Collective != "" }

// evaluatedRound returns the round in which a problem was last evaluated, or 0 if it was not evaluated yet.
func (s *summary) evaluatedRound(p journal.Problem) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest[p].Round
}

// spending returns the node-seconds that were spent on the latest day with a trial.
func (s *summary) spending() daySpending {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent
}

// Problems returns the problems, sorted by name.
func (s *summary) Problems() []journal.Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(slices.Values(s.problems), func(a, b journal.Problem) int { return strings.Compare(a.String(), b.String()) })
}
