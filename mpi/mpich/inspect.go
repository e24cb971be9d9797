package mpich

import (
	"context"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// Inspect implements mpi.Measurable. It reads the name of the device and the list of algorithms from the
// library's file.
func (library) Inspect(_ context.Context, b mpi.Installed) mpi.Inspection {
	if b.File == "" {
		return mpi.Inspection{}
	}
	lib, err := readLibraryTree(b.File)
	i := mpi.Inspection{Device: lib.Transport}
	if lib.Transport != "" {
		i.Build = append(i.Build, "device "+lib.Transport+collectivesOf(lib))
	}
	if err != nil {
		i.Fault, i.Fix = "no selection tree in the library: it cannot load what tutti exports", wantNewer
		return i
	}
	if lib.NoNodes {
		i.Build = append(i.Build, "takes each rank for a node: algorithms for nodes are not used, and some layouts have files of their own")
	}
	if lib.Asserts {
		i.Checks = "on"
		i.Build = append(i.Build, "checks itself: a bad selection file aborts")
	} else {
		i.Checks = "off"
		i.Build = append(i.Build, "built without checks: a bad selection file is undefined behaviour")
	}
	near, _ := mpi.Near(releases(), b.Version)
	if near == nil {
		i.Fault, i.Fix = "no list of algorithms is near this version", wantNewer
		return i
	}
	if i.Catalogue = near.As(b.Version); !i.Catalogue.KnownSeries() {
		i.Build = append(i.Build, mpi.UnknownSeries)
		i.Catalogue = i.Catalogue.Listing(lib.listing(i.Catalogue))
	}
	i.Absent, i.Unlisted, i.Listed = compare(i.Catalogue, lib)
	return i
}

const wantNewer = "use MPICH 4.0 or newer"

// collectivesOf says in words which layers of a build select an algorithm before MPICH evaluates the tree of
// algorithms: the device and shared memory.
func collectivesOf(lib libraryTree) string {
	switch {
	case len(lib.Compositions) > 0 && lib.Posix:
		return ", with device and shared-memory collectives"
	case len(lib.Compositions) > 0:
		return ", with device collectives, none through shared memory"
	}
	return ", without device collectives"
}

// compare compares the algorithms that a build accepts with a catalogue. It ignores leaves of nonblocking and
// intercommunicator collectives. If the build has no compositions (plans of the ch4 device), it ignores those
// of the catalogue.
func compare(cat *mpi.Catalogue, lib libraryTree) (absent, unlisted []string, listed int) {
	names := slices.Concat(lib.Leaves, lib.Compositions)
	known := map[string]bool{}
	for _, c := range coll.Collectives() {
		for _, e := range cat.Entries(c) {
			known[e.Function] = true
			if composes(e) && len(lib.Compositions) == 0 {
				continue
			}
			listed++
			if !slices.Contains(names, e.Function) {
				absent = append(absent, string(c)+" "+e.Name)
			}
		}
	}
	for _, name := range names {
		if !known[name] && !slices.Contains(leftOut(cat.Version), name) && ofCatalogue(name) {
			unlisted = append(unlisted, name)
		}
	}
	return absent, unlisted, listed
}

func leafPrefix(c coll.Collective) string {
	return "MPIR_" + strings.ToUpper(string(c[:1])) + string(c[1:]) + "_intra_"
}

// ofCatalogue reports whether a leaf is an intracommunicator algorithm of a collective in the catalogue.
// Leaves for the automatic choice and for nonblocking calls are not algorithms.
func ofCatalogue(leaf string) bool {
	if strings.HasSuffix(leaf, "_auto") || strings.HasSuffix(leaf, "_nb") {
		return false
	}
	for _, c := range coll.Collectives() {
		name := strings.ToUpper(string(c[:1])) + string(c[1:])
		if strings.HasPrefix(leaf, leafPrefix(c)) || strings.HasPrefix(leaf, "MPIR_"+name+"_allcomm_") ||
			strings.HasPrefix(leaf, "MPIDI_"+name+"_intra_composition_") {
			return true
		}
	}
	return false
}
