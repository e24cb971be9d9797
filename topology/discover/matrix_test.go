package discover_test

import (
	"math"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/topology/discover"
)

func TestNewMatrix(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       [3]float64 // members 0 and 1, 0 and 2, 1 and 2
	}{
		{"square", "0,1,2\n1,0,3\n2,3,0\n", [3]float64{1, 2, 3}},
		{"both ways differ", "0,1,2\n3,0,3\n2,3,0\n", [3]float64{2, 2, 3}},
		{"up to the diagonal", "0\n1,0\n2,3,0\n", [3]float64{1, 2, 3}},
		{"one way", "0,1,\n,0,3\n2,,0\n", [3]float64{1, 2, 3}},
		{"holes", "0,NaN,2\n,0,3\n2,3,0\n", [3]float64{math.NaN(), 2, 3}},
	} {
		m, err := discover.NewMatrix(testutil.ReadRows(t, strings.NewReader(tc.text)))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		for k, p := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
			for _, got := range []float64{m.At(p[0], p[1]), m.At(p[1], p[0])} {
				if got != tc.want[k] && !(math.IsNaN(got) && math.IsNaN(tc.want[k])) {
					t.Errorf("%s: members %v: %g, want %g", tc.name, p, got, tc.want[k])
				}
			}
		}
	}
}

func TestNewMatrixRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct{ name, text string }{
		{"nothing", ""},
		{"one rank", "0\n"},
		{"a row too short", "0,1,2\n1,0\n2\n"},
		{"zero", "0,0\n0,0\n"},
		{"below zero", "0,-1\n1,0\n"},
		{"endless", "0,Inf\n1,0\n"},
		{"a diagonal", "5,1\n1,0\n"},
	} {
		_, err := discover.NewMatrix(testutil.ReadRows(t, strings.NewReader(tc.text)))
		golden(tc.name, err)
	}
}
