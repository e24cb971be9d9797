package hpo

import (
	"errors"
	"fmt"
	"math"
)

// ErrRecord is matched by errors about invalid trial records.
var ErrRecord = errors.New("trial record")

// State is the outcome of a trial.
type State string

// Outcomes of a trial.
const (
	Complete State = "complete" // the trial has a value
	Failed   State = "failed"   // the trial has an error and no value
)

// TrialRecord is the record of a finished trial. The records of all trials suffice to resume a
// study.
type TrialRecord struct {
	Number int          `json:"number"` // counted from 0
	State  State        `json:"state"`
	Value  *float64     `json:"value,omitempty"` // mean score over the folds; nil for a failed trial
	Params ForestParams `json:"params"`
	Error  string       `json:"error,omitempty"`
}

// Check returns an error matching ErrRecord unless r is a valid record of the trial with this
// number.
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
