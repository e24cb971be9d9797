package verify

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
)

// everywhere returns a problem whose files select an algorithm at n points.
func everywhere(n int) Problem {
	p := Problem{Collective: coll.Bcast, Choose: func(coll.Point) coll.Algorithm { return coll.Algorithm{Name: "ring"} }}
	for i := range n {
		p.Grid = append(p.Grid, coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1 + i/16, MsgBytes: 8 << (i % 16)})
	}
	return p
}

func kindsOf(points []TestPoint) map[PointKind]int {
	out := map[PointKind]int{}
	for _, s := range points {
		out[s.Kind]++
	}
	return out
}

// TestPlanFits checks that a plan fits into every limit in which one point fits, and that the random sample comes
// before the risky points.
func TestPlanFits(t *testing.T) {
	p := everywhere(400)
	p.Risk = func(at coll.Point) float64 { return float64(at.MsgBytes) }
	block := func(points []TestPoint) float64 { return 0.1 * float64(len(points)) } // seconds
	point := plannedBlocks * float64(DefaultRules().MinBlocks) * 0.1
	for _, tc := range []struct {
		limit         float64
		risky, random int
	}{
		{0, 100, 62},
		{1000 * point, 100, 62},
		{150 * point, 50, 62},
		{80 * point, 1, 62},
		{30 * point, 0, 24},
		{0.5 * point, 0, 1},
	} {
		x := &plan{rules: DefaultRules(), problems: []Problem{p}, block: block, limit: tc.limit}
		x.first()
		got := kindsOf(x.points)
		if got[Risky] != tc.risky || got[Random] != tc.random {
			t.Errorf("limit %g s: %v, want %d risky and %d random points", tc.limit, got, tc.risky, tc.random)
		}
		if tc.limit >= point && x.cost(x.points) > tc.limit {
			t.Errorf("limit %g s: the plan costs %g s", tc.limit, x.cost(x.points))
		}
	}
}

// TestRandomSample checks that points are drawn in proportion to their weights, whatever they cost, and that points
// without weight are never drawn.
func TestRandomSample(t *testing.T) {
	p := everywhere(64)
	total := 0.0
	weight := func(at coll.Point) float64 { return math.Sqrt(float64(at.MsgBytes/8)) - 1 }
	for _, at := range p.Grid {
		total += weight(at)
	}
	p.Weight = func(at coll.Point) float64 { return weight(at) / total }
	const runs = 4000
	drawn := map[int64]int{} // first points by size
	for seed := range runs {
		rules := DefaultRules()
		rules.Seed = uint64(seed)
		x := &plan{rules: rules, problems: []Problem{p}}
		drawn[x.population(nil)[0].MsgBytes]++
	}
	for size := int64(8); size < 8<<16; size *= 2 {
		at := coll.Point{MsgBytes: size}
		want := 4 * weight(at) / total
		if got := float64(drawn[size]) / runs; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/runs) {
			t.Errorf("size %d: drawn first in %.3f of the runs, want %.3f", size, got, want)
		}
	}
}

