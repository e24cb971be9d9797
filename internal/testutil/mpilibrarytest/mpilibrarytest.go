// Package mpilibrarytest tests every MPI library through the interfaces of package mpi.
//
//	func TestLibrary(t *testing.T) { mpilibrarytest.Run(t, mpich.Library) }
package mpilibrarytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// Run tests a library.
func Run(t *testing.T, lib mpi.Library) {
	t.Run("facts", func(t *testing.T) { testFacts(t, lib) })
	t.Run("catalogue", func(t *testing.T) { testCatalogues(t, lib) })
	t.Run("builds", func(t *testing.T) { testBuilds(t, lib) })
	t.Run("writing", func(t *testing.T) { testWriting(t, lib) })
	t.Run("porting", func(t *testing.T) { testPorting(t, lib) })
	if m, ok := lib.(mpi.Measurable); ok {
		t.Run("forcing", func(t *testing.T) { testForcing(t, m) })
	}
}

// Release returns the catalogue of the release with the given version.
func Release(t testing.TB, lib mpi.Library, version string) *mpi.Catalogue {
	t.Helper()
	all := lib.Releases()
	i := slices.IndexFunc(all, func(c *mpi.Catalogue) bool { return c.Version == version })
	if i < 0 {
		t.Fatalf("%s has no release %s", lib.Facts().Name, version)
	}
	return all[i]
}

// Algorithm parses the text of an algorithm. If the text is invalid, the test fails.
func Algorithm(t testing.TB, text string) coll.Algorithm {
	t.Helper()
	return testutil.Must(coll.ParseAlgorithm(text))(t)
}

// Check compares catalogues with a table. A line has a release, a collective, a layout, a message size, an
// algorithm and an expected result. The result is runs, unknown, or cannot; cannot means that the release
// has the algorithm but not for this point:
//
//	4.0.2 allgather 6x1 8 recursive_doubling cannot # a comment
func Check(t *testing.T, lib mpi.Library, table string) {
	t.Helper()
	for _, tc := range parse(t, table) {
		if err := Release(t, lib, tc.release).Check(tc.Candidate); !errors.Is(err, tc.want) {
			t.Errorf("%s: Check(%v) = %v, want %v", tc.release, tc.Candidate, err, tc.want)
		}
	}
}

// line is one line of a table of catalogue checks.
type line struct {
	release string
	coll.Candidate
	want error
	text string // the rest
}

func parse(t *testing.T, table string) []line {
	t.Helper()
	wants := map[string]error{"runs": nil, "cannot": mpi.ErrInfeasible, "unknown": mpi.ErrUnknown}
	var out []line
	for text := range strings.Lines(table) {
		words, _, _ := strings.Cut(text, "#")
		if strings.TrimSpace(words) == "" {
			continue
		}
		var l line
		var algorithm, want string
		if _, err := fmt.Sscanf(words, "%s %s %dx%d %d %s %s", &l.release, &l.Collective, &l.Nodes, &l.PPN, &l.MsgBytes, &algorithm, &want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		l.Algorithm = Algorithm(t, algorithm)
		var ok bool
		if l.want, ok = wants[want]; !ok {
			t.Fatalf("%s: want runs, cannot or unknown", text)
		}
		_, rest, _ := strings.Cut(words, " "+want)
		l.text = strings.TrimSpace(rest)
		out = append(out, l)
	}
	return out
}

// testFacts checks the facts with which tutti finds, launches and names a library. It also checks that
// tutti does not recognise other files as this library.
func testFacts(t *testing.T, lib mpi.Library) {
	f := lib.Facts()
	needed := map[string]string{
		"name": f.Name, "title": f.Title, "family": f.Family, "kind of launcher": f.Launcher.Kind, "launcher": f.Launcher.Program,
	}
	m, measurable := lib.(mpi.Measurable)
	if measurable {
		testNothing(t, m)
	}
	if measurable && !f.Preload { // the MPI library next to it is found and started as without it
		needed["title of its launcher"] = f.Launcher.Title
		needed["package of its launcher"] = f.Install.Runtime
		needed["package of its headers"] = f.Install.Headers
	}
	for name, text := range needed {
		if text == "" {
			t.Errorf("no %s", name)
		}
	}
	if len(f.Install.Compilers) == 0 || measurable && !f.Preload && (f.Family != f.Name || f.Launcher.Answer == nil || len(f.Launcher.PMI) == 0) {
		t.Errorf("%+v: want compilers; to be measured, a family of its own, its launcher's answer and plugins of srun", f)
	}
	if name := lib.Recognise([]byte("\x00GNU C Library\x002.36\x00")); name != "" {
		t.Errorf("the C library is taken for %s", name)
	}
}

// testNothing checks that an inspection of a build reports nothing if the build has no file and no tools.
func testNothing(t *testing.T, lib mpi.Measurable) {
	t.Helper()
	got := lib.Inspect(t.Context(), mpi.Installed{Version: lib.Releases()[0].Version, Tools: noTools{}})
	if got.Catalogue != nil || len(got.Absent)+len(got.Unlisted) > 0 || (got.Fault == "") != (got.Fix == "") {
		t.Errorf("a build with neither file nor tools: %+v, want nothing known of it", got)
	}
}

// noTools is an installed MPI library that has no programs.
type noTools struct{}

func (noTools) Find(string) string { return "" }

func (noTools) Ask(context.Context, string, ...string) string { return "" }
