package hpo

import (
	"errors"
	"fmt"
	"math"
)

// ErrRecord is matched by the error of a trial record that no study can have written.
var ErrRecord = errors.New("trial record")

// State says how a trial ended.
type State string

// The states of a trial.
const (
	Complete State = "complete" // has a value
	Failed   State = "failed"   // has an error and no value
)

// TrialRecord is a finished trial. The records of all trials so far are enough to resume a study.
type TrialRecord struct {
	Number int          `json:"number"` // from 0, without gaps
	State  State        `json:"state"`
	Value  *float64     `json:"value,omitempty"` // mean score over the folds; nil for a failed trial
	Params ForestParams `json:"params"`
	Error  string       `json:"error,omitempty"`
}

// Check returns an error matching ErrRecord unless r can be the record of the given trial.
func (r TrialRecord) Check(number int) error {
	switch {
	case r.Number != number:
		return fmt.Errorf("%w %d: number is %d", ErrRecord, number, r.Number)
	case r.State != Complete && r.State != Failed:
		return fmt.Errorf("%w %d: state is %q", ErrRecord, number, r.State)
	case (r.State == Complete) != (r.Value != nil):
		return fmt.Errorf("%w %d: only a complete trial has a value", ErrRecord, number)
	case r.Value != nil && !finite(*r.Value):
		return fmt.Errorf("%w %d: value is %g", ErrRecord, number, *r.Value)
	}
	return nil
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
