package hpo

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/c-bata/goptuna"
)

// ErrRecord is matched by the error of an earlier record that no study of this
// package can have written.
var ErrRecord = errors.New("trial record")

// State says how a trial ended. There are no other ends.
type State string

// The states of a trial.
const (
	Complete State = "complete" // has a value
	Pruned   State = "pruned"   // cut short; its value is the last one reported, if any
	Failed   State = "failed"   // has an error and no value
)

// Param is a parameter's value: a number, or one of several choices by its name.
//
// Of a choice, Value is the index it had among the choices; to name one, Choice is enough.
type Param struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Choice string  `json:"choice,omitempty"`
}

// Report is an intermediate value of a trial.
type Report struct {
	Step  int     `json:"step"`
	Value float64 `json:"value"`
}

// TrialRecord is a finished trial: all that a later run needs to go on from it.
type TrialRecord struct {
	Number int      `json:"number"` // from 0, without gaps
	State  State    `json:"state"`
	Value  *float64 `json:"value,omitempty"` // nil when there is none
	Params []Param  `json:"params"`          // in the order they were asked for
	// Reports are the intermediate values by ascending step.
	Reports []Report `json:"reports,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// Param returns the named parameter; false when the trial was not asked for it.
func (r TrialRecord) Param(name string) (Param, bool) {
	i := slices.IndexFunc(r.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Param{}, false
	}
	return r.Params[i], true
}

// Check returns an error matching ErrRecord unless r can be trial number want.
func (r TrialRecord) Check(want int) error {
	fault := r.endFault(want)
	if fault == "" {
		fault = r.seriesFault()
	}
	if fault != "" {
		return fmt.Errorf("%w %d: %s", ErrRecord, want, fault)
	}
	return nil
}

// endFault says what is wrong with the number, the state and the value; "" when nothing is.
func (r TrialRecord) endFault(want int) string {
	switch {
	case r.Number != want:
		return fmt.Sprintf("has number %d", r.Number)
	case r.State != Complete && r.State != Pruned && r.State != Failed:
		return fmt.Sprintf("has state %q", r.State)
	case r.State == Complete && r.Value == nil:
		return "is complete without a value"
	case r.State == Failed && r.Value != nil:
		return "has failed with a value"
	case r.Value != nil && !finite(*r.Value):
		return fmt.Sprintf("has the value %g", *r.Value)
	}
	return ""
}

// seriesFault says what is wrong with the parameters and the reports; "" when nothing is.
func (r TrialRecord) seriesFault() string {
	names := make(map[string]bool, len(r.Params))
	for _, p := range r.Params {
		if names[p.Name] || !finite(p.Value) {
			return fmt.Sprintf("parameter %s is given twice or not finite", p.Name)
		}
		names[p.Name] = true
	}
	for i, s := range r.Reports {
		if !finite(s.Value) || i > 0 && s.Step <= r.Reports[i-1].Step {
			return fmt.Sprintf("report of step %d is out of order or not finite", s.Step)
		}
	}
	return ""
}

// clone returns a copy that shares nothing with r.
func (r TrialRecord) clone() TrialRecord {
	if r.Value != nil {
		v := *r.Value
		r.Value = &v
	}
	r.Params, r.Reports = slices.Clone(r.Params), slices.Clone(r.Reports)
	return r
}

// frozen returns the trial as goptuna knows it. Distributions are not part of a
// record and stay empty; the sampler does not need those of earlier trials.
func (r TrialRecord) frozen() goptuna.FrozenTrial {
	t := newFrozen(r.Number)
	t.State = map[State]goptuna.TrialState{
		Complete: goptuna.TrialStateComplete, Pruned: goptuna.TrialStatePruned, Failed: goptuna.TrialStateFail,
	}[r.State]
	if r.Value != nil {
		t.Value = *r.Value
	}
	for _, p := range r.Params {
		t.InternalParams[p.Name] = p.Value
		t.Params[p.Name] = p.Value
		if p.Choice != "" {
			t.Params[p.Name] = p.Choice
		}
	}
	for _, s := range r.Reports {
		t.IntermediateValues[s.Step] = s.Value
	}
	if r.Error != "" {
		t.SystemAttrs[errorAttr] = r.Error
	}
	return t
}

// record is the inverse of frozen for a finished trial whose parameters were
// asked for in the given order.
func record(t goptuna.FrozenTrial, order []string) TrialRecord {
	r := TrialRecord{Number: t.Number, Params: make([]Param, 0, len(order)), Error: t.SystemAttrs[errorAttr]}
	value := t.Value
	switch t.State {
	case goptuna.TrialStateComplete:
		r.State, r.Value = Complete, &value
	case goptuna.TrialStatePruned:
		r.State = Pruned
		if len(t.IntermediateValues) > 0 {
			r.Value = &value
		}
	default:
		r.State = Failed
	}
	for _, name := range order {
		choice, _ := t.Params[name].(string)
		r.Params = append(r.Params, Param{Name: name, Value: t.InternalParams[name], Choice: choice})
	}
	for _, step := range slices.Sorted(maps.Keys(t.IntermediateValues)) {
		r.Reports = append(r.Reports, Report{Step: step, Value: t.IntermediateValues[step]})
	}
	return r
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
