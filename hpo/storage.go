package hpo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/c-bata/goptuna"
)

// Errors of the storage that only a misuse of goptuna's interface can cause.
var (
	errStudy     = errors.New("no such study")
	errParam     = errors.New("no such parameter")
	errStep      = errors.New("step was reported before")
	errNotFinite = errors.New("not finite")
)

// errSink is matched by the error of SetTrialState when the finished trial could not be handed on.
var errSink = errors.New("trial not recorded")

// errorAttr is the system attribute of a trial that keeps the text of its error.
const errorAttr = "error"

// theStudy is the identity of the one study of a storage.
const theStudy = 1

// storage is a goptuna.Storage in memory for one study, which hands every trial
// that finishes to a sink and can be filled with the records a sink received.
//
// It never holds a value that is not finite: a trial completed with one is a
// failed trial. What it returns of a running trial is a copy; finished trials do
// not change, so theirs is shared and must not be written to. It knows no clock:
// the times of trials stay zero. Safe for concurrent use.
type storage struct {
	sink func(TrialRecord) error // may be nil; called outside the lock

	mu        sync.RWMutex
	name      string
	direction goptuna.StudyDirection
	user      map[string]string
	system    map[string]string
	trials    []goptuna.FrozenTrial // index = ID = number
	orders    [][]string            // per trial, names in the order they were set
}

var _ goptuna.Storage = (*storage)(nil)

// newStorage returns a storage that starts with the earlier trials, which must
// be numbered from 0 without gaps; else the error matches ErrRecord.
func newStorage(earlier []TrialRecord, sink func(TrialRecord) error) (*storage, error) {
	s := &storage{
		sink: sink, direction: goptuna.StudyDirectionMinimize,
		user: map[string]string{}, system: map[string]string{},
	}
	for i, r := range earlier {
		if err := r.Check(i); err != nil {
			return nil, err
		}
		order := make([]string, len(r.Params))
		for j, p := range r.Params {
			order[j] = p.Name
		}
		s.trials, s.orders = append(s.trials, r.frozen()), append(s.orders, order)
	}
	return s, nil
}

// newFrozen returns a running trial without parameters.
func newFrozen(number int) goptuna.FrozenTrial {
	return goptuna.FrozenTrial{
		ID: number, StudyID: theStudy, Number: number, State: goptuna.TrialStateRunning,
		IntermediateValues: map[int]float64{},
		InternalParams:     map[string]float64{}, Params: map[string]any{}, Distributions: map[string]any{},
		UserAttrs: map[string]string{}, SystemAttrs: map[string]string{},
	}
}

// copied returns t without shared maps, unless it is finished.
func copied(t goptuna.FrozenTrial) goptuna.FrozenTrial {
	if t.State.IsFinished() {
		return t
	}
	t.IntermediateValues = maps.Clone(t.IntermediateValues)
	t.InternalParams, t.Params = maps.Clone(t.InternalParams), maps.Clone(t.Params)
	t.Distributions = maps.Clone(t.Distributions)
	t.UserAttrs, t.SystemAttrs = maps.Clone(t.UserAttrs), maps.Clone(t.SystemAttrs)
	return t
}

// discard forgets the newest trial, which is still running, as if it had never begun.
func (s *storage) discard(trialID int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if trialID == len(s.trials)-1 && !s.trials[trialID].State.IsFinished() {
		s.trials, s.orders = s.trials[:trialID], s.orders[:trialID]
	}
}

// records returns the finished trials by number.
func (s *storage) records() []TrialRecord {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var rs []TrialRecord
	for i, t := range s.trials {
		if t.State.IsFinished() {
			rs = append(rs, record(t, s.orders[i]))
		}
	}
	return rs
}

// CreateNewTrial begins a trial and returns its ID.
func (s *storage) CreateNewTrial(studyID int) (int, error) {
	return s.CloneTrial(studyID, newFrozen(0))
}

