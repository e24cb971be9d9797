package selection_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/selection"
)

// document returns a selection with two layouts. They have the same number of ranks but different
// algorithms.
func document(t testing.TB) selection.Document {
	t.Helper()
	var rows []selection.Row
	add := func(nodes, ppn int, size int64, ring, byDefault float64) {
		r := selection.Row{Point: coll.Point{Collective: coll.Allgather, Nodes: nodes, PPN: ppn, MsgBytes: size}}
		r.Options = append(r.Options, selection.Option{Algorithm: coll.Algorithm{Name: "ring"}, Seconds: ring})
		if byDefault > 0 {
			r.Options = append(r.Options, selection.Option{Algorithm: coll.Default, Seconds: byDefault})
		}
		rows = append(rows, r)
	}
	add(2, 3, 64, 2, 1)
	add(2, 3, 4096, 1, 1.5)
	add(6, 1, 64, 1, 2)
	add(6, 1, 4096, 1, 0)
	add(7, 1, 64, 1, 2)
	sel := testutil.Must(selection.FitAll(rows, bytesOf, 0.01))(t)
	if len(sel.Layouts) == 0 {
		t.Fatal("the layouts agree")
	}
	return selection.Document{Campaign: "test", Machine: "none", Libraries: []selection.LibraryDocument{{
		Library: "openmpi", Version: "4.1.4", Measured: "4.1.4",
		Collectives: []selection.CollectiveDocument{selection.NewCollectiveDocument(rows, sel, bytesOf)},
	}}}
}

func TestDocumentGolden(t *testing.T) {
	text := testutil.Must(document(t).Bytes())(t)
	testutil.CheckGolden(t, "selection.json", text)
	back := testutil.Must(selection.ParseDocument(text))(t)
	again, err := back.Bytes()
	if err != nil || !bytes.Equal(again, text) {
		t.Errorf("read and written again, %v:\n%s", err, again)
	}
}

func TestParseDocumentErrors(t *testing.T) {
	good := testutil.Must(document(t).Bytes())(t)
	tests := []struct{ name, old, new, want string }{
		{"another algorithm", `"algorithm": "ring",
       "predicted_slowdown": 1,
       "default_slowdown": 1.5`, `"algorithm": "bruck",
       "predicted_slowdown": 1,
       "default_slowdown": 1.5`, "the trees select ring: want bruck"},
		{"another tree", `"up_to"`, `"upto"`, "unknown field"},
		{"schema", `"schema": 1`, `"schema": 2`, "schema 2: want 1"},
		{"collective", `"collective": "allgather"`, `"collective": "gatherall"`, "unknown collective"},
		{"no nodes", `"nodes": 7`, `"nodes": 0`, "want nodes"},
		{"not JSON", `{`, ``, "not a selection"},
	}
	for _, tc := range tests {
		text := strings.Replace(string(good), tc.old, tc.new, 1)
		if text == string(good) {
			t.Fatalf("%s: nothing replaced", tc.name)
		}
		if _, err := selection.ParseDocument([]byte(text)); !errors.Is(err, selection.ErrDocument) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error = %v, want ErrDocument with %q", tc.name, err, tc.want)
		}
	}
	if _, err := selection.ParseDocument(append(good, '1')); !errors.Is(err, selection.ErrDocument) {
		t.Errorf("text after the document: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	text := testutil.Must(document(f).Bytes())(f)
	f.Add(text)
	f.Add([]byte(`{"schema":1,"libraries":[{"collectives":[{"collective":"bcast","points":[{"nodes":1,"ppn":1,"algorithm":"library_default"}]}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := selection.ParseDocument(text)
		if err != nil {
			return
		}
		again := testutil.Must(d.Bytes())(t)
		if _, err := selection.ParseDocument(again); err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
	})
}

func ExampleCollectiveDocument_Select() {
	tree, err := selection.Fit([]selection.Row{{
		Point:   coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 2, MsgBytes: 64},
		Options: []selection.Option{{Algorithm: coll.Algorithm{Name: "binomial"}, Seconds: 1}},
	}}, bytesOf, selection.Options{})
	c := selection.CollectiveDocument{Collective: coll.Bcast, Tree: tree}
	fmt.Println(c.Select(coll.Layout{Nodes: 4, PPN: 2}, 64), err)
	fmt.Println(c.Select(coll.Layout{Nodes: 5, PPN: 2}, 64))
	// Output:
	// binomial <nil>
	// library_default
}
