package mpilibrarytest

import (
	"context"
	"testing"

	"tutti/mpi"
)

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
