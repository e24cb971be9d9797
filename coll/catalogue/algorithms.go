package catalogue

import (
	"slices"
	"strconv"

	"tutti/coll"
)

// values are what Algorithms gives a parameter. The first is the library's own
// where it has one.
//
// Open MPI's fixed decisions cut messages into segments of 1 KiB to 1 MiB, most
// often 8 and 64 KiB (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, 4.1.4); 0
// does not cut. Its chains have a fan-out of 4 (coll_tuned_component.c), and it
// limits no requests (0).
// MPICH's radices are 2, its pipelined trees cut at 8 KiB, other switches are as
// its variables ship them (src/mpi/coll/cvars.txt, 4.1 to 4.3).
var values = map[string][]string{
	"segsize":           {"0", "8192", "65536"},
	"faninout":          {"4", "2"},
	"k":                 {"2", "4", "8"},
	"chunk_size":        {"8192", "65536"},
	"is_non_blocking":   {"1"},
	"recv_pre_posted":   {"0"},
	"single_phase_recv": {"0"},
	"buffer_per_child":  {"0"},
	"max_requests":      {"0"},
}

// treeTypes are the kinds of trees by their numbers, and by their names from the
// release on that reads names.
func (c *Catalogue) treeTypes() []string {
	if slices.Contains([]string{"4.1.2", "4.2.3"}, c.Version) {
		return []string{"0", "1"}
	}
	return []string{"kary", "knomial_1"}
}

// Algorithms lists what can be measured of a collective, the library's default
// aside: every algorithm with a few values for each parameter, and the
// compositions that split it, with every algorithm between the nodes. A few dozen
// at most; Check says which of them can run at a point.
//
// Left out are candidates that are the same as another one: a composition that
// hands the communicator on runs one of the algorithms; beta of bcast differs from
// alpha only when the root is not the first process of its node; on one node a
// composition is one algorithm again. The part within the nodes is left to the
// library, since parts of other collectives share it: no selection file can choose
// it for one collective alone.
func (c *Catalogue) Algorithms(collective coll.Collective) []coll.Algorithm {
	var out []coll.Algorithm
	for _, e := range c.entries[collective] {
		switch {
		case e.Has(InPlace): // never what a benchmark measures
		case !e.Composition():
			out = append(out, c.variants(e)...)
		case e.Has(Hierarchical) && !(collective == coll.Bcast && e.Name == "beta"):
			out = append(out, c.splits(collective, e)...)
		}
	}
	return out
}

// variants returns an algorithm with every combination of parameter values.
func (c *Catalogue) variants(e Entry) []coll.Algorithm {
	lists := [][]coll.Param{nil}
	for _, name := range e.Params {
		var longer [][]coll.Param
		for _, value := range c.valuesOf(e, name) {
			for _, l := range lists {
				longer = append(longer, append(slices.Clone(l), coll.Param{Name: name, Value: value}))
			}
		}
		lists = longer
	}
	var out []coll.Algorithm
	for _, l := range lists {
		out = append(out, named(e.Name, l...))
	}
	slices.SortFunc(out, coll.CompareAlgorithms)
	return out
}

func (c *Catalogue) valuesOf(e Entry, param string) []string {
	list := values[param]
	switch {
	case param == "tree_type":
		return c.treeTypes()
	case e.Name == "segmented_ring": // a ring when it is not cut
		return list[1:]
	case e.Name == "tree" && param == "chunk_size": // shipped uncut
		return []string{"0", strconv.Itoa(64 << 10)}
	}
	return list
}

// splits returns a composition with each algorithm that can run between nodes.
func (c *Catalogue) splits(collective coll.Collective, e Entry) []coll.Algorithm {
	if !slices.Contains(e.Params, Inter) {
		return []coll.Algorithm{named(e.Name)}
	}
	var out []coll.Algorithm
	for _, part := range c.entries[collective] {
		if part.canBePart() {
			out = append(out, named(e.Name, coll.Param{Name: Inter, Value: part.Name}))
		}
	}
	return out
}

func named(name string, params ...coll.Param) coll.Algorithm {
	a, err := coll.NewAlgorithm(name, params...)
	if err != nil {
		panic("catalogue: " + err.Error()) // names and values are part of the program
	}
	return a
}
