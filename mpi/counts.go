package mpi

import (
	"slices"
	"strings"

	"tutti/coll"
	"tutti/selection"
)

// evenInRanks lists the algorithms whose steps and bytes grow evenly with the number of ranks. Others, such as recursive
// doubling, Rabenseifner's algorithm and pairwise exchange, have extra steps or other partners where the number of ranks
// is not a power of two (Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 2005). The parts of compositions (smp, alpha, han) are chosen by the library, possibly by the number of ranks.
// docs/experiments/2026-11-29-harm.md compares both kinds between grid points.
var evenInRanks = []string{
	"basic_linear", "binary", "binary_tree", "binomial", "bruck", "bruck-k-fanout", "brucks", "chain", "direct-messaging",
	"dissemination", "double_ring", "in-order_binary", "k_chain", "k_dissemination", "knomial", "linear", "linear_nb",
	"linear_sync", "modified_bruck", "neighbor", "non-overlapping", "nonoverlapping", "pipeline", "pipelined_tree", "ring",
	"scatter_allgather_ring", "scatter_ring_allgather", "scattered", "segmented_ring", "simple", "sparbit",
	"split_binary_tree", "tree",
}

// Between reports whether an algorithm that is faster than the library's default at two communicator sizes is so between
// them, too (see selection.Options). Unknown algorithms are not.
func Between(alg coll.Algorithm, _ selection.Gap) bool {
	_, below, ok := strings.Cut(alg.Name, ".") // see Above
	return slices.Contains(evenInRanks, alg.Name) || ok && slices.Contains(evenInRanks, below)
}
