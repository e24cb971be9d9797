package main

import (
	"fmt"
	"os"
	"path/filepath"

	"tutti/campaign"
	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/coll/mpichtree"
	"tutti/internal/config"
	"tutti/report"
	"tutti/selection"
	"tutti/selection/mpich"
	"tutti/selection/openmpi"
)

// target is one library that selection files are written for.
type target struct {
	library config.Library
	export  config.Export
	cat     *catalogue.Catalogue
}

func newTarget(lib config.Library, export config.Export) (target, error) {
	cat, err := catalogue.For(lib.Name, lib.Version)
	return target{lib, export, cat}, err
}

// fit merges the predictions of one collective into what the library can be told.
func (t target) fit(rows []selection.Row) (campaign.Selection, error) {
	if t.library.Name == catalogue.MPICH {
		lib, err := t.mpichLibrary()
		if err != nil {
			return campaign.Selection{}, err
		}
		plan, err := t.mpichPlan(rows, lib)
		if err != nil {
			return campaign.Selection{}, err
		}
		return campaign.Selection{Choose: chooser(plan.Tree), Leaves: plan.Leaves()}, nil
	}
	plan, err := t.openmpiPlan(rows)
	if err != nil || len(plan.Trees) == 0 {
		return campaign.Selection{Choose: chooser(&selection.Tree{})}, err
	}
	layouts := map[coll.Layout]func(coll.Point) coll.Algorithm{}
	leaves := plan.Trees[0].Summary.Leaves
	for _, l := range plan.Layouts {
		layouts[l.Layout] = chooser(l.Trees[0])
	}
	common := chooser(plan.Trees[0])
	return campaign.Selection{Leaves: leaves, Choose: func(p coll.Point) coll.Algorithm {
		if choose, ok := layouts[p.Layout()]; ok {
			return choose(p)
		}
		return common(p)
	}}, nil
}

func chooser(t *selection.Tree) func(coll.Point) coll.Algorithm {
	return func(p coll.Point) coll.Algorithm {
		if alg, ok := t.Select(p); ok {
			return alg
		}
		return coll.Default
	}
}

func (t target) mpichPlan(rows []selection.Row, lib mpichtree.Library) (mpich.Plan, error) {
	return mpich.Fit(rows, lib, t.cat, selection.Options{MaxLoss: t.export.MaxLoss})
}

func (t target) openmpiPlan(rows []selection.Row) (openmpi.Plan, error) {
	return openmpi.Fit(rows, t.cat, openmpi.Options{MaxLoss: t.export.MaxLoss, OpSafe: t.export.OpSafe})
}

// write puts the selection files into dir and replays them at every row; problems
// holds the rows of each collective.
func (t target) write(dir string, problems [][]selection.Row) (report.LibraryFacts, error) {
	facts := report.LibraryFacts{
		Library: t.library.Name, Version: t.library.Version,
		Origin: fmt.Sprintf("catalogue of %s %s", t.library.Name, t.library.Version),
	}
	for _, rows := range problems {
		facts.Checked += len(rows)
	}
	if t.library.Name == catalogue.MPICH {
		return t.writeMPICH(dir, problems, facts)
	}
	return t.writeOpenMPI(dir, problems, facts)
}

func (t target) writeMPICH(dir string, problems [][]selection.Row, facts report.LibraryFacts) (report.LibraryFacts, error) {
	lib, err := t.mpichLibrary()
	if err != nil {
		return facts, err
	}
	if t.library.Path != "" {
		facts.Origin = "installed library " + t.library.Path
	}
	var plans []mpich.Plan
	var all []selection.Row
	for _, rows := range problems {
		plan, err := t.mpichPlan(rows, lib)
		if err != nil {
			return facts, err
		}
		plans = append(plans, plan)
		all = append(all, rows...)
	}
	file, err := mpich.Export(plans, lib, t.cat)
	if err != nil {
		return facts, err
	}
	if err := mpich.Verify(file.Bytes(), file.DeviceBytes(), plans, all, lib, t.cat); err != nil {
		return facts, err
	}
	facts.Files = file.Names()
	return facts, file.Write(dir)
}

// mpichLibrary is the installed library where there is one, else what is known of
// its release.
func (t target) mpichLibrary() (mpichtree.Library, error) {
	if t.library.Path == "" {
		return mpichtree.Embedded(t.library.Version)
	}
	lib, err := mpichtree.ReadLibrary(t.library.Path)
	if err == nil && lib.Version != "" && lib.Version != t.library.Version {
		err = fmt.Errorf("%s is MPICH %s, but the campaign is for %s", t.library.Path, lib.Version, t.library.Version)
	}
	return lib, err
}

func (t target) writeOpenMPI(dir string, problems [][]selection.Row, facts report.LibraryFacts) (report.LibraryFacts, error) {
	var all []selection.Row
	for _, rows := range problems {
		all = append(all, rows...)
	}
	plan, err := t.openmpiPlan(all)
	if err != nil {
		return facts, err
	}
	bundle, err := openmpi.Export(plan, t.cat)
	if err != nil {
		return facts, err
	}
	if err := openmpi.Verify(bundle, plan, all, t.cat); err != nil {
		return facts, err
	}
	facts.Files = bundle.Files()
	// A layout that no longer differs must not keep its old file.
	if err := os.RemoveAll(filepath.Join(dir, openmpi.LayoutDir)); err != nil {
		return facts, err
	}
	return facts, bundle.Write(dir)
}
