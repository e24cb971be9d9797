package clustering_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/lab/clustering"
	"tutti/internal/testutil"
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

// TestMissingPairs checks that every method refuses a matrix with missing pairs.
func TestMissingPairs(t *testing.T) {
	m := matrix(t, [][]float64{{}, {1}, {1, math.NaN()}, {2, 2, 2}, {2, math.NaN(), 2, 1}, {2, 2, 2, 1, 1}})
	for name, divide := range dividers(m) {
		if err := divide(); !errors.Is(err, discover.ErrMatrix) || !strings.Contains(err.Error(), "members 1 and 2, and 2 pairs in all, were never measured") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// dividers returns the functions that need a complete matrix.
func dividers(m discover.Matrix) map[string]func() error {
	return map[string]func() error{
		"profile":     func() error { _, err := discover.Profile(m); return err },
		"k-medoids":   func() error { _, err := clustering.KMedoids(m, 2); return err },
		"agglomerate": func() error { _, err := clustering.Agglomerate(m, discover.Average); return err },
		"spectral":    func() error { _, _, err := clustering.Spectral(m, 2); return err },
		"components":  func() error { _, err := clustering.Components(m, 1); return err },
		"DBSCAN":      func() error { _, err := clustering.DBSCAN(m, 1, 2); return err },
		"HDBSCAN":     func() error { _, err := clustering.HDBSCAN(m, 2, clustering.Mass); return err },
		"SSSTree":     func() error { _, err := clustering.SSSTree(m, 0.5); return err },
		"range":       func() error { _, _, err := clustering.Range(m); return err },
	}
}

// TestZeroMatrix checks that every method refuses the zero Matrix, which New never returns.
func TestZeroMatrix(t *testing.T) {
	for name, divide := range dividers(discover.Matrix{}) {
		if err := divide(); !errors.Is(err, discover.ErrMatrix) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestParametersOutOfRange checks that a parameter out of range leads to an error.
func TestParametersOutOfRange(t *testing.T) {
	m := matrix(t, [][]float64{{}, {1}, {2, 2}})
	for name, divide := range map[string]func() error{
		"no medoid":            func() error { _, err := clustering.KMedoids(m, 0); return err },
		"4 medoids of 3":       func() error { _, err := clustering.KMedoids(m, 4); return err },
		"another linkage":      func() error { _, err := clustering.Agglomerate(m, discover.Ward+1); return err },
		"no function":          func() error { _, _, err := clustering.Spectral(m, 0); return err },
		"no point":             func() error { _, err := clustering.DBSCAN(m, 1, 0); return err },
		"groups of one":        func() error { _, err := clustering.HDBSCAN(m, 1, clustering.Mass); return err },
		"groups of 4 of 3":     func() error { _, err := clustering.HDBSCAN(m, 4, clustering.Mass); return err },
		"alpha 0":              func() error { _, err := clustering.SSSTree(m, 0); return err },
		"alpha NaN":            func() error { _, err := clustering.SSSTree(m, math.NaN()); return err },
		"accuracy of nothing":  func() error { _, err := clustering.Accuracy(nil, nil); return err },
		"accuracy of one less": func() error { _, err := clustering.Accuracy(discover.Labels{0}, discover.Labels{0, 1}); return err },
	} {
		if err := divide(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
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
		if got := accuracy(t, tc.labels, truth); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", tc.labels, got, tc.want)
		}
	}
}

func TestSearch(t *testing.T) {
	var tried []float64
	x, score, err := clustering.Search(0, 4, 4, func(x float64) (float64, error) {
		tried = append(tried, x)
		return -math.Abs(x - 2.4), nil
	})
	if d := cmp.Diff([]float64{1, 2, 3, 4}, tried); d != "" || x != 2 || math.Abs(score+0.4) > 1e-12 || err != nil {
		t.Errorf("%g at %g, %v, tried (-want +got):\n%s", score, x, err, d)
	}
	fails := func(float64) (float64, error) { return 0, discover.ErrMatrix }
	if _, _, err := clustering.Search(0, 4, 4, fails); !errors.Is(err, discover.ErrMatrix) || !strings.Contains(err.Error(), "parameter 1: ") {
		t.Errorf("a try that fails: %v", err)
	}
	for _, points := range []int{0, 4} {
		if _, _, err := clustering.Search(4, float64(points), points, fails); err == nil || errors.Is(err, discover.ErrMatrix) {
			t.Errorf("%d points from 4 downwards: %v", points, err)
		}
	}
}

func matrix(t testing.TB, rows [][]float64) discover.Matrix {
	t.Helper()
	return testutil.Must(discover.NewMatrix(rows))(t)
}

func accuracy(t testing.TB, labels, truth discover.Labels) float64 {
	t.Helper()
	return testutil.Must(clustering.Accuracy(labels, truth))(t)
}
