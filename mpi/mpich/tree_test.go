package mpich

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
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
	if _, err := embeddedTree("5.0.1"); !errors.Is(err, errNoTree) || !strings.Contains(err.Error(), "libmpich.so") {
		t.Errorf("Embedded(5.0.1) = %v, want ErrNoTree that asks for the library", err)
	}
	path := filepath.Join(t.TempDir(), "libother.so")
	testutil.NoError(t, os.WriteFile(path, []byte("CSEL_NODE_TYPE__OPERATOR__COLLECTIVE\x00ch4\x00ch3:nemesis"), 0o644))
	lib, err := readLibraryTree(path)
	if !errors.Is(err, errNoTree) || !strings.Contains(err.Error(), path) {
		t.Errorf("ReadLibrary(%s) = %v, want ErrNoTree with the path", path, err)
	}
	if lib.Transport != "ch3:nemesis" || lib.Asserts || lib.Posix {
		t.Errorf("without a tree: %+v, want the device that it names", lib)
	}
	if _, err := readLibraryTree(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing library: %v, want ErrNotExist", err)
	}
}

func TestParse(t *testing.T) {
	tests := []struct{ name, text, want, err string }{
		{name: "spaces in keys", text: `{ "comm_size <= 4" : {} }`, want: `{"comm_size<=4":{}}`},
		{name: "last value at the first place", text: `{"a":{"x":{}},"b":{},"a":{"y":{}}}`, want: `{"a":{"y":{}},"b":{}}`},
		{name: "escapes", text: "{\"comm_size\\u003c=4\":{}}", want: `{"comm_size<=4":{}}`},
		{name: "empty", text: "", err: "line 1: EOF"},
		{name: "number", text: "{\"a\":\n 4}", err: "line 2: want { of an object"},
		{name: "cut off", text: `{"a":{`, err: "EOF"},
		{name: "open key", text: `{"a\`, err: "EOF"},
		{name: "comma at the end", text: `{"a":{},}`, err: "'}'"},
		{name: "trailing text", text: `{} x`, err: "after the tree"},
		{name: "byte order mark", text: "\ufeff{}", err: "line 1"},
		{name: "deep", text: strings.Repeat(`{"a":`, 100), err: "deep"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseTree([]byte(tc.text))
			if tc.err != "" {
				if !errors.Is(err, errTreeSyntax) || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error = %v, want ErrSyntax with %q", err, tc.err)
				}
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
