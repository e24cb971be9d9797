package selection_test

import (
	"fmt"
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
	sel := testutil.Must(selection.MergeAll(rows, bytesOf, selection.Options{MaxLoss: 0.01}))(t)
	if len(sel.Layouts) == 0 {
		t.Fatal("the layouts agree")
	}
	return selection.Document{Campaign: "test", Machine: "none", Libraries: []selection.LibraryDocument{{
		Library: "openmpi", Version: "4.1.4", Measured: "4.1.4",
		Collectives: []selection.CollectiveDocument{selection.NewCollectiveDocument(rows, sel, bytesOf)},
	}}}
}

func TestDocumentGolden(t *testing.T) {
	testutil.CheckGolden(t, "selection.json", testutil.Must(document(t).Bytes())(t))
}

// TestDocumentCheck checks that a document is not written if its trees select another algorithm than it states.
func TestDocumentCheck(t *testing.T) {
	d := document(t)
	d.Libraries[0].Collectives[0].Points[1].Algorithm.Name = "bruck"
	_, err := d.Bytes()
	testutil.GoldenErrors(t)("another algorithm", err)
}

func ExampleCollectiveDocument_Select() {
	tree, err := selection.Merge([]selection.Row{{
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
