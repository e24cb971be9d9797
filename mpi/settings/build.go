package settings

import (
	"errors"
	"fmt"
	"math"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

var errSyntax = errors.New("not a value of a tuning variable")

type build struct {
	lib *library
	cat *mpi.Catalogue
}

func (b build) Fit(rows []selection.Row, maxLoss float64) (selection.Selection, error) {
	sel, err := b.lib.syntax.fit(b.lib, rows, maxLoss)
	if err != nil {
		return selection.Selection{}, fmt.Errorf("%s: %w", b.lib.facts.Name, err)
	}
	return sel, nil
}

func (b build) Export(sel selection.Selection, _ string) (mpi.Export, error) {
	s := selection.Setup{Remarks: b.lib.syntax.remarks(b.lib, b.cat.Version, sel)}
	var err error
	if s.Settings, err = b.settings(sel.Trees); err != nil {
		return mpi.Export{}, err
	}
	for _, l := range sel.Layouts {
		own, err := b.settings(l.Trees)
		if err != nil {
			return mpi.Export{}, err
		}
		s.Layouts = append(s.Layouts, selection.LayoutSettings{Layout: l.Layout, Settings: own})
	}
	return mpi.Export{Setup: s, Snippet: b.lib.snippet}, nil
}

func (b build) settings(trees []*selection.Tree) ([]selection.Setting, error) {
	var out []selection.Setting
	for _, t := range trees {
		value, err := b.lib.syntax.value(b.lib, b.cat, t)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", b.lib.facts.Name, t.Collective, err)
		}
		if value == "" {
			continue
		}
		v, ok := b.lib.variables[t.Collective]
		if !ok {
			return nil, fmt.Errorf("%s: no variable for %s", b.lib.facts.Name, t.Collective)
		}
		out = append(out, selection.Setting{Name: v.name, Value: value})
	}
	return out, nil
}

func (b build) Replay(x mpi.Export, sel selection.Selection, rows []selection.Row) error {
	for _, r := range rows {
		if err := b.replay(x.Setup, sel, r.Point); err != nil {
			return fmt.Errorf("%s: %v: %w", b.lib.facts.Name, r.Point, err)
		}
	}
	return nil
}

func (b build) replay(s selection.Setup, sel selection.Selection, p coll.Point) error {
	got, decided, err := b.lookup(s, p)
	if err != nil {
		return err
	}
	alg, _ := sel.Select(p)
	if alg.IsDefault() {
		if decided {
			return fmt.Errorf("the settings select algorithm %d: want the library's choice", got)
		}
		return nil
	}
	want, err := b.cat.Lookup(p.Collective, alg)
	if err != nil {
		return err
	}
	if !decided {
		return fmt.Errorf("the settings leave the choice to the library: want algorithm %d (%v)", want.ID, alg)
	}
	if got != want.ID {
		return fmt.Errorf("the settings select algorithm %d: want %d (%v)", got, want.ID, alg)
	}
	return nil
}

// lookup returns the number of the algorithm that the settings select at a point. It returns false if the
// library decides there.
func (b build) lookup(s selection.Setup, p coll.Point) (id int, decided bool, err error) {
	v, ok := b.lib.variables[p.Collective]
	if !ok {
		return 0, false, nil
	}
	for _, x := range s.For(p.Layout()) {
		if x.Name != v.name {
			continue
		}
		id, decided, err = b.lib.syntax.lookup(x.Value, p.Ranks(), b.lib.Size(p))
		if err != nil {
			return 0, false, fmt.Errorf("%s: %w", x.Name, err)
		}
		return id, decided, nil
	}
	return 0, false, nil
}

// maxInt is the largest C int. Libraries store sizes, ranks and algorithm numbers in C ints.
const maxInt = math.MaxInt32
