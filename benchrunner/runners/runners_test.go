package runners_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/benchrunner/runners"
	"tutti/internal/testutil"
)

// TestKinds checks that the names of kinds differ, that the defaults of their keys can be stored, and that the table
// in docs/how-to/install.md has a row for each kind.
func TestKinds(t *testing.T) {
	text := string(testutil.Must(os.ReadFile("../../docs/how-to/install.md"))(t))
	seen := map[string]bool{}
	for _, k := range runners.Defaults().All() {
		f := k.Facts()
		if f.Name == "" || f.Doc == "" || seen[f.Name] {
			t.Errorf("kind %+v: want a name of its own and a description", f)
		}
		seen[f.Name] = true
		if !strings.Contains(text, "| `"+f.Name+"` |") {
			t.Errorf("docs/how-to/install.md has no row for %s", f.Name)
		}
		if f.Queue() && !hasSuite(t, f.Name) {
			t.Errorf("no test ../live/%s*_test.go runs the suite of runners", f.Name)
		}
		if f.Queue() && f.Attached || f.OneNode && !f.Attached {
			t.Errorf("kind %+v contradicts itself", f)
		}
	}
	if s := runners.Defaults(); !s.Slurm.Exclusive || s.Slurm.MaxJobs != 4 || s.PBS.Place == "" {
		t.Errorf("defaults %+v", s)
	}
}

// hasSuite reports whether a test of live with the name of a kind runs the suite that every runner passes.
func hasSuite(t *testing.T, kind string) bool {
	t.Helper()
	return slices.ContainsFunc(testutil.Must(filepath.Glob("../live/"+kind+"*_test.go"))(t), func(file string) bool {
		return strings.Contains(string(testutil.Must(os.ReadFile(file))(t)), "runnertest.Run(")
	})
}

// TestPrograms checks that the names of benchmark programs differ and that each measures with the options of its trial.
func TestPrograms(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range runners.Programs() {
		if k.Name == "" || seen[k.Name] || len(k.Keys) == 0 || k.Launches == "" {
			t.Errorf("kind %+v: want a name of its own, keys and a launch model", k)
		}
		seen[k.Name] = true
		if k.BuiltIn || k.Search.File != "" {
			if p, err := k.New(k.Path("/opt/"+k.Search.File), k.Trial); err != nil || p.Name() != k.Name {
				t.Errorf("%s: program %v, %v", k.Name, p, err)
			}
		}
		if s := k.Search; s.File != "" && (s.Title == "" || s.Home == "" || s.Install == "") {
			t.Errorf("%s: search %+v: want title, variable and how to install", k.Name, s)
		}
	}
	if k := runners.Program("none"); k.Name != "" {
		t.Errorf("an unknown name is %q", k.Name)
	}
}
