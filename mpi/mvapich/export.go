package mvapich

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// FileName is the snippet that sets the variables.
const FileName = "mvapich2.env"

// Fit plans for every layout on its own: a plan without trees for everybody. What
// MaxLoss allows here is a slowdown against the best option of a row, the library's
// default included; a collective that would exceed it at any size of a layout keeps
// the library's table there.
func Fit(rows []selection.Row, maxLoss float64) (selection.Plan, error) {
	var plan selection.Plan
	for _, l := range layouts(rows) {
		own := selection.LayoutPlan{Layout: l}
		for _, c := range coll.Collectives() {
			same := slices.DeleteFunc(slices.Clone(rows), func(r selection.Row) bool {
				return r.Point.Collective != c || r.Point.Layout() != l
			})
			narrowed, ok := replaceable(same, maxLoss)
			if !ok {
				continue
			}
			t, err := selection.Fit(narrowed, Size, selection.Options{MaxLoss: maxLoss, ByProcesses: true})
			if err != nil {
				return selection.Plan{}, fmt.Errorf("mvapich2: %w", err)
			}
			if whole(t, narrowed) {
				own.Trees = append(own.Trees, t)
			}
		}
		if len(own.Trees) > 0 {
			plan.Layouts = append(plan.Layouts, own)
		}
	}
	return plan, nil
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
	if len(rows) == 0 {
		return nil, false
	}
	if _, ok := Variable(rows[0].Point.Collective); !ok {
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

// Export writes a plan of Fit as settings. Beyond the tuned sizes of a layout the
// nearest range goes on. The error matches mpi.ErrUnknown when the release
// has not an algorithm.
func Export(plan selection.Plan, cat *mpi.Catalogue) (selection.Setup, error) {
	s := selection.Setup{Remarks: []string{
		"Settings of MVAPICH2 " + cat.Version + " for jobs of the layouts below: to be read in a job, where Slurm says which it is.",
		"They hold for every communicator of the job. Written from the library's source and replayed at every tuned point,",
		"but not tried on a real MVAPICH2.",
	}}
	for _, l := range plan.Layouts {
		own := selection.LayoutSettings{Layout: l.Layout}
		for _, t := range l.Trees {
			name, ok := Variable(t.Collective)
			if !ok {
				return selection.Setup{}, fmt.Errorf("mvapich2: no variable for %s", t.Collective)
			}
			ranges, err := exportTree(t, cat)
			if err != nil {
				return selection.Setup{}, err
			}
			own.Settings = append(own.Settings, selection.Setting{Name: name, Value: ranges.String()})
		}
		s.Layouts = append(s.Layouts, own)
	}
	return s, nil
}

func exportTree(t *selection.Tree, cat *mpi.Catalogue) (Ranges, error) {
	if len(t.Comms) != 1 || len(t.Comms[0].PPNs) != 1 {
		return nil, fmt.Errorf("mvapich2 %s: ranges know no processes: fit the plan with mvapich.Fit", t.Collective)
	}
	var out Ranges
	for _, b := range t.Comms[0].PPNs[0].Bands {
		if b.Algorithm.IsDefault() {
			if len(out) > 0 {
				return nil, fmt.Errorf("mvapich2 %s: no range can be left to the library: fit the plan with mvapich.Fit", t.Collective)
			}
			continue // sizes below the tuned ones: the first range begins at 0
		}
		e, err := cat.Lookup(t.Collective, b.Algorithm)
		if err != nil {
			return nil, err
		}
		out = append(out, Range{e.ID, b.UpTo})
	}
	if len(out) == 0 || len(out) > maxRanges {
		return nil, fmt.Errorf("mvapich2 %s: %d ranges: want 1 to %d", t.Collective, len(out), maxRanges)
	}
	out[len(out)-1].UpTo = math.MaxInt32
	return out, nil
}

// Verify writes the settings, reads them back and replays them: at every row, the
// algorithm reached must be the one that the plan chose for the layout.
func Verify(s selection.Setup, plan selection.Plan, rows []selection.Row, cat *mpi.Catalogue) error {
	text, err := s.Shell()
	if err != nil {
		return fmt.Errorf("mvapich2: %w", err)
	}
	back, err := selection.ParseShell(text)
	if err != nil {
		return fmt.Errorf("mvapich2: %w", err)
	}
	for _, r := range rows {
		p := r.Point
		got, decided, err := Replay(back, p)
		if err != nil {
			return err
		}
		alg, _ := plan.Select(p)
		if alg.IsDefault() {
			if decided {
				return fmt.Errorf("mvapich2: %v: the settings reach algorithm %d: want the library's choice", p, got)
			}
			continue
		}
		want, err := cat.Lookup(p.Collective, alg)
		if err != nil {
			return fmt.Errorf("mvapich2: %v: %w", p, err)
		}
		if !decided || got != want.ID {
			return fmt.Errorf("mvapich2: %v: the settings reach algorithm %d (set: %t): want %d for %v", p, got, decided, want.ID, alg)
		}
	}
	return nil
}

// Replay returns the number of the algorithm that a benchmark at a point runs with
// the settings, and false when the library decides.
func Replay(s selection.Setup, p coll.Point) (int, bool, error) {
	name, _ := Variable(p.Collective)
	for _, x := range s.For(p.Layout()) {
		if x.Name != name {
			continue
		}
		ranges, err := Parse(x.Value)
		if err != nil {
			return 0, false, fmt.Errorf("mvapich2: %s: %w", x.Name, err)
		}
		return ranges.Find(Size(p)), true, nil
	}
	return 0, false, nil
}
