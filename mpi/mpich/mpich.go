package mpich

import (
	_ "embed"
	"fmt"
	"regexp"
	"sync"

	"tutti/coll"
	"tutti/mpi"
)

// Library is MPICH.
var Library mpi.Measurable = library{}

type library struct{}

func (library) Facts() mpi.Facts {
	return mpi.Facts{
		Name: "mpich", Title: "MPICH", Family: "mpich", TestedRelease: "4.0.2", TestedReleases: []string{"4.2.1", "5.0.2"}, Observation: mpi.ByStack,
		Files:    []string{flatName, deviceName, snippetName, mpi.CshName(snippetName), layoutDir + "/*.json"},
		FromFile: true, Lists: true,
		Launcher: mpi.Launcher{
			Kind: "hydra", Program: "mpiexec.hydra", Names: []string{"mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich"},
			Title: "Hydra", Answer: regexp.MustCompile(`(?s)HYDRA build details:.*?Version:\s+([0-9][0-9A-Za-z.]*)`),
			Srun: true, PMI: []string{"pmi2", "cray_shasta", "pmix"},
		},
		Install: mpi.Install{
			Compilers: []string{"mpicc.mpich", "mpicc", "mpicc_abi"},
			Homes:     []string{"MPICH_DIR", "MPICH_HOME", "MPICH_ROOT", "EBROOTMPICH", "EBROOTPSMPI"},
			Tool:      "mpichversion", Runtime: "mpich", Headers: "libmpich-dev",
		},
	}
}

func (library) Releases() []*mpi.Catalogue { return releases() }

// table lists the algorithms in the order of the control-variable values that select them. The compositions follow,
// with numbers that tutti gives them. Each row was read from the source code of the releases that it names. Each
// algorithm of 4.0.2 was run on 2 to 8 ranks with 1 to 4096 elements. It was also run on 3 to 6 ranks with all kinds of
// calls, such as calls in place.
//
// The library's own value of a parameter comes first: radix 2, and segments of 8 KiB in pipelined trees. The other
// values are the defaults of the control variables. Source: src/mpi/coll/cvars.txt of MPICH 4.1 to 4.3.
//
//go:embed algorithms.csv
var table string

// faults lists algorithms that crash or deliver wrong data in some releases, with the calls and the evidence.
//
//go:embed faults.csv
var faults string

var faultRows = sync.OnceValue(func() [][]string { return mpi.EmbeddedRows(faults) })

func leftOut(release string) []string {
	var out []string
	for _, row := range faultRows() {
		if name, from, before := row[0], row[1], row[2]; mpi.AtLeast(release, mpi.ReleaseNumbers(from)...) &&
			(before == "" || !mpi.AtLeast(release, mpi.ReleaseNumbers(before)...)) {
			out = append(out, name)
		}
	}
	return out
}

var releases = mpi.Table(table, mpi.Rules{Lookup: lookup, Check: feasibleParts, Variants: variants, Renamed: renamed})

// lookup returns an error if a parameter of an algorithm is missing, because the library has no default for it. For a
// composition, it returns an error if the algorithm of a part is unknown.
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

// variants returns the candidates of a catalogue entry. For an algorithm, they have a few values for each parameter.
// For a composition, they have each algorithm that can run between the nodes.
//
// It omits compositions that equal another candidate: those that run on the whole communicator, and those on one
// node. It also omits the composition beta of bcast, which differs from alpha only for other roots. Algorithms
// within the nodes are no candidates. Other collectives use them, too, so no file can select one for a single
// collective.
func variants(cat *mpi.Catalogue, c coll.Collective, e mpi.Entry) []coll.Algorithm {
	switch {
	case !composes(e):
		return mpi.Variants(e)
	case e.Has(mpi.Hierarchical) && !(c == coll.Bcast && e.Name == "beta"):
		e.Values = map[string][]string{interPart: partNames(cat, c)}
		return mpi.Variants(e)
	}
	return nil
}

// namesTrees reports whether the selection files of a release name the kinds of trees, such as "kary". The
// files of releases before 4.3 contain numbers.
func namesTrees(release string) bool { return mpi.AtLeast(release, 4, 3) }

// renamed reports whether the parameters of an algorithm have another meaning in another release. The kind
// of a tree is a number before 4.3 and a name since 4.3.
func renamed(alg coll.Algorithm, from, to string) bool {
	_, tree := alg.Param("tree_type")
	return tree && namesTrees(from) != namesTrees(to)
}
