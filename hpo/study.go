package hpo

import (
	"context"
	"errors"
	"fmt"

	"github.com/c-bata/goptuna"
	"github.com/c-bata/goptuna/cmaes"

	"tutti/metrics"
)

// Spec configures a study.
type Spec struct {
	Trials int    // number of trials, including earlier ones; ≥ 1
	Seed   uint64 // seed of the sampler
	// Earlier has the valid records of an interrupted study that had the same seed and objective.
	Earlier []TrialRecord
	// OnTrial is called with the record of each new trial when the trial ends, unless OnTrial is nil. If it
	// returns an error, the study ends.
	OnTrial func(TrialRecord) error
}

// search minimises an objective over a unit cube of two or more dimensions.
type search struct {
	first []float64 // point of trial 0 and centre of the initial distribution
	// objective returns the hyperparameters at the point x of the unit cube, and their score.
	objective func(ctx context.Context, x []float64) (ForestParams, float64, error)
}

// run runs the trials of a study one after another and returns their records; see Forest.
//
// The sampler keeps its state in memory only. A resumed study therefore repeats all trials. For trials with an
// earlier record, the value is read from the record and the objective is not called.
func (s search) run(ctx context.Context, spec Spec) ([]TrialRecord, error) {
	study, err := s.newStudy(spec.Seed)
	if err != nil {
		return nil, err
	}
	var records []TrialRecord
	for n := range max(spec.Trials, len(spec.Earlier)) {
		record, err := s.trial(ctx, spec, study, n)
		if err != nil {
			return records, fmt.Errorf("trial %d: %w", n, err)
		}
		records = append(records, record)
	}
	return records, nil
}

// trial runs trial n. Trial 0 is at s.first. For other trials the sampler chooses the point.
//
// The sampler does not get the result of trial 0. goptuna would divide by the distance of the trial's point
// from the mean of its distribution, and for trial 0 this distance is 0.
func (s search) trial(ctx context.Context, spec Spec, study *goptuna.Study, n int) (TrialRecord, error) {
	if n == 0 {
		return s.record(ctx, spec, n, s.first)
	}
	var record TrialRecord
	var stop error
	sampled := false
	err := study.Optimize(func(t goptuna.Trial) (float64, error) {
		sampled = true
		x := make([]float64, len(s.first))
		for i := range x {
			if x[i], stop = t.SuggestFloat(coordinate(i), 0, 1); stop != nil {
				return 0, stop
			}
		}
		record, stop = s.record(ctx, spec, n, x)
		if stop != nil || record.State == Failed {
			return 0, errFailed
		}
		return *record.Value, nil
	}, 1)
	if !sampled {
		return record, err
	}
	return record, stop
}

// errFailed is the error with which goptuna receives a failed trial. The sampler ignores such trials.
var errFailed = errors.New("trial failed")

// newStudy returns a goptuna study that is stored in memory only.
func (s search) newStudy(seed uint64) (*goptuna.Study, error) {
	space, mean := map[string]any{}, map[string]float64{}
	for i, x := range s.first {
		space[coordinate(i)], mean[coordinate(i)] = goptuna.UniformDistribution{Low: 0, High: 1}, x
	}
	sampler := cmaes.NewSampler(cmaes.SamplerOptionSeed(int64(seed)), cmaes.SamplerOptionInitialMean(mean))
	return goptuna.CreateStudy("hpo",
		goptuna.StudyOptionRelativeSampler(sampler),
		goptuna.StudyOptionDefineSearchSpace(space),
		goptuna.StudyOptionLogger(nil))
}

// coordinate returns goptuna's name for coordinate i.
func coordinate(i int) string { return fmt.Sprintf("x%d", i) }

// record runs trial n at the point x and returns the trial's record. If spec.Earlier has a record of the
// trial, it returns this record instead. A trial fails if the objective fails, panics or returns a value
// that is not finite.
//
// Errors match ctx.Err() or the error of spec.OnTrial.
func (s search) record(ctx context.Context, spec Spec, n int, x []float64) (TrialRecord, error) {
	if n < len(spec.Earlier) {
		return spec.Earlier[n], nil
	}
	params, value, err := s.evaluate(ctx, x)
	if ctx.Err() != nil {
		return TrialRecord{}, ctx.Err()
	}
	record := TrialRecord{Number: n, State: Complete, Params: params, Value: &value}
	if err != nil {
		record = TrialRecord{Number: n, State: Failed, Params: params, Error: err.Error()}
	}
	if spec.OnTrial == nil {
		return record, nil
	}
	return record, spec.OnTrial(record)
}

// evaluate calls the objective. It returns an error if that panics or returns a value that is not finite.
func (s search) evaluate(ctx context.Context, x []float64) (params ForestParams, value float64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	params, value, err = s.objective(ctx, x)
	if err == nil && !metrics.Finite(value) {
		err = fmt.Errorf("score %g is not finite", value)
	}
	return params, value, err
}

// ErrRecord is the error for an invalid trial record. errors.Is finds it.
var ErrRecord = errors.New("trial record")

// State says whether a trial is complete or failed.
type State string

// Outcomes of a trial.
const (
	Complete State = "complete" // the trial has a value
	Failed   State = "failed"   // the trial has an error and no value
)

// TrialRecord describes a finished trial. A study can be resumed from the records of all its trials.
type TrialRecord struct {
	Number int          `json:"number"` // counted from 0
	State  State        `json:"state"`
	Value  *float64     `json:"value,omitempty"` // mean score over the folds; nil for a failed trial
	Params ForestParams `json:"params"`
	Error  string       `json:"error,omitempty"`
}

// Check returns an error matching ErrRecord unless the record is valid for the trial with the given number.
func (r TrialRecord) Check(number int) error {
	switch {
	case r.Number != number:
		return fmt.Errorf("%w %d: number is %d", ErrRecord, number, r.Number)
	case r.State != Complete && r.State != Failed:
		return fmt.Errorf("%w %d: state is %q", ErrRecord, number, r.State)
	case (r.State == Complete) != (r.Value != nil):
		return fmt.Errorf("%w %d: only a complete trial has a value", ErrRecord, number)
	case r.Value != nil && !metrics.Finite(*r.Value):
		return fmt.Errorf("%w %d: value is %g", ErrRecord, number, *r.Value)
	case r.State == Complete && !r.Params.valid():
		return fmt.Errorf("%w %d: %+v is outside the ranges", ErrRecord, number, r.Params)
	}
	return nil
}

// Study is the result of a hyperparameter study: its trials in order, and a comparison of the two models.
type Study struct {
	Trials     []TrialRecord
	Comparison *Comparison // of the best forest with the Gaussian process; nil if there is none
}

// Comparison compares the Gaussian process with the best forest of a study at points that were left out of
// the training. A loss is the average of (slowdown − 1) / allowed slowdown + mistakes / allowed mistakes.
type Comparison struct {
	Trials int     `json:"trials"` // number of forests
	GP     float64 `json:"gp"`     // loss of the Gaussian process
	Forest float64 `json:"forest"` // loss of the best forest
	Error  float64 `json:"error"`  // standard error of the difference, paired by point
	// Wins says that the best forest becomes the final model: its loss is significantly lower, and its selection
	// is expected to meet the stopping criteria.
	Wins bool `json:"wins"`
}

// Significant reports whether the loss of the best forest is significantly lower than that of the Gaussian process.
func (c Comparison) Significant() bool { return c.GP-c.Forest > significance*c.Error }
