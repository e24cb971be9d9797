package hpo

import (
	"slices"

	"github.com/c-bata/goptuna"
)

// The objectives recorded with Optuna ask for numbers of distributions that no study of the
// program has, and that the sampler knows all the same.

func (t *Trial) float(name string, low, high float64) (float64, error) {
	return t.suggest(name, goptuna.UniformDistribution{Low: low, High: high})
}

func (t *Trial) logFloat(name string, low, high float64) (float64, error) {
	return t.suggest(name, goptuna.LogUniformDistribution{Low: low, High: high})
}

func (t *Trial) stepFloat(name string, low, high, step float64) (float64, error) {
	return t.suggest(name, goptuna.DiscreteUniformDistribution{Low: low, High: high, Q: step})
}

func (t *Trial) stepInt(name string, low, high, step int) (int, error) {
	v, err := t.suggest(name, goptuna.StepIntUniformDistribution{Low: low, High: high, Step: step})
	return int(v), err
}

// number of the trial, from 0.
func (t *Trial) number() int { return t.study.ID }

// ended counts the trials of a result that ended so.
func ended(r Result, how State) int {
	return len(slices.DeleteFunc(slices.Clone(r.Trials), func(t TrialRecord) bool { return t.State != how }))
}
