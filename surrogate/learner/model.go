package learner

import (
	"fmt"
	"strings"
)

// Model is what predicts the times of the algorithms.
type Model string

// The models. GaussianProcess and Stack want the scaling algorithm_log10. They estimate
// the fastest time at a point where not all algorithms were measured by themselves; for
// Forest see Options.Missing.
const (
	Forest          Model = "forest"  // a random forest for each algorithm
	GaussianProcess Model = "process" // one Gaussian process of all algorithms, see gp.Multi
	Stack           Model = "stack"   // both, weighted by what chooses best on held-out points
)

// Believes reports whether a model rests on a Belief.
func (m Model) Believes() bool { return m == GaussianProcess || m == Stack }

// Models returns the known models.
func Models() []Model { return []Model{Forest, GaussianProcess, Stack} }

// ParseModel returns the model called s. The error names what is allowed.
func ParseModel(s string) (Model, error) {
	var names []string
	for _, m := range Models() {
		if string(m) == s {
			return m, nil
		}
		names = append(names, string(m))
	}
	return "", fmt.Errorf("model %q: want one of %s", s, strings.Join(names, ", "))
}
