package libtutti

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"tutti/coll"
	"tutti/mpi"
)

// base is an MPI library with algorithms that libtutti can select for a single call.
type base struct {
	mpi.Measurable
	banner   string       // in the version that the release reports
	switches []mpi.Switch // written for every algorithm
}

// bases holds, for each MPI library, the format of its version text and the control variables that every
// algorithm needs.
var bases = map[string]base{
	// With this variable the library chooses another algorithm if an algorithm cannot run for a call.
	"mpich": {banner: "MPICH Version: %s", switches: []mpi.Switch{{Name: "MPIR_CVAR_COLLECTIVE_FALLBACK", Value: 2}}},
	// Without this variable, coll/tuned ignores all its other variables.
	"openmpi": {banner: "Open MPI v%s", switches: []mpi.Switch{{Name: "coll_tuned_use_dynamic_rules", Value: 1}}},
}

// WithLibraries returns the library libtutti with an additional release for each MPI library, such as
// 1+mpich-4.0.2. The catalogue of such a release has the algorithms of libtutti and of the MPI library. The
// first call that needs the releases reads the catalogues.
func WithLibraries(libs ...mpi.Measurable) mpi.Measurable {
	return &library{read: sync.OnceValues(func() ([]*mpi.Catalogue, map[string]base) {
		own := releases()[0]
		all, above := []*mpi.Catalogue{own}, map[string]base{}
		for _, lib := range libs {
			b := bases[lib.Facts().Name]
			b.Measurable = lib
			cat := b.catalogue()
			b.banner = fmt.Sprintf(b.banner, cat.Version)
			version := own.Version + "+" + cat.Library + "-" + cat.Version
			above[version] = b
			all = append(all, own.Above(cat, version, func(c coll.Collective, e mpi.Entry) bool { return b.switchable(cat, c, e) }))
		}
		return all, above
	})}
}

func (l *library) base(release string) (base, bool) {
	_, above := l.read()
	b, ok := above[release]
	return b, ok
}

// guarded lists the requirements that libtutti checks before each call. Tables list requirements in the
// same order.
var guarded = []mpi.Requirement{
	mpi.PowerOfTwo, mpi.Even, mpi.Commutative, mpi.CountSize, mpi.CountPowerOfTwo, mpi.TwoRanks, mpi.Parent, mpi.OneNode, mpi.BuiltinOp,
}

// switchable reports whether an algorithm can be selected for one call, and serves every call that meets
// its requirements. It returns false for allgatherv and alltoallv, because their ranks have different sizes
// and might choose different algorithms. It also returns false for nonblocking collectives, which libtutti does not serve.
func (b base) switchable(cat *mpi.Catalogue, c coll.Collective, e mpi.Entry) bool {
	if c.SizesDiffer() || c == coll.Allgatherv || c.Nonblocking() {
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

func anywhere(c coll.Collective) coll.Point {
	return coll.Point{Collective: c, Nodes: 2, PPN: 2, MsgBytes: 4096}
}

// activationOf returns the control variables with which the MPI library runs an algorithm, or nil for an algorithm of
// libtutti itself. It also returns the settings with which the MPI library must start.
func (b base) activationOf(cat *mpi.Catalogue, c coll.Collective, alg coll.Algorithm) (a *Activation, settings []mpi.Var, err error) {
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
	a = &Activation{New: f.NewComm}
	for _, r := range guarded {
		if e.Has(r) {
			a.Needs = append(a.Needs, r)
		}
	}
	a.Switches = slices.Clone(b.switches)
	for _, s := range f.Switches {
		if !b.always(s.Name) {
			a.Switches = append(a.Switches, s)
		}
	}
	for _, v := range f.Base {
		if !b.always(v.Name) {
			settings = append(settings, v)
		}
	}
	return a, settings, nil
}

func (b base) always(name string) bool {
	return slices.ContainsFunc(b.switches, func(s mpi.Switch) bool { return s.Name == name })
}

// catalogue returns the catalogue of the release of the MPI library that the tests use.
func (b base) catalogue() *mpi.Catalogue {
	f := b.Facts()
	i := slices.IndexFunc(b.Releases(), func(c *mpi.Catalogue) bool { return c.Version == f.TestedRelease })
	return b.Releases()[i]
}

// Force implements mpi.Measurable. Benchmark programs that know libtutti set the algorithm by a function
// call. Other programs start with a table that has one rule. An algorithm of the MPI library is forced in
// the same way as without libtutti. For the default, the MPI library chooses. All candidates load the algorithms
// of users, so that they can share a launch.
func (l *library) Force(cat *mpi.Catalogue, c coll.Candidate) (mpi.Forcing, error) {
	f, err := l.force(cat, c)
	if objects := objectsOf(cat, func(coll.Collective, mpi.Entry) bool { return true }); objects != "" {
		v := mpi.Var{Name: objectsVariable, Value: objects}
		f.Base, f.Env = append(slices.Clone(f.Base), v), append(slices.Clone(f.Env), v)
	}
	return f, err
}

func (l *library) force(cat *mpi.Catalogue, c coll.Candidate) (mpi.Forcing, error) {
	var f mpi.Forcing
	b, above := l.base(cat.Version)
	if above {
		inner, below := mpi.Below(b.Facts().Name, c.Algorithm)
		if below {
			return b.Force(b.catalogue().OnSite(cat.Site), coll.Candidate{Point: c.Point, Algorithm: inner})
		}
		var err error
		if f, err = b.Force(b.catalogue().OnSite(cat.Site), coll.Candidate{Point: c.Point, Algorithm: coll.Default}); err != nil {
			return f, err
		}
	}
	if c.Algorithm.IsDefault() {
		return f, nil
	}
	if _, err := cat.Lookup(c.Collective, c.Algorithm); err != nil {
		return mpi.Forcing{}, err
	}
	all := Table{Rules: []Rule{{Scope: Everywhere(c.Collective), Algorithm: c.Algorithm}}}
	f.Env, f.LibtuttiAlgorithm = []mpi.Var{{Name: variable, File: all.Bytes()}}, c.Algorithm
	return f, nil
}

// Settings implements mpi.Measurable. It returns the settings of the MPI libraries: they choose for the calls that
// libtutti passes on.
func (l *library) Settings(environ []string, listing string) []mpi.SiteSetting {
	var out []mpi.SiteSetting
	_, above := l.read()
	for _, release := range slices.Sorted(maps.Keys(above)) {
		out = append(out, above[release].Settings(environ, listing)...)
	}
	return out
}

// CheckAlgorithm implements mpi.Measurable. It compares the candidate with the algorithm that, according to
// libtutti, served the call.
func (*library) CheckAlgorithm(_ *mpi.Catalogue, c coll.Candidate, stacks [][]string) error {
	for _, names := range stacks {
		if want := c.Algorithm.String(); len(names) != 1 || names[0] != want {
			return mpi.OtherAlgorithm(names, want)
		}
	}
	return nil
}

func (l *library) Inspect(_ context.Context, b mpi.Installed) mpi.Inspection {
	if b.File == "" {
		return mpi.Inspection{}
	}
	return mpi.Inspection{Catalogue: l.Releases()[0], Build: []string{fmt.Sprintf("%s is preloaded into applications", b.File)}}
}
