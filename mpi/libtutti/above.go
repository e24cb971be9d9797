package libtutti

import (
	"fmt"
	"slices"
	"sync"

	"tutti/coll"
	"tutti/mpi"
)

// base is an MPI library whose own algorithms can be switched for one call. What is
// known of that was tried with one release.
type base struct {
	mpi.Measurable
	banner   string       // of what the release says of itself, as a table has it
	switches []mpi.Switch // written with every algorithm, whatever it is measured with
}

// known are the banners and switches of libraries by their names.
var known = map[string]base{
	// An algorithm that cannot serve a call leaves it to the library's own choice.
	"mpich": {banner: "MPICH Version: %s", switches: []mpi.Switch{{Name: "MPIR_CVAR_COLLECTIVE_FALLBACK", Value: 2}}},
	// Without it the component looks at no other.
	"openmpi": {banner: "Open MPI v%s", switches: []mpi.Switch{{Name: "coll_tuned_use_dynamic_rules", Value: 1}}},
}

// Above is Library with releases above MPI libraries: those whose algorithms it can
// switch, as 1+mpich-4.0.2. Their catalogues have the algorithms of both.
func Above(libs ...mpi.Measurable) mpi.Measurable {
	l := &library{bases: map[string]base{}}
	own := releases()[0]
	all := []*mpi.Catalogue{own}
	for _, lib := range libs {
		f := lib.Facts()
		b, ok := known[f.Name]
		at := slices.IndexFunc(lib.Releases(), func(c *mpi.Catalogue) bool { return c.Version == f.Tried })
		if !ok || at < 0 {
			panic("libtutti: " + f.Name + ": nobody tried to switch its algorithms")
		}
		cat := lib.Releases()[at]
		b.Measurable, b.banner = lib, fmt.Sprintf(b.banner, cat.Version)
		version := own.Version + "+" + f.Name + "-" + cat.Version
		l.bases[version] = b
		all = append(all, own.Above(cat, version, func(c coll.Collective, e mpi.Entry) bool { return b.switchable(cat, c, e) }))
	}
	l.releases = sync.OnceValue(func() []*mpi.Catalogue { return all })
	return l
}

// guarded are the requirements that the library looks at before a call, in the order of
// a table.
var guarded = []mpi.Requirement{
	mpi.PowerOfTwo, mpi.Even, mpi.Commutative, mpi.CountSize, mpi.CountPowerOfTwo, mpi.TwoRanks, mpi.Parent, mpi.OneNode, mpi.BuiltinOp,
}

// switchable reports whether an algorithm can be switched on for one call, and is right
// for whatever call passes its guards. Ranks of an alltoallv know sizes of their own alone.
func (b base) switchable(cat *mpi.Catalogue, c coll.Collective, e mpi.Entry) bool {
	if c == coll.Alltoallv || c == coll.Allgatherv {
		return false
	}
	counts := c == coll.Allreduce || c == coll.Reduce
	for _, r := range e.Requires {
		if !slices.Contains(guarded, r) || (r == mpi.CountSize || r == mpi.CountPowerOfTwo) && !counts {
			return false
		}
	}
	f, err := b.Force(cat, coll.Candidate{Point: anywhere(c), Algorithm: coll.Algorithm{Name: e.Name}})
	return err == nil && !slices.ContainsFunc(f.Base, func(v mpi.Var) bool { return v.File != nil })
}

// anywhere is a point where an algorithm is forced as everywhere.
func anywhere(c coll.Collective) coll.Point {
	return coll.Point{Collective: c, Nodes: 2, PPN: 2, MsgBytes: 4096}
}

// wayOf says how the library runs an algorithm that is an MPI library's own; settings are
// those that the MPI library must start with.
func (b base) wayOf(cat *mpi.Catalogue, c coll.Collective, alg coll.Algorithm) (w *Way, settings []mpi.Var, err error) {
	inner, ok := mpi.Below(b.Facts().Name, alg)
	if !ok {
		return nil, nil, nil
	}
	e, err := cat.Lookup(c, alg)
	if err != nil {
		return nil, nil, err
	}
	f, err := b.Force(b.catalogue(), coll.Candidate{Point: anywhere(c), Algorithm: inner})
	if err != nil {
		return nil, nil, err
	}
	w = &Way{New: f.NewComm}
	for _, r := range guarded {
		if e.Has(r) || r == mpi.BuiltinOp && !e.OpSafe {
			w.Needs = append(w.Needs, r)
		}
	}
	w.Switches = slices.Clone(b.switches)
	for _, s := range f.Switches {
		if !b.always(s.Name) {
			w.Switches = append(w.Switches, s)
		}
	}
	for _, v := range f.Base {
		if !b.always(v.Name) {
			settings = append(settings, v)
		}
	}
	return w, settings, nil
}

// always reports whether a variable is one that is written with every algorithm.
func (b base) always(name string) bool {
	return slices.ContainsFunc(b.switches, func(s mpi.Switch) bool { return s.Name == name })
}

// catalogue is that of the release that was tried.
func (b base) catalogue() *mpi.Catalogue {
	f := b.Facts()
	i := slices.IndexFunc(b.Releases(), func(c *mpi.Catalogue) bool { return c.Version == f.Tried })
	return b.Releases()[i]
}

func isGuarded(r mpi.Requirement) bool { return slices.Contains(guarded, r) }
