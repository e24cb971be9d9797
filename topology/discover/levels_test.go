package discover_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/lab/clustering"
	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/discover"
)

// machines are simulated machines. The last two have no levels, and the others have one to three.
var machines = []clustering.Machine{
	{Shape: []int{4, 8}, Seconds: []float64{2.18, 2.78}},
	{Shape: []int{8, 16}, Seconds: []float64{2.18, 2.78}},
	{Shape: []int{16, 16}, Seconds: []float64{2.18, 2.78}},
	{Shape: []int{4, 4, 4}, Seconds: []float64{2.18, 2.78, 3.3}},
	{Shape: []int{4, 8, 2, 4}, Seconds: []float64{0.8, 1.46, 2.18, 2.78}},
	{Shape: []int{2, 16}, Seconds: []float64{0.8, 1.46}},
	{Shape: []int{32}, Seconds: []float64{2.18}},
	{Shape: []int{128}, Seconds: []float64{2.18}},
}

// smallGroups are machines whose groups have three to eight members.
var smallGroups = []clustering.Machine{
	{Shape: []int{3, 5, 4}, Seconds: []float64{2.18, 2.78, 3.3}},
	{Shape: []int{6, 3, 6}, Seconds: []float64{2.0, 2.5, 3.2}},
	{Shape: []int{8, 4, 4}, Seconds: []float64{2.18, 2.78, 3.3}},
	{Shape: []int{5, 7}, Seconds: []float64{1.5, 1.9}},
	{Shape: []int{4, 8, 8}, Seconds: []float64{1.0, 1.3, 1.8}},
	{Shape: []int{6, 6}, Seconds: []float64{2.18, 2.78}},
	{Shape: []int{20, 6}, Seconds: []float64{2.18, 2.78}},
}

func findLevels(t testing.TB, a, b discover.Matrix) discover.LevelReport {
	t.Helper()
	return testutil.Must(discover.FindLevels(a, b))(t)
}

// TestFindLevels checks that all levels are found exactly on a minimum number of simulated machines. No level may
// be found on a machine without levels.
func TestFindLevels(t *testing.T) {
	for _, tc := range []struct {
		machines []clustering.Machine
		noise    float64
		want     int // least number of exact results among machines with levels
	}{{machines, 0.05, 36}, {machines, 0.1, 35}, {smallGroups, 0.05, 42}, {smallGroups, 0.1, 38}} {
		right, all := 0, 0
		for _, m := range tc.machines {
			for seed := range uint64(6) {
				a, b, truth := draw(t, m, clustering.DefaultNoise(tc.noise), seed)
				r := findLevels(t, a, b)
				ok := exact(t, r.Levels, truth)
				if len(truth) == 0 {
					if !ok {
						t.Errorf("%v at noise %g, seed %d: levels of %v groups, want none", m.Shape, tc.noise, seed, groups(r.Levels))
					}
					continue
				}
				all++
				if ok {
					right++
				} else {
					t.Logf("%v at noise %g, seed %d: levels of %v groups", m.Shape, tc.noise, seed, groups(r.Levels))
				}
			}
		}
		t.Logf("noise %g: all levels exact and nothing else in %d of %d", tc.noise, right, all)
		if right < tc.want {
			t.Errorf("noise %g: %d of %d exact, want %d", tc.noise, right, all, tc.want)
		}
	}
}

// TestFlat checks machines without levels, at several strengths of noise. FindLevels may report a level for
// at most one in 300 of them.
func TestFlat(t *testing.T) {
	wrong, all := 0, 0
	for _, members := range []int{3, 4, 6, 8, 12, 16, 24, 64, 200} {
		flat := clustering.Machine{Shape: []int{members}, Seconds: []float64{2.18}}
		for _, noise := range []float64{0.02, 0.05, 0.1, 0.2} {
			for seed := range uint64(20) {
				a, b, _ := draw(t, flat, clustering.DefaultNoise(noise), seed)
				r := findLevels(t, a, b)
				all++
				if len(r.Levels) > 0 {
					wrong++
					t.Logf("%d members at noise %g, seed %d: levels of %v groups", members, noise, seed, groups(r.Levels))
				}
			}
		}
	}
	if t.Logf("levels in %d of %d flat machines", wrong, all); wrong > all/300 {
		t.Errorf("%d of %d, want 1 of 300 at most", wrong, all)
	}
}

