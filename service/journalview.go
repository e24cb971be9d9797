package service

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/jonboulle/clockwork"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
)

// journalView contains the events in a campaign's growing journal, and a summary of them. It is safe for
// concurrent use.
type journalView struct {
	log   *eventLog
	clock clockwork.Clock

	reading sync.Mutex // locked by update

	mu       sync.Mutex
	err      error             // of the last update
	problems []journal.Problem // of the header and of the records
	open     map[string]bool   // names of the jobs that have not ended
	latest   map[journal.Problem]activelearn.Evaluation
	stops    map[journal.Problem]activelearn.StopReason
	criteria activelearn.Criteria
	confirms bool // pairs are measured that let the guard pass
	sums     Progress
	spent    daySpending
}

func newJournalView(path string, clock clockwork.Clock) *journalView {
	return &journalView{
		log: newEventLog(path), clock: clock, open: map[string]bool{},
		latest: map[journal.Problem]activelearn.Evaluation{}, stops: map[journal.Problem]activelearn.StopReason{}, sums: Progress{Failures: map[string]int{}},
	}
}

// update reads the lines that were appended since the last call, until ctx is cancelled. After an error the
// next call begins with the same line.
func (v *journalView) update(ctx context.Context) error {
	v.reading.Lock()
	defer v.reading.Unlock()
	err := v.log.update(ctx, v.add)
	if ctx.Err() == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.err = err
	}
	return err
}

// failure returns the error of the last update. It ignores updates that were cancelled.
func (v *journalView) failure() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// measurements returns the measurements that follow a line of the journal, in order. The sequence ends with an error
// if a line cannot be read or ctx is cancelled.
func (v *journalView) measurements(ctx context.Context, after int64) iter.Seq2[Measurement, error] {
	return func(yield func(Measurement, error) bool) {
		for last := v.log.Last(); after < last; {
			events, _ := v.log.After(after, pageEvents)
			err := ctx.Err()
			if err == nil && len(events) == 0 {
				err = fmt.Errorf("%s: line %d cannot be read", v.log.path, after+1)
			}
			if err != nil {
				yield(Measurement{}, err)
				return
			}
			for _, e := range events {
				m, ok, err := parseMeasurement(e)
				if err != nil {
					err = fmt.Errorf("%s:%d: %w", v.log.path, e.Seq, err)
				}
				if (ok || err != nil) && !yield(m, err) || err != nil {
					return
				}
			}
			after = events[len(events)-1].Seq
		}
	}
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
	if r.Trial == nil || r.Trial.State != coll.TrialDone || r.Problem.Collective == journal.Preflight {
		return Measurement{}, false, nil
	}
	return Measurement{Seq: e.Seq, Library: r.Problem.Library, Round: r.Round, Measurement: r.Trial.Measurement}, true, nil
}

// add adds a line of the journal to the summary. After an error the summary is unchanged.
func (v *journalView) add(e Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.Type == string(journal.KindHeader) {
		var header journal.Header
		err := json.Unmarshal(e.Data, &header)
		if err == nil {
			v.problems, err = header.Problems()
		}
		if err == nil {
			v.readCriteria(header.Spec)
		}
		if err != nil {
			return fmt.Errorf("header: %w", err)
		}
		v.sums.Records = e.Seq
		return nil
	}
	var r journal.Record
	if err := jsonv2.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	if err := r.Validate(); err != nil {
		return err
	}
	v.sums.Records = e.Seq
	switch r.Kind {
	case journal.KindConfirm:
		v.confirms = true
	case journal.KindSpec, journal.KindReopen:
		if r.Kind == journal.KindSpec {
			v.readCriteria(r.Spec)
		}
		v.confirms = false
		for _, p := range r.Reopen {
			delete(v.stops, p)
		}
	case journal.KindVerify:
		v.addVerifyLocked(r.Time, *r.Verify)
	}
	if r.Problem != (journal.Problem{}) {
		if r.Problem.Collective != journal.Preflight && !slices.Contains(v.problems, r.Problem) {
			v.problems = append(v.problems, r.Problem)
		}
		v.addRecordLocked(r)
	}
	return nil
}

