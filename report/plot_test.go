package report

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot"
)

func TestInksDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range inks() {
		if seen[k.light] || seen[k.name] {
			t.Errorf("ink %s %s is there twice", k.name, k.light)
		}
		seen[k.light], seen[k.name] = true, true
		if len(k.light) != 7 || len(k.dark) != 7 {
			t.Errorf("ink %s is not #RRGGBB", k.name)
		}
	}
}

// luminance and contrast are those of WCAG 2.1, section 1.4.3; its minimum for
// text is 4.5.
func luminance(hex string) float64 {
	r, g, b, _ := ink{light: hex}.RGBA()
	part := func(v uint32) float64 {
		x := float64(v) / math.MaxUint16
		if x <= 0.03928 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestTextContrast(t *testing.T) {
	check := func(text, fill ink) {
		t.Helper()
		if c := contrast(text.light, fill.light); c < 4.5 {
			t.Errorf("light: %s on %s has contrast %.2f", text.name, fill.name, c)
		}
		if c := contrast(text.dark, fill.dark); c < 4.5 {
			t.Errorf("dark: %s on %s has contrast %.2f", text.name, fill.name, c)
		}
	}
	check(inkLine, inkPaper)
	check(inkQuiet, inkPaper)
	check(inkQuiet, ramp[0])
	for step, fill := range ramp {
		check(onRamp(step), fill)
	}
	for _, fill := range kinds {
		check(inkLine, fill)
	}
}

func TestRampIsMonotone(t *testing.T) {
	for i := 1; i < len(ramp); i++ {
		if luminance(ramp[i].light) >= luminance(ramp[i-1].light) || luminance(ramp[i].dark) <= luminance(ramp[i-1].dark) {
			t.Errorf("step %d of the ramp is not stronger than the one before", i)
		}
	}
	if len(ramp) != len(slowdownShares)+1 {
		t.Errorf("%d steps for %d ends", len(ramp), len(slowdownShares))
	}
}

func TestSlowdownStep(t *testing.T) {
	tests := []struct {
		slowdown float64
		want     int
	}{
		{0.9, 0}, {1, 0}, {1.01, 0}, {1.02, 1}, {1.1, 2}, {1.1001, rampFaint}, {1.25, 3}, {2, 5}, {2.1, 6}, {1e9, 6},
	}
	for _, tc := range tests {
		if got := slowdownStep(tc.slowdown, 0.1); got != tc.want {
			t.Errorf("slowdownStep(%g) = %d, want %d", tc.slowdown, got, tc.want)
		}
	}
}

func TestExcessInverse(t *testing.T) {
	for _, x := range []float64{0.01, 0.9, 0.999, 1, 1.0001, 1.03, 2, 1e6} {
		if got := unexcess(excess(x)); math.Abs(got-x) > 1e-9*x {
			t.Errorf("unexcess(excess(%g)) = %g", x, got)
		}
	}
}

func TestRoundSteps(t *testing.T) {
	tests := []struct {
		low, high float64
		count     int
		want      []float64
	}{
		{0, 10, 5, []float64{0, 2, 4, 6, 8, 10}},
		{-0.5, 2.5, 3, []float64{0, 1, 2}},
		{-3, 3, 4, []float64{-2, 0, 2}},
		{0, 1040, 5, []float64{0, 200, 400, 600, 800, 1000}},
	}
	for _, tc := range tests {
		if got := roundSteps(tc.low, tc.high, tc.count); !slices.Equal(got, tc.want) {
			t.Errorf("roundSteps(%g, %g, %d) = %v, want %v", tc.low, tc.high, tc.count, got, tc.want)
		}
	}
}

// Every axis names at least two values, no two of them nearer than a label needs.
func TestAxisLabels(t *testing.T) {
	tests := []struct {
		name string
		set  func(*plot.Axis)
		gap  float64
	}{
		{"slowdowns far apart", func(a *plot.Axis) { setSlowdowns(a, []float64{1, 80}) }, 0.13},
		{"slowdowns close together", func(a *plot.Axis) { setSlowdowns(a, []float64{1.0312, 1.0313}) }, 0.13},
		{"slowdowns below one", func(a *plot.Axis) { setSlowdowns(a, []float64{0.97, 1.02}) }, 0.13},
		{"one slowdown", func(a *plot.Axis) { setSlowdowns(a, []float64{1}) }, 0.13},
		{"times of one decade", func(a *plot.Axis) { setTimes(a, []float64{10, 90}) }, 0.1},
		{"times over decades", func(a *plot.Axis) { setTimes(a, []float64{0.1, 3, 9000}) }, 0.12},
		{"times just over the limit", func(a *plot.Axis) { setTimes(a, []float64{1.1, 33.1}) }, 0.12},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlot("", "")
			tc.set(&p.X)
			labels, last := 0, math.Inf(-1)
			for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
				if tick.IsMinor() {
					continue
				}
				labels++
				at := p.X.Norm(tick.Value)
				if at < 0 || at > 1 || at < last+tc.gap-1e-9 {
					t.Errorf("label %s stands at %g after %g", tick.Label, at, last)
				}
				last = at
			}
			if labels < 2 {
				t.Errorf("%d labels between %g and %g", labels, p.X.Min, p.X.Max)
			}
		})
	}
}

func TestTilesOutsideTheGrid(t *testing.T) {
	cells := []Cell{{Nodes: 2, PPN: 1, MsgBytes: 8}, {Nodes: 4, PPN: 1, MsgBytes: 64}, {Nodes: 2, PPN: 4, MsgBytes: 64}}
	got := newTiles(gridOf(cells), cells, 1, paintMeasured(3))
	for row, want := range [][]bool{{true, false}, {false, true}} {
		for column := range want {
			if (got[row][column] != nil) != want[column] {
				t.Errorf("tile at row %d, column %d: present %t", row, column, !want[column])
			}
		}
	}
}

func TestCodes(t *testing.T) {
	p := ProblemFacts{
		Algorithms: []AlgorithmFacts{{Name: "ring"}, {Name: "linear"}},
		Cells:      []Cell{{Selected: "linear"}, {Selected: "chain"}, {Selected: "linear"}, {}},
	}
	c := codesOf(p)
	if !slices.Equal(c.names, []string{"ring", "linear", "chain"}) {
		t.Errorf("names = %v", c.names)
	}
	if c.code["chain"] != "C" || c.fill["linear"] != kinds[0] {
		t.Errorf("chain is %s, the most selected has %v", c.code["chain"], c.fill["linear"])
	}
	if got := c.paint(Cell{}); got.text != "?" || got.group != "" {
		t.Errorf("a cell without a selection is %+v", got)
	}
}
