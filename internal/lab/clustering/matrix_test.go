package clustering_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/topology/discover"
)

func TestRead(t *testing.T) {
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
		m, err := clustering.Read(strings.NewReader(tc.text), "m.csv")
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

func TestReadRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "m.csv: not a matrix of distances: 0 members: want 2 or more"},
		{"one rank", "0\n", "m.csv: not a matrix of distances: 1 members: want 2 or more"},
		{"a word", "0,1\nfar,0\n", `m.csv:2: column 1: "far": want a number or nothing`},
		{"a broken quote", "0,\"1\n1,0\n", "m.csv: record on line 1"},
		{"a row too short", "0,1,2\n1,0\n2\n", "row 2 has 1 columns: want 3, or 2 up to the diagonal"},
		{"zero", "0,0\n0,0\n", "members 0 and 1: 0: want a time above 0"},
		{"below zero", "0,-1\n1,0\n", "members 0 and 1: -1: want a time above 0"},
		{"endless", "0,Inf\n1,0\n", "members 0 and 1: +Inf: want a time above 0"},
		{"a diagonal", "5,1\n1,0\n", "member 0 to itself: 5: want 0"},
	} {
		if _, err := clustering.Read(strings.NewReader(tc.text), "m.csv"); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("0,1,2\n1,0,3\n2,3,0\n")
	f.Add("0\n1,0\n2,NaN,0\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := clustering.Read(strings.NewReader(text), "m.csv")
		if err != nil || m.Len() > 64 {
			return
		}
		for i := range m.Len() {
			for j := range m.Len() {
				if x := m.At(i, j); x < 0 || math.IsInf(x, 0) || i == j && x != 0 || i != j && x == 0 {
					t.Errorf("%q: members %d and %d: %g", text, i, j, x)
				}
			}
		}
		if _, err := discover.FindLevelsUnconfirmed(m); err != nil && !errors.Is(err, discover.ErrMatrix) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func TestAccuracy(t *testing.T) {
	truth := discover.Labels{0, 0, 0, 1, 1, 1}
	for _, tc := range []struct {
		labels discover.Labels
		want   float64
	}{
		{discover.Labels{0, 0, 0, 1, 1, 1}, 1},
		{discover.Labels{1, 1, 1, 0, 0, 0}, 1},
		{discover.Labels{0, 0, 1, 1, 1, 1}, 5.0 / 6},
		{discover.Labels{0, 0, 0, 0, 0, 0}, 0.5},
		{discover.Labels{0, 1, 2, 3, 4, 5}, 2.0 / 6},
		{discover.Labels{0, 0, discover.NoGroup, 1, 1, 1}, 5.0 / 6},
		{discover.Labels{-1, -1, -1, -1, -1, -1}, 0},
	} {
		if got := clustering.Accuracy(tc.labels, truth); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", tc.labels, got, tc.want)
		}
	}
}
