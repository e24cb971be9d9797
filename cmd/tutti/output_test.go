package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/table"
)

func TestFitColumns(t *testing.T) {
	header := table.Row{"id", "machine", "slowdown"}
	rows := []table.Row{{"3k9f2m7q", "a machine with a name of 34 letters", 1.234}}
	for width, want := range map[int][]int{
		80: {8, 35, 8}, // all have room
		61: {8, 35, 8},
		60: {8, 34, 8},
		40: {8, 14, 8},
		33: {8, 7, 8}, // the longest words
		32: nil,
	} {
		var got []int
		for _, c := range fitColumns(header, rows, width) {
			got = append(got, c.WidthMax)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", width, diff)
		}
	}
}
