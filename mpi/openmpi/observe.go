package openmpi

import (
	"errors"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// CheckAlgorithm implements mpi.Measurable. No function is observable if the component tuned is linked into
// the library itself. A function of a component above tuned, such as coll/adapt, counts as another
// algorithm.
func (library) CheckAlgorithm(cat *mpi.Catalogue, c coll.Candidate, stacks [][]string) error {
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return err
	}
	if isHan(e.ID) {
		return errors.New("coll/han does not show its algorithm")
	}
	want := function(c.Collective, e.Name)
	var saw []string
	for _, stack := range stacks {
		if i := slices.IndexFunc(stack, func(name string) bool { return strings.HasPrefix(name, basePrefix) || strings.HasPrefix(name, "coll/") }); i >= 0 {
			saw = append(saw, stack[i])
		}
	}
	switch {
	case slices.ContainsFunc(saw, func(name string) bool { return plain(name) == plain(want) }):
		return nil
	case len(saw) == 0:
		return errors.New("the error names no algorithm")
	}
	return mpi.OtherAlgorithm(saw, want)
}

// basePrefix is the prefix of functions that implement algorithms.
const basePrefix = "ompi_coll_base_"

// function returns the name of the function that implements an algorithm.
func function(c coll.Collective, name string) string {
	switch {
	case c == coll.ReduceScatterBlock && name == "basic_linear":
		return basePrefix + "reduce_scatter_block_basic_linear"
	case c == coll.Allgather && name == "direct-messaging":
		return basePrefix + "allgather_direct_messaging"
	}
	if other, ok := functions[string(c)+" "+name]; ok {
		name = other
	}
	return basePrefix + string(c) + "_intra_" + name
}

// functions lists the functions whose names do not follow from the enumerators of the parameter.
// Differences in underscores do not count. Source: ompi/mca/coll/tuned/coll_tuned_*_decision.c of 4.1.4 and
// 6.0.
var functions = map[string]string{
	"allgather bruck-k-fanout":         "k_bruck",
	"allgather linear":                 "basic_linear",
	"allgather neighbor":               "neighbor_exchange",
	"allgather two_proc":               "two_procs",
	"allgatherv default":               "basic_default",
	"allgatherv neighbor":              "neighbor_exchange",
	"allgatherv two_proc":              "two_procs",
	"allreduce rabenseifner":           "redscat_allgather",
	"allreduce segmented_ring":         "ring_segmented",
	"alltoall linear":                  "basic_linear",
	"alltoall modified_bruck":          "bruck",
	"alltoall two_proc":                "two_procs",
	"barrier linear":                   "basic_linear",
	"barrier two_proc":                 "two_procs",
	"bcast binary_tree":                "bintree",
	"bcast split_binary_tree":          "split_bintree",
	"reduce linear":                    "basic_linear",
	"reduce rabenseifner":              "redscat_gather",
	"reduce_scatter recursive_halving": "basic_recursive_halving",
}

// plain removes underscores and hyphens from a name. Open MPI has several names for one algorithm that
// differ only in these characters.
func plain(name string) string { return strings.NewReplacer("_", "", "-", "").Replace(name) }
