package mvapich

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// snippetName is the snippet that sets the variables. There are no other files.
const snippetName = "mvapich2.env"

// build is a release: its variables need nothing of the library itself.
type build struct{ cat *mpi.Catalogue }

// Open implements mpi.Library.
func (library) Open(cat *mpi.Catalogue, _ string) (mpi.Build, error) { return build{cat}, nil }

// Fit implements mpi.Build for every layout on its own: a selection without trees for
// everybody. What MaxLoss allows here is a slowdown against the best option of a row, the library's
// default included; a collective that would exceed it at any size of a layout keeps
// the library's table there.
func (b build) Fit(rows []selection.Row, opt mpi.FitOptions) (selection.Selection, error) {
	var sel selection.Selection
	for _, l := range layouts(rows) {
		own := selection.LayoutTrees{Layout: l}
		here := slices.DeleteFunc(slices.Clone(rows), func(r selection.Row) bool { return r.Point.Layout() != l })
		for _, same := range selection.ByCollective(here) {
			narrowed, ok := replaceable(same, opt.MaxLoss)
			if !ok {
				continue
			}
			t, err := selection.Fit(narrowed, size, selection.Options{MaxLoss: opt.MaxLoss, ByRanks: true})
			if err != nil {
				return selection.Selection{}, fmt.Errorf("mvapich2: %w", err)
			}
			if whole(t, narrowed) {
				own.Trees = append(own.Trees, t)
			}
		}
		if len(own.Trees) > 0 {
			sel.Layouts = append(sel.Layouts, own)
		}
	}
	return sel, nil
}

func layouts(rows []selection.Row) []coll.Layout {
	var out []coll.Layout
	for _, r := range rows {
		out = append(out, r.Point.Layout())
	}
	slices.SortFunc(out, coll.CompareLayouts)
	return slices.Compact(out)
}

// replaceable returns the rows with the options that may stand for the library's
// own table; false when a row has none, or there is no variable.
func replaceable(rows []selection.Row, maxLoss float64) ([]selection.Row, bool) {
	if _, ok := variable(rows[0].Point.Collective); !ok {
		return nil, false
	}
	var out []selection.Row
	for _, r := range rows {
		narrowed := selection.Row{Point: r.Point}
		for _, o := range r.Options {
			if loss, _ := r.Loss(o.Algorithm); !o.Algorithm.IsDefault() && loss <= maxLoss {
				narrowed.Options = append(narrowed.Options, o)
			}
		}
		if len(narrowed.Options) == 0 {
			return nil, false
		}
		out = append(out, narrowed)
	}
	return out, true
}

// whole reports whether a tree can replace the library's table: few enough bands,
// and no row left to the library. Sizes that are one to the library can want
// different algorithms.
func whole(t *selection.Tree, rows []selection.Row) bool {
	return len(t.Comms[0].PPNs[0].Bands) <= maxRanges && !slices.ContainsFunc(rows, func(r selection.Row) bool {
		alg, _ := t.Select(r.Point)
		return alg.IsDefault()
	})
}

// Export implements mpi.Build. Beyond the tuned sizes of a layout the nearest range
// goes on.
func (b build) Export(sel selection.Selection, _ string) (mpi.Export, error) {
	s := selection.Setup{Remarks: []string{
		"Settings of MVAPICH2 " + b.cat.Version + " for jobs of the layouts below: to be read in a job, where Slurm says which it is.",
		"They hold for every communicator of the job. Written from the library's source and replayed at every tuned point,",
		"but not tried on a real MVAPICH2.",
	}}
	for _, l := range sel.Layouts {
		own := selection.LayoutSettings{Layout: l.Layout}
		for _, t := range l.Trees {
			name, ok := variable(t.Collective)
			if !ok {
				return mpi.Export{}, fmt.Errorf("mvapich2: no variable for %s", t.Collective)
			}
			value, err := b.ranges(t)
			if err != nil {
				return mpi.Export{}, err
			}
			own.Settings = append(own.Settings, selection.Setting{Name: name, Value: value.String()})
		}
		s.Layouts = append(s.Layouts, own)
	}
	return mpi.Export{Setup: s, Snippet: snippetName}, nil
}

// ranges returns the value of the variable of a tree's collective.
func (b build) ranges(t *selection.Tree) (ranges, error) {
	if len(t.Comms) != 1 || len(t.Comms[0].PPNs) != 1 {
		return nil, fmt.Errorf("mvapich2 %s: ranges know no ranks: fit the selection for each layout", t.Collective)
	}
	var out ranges
	for _, band := range t.Comms[0].PPNs[0].Bands {
		if band.Algorithm.IsDefault() {
			if len(out) > 0 {
				return nil, fmt.Errorf("mvapich2 %s: no range can be left to the library: fit the selection for each layout", t.Collective)
			}
			continue // sizes below the tuned ones: the first range begins at 0
		}
		e, err := b.cat.Lookup(t.Collective, band.Algorithm)
		if err != nil {
			return nil, err
		}
		out = append(out, sizeRange{e.ID, band.UpTo})
	}
	if len(out) == 0 || len(out) > maxRanges {
		return nil, fmt.Errorf("mvapich2 %s: %d ranges: want 1 to %d", t.Collective, len(out), maxRanges)
	}
	out[len(out)-1].UpTo = math.MaxInt32
	return out, nil
}

// Replay implements mpi.Build: at every row, the algorithm reached must be the one that
// the selection chose for the layout.
func (b build) Replay(x mpi.Export, sel selection.Selection, rows []selection.Row) error {
	for _, r := range rows {
		p := r.Point
		got, decided, err := reach(x.Setup, p)
		if err != nil {
			return err
		}
		alg, _ := sel.Select(p)
		if alg.IsDefault() {
			if decided {
				return fmt.Errorf("mvapich2: %v: the settings reach algorithm %d: want the library's choice", p, got)
			}
			continue
		}
		want, err := b.cat.Lookup(p.Collective, alg)
		if err != nil {
			return fmt.Errorf("mvapich2: %v: %w", p, err)
		}
		if !decided || got != want.ID {
			return fmt.Errorf("mvapich2: %v: the settings reach algorithm %d (set: %t): want %d for %v", p, got, decided, want.ID, alg)
		}
	}
	return nil
}

// reach returns the number of the algorithm that a benchmark at a point runs with the
// settings, and false when the library decides.
func reach(s selection.Setup, p coll.Point) (int, bool, error) {
	name, _ := variable(p.Collective)
	for _, x := range s.For(p.Layout()) {
		if x.Name != name {
			continue
		}
		value, err := parse(x.Value)
		if err != nil {
			return 0, false, fmt.Errorf("mvapich2: %s: %w", x.Name, err)
		}
		return value.find(size(p)), true, nil
	}
	return 0, false, nil
}
