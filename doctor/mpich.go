package doctor

import (
	"slices"

	"tutti/mpi"
	"tutti/mpi/mpich"
	"tutti/mpi/mpich/csel"
)

// examineMPICH reads device and algorithms from the library's file.
func (x *examiner) examineMPICH(lib *Library, has contents, c *Check) {
	lib.Device = has.device
	if has.device != "" {
		c.Details = append(c.Details, "device "+has.device+devices(has))
	}
	if lib.File.Path == "" {
		return
	}
	tree, err := csel.ReadLibrary(lib.File.Path)
	if err != nil {
		c.Details = append(c.Details, "no selection tree in the library: it cannot load what tutti exports")
		*c = c.with(Warning, "use MPICH 4.0 or newer")
		return
	}
	lib.Checks = onOff(has.asserts)
	if has.asserts {
		c.Details = append(c.Details, "checks itself: a bad selection file aborts")
	} else {
		c.Details = append(c.Details, "built without checks: a bad selection file is undefined behaviour")
	}
	cat, _ := mpi.Near(mpich.Library.Releases(), lib.Version)
	if cat == nil {
		*c = c.with(Warning, "use MPICH 4.0 or newer")
		c.Details = append(c.Details, "no list of algorithms is near this version")
		return
	}
	var listed int
	lib.Catalogue = cat.Version
	lib.Absent, lib.Unlisted, listed = compareMPICH(cat, slices.Concat(tree.Leaves, tree.Compositions))
	lib.describe(listed, c)
}

// devices tells what else decides before the tree does.
func devices(has contents) string {
	switch {
	case has.ch4 && has.posix:
		return ", with device and shared-memory collectives"
	case has.ch4:
		return ", with device collectives, none through shared memory"
	}
	return ", without device collectives"
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}
