package preprocess_test

import (
	"math"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/preprocess"
)

func TestSurrogateRows(t *testing.T) {
	rows := preprocess.SurrogateRows([]coll.Point{
		{Collective: coll.Bcast, Nodes: 4, PPN: 8, MsgBytes: 1024},
		{Collective: coll.Bcast, Nodes: 3, PPN: 4, MsgBytes: 0},
	})
	if want := []float64{3, 4, 11, 0}; !slices.Equal(rows[0], want) {
		t.Errorf("row of 4x8 1 KiB = %v, want %v", rows[0], want)
	}
	if want := []float64{math.Log2(3) + 1, 3, 0, 1}; !slices.Equal(rows[1], want) {
		t.Errorf("row of 3x4 0 B = %v, want %v", rows[1], want)
	}
}
