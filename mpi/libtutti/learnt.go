package libtutti

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// Learner is a build whose table is made of what applications measured.
type Learner interface {
	mpi.Build
	// Learnt is the export of a table of rules, then those of base, and of mixes; of base
	// only what is for another MPI library is an error. Ways are filled in.
	Learnt(base Table, rules []Rule, mixes []Mix, dir string) (mpi.Export, error)
	// Banner is what the MPI library says of itself, among other things; empty: any library.
	Banner() string
}

// Banner implements Learner.
func (b build) Banner() string { return b.bases[b.cat.Version].banner }

// Learnt implements Learner.
func (b build) Learnt(base Table, rules []Rule, mixes []Mix, dir string) (mpi.Export, error) {
	if base.For != "" && base.For != b.Banner() {
		return mpi.Export{}, fmt.Errorf("%w for %s: it is for %s", ErrTable, b.cat.Version, base.For)
	}
	t := Table{For: b.Banner(), Rules: slices.Concat(rules, base.Rules), Mixes: mixes}
	var settings []selection.Setting
	fill := func(c coll.Collective, alg coll.Algorithm, way **Way) error {
		if alg.IsDefault() {
			return nil
		}
		w, wants, err := b.way(c, alg)
		*way, settings = w, add(settings, wants)
		return err
	}
	for i := range t.Rules {
		if err := fill(t.Rules[i].Collective, t.Rules[i].Algorithm, &t.Rules[i].Way); err != nil {
			return mpi.Export{}, err
		}
	}
	for _, m := range t.Mixes {
		for i := range m.Choices {
			if err := fill(m.Collective, m.Choices[i].Algorithm, &m.Choices[i].Way); err != nil {
				return mpi.Export{}, err
			}
		}
	}
	return b.export(t, settings, dir), nil
}

// Anywhere is a mix for all calls of a collective.
func Anywhere(c coll.Collective, choices []Choice) Mix {
	return Mix{Collective: c, Ranks: Range{1, math.MaxInt32}, PPN: Range{1, math.MaxInt32}, Bytes: Range{0, mostBytes}, Choices: choices}
}

// Thousandths of a share, as tables have them.
func Thousandths(share float64) int { return int(math.Round(min(mostWeight, 1000*share))) }

// Weighed makes choices of weights, the largest being mostWeight; what is less than one of
// them is not drawn. most is how many times what is selected a call of each may take, nil
// where that is not known.
func Weighed(algorithms []coll.Algorithm, weights, most []float64) []Choice {
	var out []Choice
	largest := slices.Max(weights)
	for i, w := range weights {
		if n := int(math.Round(w / largest * mostWeight)); n > 0 && len(out) < mostChoices {
			c := Choice{Weight: n, Algorithm: algorithms[i]}
			if most != nil {
				c.Most = max(1, Thousandths(most[i]))
			}
			out = append(out, c)
		}
	}
	return out
}