// addRecordLocked updates the summary by one record of the journal. The caller must hold v.mu.
func (v *journalView) addRecordLocked(r journal.Record) {
	preflight := r.Problem.Collective == journal.Preflight
	switch r.Kind {
	case journal.KindBatch:
		if len(r.Batch) > 0 && !preflight {
			v.sums.Rounds++
		}
	case journal.KindJob:
		v.addJobLocked(r.Job)
	case journal.KindTrial:
		v.sums.MachineSeconds += r.Trial.CostSeconds
		v.sums.NodeSeconds += r.Trial.NodeSeconds()
		v.spent.add(r.Time, v.clock.Now(), r.Trial.NodeSeconds())
		if preflight {
			return
		}
		v.sums.Trials++
		if r.Trial.State != coll.TrialDone {
			v.sums.FailedTrials++
			v.sums.Failures[cmp.Or(r.Trial.Phase, "other")]++
		}
	case journal.KindEvaluation:
		v.latest[r.Problem] = *r.Evaluation
		v.sums.Slowdown, v.sums.Mistakes = 0, 0
		for _, e := range v.latest {
			v.sums.Slowdown = max(v.sums.Slowdown, e.Slowdown)
			v.sums.Mistakes = max(v.sums.Mistakes, e.Mistakes)
		}
	case journal.KindStop:
		v.stops[r.Problem] = activelearn.StopReason(r.Stop)
	}
}

// readCriteria reads the criteria of a campaign file. Those of a file that it cannot read are zero.
func (v *journalView) readCriteria(spec json.RawMessage) {
	var file struct{ Stop config.Stop }
	if json.Unmarshal(spec, &file) == nil {
		v.criteria = file.Stop.Criteria()
	}
}

func (v *journalView) addJobLocked(j *coll.Job) {
	v.open[j.Name] = true
	if j.State == coll.JobEnded {
		delete(v.open, j.Name)
	}
}

// addVerifyLocked updates the summary by a step of a verification.
func (v *journalView) addVerifyLocked(at time.Time, s journal.VerifyStep) {
	if s.Job != nil {
		v.addJobLocked(s.Job)
	}
	if s.Trial != nil {
		v.sums.Verification += s.Trial.NodeSeconds()
		v.spent.add(at, v.clock.Now(), s.Trial.NodeSeconds())
	}
}

// goesOnLocked returns, for each problem that has not stopped, why the criteria do not end it.
func (v *journalView) goesOnLocked() (out []string) {
	for _, p := range v.problems {
		if _, stopped := v.stops[p]; stopped {
			continue
		}
		if why := journal.GoesOn(v.criteria, v.latest[p], v.confirms); why != "" {
			out = append(out, p.String()+": "+why)
		}
	}
	return out
}

// progress returns how far the campaign is: its problems, rounds and used budgets.
func (v *journalView) progress() Progress {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.sums
	p.GoesOn = v.goesOnLocked()
	for _, reason := range v.stops {
		if reason.Good() {
			p.Converged++
		}
	}
	p.Failures, p.Problems, p.Jobs = maps.Clone(p.Failures), len(v.problems), len(v.open)
	return p
}

// evaluatedRound returns the round in which a problem was last evaluated, or 0 if
// it was not evaluated yet.
func (v *journalView) evaluatedRound(p journal.Problem) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.latest[p].Round
}

// spending returns the latest day on which a trial ran, and the node-seconds that were spent on it.
func (v *journalView) spending() daySpending {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.spent
}

// problemList returns the tuned problems, sorted by name.
func (v *journalView) problemList() []journal.Problem {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.SortedFunc(slices.Values(v.problems), func(a, b journal.Problem) int { return strings.Compare(a.String(), b.String()) })
}
