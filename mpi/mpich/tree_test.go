package mpich

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

func TestReadLibrary(t *testing.T) {
	want := testutil.Must(embeddedTree("4.0.2"))(t)
	device := testutil.Must(os.ReadFile("trees/4.0.2.ch4.json"))(t)
	tree := testutil.Must(os.ReadFile("trees/4.0.2.json"))(t)
	names := testutil.Must(os.ReadFile("trees/4.0.2.names"))(t)
	var lib bytes.Buffer
	lib.WriteString("\x7fELF\x00{\"collective=bcast\":{\"algorithm=MPIDI_POSIX_x\":{}}}\x00\x81\x97")
	lib.Write(bytes.TrimSpace(device))
	lib.WriteByte(0)
	lib.Write(bytes.TrimSpace(tree))
	lib.WriteByte(0)
	lib.Write(bytes.Repeat([]byte("code"), 1<<19))
	lib.WriteString("\x00ch4:ofi\x00node->type == CSEL_NODE_TYPE__OPERATOR__COLLECTIVE\x00./src/mpid/ch4/shm/posix/posix_coll.h\x00")
	lib.WriteString("\x00Thu Apr  7 12:34:45 CDT 2022\x004.0.2\x00\x00127.0.0.1\x00")
	lib.Write(bytes.ReplaceAll(names, []byte("\n"), []byte("\x00")))
	path := filepath.Join(t.TempDir(), "libmpich.so")
	testutil.NoError(t, os.WriteFile(path, lib.Bytes(), 0o644))
	got := testutil.Must(readLibraryTree(path))(t)
	want.Source, want.Transport, want.Asserts, want.Posix = path, "ch4:ofi", true, true
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-embedded +read):\n%s", d)
	}
}

func TestLibraryRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	_, err := embeddedTree("5.0.1")
	golden("5.0.1", err, errNoTree)
	path := filepath.Join(t.TempDir(), "libother.so")
	testutil.NoError(t, os.WriteFile(path, []byte("CSEL_NODE_TYPE__OPERATOR__COLLECTIVE\x00ch4\x00ch3:nemesis"), 0o644))
	lib, err := readLibraryTree(path)
	golden("no tree in the library", err, errNoTree)
	if lib.Transport != "ch3:nemesis" || lib.Asserts || lib.Posix {
		t.Errorf("without a tree: %+v, want the device that it names", lib)
	}
	if _, err := readLibraryTree(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing library: %v, want ErrNotExist", err)
	}
}

