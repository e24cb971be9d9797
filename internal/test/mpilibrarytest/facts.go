package mpilibrarytest

import (
	"context"
	"testing"

	"tutti/mpi"
)

// testFacts: whoever finds, starts and names a library is told what that takes, and
// what is not there is not taken for a library.
func testFacts(t *testing.T, lib mpi.Library) {
	f := lib.Facts()
	if f.Name == "" || f.Title == "" || f.Family == "" || f.Launcher.Kind == "" || f.Launcher.Program == "" || len(f.Install.Compilers) == 0 {
		t.Errorf("%+v: want names, a launcher and compilers", f)
	}
	if r := lib.Recognise(); r != nil {
		for _, text := range []string{"", "GNU C Library", "2.36"} {
			r.See([]byte(text))
		}
		if name := r.Name(); name != "" {
			t.Errorf("the C library is taken for %s", name)
		}
	}
	m, ok := lib.(mpi.Measurable)
	if !ok {
		return
	}
	if f.Family != f.Name || f.Launcher.Answer == nil || f.Launcher.Title == "" || len(f.Launcher.PMI) == 0 || f.Install.Runtime == "" || f.Install.Headers == "" {
		t.Errorf("%+v: want a family of its own, how its launcher answers, plugins of srun, and packages", f)
	}
	got := m.Inspect(t.Context(), mpi.Installed{Version: lib.Releases()[0].Version, Tools: noTools{}})
	if got.Catalogue != nil || len(got.Absent)+len(got.Unlisted) > 0 || (got.Fault == "") != (got.Cure == "") {
		t.Errorf("a build with neither file nor tools: %+v, want nothing known of it", got)
	}
}

// noTools is an installation without programs.
type noTools struct{}

func (noTools) Find(string) string { return "" }

func (noTools) Ask(context.Context, string, ...string) string { return "" }
