package mpich

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"tutti/coll"
	"tutti/mpi"
)

// The parameters of a composition. Each value names the algorithm that runs in one part of the composition.
const (
	interPart = "inter" // among the first ranks of the nodes
	nodePart  = "node"  // within each node
)

// composes reports whether the entry is a composition. The device selects a composition before MPICH evaluates the tree
// of algorithms.
func composes(e mpi.Entry) bool { return strings.HasPrefix(e.Function, "MPIDI_") }

// handsOn returns the composition that runs a single algorithm on the whole communicator. It returns false if the
// catalogue of the release has no such composition.
func handsOn(cat *mpi.Catalogue, c coll.Collective) (mpi.Entry, bool) {
	return cat.Find(c, func(e mpi.Entry) bool { return composes(e) && len(e.Requires) == 0 })
}

// partOf returns the algorithm that a composition runs in one of its parts, interPart or nodePart. It returns false if
// the library selects the algorithm of this part.
func partOf(cat *mpi.Catalogue, c coll.Collective, alg coll.Algorithm, part string) (mpi.Entry, bool) {
	name, _ := alg.Param(part)
	return cat.Find(c, func(e mpi.Entry) bool { return e.Name == name && canBePart(e) })
}

// canBePart reports whether an algorithm can run in one part of a composition. The algorithm must not depend on nodes.
// It must have no parameters, because a file cannot set them for a part.
func canBePart(e mpi.Entry) bool {
	return !composes(e) && len(e.Params) == 0 && !e.Has(mpi.Parent) && !e.Has(mpi.InPlace)
}

func partNames(cat *mpi.Catalogue, c coll.Collective) []string {
	var names []string
	for _, e := range cat.Entries(c) {
		if canBePart(e) {
			names = append(names, e.Name)
		}
	}
	return names
}

// checkParts returns an error if a parameter names an algorithm that cannot run in a part of a composition.
func checkParts(cat *mpi.Catalogue, c coll.Collective, alg coll.Algorithm) error {
	for _, p := range alg.Params() {
		if _, ok := partOf(cat, c, alg, p.Name); !ok {
			return fmt.Errorf("%s %s %s %s: %s=%s: %w: want one of %s",
				cat.Library, cat.Version, c, alg, p.Name, p.Value, mpi.ErrUnknown, strings.Join(partNames(cat, c), ", "))
		}
	}
	return nil
}

// partPoint returns the point at which a part of a composition runs. The part interPart has one rank on each node. The
// part nodePart has one node.
func partPoint(p coll.Point, part string) coll.Point {
	if part == interPart {
		p.PPN = 1
	} else {
		p.Nodes = 1
	}
	return p
}

// feasibleParts returns an error if the algorithm of a part cannot run on the communicator of this part.
func feasibleParts(cat *mpi.Catalogue, cand coll.Candidate) error {
	for _, part := range []string{interPart, nodePart} {
		e, ok := partOf(cat, cand.Collective, cand.Algorithm, part)
		if !ok {
			continue
		}
		for _, r := range e.Requires {
			if !r.Holds(partPoint(cand.Point, part)) {
				return fmt.Errorf("%v: %w: %s=%s needs %s", cand, mpi.ErrInfeasible, part, e.Name, r.Text())
			}
		}
	}
	return nil
}

// The control variables that name MPICH's selection files. MPICH first evaluates the device's file, which selects a
// composition. Each part of the composition then evaluates the other file, with a communicator of its own.
const (
	deviceFile = "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE"
	flatFile   = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
)

// forceComposition forces a composition. Since 4.1 a control variable names the composition. In 4.0 only the device's
// selection file can select it. MPICH reads this file in MPI_Init. The files are the library's own trees with new
// subtrees for the collective, so the trees of the release must be known.
func forceComposition(cat *mpi.Catalogue, e mpi.Entry, c coll.Candidate) (mpi.Forcing, error) {
	prefix := variables(c.Collective)
	if name, ok := compositionVar(cat, c.Collective); ok {
		if s, pinned := cat.Site.Value(prefix + "INTRA_ALGORITHM"); pinned {
			return mpi.Forcing{}, fmt.Errorf("%v: %w: with exported files, its parts would run what %v pins, and not what they run while it is measured: remove the setting to tune compositions", c, mpi.ErrInfeasible, s)
		}
		return mpi.Forcing{
			Env:  []mpi.Var{{Name: fallbackName, Value: fallbackSilent.name}, {Name: name, Value: fmt.Sprint(e.ID)}},
			Base: []mpi.Var{{Name: fallbackName, Value: fallbackError.name}},
			Switches: slices.Concat(
				[]mpi.Switch{to(fallbackName, fallbackSilent.id), to(prefix+"DEVICE_COLLECTIVE", 1), to(prefix+"INTRA_ALGORITHM", 0), to(name, e.ID)},
				paramSwitches(prefix, cat.Entries(c.Collective), nil)),
			Parts: true,
		}, nil
	}
	files, err := compositionFiles(cat, e, c)
	return mpi.Forcing{
		Env:  files,
		Base: append([]mpi.Var{{Name: fallbackName, Value: fallbackError.name}}, files...),
		Switches: []mpi.Switch{
			to(fallbackName, fallbackError.id), to(prefix+"DEVICE_COLLECTIVE", 1), to(prefix+"INTRA_ALGORITHM", 0),
		},
		Parts: true,
	}, err
}