// TestRiskiest checks that points are ordered by risk per second.
func TestRiskiest(t *testing.T) {
	p := everywhere(4)
	risk := []float64{0.01, 0.04, 0, 0.02}
	price := []float64{1, 8, 1, 1}
	index := func(at coll.Point) int { return slices.Index(p.Grid, at) }
	p.Risk = func(at coll.Point) float64 { return risk[index(at)] }
	x := &plan{rules: DefaultRules(), problems: []Problem{p}, block: func(points []TestPoint) (sum float64) {
		for _, s := range points {
			sum += price[index(s.Point)]
		}
		return sum
	}}
	var got []int
	for _, s := range x.riskiest(x.population(nil)) {
		got = append(got, index(s.Point))
	}
	if want := []int{3, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// TestBound compares bounds with the Clopper-Pearson limits of the binomial distribution.
func TestBound(t *testing.T) {
	for _, tc := range []struct {
		sample
		want float64
	}{
		{sample{0, 0}, 1}, {sample{5, 5}, 1},
		{sample{62, 0}, 0.0471 / 0.95}, {sample{59, 0}, 0.0495 / 0.95}, {sample{93, 1}, 0.0500 / 0.95}, {sample{1, 0}, 1},
	} {
		if got := tc.bound(); math.Abs(got-tc.want) > 1e-4 {
			t.Errorf("%d faults of %d: %.4f, want %.4f", tc.faults, tc.points, got, tc.want)
		}
	}
}

// TestStatementOfNoise checks that an interval that excludes nothing is no figure.
func TestStatementOfNoise(t *testing.T) {
	for upper, want := range map[float64]string{1.01: "none more than 5 % slower", 1.5: "none more than 50 % slower", 22296: "noise hides whether some are more than twice as slow"} {
		r := Result{Rules: Rules{Detect: 0.05}, Points: []PointResult{{TestPoint: TestPoint{Kind: Risky}, Upper: &upper}}}
		if got := r.Statement(); !strings.Contains(got, ": "+want) {
			t.Errorf("upper end %g: %s, want %s", upper, got, want)
		}
	}
}

// TestStandFor checks that points of a sample stand for all, in proportion where the weights are equal, and for
// themselves where all points are drawn. Over many samples, the estimate of a sum must be right.
func TestStandFor(t *testing.T) {
	sample := func(weights ...float64) (out []PointResult) {
		for _, w := range weights {
			out = append(out, PointResult{TestPoint: TestPoint{Weight: w}})
		}
		return out
	}
	for _, tc := range []struct {
		sample []PointResult
		total  float64
		want   []float64
	}{
		{sample(0.1, 0.1), 0.6, []float64{0.3, 0.3}},
		{sample(0.1, 0.4), 0.5, []float64{0.1, 0.4}},
	} {
		for i, got := range standFor(tc.sample, tc.total) {
			if math.Abs(got-tc.want[i]) > 1e-9 {
				t.Errorf("point %d of %v stands for %g, want %g", i, tc.want, got, tc.want[i])
			}
		}
	}
	p := everywhere(64)
	weight := func(at coll.Point) float64 { return math.Sqrt(float64(at.MsgBytes)) }
	p.Weight = weight
	total, want := 0.0, 0.0
	for _, at := range p.Grid {
		total, want = total+weight(at), want+weight(at)*math.Log2(float64(at.MsgBytes))
	}
	const runs = 1000
	sum := 0.0
	for seed := range runs {
		rules := DefaultRules()
		rules.Seed = uint64(seed)
		var drawn []PointResult
		for _, s := range (&plan{rules: rules, problems: []Problem{p}}).population(nil)[:24] {
			drawn = append(drawn, PointResult{TestPoint: s})
		}
		for i, w := range standFor(drawn, total) {
			sum += w * math.Log2(float64(drawn[i].MsgBytes)) / runs
		}
	}
	if math.Abs(sum/want-1) > 0.01 {
		t.Errorf("mean estimate %g, want %g", sum, want)
	}
}

// TestTimeRatio checks that the collective time is a geometric mean by weight or, if the weights are shares of time, a
// ratio of sums. Half of the weight is at points without a selection.
func TestTimeRatio(t *testing.T) {
	points := everywhere(2).Grid
	r := Result{Rules: Rules{Seed: 1}, ChangedWeight: 0.5}
	measured := map[coll.Point]series{}
	for i, kind := range []PointKind{Risky, Random} {
		r.Points = append(r.Points, PointResult{Blocks: 1, TestPoint: TestPoint{Point: points[i], Choice: coll.Algorithm{Name: "ring"}, Kind: kind, Weight: 0.1 + 0.3*float64(i)}})
		measured[points[i]] = series{ratios: []float64{math.Log(0.25 * float64(1+i))}, rounds: []int{1}}
	}
	for _, timed := range []bool{false, true} {
		want := math.Pow(0.25, 0.1) * math.Pow(0.5, 0.4)
		if r.Rules.Timed = timed; timed {
			want = 0.5 + 0.1*0.25 + 0.4*0.5
		}
		got, err := r.timeRatio(measured)
		if err != nil || math.Abs(got.Value-want) > 1e-12 {
			t.Errorf("timed %t: %+v, %v, want %g", timed, got, err, want)
		}
	}
}
