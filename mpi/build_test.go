package mpi_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/selection"
)

func someExport() mpi.Export {
	return mpi.Export{
		Files:   []mpi.File{{Name: "layouts/2x4.rules", Content: []byte("own")}, {Name: "lib.rules", Content: []byte("common")}},
		Setup:   mpi.Setup{Settings: []mpi.Setting{{Name: "LIB_FILE", Value: "/dir/lib.rules"}}},
		Snippet: "lib.env",
		Stale:   []string{"lib.json", "lib.rules", "layouts/*.rules", "layouts"},
	}
}

// filesBelow returns the contents of all files below a folder.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		out[path] = string(text)
		return err
	})
	testutil.NoError(t, err)
	return out
}

// TestWrite checks that Write creates the files and removes stale ones, also in folders whose names contain
// characters that are special in patterns.
func TestWrite(t *testing.T) {
	for _, name := range []string{"plain", "[a-z]*", `b\ack`, "{}"} {
		dir := filepath.Join(t.TempDir(), name)
		testutil.NoError(t, os.Mkdir(dir, 0o755))
		for _, path := range []string{"lib.json", "mine.json"} {
			testutil.NoError(t, os.WriteFile(filepath.Join(dir, path), nil, 0o666))
		}
		x := someExport()
		testutil.NoError(t, x.Write(dir))
		want := map[string]string{
			"mine.json": "", "lib.rules": "common", "lib.env": "export LIB_FILE='/dir/lib.rules'\n", "lib.csh": "setenv LIB_FILE '/dir/lib.rules'\n", "layouts/2x4.rules": "own",
		}
		if d := cmp.Diff(want, filesBelow(t, dir)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}

		x.Files = x.Files[1:]
		testutil.NoError(t, x.Write(dir))
		delete(want, "layouts/2x4.rules")
		if d := cmp.Diff(want, filesBelow(t, dir)); d != "" {
			t.Errorf("%s, without the layout (-want +got):\n%s", name, d)
		}
		if _, err := os.Stat(filepath.Join(dir, "layouts")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the empty folder of layouts: %v, want none", name, err)
		}
	}
}

// TestWriteLeavesForeignFiles checks that Write does not remove a file that no export wrote, nor the folder
// of that file.
func TestWriteLeavesForeignFiles(t *testing.T) {
	dir := t.TempDir()
	testutil.NoError(t, someExport().Write(dir))
	note := filepath.Join(dir, "layouts", "note.txt")
	testutil.NoError(t, os.WriteFile(note, []byte("mine"), 0o666))
	x := someExport()
	x.Files = x.Files[1:]
	testutil.NoError(t, x.Write(dir))
	if _, err := os.Stat(note); err != nil {
		t.Error(err)
	}
}

// TestWriteFails checks an export whose files cannot all be written. The earlier settings must remain, and
// the files that they name must exist.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "layouts"), nil, 0o666); err != nil { // not a folder
		t.Fatal(err)
	}
	testutil.GoldenErrors(t)("layouts is no folder", someExport().Write(dir))
	if _, err := os.Stat(filepath.Join(dir, "lib.env")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the snippet: %v, want none", err)
	}
	if err := someExport().Write(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want ErrNotExist", err)
	}
	x := someExport()
	x.Setup.Settings[0].Name = "A B"
	if err := x.Write(dir); !errors.Is(err, mpi.ErrSetup) {
		t.Errorf("error = %v, want ErrSetup", err)
	}
}

func TestLoaded(t *testing.T) {
	x := someExport()
	l := coll.Layout{Nodes: 2, PPN: 4}
	x.Setup.Layouts = []mpi.LayoutSettings{{Layout: l, Settings: []mpi.Setting{{Name: "LIB_FILE", Value: "/dir/layouts/2x4.rules"}}}}
	tests := []struct {
		layout         coll.Layout
		variable, want string
	}{
		{coll.Layout{}, "LIB_FILE", "common"},
		{coll.Layout{Nodes: 4, PPN: 2}, "LIB_FILE", "common"},
		{l, "LIB_FILE", "own"},
		{l, "OTHER", ""},
	}
	for _, tc := range tests {
		if got := string(x.Loaded(tc.layout, tc.variable)); got != tc.want {
			t.Errorf("%v, %s: %q, want %q", tc.layout, tc.variable, got, tc.want)
		}
	}
}

func ExampleExport_Names() {
	x := someExport()
	fmt.Println(x.Names())
	fmt.Printf("%s\n", x.Loaded(coll.Layout{}, "LIB_FILE"))
	// Output:
	// [lib.rules lib.env lib.csh layouts/2x4.rules]
	// common
}