type composition struct {
	cat        *mpi.Catalogue
	collective coll.Collective
	algorithm  coll.Algorithm
}

// madeFiles caches the selection files of each composition that was forced. Making them takes milliseconds.
var madeFiles sync.Map

// compositionFiles returns the variables that name the selection files for a forced composition. They are the same at
// every point.
func compositionFiles(cat *mpi.Catalogue, e mpi.Entry, c coll.Candidate) ([]mpi.Var, error) {
	key := composition{cat, c.Collective, c.Algorithm}
	if files, ok := madeFiles.Load(key); ok {
		return files.([]mpi.Var), nil
	}
	lib, err := embeddedTree(cat.Listed)
	if err == nil {
		lib, err = lib.onSite(cat)
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %w", c, mpi.ErrInfeasible, err)
	}
	device, err := deviceTree(cat, lib, e, c.Collective)
	if err != nil {
		return nil, err
	}
	files := []mpi.Var{{Name: deviceFile, File: device.Bytes()}}
	if len(c.Algorithm.Params()) > 0 {
		flat, err := partsTree(cat, lib, c)
		if err != nil {
			return nil, err
		}
		files = append(files, mpi.Var{Name: flatFile, File: flat.Bytes()})
	}
	madeFiles.Store(key, files)
	return files, nil
}

// compositionVar returns the control variable that selects the composition for a collective. It returns false if the
// release has no such variable. Source: src/mpid/ch4/src/ch4_coll.h of MPICH 4.0.2 to 4.3.
func compositionVar(cat *mpi.Catalogue, c coll.Collective) (string, bool) {
	with := []coll.Collective{coll.Allgather, coll.Allreduce, coll.Alltoall, coll.Barrier, coll.Bcast, coll.Reduce}
	if _, ok := handsOn(cat, c); !ok || !mpi.AtLeast(cat.Version, 4, 1) || !slices.Contains(with, c) {
		return "", false
	}
	return variables(c) + "COMPOSITION", true
}

// resetComposition returns the control variables, set so that the library selects the composition again.
func resetComposition(cat *mpi.Catalogue, c coll.Collective) []mpi.Switch {
	if name, ok := compositionVar(cat, c); ok {
		return []mpi.Switch{to(name, 0)}
	}
	return nil
}

// deviceTree returns the library's device tree with a new subtree for one collective. The subtree selects the given
// composition wherever the composition can run. Elsewhere it runs one algorithm on the whole communicator.
func deviceTree(cat *mpi.Catalogue, lib libraryTree, e mpi.Entry, c coll.Collective) (treeObject, error) {
	if _, ok := handsOn(cat, c); !ok || len(lib.Device) == 0 {
		return nil, fmt.Errorf("mpich %s %s %s: %w: no tree of a device", cat.Version, c, e.Name, mpi.ErrInfeasible)
	}
	x := &exporter{build: build{lib, cat}, collective: c, device: true}
	out, err := x.guarded(coll.Algorithm{Name: e.Name})
	return lib.Device.With(collectiveKey+string(c), treeObject{{intraKey, out}}), err
}

// partsTree returns the library's tree of algorithms with new subtrees for the parts of a composition. If an
// algorithm's requirements hold on the communicator of its part, these subtrees select it there. Elsewhere the
// library's own subtree stays.
func partsTree(cat *mpi.Catalogue, lib libraryTree, c coll.Candidate) (treeObject, error) {
	key := collectiveKey + string(c.Collective)
	own, _ := lib.Tree.Get(key)
	intra, ok := own.Get(intraKey)
	if !ok {
		return nil, fmt.Errorf("%v: %w: the library's tree has no branch for it", c, mpi.ErrInfeasible)
	}
	var branch treeObject
	for part, kind := range map[string]string{interPart: "node_roots", nodePart: "node"} {
		if e, ok := partOf(cat, c.Collective, c.Algorithm, part); ok {
			leaf := treeObject{{leafKey + e.Function, nil}}
			tree, _, _ := guard(c.Collective, e, leaf, func() (treeObject, error) { return intra, nil })
			branch = append(branch, treeMember{"comm_hierarchy=" + kind, tree})
		}
	}
	slices.SortFunc(branch, func(a, b treeMember) int { return strings.Compare(a.Key, b.Key) })
	branch = append(branch, treeMember{"comm_hierarchy=any", intra})
	return lib.Tree.With(key, own.With(intraKey, branch)), nil
}
