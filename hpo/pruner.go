package hpo

import (
	"fmt"

	"github.com/c-bata/goptuna"
	"github.com/c-bata/goptuna/medianstopping"
)

// Pruner says when a trial is cut short.
type Pruner string

// The pruners. The zero Pruner cuts nothing.
const (
	// Median cuts a trial whose best value so far is worse than the median of the
	// complete trials at the same step, once five trials are complete.
	Median Pruner = "median"
)

// build returns goptuna's pruner, or an error matching ErrSpec.
func (p Pruner) build() (goptuna.Pruner, error) {
	switch p {
	case "":
		return never{}, nil
	case Median:
		return medianstopping.NewMedianPruner(), nil
	}
	return nil, fmt.Errorf("%w: pruner %q", ErrSpec, p)
}

// never cuts nothing. goptuna drops reports when it has no pruner at all.
type never struct{}

// Prune returns false.
func (never) Prune(*goptuna.Study, goptuna.FrozenTrial) (bool, error) { return false, nil }
