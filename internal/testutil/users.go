package testutil

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// WrongObject is a shared object that libtutti and tutti refuse. Want is a part of the error.
type WrongObject struct{ Path, Want string }

// WrongObjects returns shared objects that libtutti must reject. Most are copies of UserLibrary (at the path
// `object`) with one fault. One is an exact copy; loaded together with the original, it repeats all names. The
// last path does not exist.
func WrongObjects(t *testing.T, object string) []WrongObject {
	t.Helper()
	good := Must(os.ReadFile(object))(t)
	field := func(text string, length int) []byte { return append([]byte(text), make([]byte, length-len(text))...) }
	dir, out := t.TempDir(), []WrongObject(nil)
	for _, f := range []struct {
		old, changed []byte
		want         string
	}{
		{field("\x01", 16), field("\x02", 16), "algorithm 1: want an object built with the tutti_algorithm.h of this"},
		{append(field("\x01", 16), "allr"...), append(field("\x01\x00\x00\x00\x20", 16), "allr"...), "algorithm 1: want known requirements"},
		{field("allreduce", 32), field("allreducx", 32), "algorithm 1: want a collective like reduce_scatter"},
		{field("star", 64), field("st-r", 64), "algorithm 2: want a name of letters, digits and _"},
		{field("segsize", 16), field("segsise", 16), "algorithm 2: want the parameter segsize, radix, window, barriers or none"},
		{[]byte("tutti_algorithms\x00"), []byte("tutti_algorithmx\x00"), "undefined symbol: tutti_algorithms"},
		{nil, nil, "algorithm 1: want each name once"},
	} {
		if !bytes.Contains(good, f.old) {
			t.Fatalf("%s has no %q", object, f.old)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.so", len(out)))
		NoError(t, os.WriteFile(path, bytes.ReplaceAll(good, f.old, f.changed), 0o755))
		out = append(out, WrongObject{path, f.want})
	}
	return append(out, WrongObject{filepath.Join(dir, "none.so"), "o such file"})
}