func TestParse(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct{ name, text, want string }{ // want "" is an error
		{name: "spaces in keys", text: `{ "comm_size <= 4" : {} }`, want: `{"comm_size<=4":{}}`},
		{name: "last value at the first place", text: `{"a":{"x":{}},"b":{},"a":{"y":{}}}`, want: `{"a":{"y":{}},"b":{}}`},
		{name: "escapes", text: "{\"comm_size\\u003c=4\":{}}", want: `{"comm_size<=4":{}}`},
		{name: "empty", text: ""},
		{name: "number", text: "{\"a\":\n 4}"},
		{name: "cut off", text: `{"a":{`},
		{name: "open key", text: `{"a\`},
		{name: "comma at the end", text: `{"a":{},}`, want: `{"a":{}}`},
		{name: "trailing text", text: `{} x`, want: `{}`},
		{name: "comments and quotes", text: "/* a */ {'a':{} // }\n}", want: `{"a":{}}`},
		{name: "two commas", text: `{"a":{},,}`},
		{name: "byte order mark", text: "\ufeff{}"},
		{name: "deep", text: strings.Repeat(`{"a":`, 100) + "{}" + strings.Repeat("}", 100)},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseTree([]byte(tc.text))
			if tc.want == "" {
				golden(tc.name, err, errTreeSyntax)
				return
			}
			want, werr := parseTree([]byte(tc.want))
			if err != nil || werr != nil {
				t.Fatal(err, werr)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	tree := testutil.Must(os.ReadFile("trees/4.0.2.json"))(f)
	f.Add(tree)
	f.Add([]byte(`{"collective=bcast":{"comm_size<4":{"algorithm=x":{"k=2":{}}},"any":{}}}`))
	f.Add([]byte(`{"a\`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, err := parseTree(text)
		if err != nil {
			return
		}
		again, err := parseTree(tree.Bytes())
		if err != nil {
			t.Fatalf("written tree: %v", err)
		}
		// Keys that differ only in spaces become equal when the tree is written.
		if !bytes.Contains(text, []byte(" ")) && !bytes.Contains(text, []byte(`\`)) && !bytes.Equal(tree.Bytes(), again.Bytes()) {
			t.Fatalf("%s\nread back as\n%s", tree.Bytes(), again.Bytes())
		}
	})
}

// TestCompare checks that the function `compare` ignores the library's functions for nonblocking calls and for
// intercommunicators. It must report an algorithm that only the library or only the catalogue has.
func TestCompare(t *testing.T) {
	cat := release(t, "4.0.2")
	var lib libraryTree
	for _, c := range coll.Collectives() {
		for _, e := range cat.Entries(c) {
			if composes(e) {
				lib.Compositions = append(lib.Compositions, e.Function)
			} else {
				lib.Leaves = append(lib.Leaves, e.Function)
			}
		}
	}
	all := len(lib.Leaves) + len(lib.Compositions)
	passed := libraryTree{
		Leaves:       append([]string{"MPIR_Bcast_intra_nb", "MPIR_Ibcast_intra_sched_binomial", "MPIR_Bcast_inter_flat"}, lib.Leaves...),
		Compositions: lib.Compositions,
	}
	absent, unlisted, listed := compare(cat, passed)
	if len(absent) > 0 || len(unlisted) > 0 || listed != all {
		t.Errorf("absent %v, unlisted %v, %d listed of %d", absent, unlisted, listed, all)
	}

	older := libraryTree{Leaves: []string{"MPIR_Bcast_intra_osu_zcpy"}} // a relative without compositions
	for _, name := range lib.Leaves {
		if name != "MPIR_Bcast_intra_binomial" {
			older.Leaves = append(older.Leaves, name)
		}
	}
	absent, unlisted, listed = compare(cat, older)
	if d := cmp.Diff([]string{"bcast binomial"}, absent); d != "" {
		t.Errorf("absent (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"MPIR_Bcast_intra_osu_zcpy"}, unlisted); d != "" || listed != len(lib.Leaves) {
		t.Errorf("%d listed of %d, unlisted (-want +got):\n%s", listed, len(lib.Leaves), d)
	}
}

func TestInspect(t *testing.T) {
	// A tree and a composition (plan of the ch4 device), as a library stores them.
	const (
		tree    = `{"collective=bcast":{"algorithm=MPIR_Bcast_intra_binomial":{}}}`
		device  = `{"collective=bcast":{"composition=MPIDI_Bcast_intra_composition_alpha":{}}}`
		leaf    = "algorithm=MPIR_Bcast_intra_binomial"
		alpha   = "composition=MPIDI_Bcast_intra_composition_alpha"
		asserts = "node->type == CSEL_NODE_TYPE__OPERATOR__COLLECTIVE"
		posix   = "./src/mpid/ch4/shm/posix/posix_coll.h"
	)
	tests := []struct {
		name, version string
		texts         []string
		device        string
		checks        string
		build         []string
		catalogue     string
		fault         string // a part
	}{
		{"ch4", "4.0.2", []string{"ch4:ucx", tree, leaf, device, alpha, asserts, posix}, "ch4:ucx", "on",
			[]string{"device ch4:ucx, with device and shared-memory collectives", "checks itself: a bad selection file aborts"}, "4.0.2", ""},
		{"no shared memory", "4.2.1", []string{"ch4:ofi", tree, leaf, alpha}, "ch4:ofi", "off",
			[]string{"device ch4:ofi, with device collectives, none through shared memory", "built without checks: a bad selection file is undefined behaviour"}, "4.2.3", ""},
		{"no nodes", "5.0.2", []string{"Thu Oct  1 12:34:45 CDT 2026", "5.0.2", "ch4:ucx", tree, leaf, alpha, asserts}, "ch4:ucx", "on",
			[]string{"device ch4:ucx, with device collectives, none through shared memory",
				"takes each rank for a node: algorithms for nodes are not used, and some layouts have files of their own",
				"checks itself: a bad selection file aborts"}, "5.0.1", ""},
		{"ch3", "4.0.2", []string{"ch3:nemesis", tree, leaf}, "ch3:nemesis", "off",
			[]string{"device ch3:nemesis, without device collectives", "built without checks: a bad selection file is undefined behaviour"}, "4.0.2", ""},
		{"no tree", "3.4", []string{"ch3:nemesis"}, "ch3:nemesis", "", []string{"device ch3:nemesis, without device collectives"}, "", "no selection tree"},
		{"no release near", "main", []string{tree, asserts}, "", "on", []string{"checks itself: a bad selection file aborts"}, "", "no list of algorithms"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "libmpich.so")
			testutil.NoError(t, os.WriteFile(path, []byte("\x7fELF\x00"+strings.Join(tc.texts, "\x00")+"\x00"), 0o644))
			got := Library.Inspect(t.Context(), mpi.Installed{Version: tc.version, File: path})
			if got.Device != tc.device || got.Checks != tc.checks || (got.Fault == "") != (tc.fault == "") || !strings.Contains(got.Fault, tc.fault) {
				t.Errorf("got %+v, want device %q, checks %q, fault %q", got, tc.device, tc.checks, tc.fault)
			}
			if d := cmp.Diff(tc.build, got.Build); d != "" {
				t.Errorf("build (-want +got):\n%s", d)
			}
			if tc.fault != "" {
				if got.Catalogue != nil || got.Fix != "use MPICH 4.0 or newer" {
					t.Errorf("got %+v, want no catalogue and a cure", got)
				}
				return
			}
			if got.Catalogue.Listed != tc.catalogue || len(got.Absent) == 0 || len(got.Absent) >= got.Listed {
				t.Errorf("%d of %d absent of catalogue %s, want some and %s", len(got.Absent), got.Listed, got.Catalogue.Listed, tc.catalogue)
			}
		})
	}
	if got := Library.Inspect(t.Context(), mpi.Installed{Version: "4.0.2"}); !cmp.Equal(got, mpi.Inspection{}) {
		t.Errorf("without a file: %+v, want nothing", got)
	}
}

// TestLeftOut checks that the function `compare` does not report the algorithms in faults.csv as missing from the
// catalogue. No release may offer an algorithm that is wrong in this release.
func TestLeftOut(t *testing.T) {
	b := known(t)
	if _, unlisted, _ := compare(b.cat, b.lib); len(unlisted) > 0 {
		t.Errorf("unlisted in 4.0.2: %v", unlisted)
	}
	for release, want := range map[string]int{"4.0.2": 11, "4.1.2": 17, "4.2.0": 16, "4.2.3": 16, "5.0.1": 16} {
		if got := leftOut(release); len(got) != want {
			t.Errorf("%s: %v, want %d leaves", release, got, want)
		}
	}
	for _, cat := range Library.Releases() {
		for _, c := range coll.Collectives() {
			for _, e := range cat.Entries(c) {
				if slices.Contains(leftOut(cat.Version), e.Function) {
					t.Errorf("%s offers %s", cat.Version, e.Function)
				}
			}
		}
	}
}
