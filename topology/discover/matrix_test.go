package discover_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/topology/discover"
)

// holed returns the distances of two leaf switches with three nodes each. Two pairs are
// missing.
func holed() [][]float64 {
	return [][]float64{{}, {1}, {1, math.NaN()}, {2, 2, 2}, {2, math.NaN(), 2, 1}, {2, 2, 2, 1, 1}}
}

func TestFill(t *testing.T) {
	m := matrix(t, holed())
	if d := cmp.Diff([][2]int{{1, 2}, {1, 4}}, m.Holes()); d != "" {
		t.Errorf("holes (-want +got):\n%s", d)
	}
	full, err := m.Fill()
	if err != nil {
		t.Fatal(err)
	}
	if full.At(1, 2) != 1 || full.At(4, 1) != 2 || len(full.Holes()) != 0 {
		t.Errorf("filled with %g and %g, want 1 within a leaf and 2 between", full.At(1, 2), full.At(4, 1))
	}
	if len(m.Holes()) != 2 {
		t.Error("filling changed the matrix")
	}
}

// TestFillRefuses checks that a matrix with too many missing pairs of a member is not filled.
func TestFillRefuses(t *testing.T) {
	lost := holed()
	for j := range lost[5] {
		lost[5][j] = math.NaN()
	}
	nan := math.NaN()
	apart := [][]float64{{}, {nan}, {1, nan}, {nan, 1, nan}, {nan, 1, nan, 1}}
	for _, tc := range []struct {
		rows [][]float64
		want string
	}{
		{lost, "member 5 was measured with 0 of 5 others"},
		{apart, "member 0 was measured with 1 of 4 others"},
		{[][]float64{{}, {1}, {nan, 1}, {1, nan, 1}}, ""},
		{[][]float64{{}, {1}, {nan, 1}, {1, nan, nan}}, "member 2 was measured with 1 of 3 others"},
	} {
		if _, err := matrix(t, tc.rows).Fill(); (err == nil) != (tc.want == "") || err != nil && (!errors.Is(err, discover.ErrMatrix) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%v: %v, want %q", tc.rows, err, tc.want)
		}
	}
}

// TestFindLevelsRefuses checks that the zero Matrix and matrices of different sizes are
// refused.
func TestFindLevelsRefuses(t *testing.T) {
	if _, err := discover.FindLevelsUnconfirmed(discover.Matrix{}); !errors.Is(err, discover.ErrMatrix) {
		t.Errorf("zero matrix: %v", err)
	}
	m := matrix(t, [][]float64{{}, {1}, {2, 2}})
	if _, err := discover.FindLevels(m, matrix(t, [][]float64{{}, {1}})); !errors.Is(err, discover.ErrMatrix) {
		t.Errorf("halves that differ: %v", err)
	}
}

func matrix(t testing.TB, rows [][]float64) discover.Matrix {
	t.Helper()
	m, err := discover.NewMatrix(rows)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
