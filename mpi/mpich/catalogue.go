package mpich

import (
	_ "embed"
	"fmt"

	"tutti/coll"
	"tutti/mpi"
)

// table lists algorithms by the values of their control variables, and after them
// the compositions, with numbers of their own. It was taken from the sources of the
// releases named in it and checked by running each algorithm of 4.0.2 on 2 to 8
// ranks with 1 to 4096 elements, and in every form of its call on 3 to 6.
//
//go:embed algorithms.csv
var table string

// leftOut are leaves that the table does not have, since they are wrong for valid calls
// and cannot be guarded:
//
//   - alpha of reduce in 4.0 and 4.1: a root that reduces in place and is not the first
//     rank of its node reads from address MPI_IN_PLACE and crashes. Only the root
//     knows that it reduces in place, so a condition would lead the ranks to
//     different algorithms. Mended after 4.1.1, github.com/pmodels/mpich/pull/6543.
//   - noncommutative of reduce_scatter and reduce_scatter_block: it places elements by
//     the true extent of their type, so that types with gaps give wrong results and
//     memory beyond its buffers is written to. No condition knows the type. Later
//     sources do the same.
//
// The library's own trees run both; TestLiveStock holds what comes of it.
var leftOut = []string{
	"MPIDI_Reduce_intra_composition_alpha",
	"MPIR_Reduce_scatter_intra_noncommutative",
	"MPIR_Reduce_scatter_block_intra_noncommutative",
}

var releases = mpi.Table(table, mpi.Rules{Lookup: lookup, Check: feasibleParts, Variants: variants, Renamed: renamed})

// lookup wants every parameter of an algorithm, since the library has no default
// for them, and known algorithms as parts of a composition.
func lookup(cat *mpi.Catalogue, c coll.Collective, e mpi.Entry, alg coll.Algorithm) error {
	if composes(e) {
		return checkParts(cat, c, alg)
	}
	for _, name := range e.Params {
		if _, ok := alg.Param(name); !ok {
			return fmt.Errorf("%s %s %s %s: parameter %s is missing: %w", cat.Library, cat.Version, c, alg, name, mpi.ErrUnknown)
		}
	}
	return nil
}

// variants lists an algorithm with a few values for each parameter, and a
// composition that splits the communicator with every algorithm between the nodes.
//
// Left out are compositions that are the same as another candidate: one that hands
// the communicator on runs one of the algorithms; beta of bcast differs from alpha
// only when the root is not the first rank of its node; on one node a composition
// is one algorithm again. The part within the nodes is left to the library, since
// parts of other collectives share it: no selection file can choose it for one
// collective alone.
func variants(cat *mpi.Catalogue, c coll.Collective, e mpi.Entry) []coll.Algorithm {
	switch {
	case !composes(e):
		return mpi.Variants(e, valuesOf(cat, e))
	case e.Has(mpi.Hierarchical) && !(c == coll.Bcast && e.Name == "beta"):
		return mpi.Variants(e, map[string][]string{interPart: partNames(cat, c)})
	}
	return nil
}

// valuesOf returns what is measured of an algorithm's parameters, the library's own
// value first. Radices are 2, pipelined trees cut at 8 KiB, other switches are as the
// variables ship them (src/mpi/coll/cvars.txt, 4.1 to 4.3).
func valuesOf(cat *mpi.Catalogue, e mpi.Entry) map[string][]string {
	values := map[string][]string{
		"k":                 {"2", "4", "8"},
		"chunk_size":        {"8192", "65536"},
		"is_non_blocking":   {"1"},
		"recv_pre_posted":   {"0"},
		"single_phase_recv": {"0"},
		"buffer_per_child":  {"0"},
		"tree_type":         {"0", "1"},
	}
	if e.Name == "tree" { // shipped uncut
		values["chunk_size"] = []string{"0", "65536"}
	}
	if namesTrees(cat.Version) {
		values["tree_type"] = []string{"kary", "knomial_1"}
	}
	return values
}

// namesTrees reports whether the selection files of a release name the kinds of
// trees. Before 4.3 they number them.
func namesTrees(release string) bool { return mpi.AtLeast(release, 4, 3) }

// renamed: a number that is a kind of tree in one release says nothing where kinds
// have names.
func renamed(alg coll.Algorithm, from, to string) bool {
	_, tree := alg.Param("tree_type")
	return tree && namesTrees(from) != namesTrees(to)
}
