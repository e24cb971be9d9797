package openmpi

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// CheckAlgorithm implements mpi.Measurable. No function is observable if the component coll/tuned is linked
// into the library itself. A function of a component with a higher priority, such as coll/adapt, counts as
// another algorithm.
func (library) CheckAlgorithm(cat *mpi.Catalogue, c coll.Candidate, stacks [][]string) error {
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return err
	}
	if isHan(e.ID) {
		return errors.New("coll/han does not show its algorithm")
	}
	want := cmp.Or(e.Function, basePrefix+string(c.Collective)+"_intra_"+e.Name)
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

const basePrefix = "ompi_coll_base_"

// plain removes underscores and hyphens from a name. Open MPI has several names for one algorithm that
// differ only in these characters.
func plain(name string) string { return strings.NewReplacer("_", "", "-", "").Replace(name) }
