package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tutti/campaign"
	"tutti/campaign/report"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/intel"
	"tutti/mpi/libraries"
	"tutti/mpi/mpich"
	"tutti/mpi/mpich/csel"
	"tutti/mpi/mvapich"
	"tutti/mpi/openmpi"
	"tutti/selection"
)

// target is one library that selection files are written for.
type target struct {
	library config.Library
	export  config.Export
	port    mpi.Library
	cat     *mpi.Catalogue
}

func newTarget(lib config.Library, export config.Export) (target, error) {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	return target{lib, export, port, cat}, err
}

// fit merges the predictions of one collective into what the library can be told.
func (t target) fit(rows []selection.Row) (campaign.Selection, error) {
	plan, leaves, err := t.plan(rows)
	return campaign.Selection{Leaves: leaves, Choose: func(p coll.Point) coll.Algorithm {
		alg, _ := plan.Select(p) // the default outside the tuned range
		return alg
	}}, err
}

// plan returns what the library can be told of one collective, and the number of
// rules that this needs: those for everybody, or of the layouts where there are none.
func (t target) plan(rows []selection.Row) (plan selection.Plan, leaves int, err error) {
	switch t.library.Name {
	case "mpich":
		var own mpich.Plan
		lib, err := t.mpichLibrary()
		if err == nil {
			own, err = t.mpichPlan(rows, lib)
		}
		if err != nil {
			return selection.Plan{}, 0, err
		}
		return selection.Plan{Trees: []*selection.Tree{own.Tree}}, own.Leaves(), nil
	case "intel":
		plan, err = selection.FitPlan(rows, intel.Size, t.export.MaxLoss)
	case "mvapich2":
		plan, err = mvapich.Fit(rows, t.export.MaxLoss)
	default:
		plan, err = t.openmpiPlan(rows)
	}
	trees := plan.Trees
	if len(trees) == 0 {
		for _, l := range plan.Layouts {
			trees = append(trees, l.Trees...)
		}
	}
	for _, tree := range trees {
		leaves += tree.Summary.Leaves
	}
	return plan, leaves, err
}

// size is the measure of message size that the library's rules compare.
func (t target) size(p coll.Point) int64 {
	switch t.library.Name {
	case "mpich":
		return mpich.Size(p)
	case "intel":
		return intel.Size(p)
	case "mvapich2":
		return mvapich.Size(p)
	}
	return openmpi.Size(p)
}

func (t target) mpichPlan(rows []selection.Row, lib csel.Library) (mpich.Plan, error) {
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
	switch t.library.Name {
	case "mpich":
		return t.writeMPICH(dir, problems, facts)
	case "intel":
		return t.writeIntel(dir, slices.Concat(problems...), facts)
	case "mvapich2":
		return t.writeMVAPICH2(dir, slices.Concat(problems...), facts)
	}
	return t.writeOpenMPI(dir, problems, facts)
}

func (t target) writeIntel(dir string, rows []selection.Row, facts report.LibraryFacts) (report.LibraryFacts, error) {
	plan, err := selection.FitPlan(rows, intel.Size, t.export.MaxLoss)
	if err != nil {
		return facts, err
	}
	setup, err := intel.Export(plan, t.cat)
	if err != nil {
		return facts, err
	}
	if err := intel.Verify(setup, plan, rows, t.cat); err != nil {
		return facts, err
	}
	facts.Files = []string{intel.FileName}
	return facts, setup.Write(filepath.Join(dir, intel.FileName))
}

func (t target) writeMVAPICH2(dir string, rows []selection.Row, facts report.LibraryFacts) (report.LibraryFacts, error) {
	plan, err := mvapich.Fit(rows, t.export.MaxLoss)
	if err != nil {
		return facts, err
	}
	setup, err := mvapich.Export(plan, t.cat)
	if err != nil {
		return facts, err
	}
	if err := mvapich.Verify(setup, plan, rows, t.cat); err != nil {
		return facts, err
	}
	facts.Files = []string{mvapich.FileName}
	return facts, setup.Write(filepath.Join(dir, mvapich.FileName))
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
func (t target) mpichLibrary() (csel.Library, error) {
	if t.library.Path == "" {
		return csel.Embedded(t.library.Version)
	}
	lib, err := csel.ReadLibrary(t.library.Path)
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
