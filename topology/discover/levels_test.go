package discover_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/topology/discover"
)

// machines have one to three levels; the last two have none.
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

// smallGroups have groups of three to eight members.
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
	r, err := discover.FindLevels(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFindLevels counts the machines whose levels are all found exactly. Machines without
// levels must never show any.
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

// TestFlat checks that noise of any strength makes levels in at most 1 of 300 machines without
// levels.
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

// TestFar checks that a slow node is reported with its slowdown and does not hide the levels.
func TestFar(t *testing.T) {
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
		if math.Abs(r.Noise-0.03) > 0.01 {
			t.Errorf("seed %d: noise %g, want 0.03", seed, r.Noise)
		}
	}
}