// TestUneven checks that FindLevels finds groups of different sizes.
func TestUneven(t *testing.T) {
	for _, sizes := range [][]int{{8, 8, 4}, {16, 3, 5, 7}, {30, 2}, {2, 2, 2}, {10, 1, 1, 10}, {40, 20, 10, 5}, {3, 3}} {
		var inOrder discover.Labels
		for g, size := range sizes {
			for range size {
				inOrder = append(inOrder, g)
			}
		}
		for seed := range seeds(10) {
			rng := rand.New(rand.NewPCG(seed, 8))
			truth := make(discover.Labels, len(inOrder))
			for i, place := range rng.Perm(len(inOrder)) {
				truth[i] = inOrder[place]
			}
			a, b := measure(t, clustering.DefaultNoise(0.02), len(truth), clustering.Nested([]discover.Labels{truth}, []float64{2.18, 2.78}), rng)
			if r := findLevels(t, a, b); !exact(t, r.Levels, []discover.Labels{truth}) {
				t.Errorf("groups of %v, seed %d: levels of %v groups", sizes, seed, groups(r.Levels))
			}
		}
	}
}

// TestFarMember checks that a slow node is reported with its slowdown. It must not prevent FindLevels from
// finding the levels.
func TestFarMember(t *testing.T) {
	m := clustering.Machine{Shape: []int{4, 8}, Seconds: []float64{2.18, 2.78}}
	for seed := range seeds(10) {
		rng := rand.New(rand.NewPCG(seed, 9))
		truth := m.Truth(rng.Perm(m.Members()))
		slow := rng.IntN(m.Members())
		near := clustering.Nested(truth, m.Seconds)
		a, b := measure(t, clustering.DefaultNoise(0.03), m.Members(), func(i, j int) float64 {
			if i == slow || j == slow {
				return 1.6 * near(i, j)
			}
			return near(i, j)
		}, rng)
		r := findLevels(t, a, b)
		if !exact(t, r.Levels, truth) {
			t.Errorf("seed %d: levels of %v groups, want 4", seed, groups(r.Levels))
		}
		if len(r.Far) != 1 || r.Far[0].Member != slow || math.Abs(r.Far[0].Times-1.6) > 0.15 {
			t.Errorf("seed %d: far %v, want member %d, 1.6 times", seed, r.Far, slow)
		}
	}
}

// seeds returns the number of random seeds that a test tries: n in full test runs (see testutil.AllCases),
// otherwise at most 2.
func seeds(n uint64) uint64 {
	if testutil.AllCases() {
		return n
	}
	return min(n, 2)
}

// draw simulates measurements of a machine. It returns two matrices of distances, each from one half of the
// repetitions, and the true levels.
func draw(t testing.TB, m clustering.Machine, noise clustering.Noise, seed uint64) (a, b discover.Matrix, truth []discover.Labels) {
	t.Helper()
	a, b, truth, err := m.Draw(noise, seed)
	testutil.NoError(t, err)
	return a, b, truth
}

// measure simulates measurements of n members with the given distances. It returns two matrices, each from one half
// of the repetitions.
func measure(t testing.TB, noise clustering.Noise, n int, distance func(i, j int) float64, rng *rand.Rand) (a, b discover.Matrix) {
	t.Helper()
	a, b, err := noise.Measure(n, distance, rng)
	testutil.NoError(t, err)
	return a, b
}

func mean(t testing.TB, a, b discover.Matrix) discover.Matrix {
	t.Helper()
	return testutil.Must(clustering.Mean(a, b))(t)
}

// exact reports whether the found levels are exactly the true ones.
func exact(t testing.TB, found []discover.Level, truth []discover.Labels) bool {
	t.Helper()
	if len(found) != len(truth) {
		return false
	}
	for i, l := range found {
		if clustering.Accuracy(l.Labels, truth[i]) < 1 {
			return false
		}
	}
	return true
}

// groups returns the number of groups of each level.
func groups(found []discover.Level) []int {
	out := []int{}
	for _, l := range found {
		out = append(out, l.Labels.Groups())
	}
	return out
}

func TestLevelReportTree(t *testing.T) {
	r := discover.LevelReport{
		Seconds: 3e-6,
		Levels: []discover.Level{
			{Labels: discover.Labels{0, 1, 0, 1}, Seconds: 2e-6, Confidence: 0.9},
			{Labels: discover.Labels{0, 1, 2, 1}, Seconds: 1e-6, Confidence: 1},
		},
		Far:     []discover.FarMember{{Member: 2, Times: 1.5}},
		Unclear: []int{3},
	}
	got := testutil.Must(r.Tree([]string{"a", "b", "c", "d"}))(t)
	var outline []string
	for v := range got.All() {
		outline = append(outline, fmt.Sprintf("%v %g %g", v, v.Seconds, v.Confidence))
	}
	if d := cmp.Diff([]string{
		"switch switch2-1 3e-06 1",
		"switch switch1-1 2e-06 0.9", "switch switch0-1 1e-06 1", "node a 0 0", "switch switch0-2 1e-06 1", "node c 0 0",
		"switch switch1-2 2e-06 0.9", "switch switch0-3 1e-06 1", "node b 0 0", "node d 0 0",
	}, outline); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if gaps := strings.Join(got.Gaps, "\n"); !strings.HasPrefix(gaps, "3 groups are nearer") || !strings.Contains(gaps, "\nc is 1.5 times as far") {
		t.Errorf("gaps:\n%s", gaps)
	}
	if _, err := r.Tree([]string{"a", "b", "c", "c"}); err == nil {
		t.Error("two nodes of one name: no error")
	}
}

