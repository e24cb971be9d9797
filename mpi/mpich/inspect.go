package mpich

import (
	"context"
	"errors"
	"fmt"
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
	i.Site = library{}.Settings(b.Environ, "")
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

// collectivesOf says whether a build has the two layers that select algorithms before MPICH evaluates its own tree:
// the device and shared memory.
func collectivesOf(lib libraryTree) string {
	switch {
	case len(lib.Compositions) > 0 && lib.Posix:
		return ", with device and shared-memory collectives"
	case len(lib.Compositions) > 0:
		return ", with device collectives, none through shared memory"
	}
	return ", without device collectives"
}

// compare compares the algorithms of a build with those of a catalogue. It returns the entries that are missing in the
// build, the build's algorithms that are missing in the catalogue, and the number of entries compared. It ignores
// leaves of nonblocking and intercommunicator collectives. If the build has no compositions, it ignores those of the
// catalogue.
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

// CheckAlgorithm implements mpi.Measurable. Some compositions leave no function in the error stack. With several nodes
// and several ranks on each, an algorithm in the stack may then have run on only a part of the communicator. This is an
// error.
func (library) CheckAlgorithm(cat *mpi.Catalogue, c coll.Candidate, stacks [][]string) error {
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return err
	}
	want := e.Function
	found := parseStacks(c.Collective, stacks)
	unnamed := found.device && len(found.compositions) == 0
	entered := slices.Contains(found.algorithms, want)
	switch {
	case slices.Contains(found.compositions, want):
		return nil
	case composes(e) && unnamed:
		return errors.New("the device took the call and does not name its composition")
	case unnamed && c.Nodes > 1 && c.PPN > 1 && entered:
		return fmt.Errorf("%s was entered, perhaps for a part of the communicator only: the device does not name its composition", want)
	case entered && !found.split(cat, c.Collective):
		return nil
	case len(found.algorithms) == 0 && (len(found.compositions) == 0 || !composes(e) && !found.split(cat, c.Collective)):
		return errors.New("the error names no algorithm")
	}
	return mpi.OtherAlgorithm(slices.Concat(found.compositions, found.algorithms), want)
}

// stackFacts describes what the error stacks of a call show about the functions that ran.
type stackFacts struct {
	device       bool     // it took the call
	compositions []string // of the device
	algorithms   []string // the outermost one of each rank
}

func parseStacks(c coll.Collective, stacks [][]string) stackFacts {
	var s stackFacts
	for _, stack := range stacks {
		outermost := ""
		for _, name := range stack {
			switch {
			case strings.Contains(strings.ToLower(name), "mpidi_"+string(c)+"_intra_composition_"):
				s.compositions = append(s.compositions, name)
			case outermost == "" && isAlgorithm(name):
				outermost = name
			}
			s.device = s.device || strings.EqualFold(name, "MPID_"+string(c))
		}
		if outermost != "" {
			s.algorithms = append(s.algorithms, outermost)
		}
	}
	return s
}

// split reports whether the stacks show that the device ran a composition that has several parts.
func (s stackFacts) split(cat *mpi.Catalogue, c coll.Collective) bool {
	flat, _ := handsOn(cat, c)
	return slices.ContainsFunc(s.compositions, func(name string) bool { return name != flat.Function })
}

// isAlgorithm reports whether a function implements an algorithm. Other functions select one, such as
// MPIR_Bcast_allcomm_auto and MPIDI_Bcast_allcomm_composition_json.
func isAlgorithm(name string) bool {
	return (strings.Contains(name, "_intra_") || strings.Contains(name, "_allcomm_")) &&
		!strings.HasSuffix(name, "_auto") && !strings.HasSuffix(name, "_composition_json")
}
