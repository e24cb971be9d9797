package hpo

import (
	"fmt"

	"github.com/c-bata/goptuna"
	"github.com/c-bata/goptuna/medianstopping"
	"github.com/c-bata/goptuna/successivehalving"
)

// Pruner says when a trial is cut short.
type Pruner string

// The pruners. The zero Pruner cuts nothing.
const (
	// Median cuts a trial whose best value so far is worse than the median of the
	// complete trials at the same step, once five trials are complete.
	Median Pruner = "median"
	// Halving lets a trial pass steps 1, 4, 16, ... only when it is in the best
	// quarter of those that came so far; of the first three one passes only as the best yet.
	Halving Pruner = "halving"
)

// build returns goptuna's pruner, or an error matching ErrSpec.
func (p Pruner) build() (goptuna.Pruner, error) {
	switch p {
	case "":
		return never{}, nil
	case Median:
		return medianstopping.NewMedianPruner(), nil
	case Halving:
		pruner, err := successivehalving.NewPruner()
		return halving{pruner}, err
	}
	return nil, fmt.Errorf("%w: pruner %q", ErrSpec, p)
}

// never cuts nothing. goptuna drops reports when it has no pruner at all.
type never struct{}

// Prune returns false.
func (never) Prune(*goptuna.Study, goptuna.FrozenTrial) (bool, error) { return false, nil }

// halving makes goptuna's successive halving (v0.9.0) test every rung once.
//
// Alone it takes the last rung passed for the one to test, so a trial past rung
// 0 is held against it again at every later step, with its own earlier value
// among the competitors. Here the trial it is shown carries a mark of the next
// rung, which is then the one it tests.
type halving struct {
	*successivehalving.Pruner
}

// Prune reports whether the trial, a copy that is its own, stops at its next rung.
func (h halving) Prune(study *goptuna.Study, trial goptuna.FrozenTrial) (bool, error) {
	rung := func(n int) string { return fmt.Sprintf("completed_rung_%d", n) }
	next := 0
	for trial.SystemAttrs[rung(next)] != "" {
		next++
	}
	if next > 0 {
		trial.SystemAttrs[rung(next)] = "next"
	}
	return h.Pruner.Prune(study, trial)
}