// TestTreeWithoutLevels checks that a report without levels gives a tree of one switch with confidence 0.
func TestTreeWithoutLevels(t *testing.T) {
	got := testutil.Must(discover.LevelReport{Seconds: 1e-6}.Tree([]string{"a", "b"}))(t)
	want := topology.Tree{Root: topology.Vertex{Kind: topology.Switch, Name: "switch0-1", Seconds: 1e-6,
		Children: []topology.Vertex{{Kind: topology.Node, Name: "a"}, {Kind: topology.Node, Name: "b"}}}, Gaps: []string{"no clear level"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// large is a machine with 4096 nodes. It has 16 pods of 8 leaf switches, with 32 nodes on each leaf switch.
var large = clustering.Machine{Shape: []int{16, 8, 32}, Seconds: []float64{2.18, 2.78, 3.3}}

// BenchmarkFindLevels4096 measures the time to find the levels of 4096 nodes. It also reports how much
// memory the process uses.
func BenchmarkFindLevels4096(b *testing.B) {
	first, second, truth := draw(b, large, clustering.DefaultNoise(0.05), 1)
	for b.Loop() {
		if r := findLevels(b, first, second); !exact(b, r.Levels, truth) {
			b.Errorf("levels of %v groups, want those of %v", groups(r.Levels), large.Shape)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
}

// times returns the round-trip times between 8 nodes on 2 leaf switches, with 3 % noise.
func times(seed uint64) discover.Matrix {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]float64, 8)
	for i := range rows {
		for j := range i {
			seconds := 2.78e-6
			if i/4 == j/4 {
				seconds = 2.18e-6
			}
			rows[i] = append(rows[i], seconds*(1+0.03*rng.NormFloat64()))
		}
	}
	m, err := discover.NewMatrix(rows)
	if err != nil {
		panic(err)
	}
	return m
}

func ExampleFindLevels() {
	found, err := discover.FindLevels(times(1), times(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range found.Levels {
		fmt.Printf("%v, %.1f µs within, %.1f µs between\n", l.Labels, l.Seconds*1e6, found.Seconds*1e6)
	}
	// Output: [0 0 0 0 1 1 1 1], 2.2 µs within, 2.8 µs between
}

// holed returns the distances between six nodes on two leaf switches. Two pairs are missing.
func holed() [][]float64 {
	return [][]float64{{}, {1}, {1, math.NaN()}, {2, 2, 2}, {2, math.NaN(), 2, 1}, {2, 2, 2, 1, 1}}
}

func TestFill(t *testing.T) {
	m := matrix(t, holed())
	if d := cmp.Diff([][2]int{{1, 2}, {1, 4}}, m.Holes()); d != "" {
		t.Errorf("holes (-want +got):\n%s", d)
	}
	full := testutil.Must(m.Fill())(t)
	if full.At(1, 2) != 1 || full.At(4, 1) != 2 || len(full.Holes()) != 0 {
		t.Errorf("filled with %g and %g, want 1 within a leaf and 2 between", full.At(1, 2), full.At(4, 1))
	}
	if len(m.Holes()) != 2 {
		t.Error("filling changed the matrix")
	}
}

// TestFillRefuses checks that a matrix is not filled if too many pairs of a member are missing.
func TestFillRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	lost := holed()
	for j := range lost[5] {
		lost[5][j] = math.NaN()
	}
	nan := math.NaN()
	apart := [][]float64{{}, {nan}, {1, nan}, {nan, 1, nan}, {nan, 1, nan, 1}}
	for _, rows := range [][][]float64{lost, apart, {{}, {1}, {nan, 1}, {1, nan, nan}}} {
		_, err := matrix(t, rows).Fill()
		golden(fmt.Sprint(rows), err, discover.ErrMatrix)
	}
	testutil.Must(matrix(t, [][]float64{{}, {1}, {nan, 1}, {1, nan, 1}}).Fill())(t)
}

// TestFindLevelsRefuses checks that the zero Matrix is an error.
func TestFindLevelsRefuses(t *testing.T) {
	if _, err := discover.FindLevelsUnconfirmed(discover.Matrix{}); !errors.Is(err, discover.ErrMatrix) {
		t.Errorf("zero matrix: %v", err)
	}
}

func matrix(t testing.TB, rows [][]float64) discover.Matrix {
	t.Helper()
	return testutil.Must(discover.NewMatrix(rows))(t)
}
