package libtutti

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/infile"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/selection"
)

// userObject builds a shared object with algorithms of a user.
func userObject(t *testing.T) string {
	t.Helper()
	return testutil.BuildProgram(t, testutil.MPICH, testutil.UserLibrary)
}

func TestReadUsers(t *testing.T) {
	object := userObject(t)
	want := []mpi.User{
		{Object: object, Collective: coll.Allreduce, Name: "chain"},
		{Object: object, Collective: coll.Bcast, Name: "star", Parameter: "segsize", MaxRanks: 64},
	}
	if diff := cmp.Diff(want, testutil.Must(ReadUsers([]string{object}))(t)); diff != "" {
		t.Errorf("algorithms (-want +got):\n%s", diff)
	}
	for _, w := range testutil.WrongObjects(t, object) {
		if _, err := ReadUsers([]string{w.Path, object}); err == nil || !strings.Contains(err.Error(), w.Want) {
			t.Errorf("%s: error %v, want %q", w.Path, err, w.Want)
		}
	}
}

// TestWithUsers checks that algorithms of users are candidates, can be forced, and are selected by a table.
func TestWithUsers(t *testing.T) {
	users := []mpi.User{
		{Object: "/lib/a.so", Collective: coll.Bcast, Name: "star", Parameter: "segsize", MaxRanks: 8},
		{Object: "/lib/b.so", Collective: coll.Bcast, Name: "cube", Needs: []mpi.Requirement{mpi.PowerOfTwo}},
		{Object: "/lib/c.so", Collective: coll.Scan, Name: "row"},
	}
	for _, release := range WithLibraries().Releases() {
		cat := WithUsers(release, users)
		if cat.Listed != release.Listed || cat.Version != release.Version {
			t.Errorf("release %s as %s, listed %s", release.Version, cat.Version, cat.Listed)
		}
		var names []string
		for _, alg := range cat.Algorithms(coll.Bcast)[len(release.Algorithms(coll.Bcast)):] {
			names = append(names, alg.String())
		}
		if got := strings.Join(names, " "); got != "user.star user.star(segsize=131072) user.star(segsize=32768) user.star(segsize=8192) user.cube" {
			t.Errorf("candidates %s", got)
		}
	}
	cat := WithUsers(Library.Releases()[0], users)
	for text, want := range map[string]error{"8 user.star": nil, "9 user.star": mpi.ErrInfeasible, "6 user.cube": mpi.ErrInfeasible, "8 user.cube": nil, "8 user.row": mpi.ErrUnknown, "8 user.star(segsize=0)": mpi.ErrUnknown} {
		var c coll.Candidate
		var name string
		testutil.Must(fmt.Sscan(text, &c.Nodes, &name))(t)
		c.PPN, c.MsgBytes, c.Collective, c.Algorithm = 1, 1<<20, coll.Bcast, testutil.Must(coll.ParseAlgorithm(name))(t)
		f, err := mpi.Force(Library, cat, c)
		if !errors.Is(err, want) || want == nil && (f.LibtuttiAlgorithm != c.Algorithm || !slices.ContainsFunc(f.Base, func(v mpi.Var) bool { return v.Name == objectsVariable && v.Value == "/lib/a.so:/lib/b.so:/lib/c.so" })) {
			t.Errorf("%s: forced by %+v, %v, want %v", text, f, err, want)
		}
	}
	b := Build{library: Library.(*library), cat: cat}
	star := coll.Algorithm{Name: "user.star"}
	rows := []selection.Row{{Point: anywhere(coll.Bcast), Options: []selection.Option{{Algorithm: star, Seconds: 1}, {Algorithm: coll.Default, Seconds: 2}}}}
	sel := testutil.Must(b.Merge(rows, 0))(t)
	x := testutil.Must(b.Export(sel, "/dir"))(t)
	testutil.NoError(t, b.Replay(x, sel, rows))
	if !slices.Contains(x.Setup.Settings, mpi.Setting{Name: objectsVariable, Value: "/lib/a.so"}) {
		t.Errorf("settings %v", x.Setup.Settings)
	}
}

// TestReadUsersOfKinds checks that only regular files are read, so that a named pipe does not block.
func TestReadUsersOfKinds(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.so")
	testutil.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/zero", t.TempDir()} {
		if _, err := ReadUsers([]string{path}); !errors.Is(err, infile.ErrKind) {
			t.Errorf("ReadUsers(%s) = %v, want an error that matches infile.ErrKind", path, err)
		}
	}
}
