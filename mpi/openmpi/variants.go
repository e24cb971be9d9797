package openmpi

import (
	"tutti/coll"
	"tutti/mpi"
)

// values are what is measured of an algorithm's parameters. The fixed decisions cut
// messages into segments of 1 KiB to 1 MiB, most often 8 and 64 KiB
// (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, 4.1.4); 0 does not cut. Chains
// have a fan-out of 4 (coll_tuned_component.c), and requests are not limited (0).
var values = map[string][]string{
	"segsize":      {"0", "8192", "65536"},
	"faninout":     {"4", "2"},
	"max_requests": {"0"},
}

// cut is for segmented_ring, which is the algorithm ring when it does not cut.
var cut = map[string][]string{"segsize": {"8192", "65536"}}

// variants lists an algorithm with a few values for each parameter.
func variants(_ *mpi.Catalogue, _ coll.Collective, e mpi.Entry) []coll.Algorithm {
	if e.Name == "segmented_ring" {
		return mpi.Variants(e, cut)
	}
	return mpi.Variants(e, values)
}
