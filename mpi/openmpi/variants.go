package openmpi

import (
	"fmt"
	"slices"
	"strconv"

	"tutti/coll"
	"tutti/mpi"
)

// values lists the parameter values to measure. Open MPI's own decisions use segments of 1 KiB to 1 MiB,
// most often 8 and 64 KiB (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, 4.1.4). The segment size 0
// means no segments. Chains have a fan-out of 4 (coll_tuned_component.c). The value 0 means no limit on the
// number of requests.
var values = map[string][]string{
	"segsize":      {"0", "8192", "65536"},
	"faninout":     {"4", "2"},
	"max_requests": {"0"},
}

// cut lists the segment sizes of segmented_ring, in bytes. With size 0, it would be the same algorithm as ring.
var cut = map[string][]string{"segsize": {"8192", "65536"}}

// radices lists the radices of algorithms that read a radix from faninout.
var radices = map[string][]string{"faninout": {"2", "4", "8"}}

func variants(_ *mpi.Catalogue, c coll.Collective, e mpi.Entry) []coll.Algorithm {
	switch {
	case isHan(e.ID):
		return mpi.Variants(e, hanValues)
	case e.Name == "segmented_ring":
		return mpi.Variants(e, cut)
	case takesRadix(c, e):
		return mpi.Variants(e, radices)
	}
	return mpi.Variants(e, values)
}

// takesRadix reports whether the parameter faninout is the radix of an algorithm. With the values 0 and 1
// such an algorithm never ends. A rule without faninout has the value 0. Source:
// ompi/mca/coll/base/coll_base_allgather.c and coll_base_reduce.c, 6.0.
func takesRadix(c coll.Collective, e mpi.Entry) bool {
	return slices.Contains(e.Params, "faninout") && (c == coll.Allgather && e.Name == "bruck-k-fanout" || c == coll.Reduce && e.Name == "knomial")
}

// lookup returns an error for an algorithm with a radix below 2 or without one, or with an unknown component.
func lookup(cat *mpi.Catalogue, c coll.Collective, e mpi.Entry, alg coll.Algorithm) error {
	if !takesRadix(c, e) {
		return checkParts(cat, c, e, alg)
	}
	text, _ := alg.Param("faninout")
	if radix, err := strconv.Atoi(text); err == nil && radix < 2 || text == "" {
		return fmt.Errorf("%s %s %s %s: parameter faninout: %w: want a radix of 2 or more", cat.Library, cat.Version, c, alg, mpi.ErrUnknown)
	}
	return nil
}
