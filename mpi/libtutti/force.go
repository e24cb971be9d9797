package libtutti

import (
	"context"
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/mpi"
)

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
			return b.Force(b.catalogue(), coll.Candidate{Point: c.Point, Algorithm: inner})
		}
		var err error
		if f, err = b.Force(b.catalogue(), coll.Candidate{Point: c.Point, Algorithm: coll.Default}); err != nil {
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
	f.Env, f.Own = []mpi.Var{{Name: variable, File: all.Bytes()}}, c.Algorithm
	return f, nil
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
