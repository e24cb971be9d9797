package intel

import (
	"fmt"
	"math"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// FileName is the snippet that sets the variables.
const FileName = "intel.env"

// Export writes a plan, fitted with Size, as settings. The error matches
// mpi.ErrUnknown when the release has not an algorithm.
func Export(plan selection.Plan, cat *mpi.Catalogue) (selection.Setup, error) {
	s := selection.Setup{Remarks: []string{
		"Settings of Intel MPI " + cat.Version + ".",
		"Written from its documentation and replayed at every tuned point, but not tried on a real Intel MPI.",
	}}
	if len(plan.Layouts) > 0 {
		s.Remarks = append(s.Remarks, "Some layouts have settings of their own: to be read in a job, where Slurm says which it is.")
	}
	var err error
	if s.Settings, err = settings(plan.Trees, cat); err != nil {
		return selection.Setup{}, err
	}
	for _, l := range plan.Layouts {
		own, err := settings(l.Trees, cat)
		if err != nil {
			return selection.Setup{}, err
		}
		s.Layouts = append(s.Layouts, selection.LayoutSettings{Layout: l.Layout, Settings: own})
	}
	return s, nil
}

func settings(trees []*selection.Tree, cat *mpi.Catalogue) ([]selection.Setting, error) {
	var out []selection.Setting
	for _, t := range trees {
		rules, err := exportTree(t, cat)
		if err != nil {
			return nil, err
		}
		if len(rules) > 0 {
			out = append(out, selection.Setting{Name: Variable(t.Collective), Value: rules.String()})
		}
	}
	return out, nil
}

func exportTree(t *selection.Tree, cat *mpi.Catalogue) (Rules, error) {
	var out Rules
	for _, c := range t.Comms {
		if len(c.PPNs) != 1 {
			return nil, fmt.Errorf("intel %s: conditions know no processes per node: fit the plan with selection.FitPlan", t.Collective)
		}
		next := int64(0)
		for _, b := range c.PPNs[0].Bands {
			low := next
			next = b.UpTo + 1
			if b.Algorithm.IsDefault() {
				continue
			}
			id, err := number(t.Collective, b.Algorithm, cat)
			if err != nil {
				return nil, err
			}
			x := Rule{Algorithm: id, LowBytes: low, HighBytes: b.UpTo, LowProcesses: c.Low, HighProcesses: c.High}
			if !sized(t.Collective) {
				x.HighBytes = math.MaxInt32
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// number returns the number of an algorithm, 0 of the library's own choice.
func number(c coll.Collective, alg coll.Algorithm, cat *mpi.Catalogue) (int, error) {
	if alg.IsDefault() {
		return 0, nil
	}
	e, err := cat.Lookup(c, alg)
	return e.ID, err
}

// Verify writes the settings, reads them back and replays them: at every row, the
// algorithm reached must be the one that the plan chose for the layout.
func Verify(s selection.Setup, plan selection.Plan, rows []selection.Row, cat *mpi.Catalogue) error {
	text, err := s.Shell()
	if err != nil {
		return fmt.Errorf("intel: %w", err)
	}
	back, err := selection.ParseShell(text)
	if err != nil {
		return fmt.Errorf("intel: %w", err)
	}
	for _, r := range rows {
		p := r.Point
		got, _, err := Replay(back, p)
		if err != nil {
			return err
		}
		alg, _ := plan.Select(p)
		want, err := number(p.Collective, alg, cat)
		if err != nil {
			return fmt.Errorf("intel: %v: %w", p, err)
		}
		if got != want {
			return fmt.Errorf("intel: %v: the settings reach algorithm %d: want %d for %v", p, got, want, alg)
		}
	}
	return nil
}

// Replay returns the number of the algorithm that a benchmark at a point runs with
// the settings, and false when the library decides.
func Replay(s selection.Setup, p coll.Point) (int, bool, error) {
	for _, x := range s.For(p.Layout()) {
		if x.Name != Variable(p.Collective) {
			continue
		}
		rules, err := Parse(x.Value)
		if err != nil {
			return 0, false, fmt.Errorf("intel: %s: %w", x.Name, err)
		}
		id, ok := rules.Find(p.Processes(), Size(p))
		return id, ok, nil
	}
	return 0, false, nil
}
