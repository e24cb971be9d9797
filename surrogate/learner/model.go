package learner

import (
	"fmt"
	"strings"
)

// Model is what predicts the times of the algorithms.
type Model string

// The models. GaussianProcess needs the scaling algorithm_log10. Where algorithms were not measured
// at a point, it predicts the fastest time there; for Forest see Options.Missing.
const (
	Forest          Model = "forest" // a random forest for each algorithm
	GaussianProcess Model = "gp"     // one Gaussian process of all algorithms, see gp.GP
)

// Models returns the known models.
func Models() []Model { return []Model{GaussianProcess, Forest} }

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
