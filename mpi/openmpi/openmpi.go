package openmpi

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"tutti/coll"
	"tutti/mpi"
)

// Library is Open MPI.
var Library mpi.Measurable = library{}

type library struct{}

// tried lists the releases with which tutti was tested, first the one of "make test".
var tried = []string{"4.1.4", "5.0.7", "6.0.0rc2"}

func (library) Facts() mpi.Facts {
	return mpi.Facts{
		Prevents: "coll/tuned cannot run the algorithms that tutti selects",
		Files:    []string{classicName, newerName, hanName, snippetName, mpi.CshName(snippetName), layoutDir + "/*"},
		Lister:   mpi.ComponentLister, Control: "coll",
		Name: "openmpi", Title: "Open MPI", Family: "openmpi", TestedRelease: tried[0], TestedReleases: tried[1:], Observation: mpi.ByTrace, Lists: true,
		Launcher: mpi.Launcher{
			Kind: "mpirun", Program: "mpirun", Names: []string{"mpirun.openmpi", "mpiexec.openmpi"},
			Title: "Open MPI", Answer: regexp.MustCompile(`\((?:Open MPI|OpenRTE|PRRTE)\) v?([0-9][0-9A-Za-z.]*)`),
			Env: []string{
				"OMPI_MCA_rmaps_base_oversubscribe=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe", "PRTE_MCA_mapby=:oversubscribe",
				"OMPI_MCA_hwloc_base_binding_policy=none", "OMPI_MCA_mpi_yield_when_idle=1",
			},
			RootEnv: []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
			PMI:     []string{"pmix", "pmi2"}, // no Srun: it needs a PMIx that matches
		},
		Install: mpi.Install{
			Compilers: []string{"mpicc.openmpi", "mpicc", "mpicc_abi"},
			Homes:     []string{"OPENMPI_DIR", "OPENMPI_HOME", "OPENMPI_ROOT", "OMPI_DIR", "EBROOTOPENMPI"},
			Tool:      mpi.ComponentTool, Runtime: "openmpi-bin", Headers: "libopenmpi-dev",
		},
	}
}

func (library) Releases() []*mpi.Catalogue { return releases() }

// table lists the algorithms of the component tuned by their numbers in rules and control variables. The source of
// each row is the source code of the releases that it names. Each algorithm of 4.1.4 was run on 2 to 8 ranks with 1 to
// 4096 elements. It was also run on 3 to 6 ranks with all kinds of calls, such as calls in place.
//
// Rules do not depend on operations or types. An algorithm that is wrong for some of them is therefore marked as not
// safe (op_safe). Most of these need operations that commute. The algorithms ring and segmented_ring of allreduce also
// write beyond their buffers if a type has a gap before its data. The algorithms sparbit and direct-messaging of
// allgather send as much as the send count says, also in place, where the standard ignores that count. The algorithm
// binomial of gather, which linear of allgather may call, receives with the type that is sent; elements of that type
// may overlap. In 4.1, modified_bruck of alltoall copies what is sent with the type received
// (github.com/open-mpi/ompi/pull/10488). The standard lets ranks describe the same data by different types. Algorithms
// that divide a bcast, and linear_sync of gather, count the elements of a segment in each rank's own type
// (github.com/open-mpi/ompi/issues/199). The rows of 6.0 were checked with 6.0.0rc2.
//
// Open MPI's own decisions use segments of 1 KiB to 1 MiB, most often 8 and 64 KiB
// (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, 4.1.4). The segment size 0 means no segments; segmented_ring would
// then be ring. Chains have a fan-out of 4 (coll_tuned_component.c). The value 0 means no limit on the number of
// requests. The components adapt and sm are off in jobs, so they are no values of inter and intra.
//
// The column function is empty if the name of the function follows from that of the algorithm. Its source is
// ompi/mca/coll/tuned/coll_tuned_*_decision.c of 4.1.4 and 6.0.
//
//go:embed algorithms.csv
var table string

var releases = mpi.Table(table, mpi.Rules{Lookup: lookup})

// takesRadix reports whether `faninout` is the radix of an algorithm. With the values 0 and 1
// such an algorithm never ends. A rule without faninout has the value 0. Source:
// ompi/mca/coll/base/coll_base_allgather.c and coll_base_reduce.c, 6.0.
func takesRadix(c coll.Collective, e mpi.Entry) bool {
	return slices.Contains(e.Params, "faninout") && (c == coll.Allgather && e.Name == "bruck-k-fanout" || c == coll.Reduce && e.Name == "knomial")
}

// lookup returns an error for an algorithm whose radix is missing or below 2, or whose component is unknown.
func lookup(cat *mpi.Catalogue, c coll.Collective, e mpi.Entry, alg coll.Algorithm) error {
	if !takesRadix(c, e) {
		return checkParts(cat, c, alg)
	}
	text, _ := alg.Param("faninout")
	if radix, err := strconv.Atoi(text); err == nil && radix < 2 || text == "" {
		return fmt.Errorf("%s %s %s %s: parameter faninout: %w: want a radix of 2 or more", cat.Library, cat.Version, c, alg, mpi.ErrUnknown)
	}
	return nil
}
