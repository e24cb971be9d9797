package hpo

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/c-bata/goptuna"
)

// ErrPruned is what Trial.Report returns when the trial is not worth finishing;
// the objective returns it, wrapped or not, and the trial counts as pruned.
var ErrPruned = goptuna.ErrTrialPruned

// ErrParam is matched by the error of a parameter asked for twice in one trial
// with different ranges, and of an enqueued parameter never asked for.
var ErrParam = errors.New("parameter")

// Trial is what an objective asks for parameters and reports to. It serves one
// call of the objective, from one goroutine.
//
// Asking again for a parameter gives the same value. A parameter that is asked
// for in some trials only, say because another one switched it on, is learned
// from those trials.
type Trial struct {
	study goptuna.Trial
	fixed []Param // enqueued values
}

// Int asks for an integer in [low, high], both included.
func (t *Trial) Int(name string, low, high int) (int, error) {
	v, err := t.suggest(name, goptuna.IntUniformDistribution{Low: low, High: high})
	return int(v), err
}

// LogInt asks for an integer in [low, high], both included, low ≥ 1, on a logarithmic scale.
func (t *Trial) LogInt(name string, low, high int) (int, error) {
	v, err := t.suggest(name, logInt{Low: low, High: high})
	return int(v), err
}

// Choice asks for one of the choices, which have no order; names are not empty and differ.
func (t *Trial) Choice(name string, choices ...string) (string, error) {
	i, err := t.suggest(name, goptuna.CategoricalDistribution{Choices: slices.Clone(choices)})
	if err != nil {
		return "", err
	}
	return choices[int(i)], nil
}

// Report tells the pruner the objective's value so far. Steps start at 1 and
// rise; the value is finite and comparable with that of other trials at the
// same step.
//
// It returns ErrPruned when the trial is not worth finishing, and any other
// error when the report was not accepted; the objective returns either.
func (t *Trial) Report(step int, value float64) error {
	if step < 1 {
		// goptuna's pruners pass over step 0, so counting from 0 would lose the first report.
		return fmt.Errorf("report of step %d: steps start at 1", step)
	}
	return t.study.ShouldPrune(step, value)
}

// suggest returns the trial's value of a parameter in internal form: the one it
// has already, else the enqueued one, else the sampler's.
func (t *Trial) suggest(name string, distribution any) (float64, error) {
	if err := check(distribution); err != nil {
		return 0, fmt.Errorf("parameter %s: %w", name, err)
	}
	storage := t.study.Study.Storage
	frozen, err := storage.GetTrial(t.study.ID)
	if err != nil {
		return 0, err
	}
	if v, ok := frozen.InternalParams[name]; ok {
		if !reflect.DeepEqual(frozen.Distributions[name], distribution) {
			return 0, fmt.Errorf("%w %s: asked for twice with different ranges", ErrParam, name)
		}
		return v, nil
	}
	v, ok, err := t.enqueued(name, distribution)
	if err != nil {
		return 0, err
	}
	if !ok {
		if v, err = t.study.Study.Sampler.Sample(t.study.Study, frozen, name, distribution); err != nil {
			return 0, err
		}
	}
	return v, storage.SetTrialParam(t.study.ID, name, v, distribution)
}

// enqueued returns the enqueued value of a parameter, in internal form, if there is one.
func (t *Trial) enqueued(name string, distribution any) (float64, bool, error) {
	i := slices.IndexFunc(t.fixed, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return 0, false, nil
	}
	p := t.fixed[i]
	if d, ok := distribution.(goptuna.CategoricalDistribution); ok {
		index := slices.Index(d.Choices, p.Choice)
		if index < 0 {
			return 0, false, fmt.Errorf("parameter %s: %w: %q is not among %q", name, ErrRange, p.Choice, d.Choices)
		}
		return float64(index), true, nil
	}
	a, err := newAxis(distribution)
	if err != nil {
		return 0, false, err
	}
	if p.Choice != "" || !a.contains(p.Value) {
		return 0, false, fmt.Errorf("parameter %s: %w: no %v%s in %g to %g by %g",
			name, ErrRange, p.Value, p.Choice, a.first, a.last, a.step)
	}
	return p.Value, true, nil
}

// unasked returns an error matching ErrParam when an enqueued parameter was never asked for.
func (t *Trial) unasked() error {
	frozen, err := t.study.Study.Storage.GetTrial(t.study.ID)
	if err != nil {
		return err
	}
	for _, p := range t.fixed {
		if _, ok := frozen.InternalParams[p.Name]; !ok {
			return fmt.Errorf("%w %s: enqueued but never asked for", ErrParam, p.Name)
		}
	}
	return nil
}
