package libtutti

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// Learner is a build that can make tables from samples, which applications record.
type Learner interface {
	mpi.Build
	// ExportLearned exports a table. The table has the given rules first, then the rules of the table
	// `base`, then the mixes (lists of algorithms to explore). ExportLearned adds the control variables of
	// the MPI library's algorithms. It returns an error if base is for another MPI library.
	ExportLearned(base Table, rules []Rule, mixes []Mix, dir string) (mpi.Export, error)
	// Banner returns a text that the version reported by the MPI library must contain. It returns "" if any
	// library is allowed.
	Banner() string
}

func (b build) Banner() string {
	below, _ := b.base(b.cat.Version)
	return below.banner
}

func (b build) ExportLearned(base Table, rules []Rule, mixes []Mix, dir string) (mpi.Export, error) {
	if base.For != "" && base.For != b.Banner() {
		return mpi.Export{}, fmt.Errorf("%w for %s: it is for %s", ErrTable, b.cat.Version, base.For)
	}
	t := Table{For: b.Banner(), Rules: slices.Concat(rules, base.Rules), Mixes: mixes}
	var settings []selection.Setting
	fill := func(c coll.Collective, alg coll.Algorithm, to **Activation) error {
		if alg.IsDefault() {
			return nil
		}
		a, wants, err := b.activation(c, alg)
		*to, settings = a, add(settings, wants)
		return err
	}
	for i := range t.Rules {
		if err := fill(t.Rules[i].Collective, t.Rules[i].Algorithm, &t.Rules[i].Activation); err != nil {
			return mpi.Export{}, err
		}
	}
	for _, m := range t.Mixes {
		for i := range m.Choices {
			if err := fill(m.Collective, m.Choices[i].Algorithm, &m.Choices[i].Activation); err != nil {
				return mpi.Export{}, err
			}
		}
	}
	return b.export(t, settings, dir), nil
}

// Thousandths returns a share in thousandths, which is the unit of tables. It returns the largest possible
// number if the share is larger.
func Thousandths(share float64) int { return int(math.Round(min(maxWeight, 1000*share))) }

// NewChoices returns the algorithms as choices of a mix (a list of algorithms to explore). It scales the
// weights so that the largest is maxWeight, and omits choices whose weight rounds to 0. The slice `most`
// holds the time that a call of each algorithm may take, as a multiple of the selected algorithm's time. It
// may be nil.
func NewChoices(algorithms []coll.Algorithm, weights, most []float64) []Choice {
	var out []Choice
	largest := slices.Max(weights)
	for i, w := range weights {
		if n := int(math.Round(w / largest * maxWeight)); n > 0 && len(out) < maxChoices {
			c := Choice{Weight: n, Algorithm: algorithms[i]}
			if most != nil {
				c.Most = max(1, Thousandths(most[i]))
			}
			out = append(out, c)
		}
	}
	return out
}