func TestPortable(t *testing.T) {
	_, cat, err := libraries.Release("mpich", "4.0.2")
	testutil.NoError(t, err)
	row := func(times ...any) selection.Row {
		r := selection.Row{Point: coll.Point{Collective: coll.Allgather, Nodes: 6, PPN: 1, MsgBytes: 64}}
		for i := 0; i < len(times); i += 2 {
			alg := testutil.Must(coll.ParseAlgorithm(times[i].(string)))(t)
			r.Options = append(r.Options, selection.Option{Algorithm: alg, Seconds: times[i+1].(float64)})
		}
		return r
	}
	tests := []struct {
		name string
		row  selection.Row
		want string // the options that stay
		left int
	}{
		{"both have it", row("ring", 1.0, "brucks", 2.0, "library_default", 3.0), "ring brucks library_default", 0},
		{"the best is new", row("k_brucks(k=2)", 1.0, "ring", 2.0, "library_default", 3.0), "library_default", 1},
		{"the best is new, another is as good", row("k_brucks(k=2)", 1.0, "ring", 1.04, "library_default", 3.0), "ring library_default", 0},
		{"the default is as good", row("k_brucks(k=2)", 1.0, "ring", 2.0, "library_default", 1.01), "ring library_default", 0},
		{"nothing stays", row("k_brucks(k=2)", 1.0), "", 1},
		{"cannot run there", row("recursive_doubling", 1.0, "library_default", 3.0), "library_default", 1},
		{"no options", row(), "", 0},
	}
	for _, tc := range tests {
		rows, left := cat.Portable([]selection.Row{tc.row}, "4.1.2", 0.05)
		var names []string
		for _, o := range rows[0].Options {
			names = append(names, o.Algorithm.String())
		}
		if got := strings.Join(names, " "); got != tc.want || left != tc.left {
			t.Errorf("%s: %q, %d left, want %q, %d", tc.name, got, left, tc.want, tc.left)
		}
	}
	if rows, left := cat.Portable([]selection.Row{tests[1].row}, "4.0.2", 0.05); left != 0 || len(rows[0].Options) != 3 {
		t.Errorf("the same release: %v, %d left", rows, left)
	}
}

func TestFitSafe(t *testing.T) {
	lib, cat, err := libraries.Release("openmpi", "4.1.4")
	testutil.NoError(t, err)
	r := selection.Row{Point: coll.Point{Collective: coll.Allreduce, Nodes: 4, PPN: 1, MsgBytes: 65536}}
	for i, name := range []string{"smp", "ring", "recursive_doubling", coll.Default.Name} { // smp is not of this library
		r.Options = append(r.Options, selection.Option{Algorithm: coll.Algorithm{Name: name}, Seconds: float64(1 + i)})
	}
	b := testutil.Must(lib.Open(cat, ""))(t)
	for safe, want := range map[bool]string{false: "ring", true: "recursive_doubling"} {
		sel := testutil.Must(mpi.Merge(b, []selection.Row{r}, mpi.MergeOptions{OpSafe: safe}))(t)
		if got, _ := sel.Select(r.Point); got.Name != want || len(r.Options) != 4 {
			t.Errorf("OpSafe %t selects %v, want %s, and the row as it was", safe, got, want)
		}
	}
}

func TestWriteFileNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "x.json")
	err := mpi.WriteFile(path, nil)
	if want := "write " + path + ": no such file or directory"; !errors.Is(err, os.ErrNotExist) || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

// TestProvenance checks that comments stand before the content of files whose library accepts them.
func TestProvenance(t *testing.T) {
	dir := t.TempDir()
	x := mpi.Export{Snippet: "lib.env", Provenance: []string{"campaign a */ b", "hash 1"}, Files: []mpi.File{
		{Name: "a.rules", Content: []byte("1\n"), Comment: mpi.HashComment},
		{Name: "a.json", Content: []byte("{}\n"), Comment: mpi.BlockComment},
		{Name: "a.table", Content: []byte("t\n")},
	}}
	testutil.NoError(t, x.Write(dir))
	for name, want := range map[string]string{
		"a.rules": "# campaign a */ b\n# hash 1\n1\n", "a.json": "/* campaign a * / b\n   hash 1 */\n{}\n", "a.table": "t\n",
	} {
		if got := string(testutil.Must(os.ReadFile(filepath.Join(dir, name)))(t)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
