package intel

import (
	"fmt"
	"math"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// snippetName is the snippet that sets the variables. There are no other files.
const snippetName = "intel.env"

// build is a release: its variables need nothing of the library itself.
type build struct{ cat *mpi.Catalogue }

// Open implements mpi.Library.
func (library) Open(cat *mpi.Catalogue, _ string) (mpi.Build, error) { return build{cat}, nil }

// Fit implements mpi.Build.
func (b build) Fit(rows []selection.Row, opt mpi.FitOptions) (selection.Selection, error) {
	if opt.OpSafe {
		var err error
		if rows, err = b.cat.Safe(rows); err != nil {
			return selection.Selection{}, fmt.Errorf("intel: %w", err)
		}
	}
	return selection.FitAll(rows, size, opt.MaxLoss)
}

// Export implements mpi.Build.
func (b build) Export(sel selection.Selection, _ string) (mpi.Export, error) {
	s := selection.Setup{Remarks: []string{
		"Settings of Intel MPI " + b.cat.Version + ".",
		"Written from its documentation and replayed at every tuned point, but not tried on a real Intel MPI.",
	}}
	if len(sel.Layouts) > 0 {
		s.Remarks = append(s.Remarks, "Some layouts have settings of their own: to be read in a job, where Slurm says which it is.")
	}
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
	return mpi.Export{Setup: s, Snippet: snippetName}, nil
}

func (b build) settings(trees []*selection.Tree) ([]selection.Setting, error) {
	var out []selection.Setting
	for _, t := range trees {
		rules, err := b.rules(t)
		if err != nil {
			return nil, err
		}
		if len(rules) > 0 {
			out = append(out, selection.Setting{Name: variable(t.Collective), Value: rules.String()})
		}
	}
	return out, nil
}

// rules returns the value of the variable of a tree's collective.
func (b build) rules(t *selection.Tree) (rules, error) {
	var out rules
	for _, c := range t.Comms {
		if len(c.PPNs) != 1 {
			return nil, fmt.Errorf("intel %s: conditions know no processes per node: fit the selection by ranks", t.Collective)
		}
		next := int64(0)
		for _, band := range c.PPNs[0].Bands {
			low := next
			next = band.UpTo + 1
			if band.Algorithm.IsDefault() {
				continue
			}
			id, err := b.number(t.Collective, band.Algorithm)
			if err != nil {
				return nil, err
			}
			x := rule{Algorithm: id, LowBytes: low, HighBytes: band.UpTo, LowRanks: c.Low, HighRanks: c.High}
			if !sized(t.Collective) {
				x.HighBytes = math.MaxInt32
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// number returns the number of an algorithm, 0 of the library's own choice.
func (b build) number(c coll.Collective, alg coll.Algorithm) (int, error) {
	if alg.IsDefault() {
		return 0, nil
	}
	e, err := b.cat.Lookup(c, alg)
	return e.ID, err
}

// Replay implements mpi.Build: at every row, the algorithm reached must be the one that
// the selection chose for the layout.
func (b build) Replay(x mpi.Export, sel selection.Selection, rows []selection.Row) error {
	for _, r := range rows {
		p := r.Point
		got, err := reach(x.Setup, p)
		if err != nil {
			return err
		}
		alg, _ := sel.Select(p)
		want, err := b.number(p.Collective, alg)
		if err != nil {
			return fmt.Errorf("intel: %v: %w", p, err)
		}
		if got != want {
			return fmt.Errorf("intel: %v: the settings reach algorithm %d: want %d for %v", p, got, want, alg)
		}
	}
	return nil
}

// reach returns the number of the algorithm that a benchmark at a point runs with the
// settings, 0 when the library decides.
func reach(s selection.Setup, p coll.Point) (int, error) {
	for _, x := range s.For(p.Layout()) {
		if x.Name != variable(p.Collective) {
			continue
		}
		rules, err := parse(x.Value)
		if err != nil {
			return 0, fmt.Errorf("intel: %s: %w", x.Name, err)
		}
		return rules.find(p.Ranks(), size(p)), nil
	}
	return 0, nil
}
