package hpo

import (
	"context"
	"errors"
	"fmt"

	"github.com/c-bata/goptuna"
)

// Errors of Run.
var (
	// ErrSpec is matched by the error of a Spec or a ForestStudy that cannot be run.
	ErrSpec = errors.New("study")
	// ErrNoneComplete is matched by the error of a study all of whose trials were
	// pruned or failed: it has no best trial.
	ErrNoneComplete = errors.New("no trial is complete")
)

// Objective is the function to minimise. It asks t for its parameters and
// returns a finite value; any error but ErrPruned fails the trial, as do a panic
// and a value that is not finite. When ctx has ended it may return early with any
// error: the trial then never was.
type Objective func(ctx context.Context, t *Trial) (float64, error)

// Spec describes a study.
type Spec struct {
	Trials int    // trials in all, the earlier ones included; ≥ 1
	Seed   uint64 // of all suggestions
	Pruner Pruner
	// Enqueued[i] gives parameters that trial i does not leave to the sampler.
	Enqueued [][]Param
	// Earlier are the records of an interrupted study with the same Spec.
	Earlier []TrialRecord
	// OnTrial, when not nil, receives every trial as it finishes, before the next
	// begins. Its error ends the study.
	OnTrial func(TrialRecord) error
}

// Result is what a study found.
type Result struct {
	Best   TrialRecord   // first of the complete trials with the least value; zero when none is complete
	Trials []TrialRecord // by number, the earlier ones included
}

// Run runs the trials of a study one after another until it has Spec.Trials of
// them, beginning behind the earlier ones.
//
// The result depends on spec and objective alone: interrupted anywhere and
// continued with the records OnTrial received, the study is the same as in one
// piece, provided the objective returns the same values.
//
// Errors match ErrSpec, ErrRecord, ErrNoneComplete, ctx.Err() or the error of
// OnTrial; with the last three the Result holds the trials so far.
func Run(ctx context.Context, spec Spec, objective Objective) (Result, error) {
	if spec.Trials < 1 {
		return Result{}, fmt.Errorf("%w: %d trials", ErrSpec, spec.Trials)
	}
	trials, err := newStorage(spec.Earlier, spec.OnTrial)
	if err != nil {
		return Result{}, err
	}
	study, err := newStudy(spec, trials)
	if err != nil {
		return Result{}, err
	}
	for n := len(spec.Earlier); n < spec.Trials; n++ {
		if err := one(ctx, study, trials, n, spec, objective); err != nil {
			return result(trials), fmt.Errorf("trial %d: %w", n, err)
		}
	}
	r := result(trials)
	if r.Best.State != Complete {
		return r, fmt.Errorf("%w of %d", ErrNoneComplete, len(r.Trials))
	}
	return r, nil
}

// newStudy returns goptuna's study over the storage, or an error matching ErrSpec.
func newStudy(spec Spec, trials *storage) (*goptuna.Study, error) {
	pruner, err := spec.Pruner.build()
	if err != nil {
		return nil, err
	}
	study, err := goptuna.CreateStudy("hpo",
		goptuna.StudyOptionStorage(trials),
		goptuna.StudyOptionSampler(tpe{seed: spec.Seed}),
		goptuna.StudyOptionPruner(pruner),
		goptuna.StudyOptionDirection(goptuna.StudyDirectionMinimize),
		goptuna.StudyOptionLogger(nil))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	return study, nil
}

// one runs trial n. A trial that fails is no error; one that could not be run or recorded is.
func one(
	ctx context.Context, study *goptuna.Study, trials *storage, n int, spec Spec, objective Objective,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := study.Optimize(func(handle goptuna.Trial) (float64, error) {
		t := &Trial{study: handle}
		if n < len(spec.Enqueued) {
			t.fixed = spec.Enqueued[n]
		}
		value, err := guarded(ctx, t, objective)
		switch {
		case err == nil:
			return value, nil
		case errors.Is(err, ErrPruned):
			return 0, goptuna.ErrTrialPruned // goptuna knows it unwrapped only
		case ctx.Err() != nil:
			trials.discard(handle.ID)
			return 0, ctx.Err()
		}
		if attrErr := trials.SetTrialSystemAttr(handle.ID, errorAttr, err.Error()); attrErr != nil {
			return 0, attrErr
		}
		return 0, err
	}, 1)
	if err == nil || errors.Is(err, errSink) {
		return err
	}
	switch t, getErr := trials.GetTrial(n); {
	case getErr != nil:
		return ctx.Err() // the trial was discarded
	case t.State.IsFinished():
		return nil // goptuna returns the error of a failed trial, too; the record has it
	}
	return err
}

// guarded calls the objective and turns a panic into an error.
func guarded(ctx context.Context, t *Trial, objective Objective) (value float64, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = 0, fmt.Errorf("panic: %v", p)
		}
	}()
	if value, err = objective(ctx, t); err != nil {
		return 0, err
	}
	return value, t.unasked()
}

// result sums up the finished trials.
func result(trials *storage) Result {
	r := Result{Trials: trials.records()}
	if best, err := trials.GetBestTrial(theStudy); err == nil {
		r.Best = r.Trials[best.Number].clone()
	}
	return r
}
