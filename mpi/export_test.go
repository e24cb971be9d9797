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
	"tutti/selection"
)

func someExport() mpi.Export {
	return mpi.Export{
		Files:   []mpi.File{{Name: "layouts/2x4.rules", Content: []byte("own")}, {Name: "lib.rules", Content: []byte("common")}},
		Setup:   selection.Setup{Settings: []selection.Setting{{Name: "LIB_FILE", Value: "/dir/lib.rules"}}},
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

// TestWrite checks Write in folders whose names contain characters that are special in patterns.
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
			"mine.json": "", "lib.rules": "common", "lib.env": "export LIB_FILE='/dir/lib.rules'\n", "layouts/2x4.rules": "own",
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
	if err := someExport().Write(dir); err == nil || !strings.Contains(err.Error(), filepath.Join("layouts", "2x4.rules")) {
		t.Errorf("error = %v, want one that names the file", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "lib.env")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the snippet: %v, want none", err)
	}
	if err := someExport().Write(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want ErrNotExist", err)
	}
	x := someExport()
	x.Setup.Settings[0].Name = "A B"
	if err := x.Write(dir); !errors.Is(err, selection.ErrSetup) {
		t.Errorf("error = %v, want ErrSetup", err)
	}
}

func TestLoaded(t *testing.T) {
	x := someExport()
	l := coll.Layout{Nodes: 2, PPN: 4}
	x.Setup.Layouts = []selection.LayoutSettings{{Layout: l, Settings: []selection.Setting{{Name: "LIB_FILE", Value: "/dir/layouts/2x4.rules"}}}}
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
	// [lib.rules lib.env layouts/2x4.rules]
	// common
}