// CloneTrial appends a copy of a trial under a new number and returns its ID.
// It does not go to the sink: it is the caller's, not this study's.
func (s *storage) CloneTrial(studyID int, base goptuna.FrozenTrial) (int, error) {
	if err := s.known(studyID); err != nil {
		return -1, err
	}
	if !finite(base.Value) {
		return -1, fmt.Errorf("cloned trial: value %g is %w", base.Value, errNotFinite)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	number := len(s.trials)
	state := base.State
	base.State = goptuna.TrialStateRunning // so that copied copies
	t := copied(base)
	t.ID, t.StudyID, t.Number, t.State = number, studyID, number, state
	s.trials = append(s.trials, t)
	s.orders = append(s.orders, slices.Sorted(maps.Keys(t.InternalParams)))
	return number, nil
}

// edit runs change on a trial that is not finished, under the lock.
func (s *storage) edit(trialID int, change func(*goptuna.FrozenTrial) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if trialID < 0 || trialID >= len(s.trials) {
		return fmt.Errorf("trial %d: %w", trialID, goptuna.ErrInvalidTrialID)
	}
	t := &s.trials[trialID]
	if t.State.IsFinished() {
		return goptuna.ErrTrialCannotBeUpdated // goptuna compares it with ==
	}
	return change(t)
}

// SetTrialValue sets the objective value of a trial.
func (s *storage) SetTrialValue(trialID int, value float64) error {
	return s.edit(trialID, func(t *goptuna.FrozenTrial) error {
		t.Value = value
		return nil
	})
}

// SetTrialIntermediateValue sets the value reported at a step, once.
func (s *storage) SetTrialIntermediateValue(trialID int, step int, value float64) error {
	return s.edit(trialID, func(t *goptuna.FrozenTrial) error {
		if !finite(value) {
			return fmt.Errorf("trial %d: step %d: value %g is %w", trialID, step, value, errNotFinite)
		}
		if _, ok := t.IntermediateValues[step]; ok {
			return fmt.Errorf("trial %d: step %d: %w", trialID, step, errStep)
		}
		t.IntermediateValues[step] = value
		return nil
	})
}

// SetTrialParam sets a parameter of a trial, given in internal form.
func (s *storage) SetTrialParam(trialID int, name string, internal float64, distribution any) error {
	return s.edit(trialID, func(t *goptuna.FrozenTrial) error {
		external, err := external(distribution, internal)
		if err != nil {
			return fmt.Errorf("trial %d: parameter %s: %w", trialID, name, err)
		}
		if _, ok := t.InternalParams[name]; !ok {
			s.orders[trialID] = append(s.orders[trialID], name)
		}
		t.InternalParams[name], t.Params[name], t.Distributions[name] = internal, external, distribution
		return nil
	})
}

// external converts a value of any distribution, our own included, to its outer form.
func external(distribution any, internal float64) (any, error) {
	if d, ok := distribution.(logInt); ok {
		return d.ToExternalRepr(internal), nil
	}
	return goptuna.ToExternalRepresentation(distribution, internal)
}

// SetTrialState sets the state of a trial and, when that finishes it, hands its
// record to the sink. A trial completed with a value that is not finite fails.
// An error of the sink comes back with errSink around it.
func (s *storage) SetTrialState(trialID int, state goptuna.TrialState) error {
	var finished *TrialRecord
	err := s.edit(trialID, func(t *goptuna.FrozenTrial) error {
		t.State = state
		if state == goptuna.TrialStateComplete && !finite(t.Value) {
			t.State = goptuna.TrialStateFail
			t.SystemAttrs[errorAttr] = fmt.Sprintf("objective value %g is not finite", t.Value)
		}
		if t.State == goptuna.TrialStateFail {
			t.Value = 0
		}
		if t.State.IsFinished() {
			r := record(*t, s.orders[trialID])
			finished = &r
		}
		return nil
	})
	if err != nil || finished == nil || s.sink == nil {
		return err
	}
	if err := s.sink(*finished); err != nil {
		return fmt.Errorf("trial %d: %w: %w", trialID, errSink, err)
	}
	return nil
}

// SetTrialUserAttr sets a user attribute of a trial.
func (s *storage) SetTrialUserAttr(trialID int, key string, value string) error {
	return s.edit(trialID, func(t *goptuna.FrozenTrial) error {
		t.UserAttrs[key] = value
		return nil
	})
}

// SetTrialSystemAttr sets a system attribute of a trial.
func (s *storage) SetTrialSystemAttr(trialID int, key string, value string) error {
	return s.edit(trialID, func(t *goptuna.FrozenTrial) error {
		t.SystemAttrs[key] = value
		return nil
	})
}
