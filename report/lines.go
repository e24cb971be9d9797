package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// guides are horizontal lines with a label each in the margin on the right.
type guides []guide

type guide struct {
	y     float64
	label string
	style draw.LineStyle
}

// guideMargin is the room for the labels: 13 letters of 8 points.
const guideMargin = vg.Length(60)

// Plot implements plot.Plotter. Labels of lines close to each other are moved apart.
func (g guides) Plot(c draw.Canvas, p *plot.Plot) {
	_, toY := p.Transforms(&c)
	style := letters(inkLine, 8, text.XLeft, text.YCenter)
	sorted := slices.Clone(g)
	slices.SortStableFunc(sorted, func(a, b guide) int { return cmp.Compare(a.y, b.y) })
	below := c.Min.Y - labelHeight
	for _, line := range sorted {
		y := toY(line.y)
		c.StrokeLine2(line.style, c.Min.X, y, c.Max.X, y)
		at := max(y, below+labelHeight)
		c.FillText(style, vg.Point{X: c.Max.X + 4, Y: at}, line.label)
		below = at
	}
}

// GlyphBoxes implements plot.GlyphBoxer: it keeps the margin free.
func (g guides) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: guideMargin}}}}
}

func (g guides) values() []float64 {
	var ys []float64
	for _, line := range g {
		ys = append(ys, line.y)
	}
	return ys
}

// on returns the guides as they stand on a scale.
func (g guides) on(at scale) guides {
	g = slices.Clone(g)
	for i := range g {
		g[i].y = at(g[i].y)
	}
	return g
}

// maxMarks is how many evaluations of a curve carry a marker of their own: more
// of them would touch.
const maxMarks = 40

// series is a figure of each evaluation, and what it may be at most.
type series struct{ values, most []float64 }

// add adds an evaluation; upper is zero where nothing is predicted.
func (s *series) add(value, upper float64) {
	s.values, s.most = append(s.values, value), append(s.most, max(value, upper))
}

// convergence draws slowdown and mistakes against machine time, one above the
// other. It needs at least one evaluation.
func (s *sheet) convergence(p ProblemFacts, c Criteria) (template.HTML, error) {
	unit := timeUnit(p.Curve[len(p.Curve)-1].MachineSeconds)
	var times []float64
	var slowdowns, mistakes series
	for _, e := range p.Curve {
		times = append(times, e.MachineSeconds/unit.seconds)
		slowdowns.add(e.Slowdown, e.SlowdownUpper)
		mistakes.add(100*e.Mistakes, 100*e.MistakesUpper)
	}
	above, below := criteria(p, c)
	upper := newPlot("", "average slowdown")
	lower := newPlot("machine time ("+unit.name+")", "mistakes (% of points)")
	setSlowdowns(&upper.Y, slices.Concat(above.values(), slowdowns.most, slowdowns.values, []float64{1}))
	_, high := bounds(append(below.values(), mistakes.most...))
	setLinear(&lower.Y, 0, max(1.1*high, 1), 4)
	for _, panel := range []struct {
		*plot.Plot
		guides
		series
		at scale
	}{{upper, above, slowdowns, excess}, {lower, below, mistakes, linear}} {
		along := setTimes(&panel.X, times)
		if p.Predicted() {
			line, err := plotter.NewLine(mapped(times, along, panel.most, panel.at))
			if err != nil {
				return "", fmt.Errorf("convergence: %w", err)
			}
			line.LineStyle = thinLine
			panel.Add(line)
		}
		xys := mapped(times, along, panel.series.values, panel.at)
		if err := addCurve(panel.Plot, xys, p.Curve); err != nil {
			return "", err
		}
		panel.Add(panel.guides.on(panel.at))
	}
	label := "Slowdown and mistakes of " + p.Library + " " + p.Collective + " against machine time"
	return s.svg(350, 290, 1.4, label, func(dc draw.Canvas) {
		tiles := draw.Tiles{Rows: 2, Cols: 1, PadY: 8, PadTop: 4}
		canvases := plot.Align([][]*plot.Plot{{upper}, {lower}}, tiles, dc)
		upper.Draw(canvases[0][0])
		lower.Draw(canvases[1][0])
	})
}

// criteria returns the guides of the slowdown and of the mistakes: what is wanted,
// where a criterion is set, and what the library's default reaches.
func criteria(p ProblemFacts, c Criteria) (slowdown, mistakes guides) {
	if c.Slowdown > 0 {
		slowdown = append(slowdown, guide{c.Slowdown, "wanted " + trimmed(c.Slowdown, 4), dashedLine})
	}
	if c.Mistakes > 0 {
		mistakes = append(mistakes, guide{100 * c.Mistakes, "wanted " + trimmed(100*c.Mistakes, 2) + " %", dashedLine})
	}
	if d := scoreOf(p, "default"); d != nil {
		slowdown = append(slowdown, guide{d.Slowdown, "default " + formatSlowdown(d.Slowdown), dottedLine})
		mistakes = append(mistakes, guide{100 * d.Mistakes, "default " + trimmed(100*d.Mistakes, 1) + " %", dottedLine})
	}
	return slowdown, mistakes
}

// mapped pairs the values of two scales as they stand on them.
func mapped(xs []float64, atX scale, ys []float64, atY scale) plotter.XYs {
	xys := make(plotter.XYs, len(xs))
	for i := range xs {
		xys[i] = plotter.XY{X: atX(xs[i]), Y: atY(ys[i])}
	}
	return xys
}

// addCurve adds the line through xys and its markers: filled where the evaluation
// was against reference times, hollow where it was cross-validated.
func addCurve(p *plot.Plot, xys plotter.XYs, evaluations []CurvePoint) error {
	line, err := plotter.NewLine(xys)
	if err != nil {
		return fmt.Errorf("convergence: %w", err)
	}
	line.LineStyle = solidLine
	marks, err := plotter.NewScatter(xys)
	if err != nil {
		return fmt.Errorf("convergence: %w", err)
	}
	every := 1 + len(xys)/maxMarks
	marks.GlyphStyleFunc = func(i int) draw.GlyphStyle {
		switch {
		case i%every != 0 && i != len(xys)-1:
			return draw.GlyphStyle{Shape: noMark{}}
		case evaluations[i].Source == "reference" || evaluations[i].Source == "measured":
			return filledMark
		}
		return hollowMark
	}
	p.Add(line, marks)
	return nil
}

// noMark is a marker that leaves no trace.
type noMark struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (noMark) DrawGlyph(*draw.Canvas, draw.GlyphStyle, vg.Point) {}

// study draws the value of each trial of the hyperparameter study, and the best
// so far as a step line; failed trials stand at the lower edge. It needs at
// least one trial.
func (s *sheet) study(p ProblemFacts) (template.HTML, error) {
	var best, complete, pruned, failed plotter.XYs
	var values []float64
	for _, t := range p.HPO {
		x := float64(t.Number)
		if t.Best != nil {
			best = append(best, plotter.XY{X: x, Y: excess(*t.Best)})
			values = append(values, *t.Best)
		}
		if t.Value == nil {
			failed = append(failed, plotter.XY{X: x})
			continue
		}
		values = append(values, *t.Value)
		if at := (plotter.XY{X: x, Y: excess(*t.Value)}); t.State == "complete" {
			complete = append(complete, at)
		} else {
			pruned = append(pruned, at)
		}
	}
	plt := newPlot("trial (number)", "cross-validated loss (ratio)")
	setSlowdowns(&plt.Y, values)
	for i := range failed {
		failed[i].Y = plt.Y.Min
	}
	first, last := p.HPO[0].Number, p.HPO[len(p.HPO)-1].Number
	if err := addSteps(plt, best, float64(last)); err != nil {
		return "", err
	}
	for _, group := range []struct {
		xys   plotter.XYs
		style draw.GlyphStyle
	}{{pruned, prunedMark}, {complete, filledMark}, {failed, failedMark}} {
		if err := addMarks(plt, group.xys, group.style); err != nil {
			return "", err
		}
	}
	setLinear(&plt.X, float64(first)-0.5, float64(last)+0.5, min(last-first+1, 6)) // a trial each at most
	label := "Hyperparameter study of " + p.Library + " " + p.Collective
	return s.svg(330, 230, 1.4, label, plt.Draw)
}

// addSteps adds a step line through xys that goes on to the last x.
func addSteps(plt *plot.Plot, xys plotter.XYs, last float64) error {
	if len(xys) == 0 {
		return nil
	}
	line, err := plotter.NewLine(append(xys, plotter.XY{X: last, Y: xys[len(xys)-1].Y}))
	if err != nil {
		return fmt.Errorf("hyperparameters: %w", err)
	}
	line.LineStyle, line.StepStyle = solidLine, plotter.PostStep
	plt.Add(line)
	return nil
}

func addMarks(plt *plot.Plot, xys plotter.XYs, style draw.GlyphStyle) error {
	if len(xys) == 0 {
		return nil
	}
	marks, err := plotter.NewScatter(xys)
	if err != nil {
		return fmt.Errorf("hyperparameters: %w", err)
	}
	marks.GlyphStyle = style
	plt.Add(marks)
	return nil
}

// parity draws held-out predictions against measurements and the line of equality.
func (s *sheet) parity(a AlgorithmFacts) (template.HTML, error) {
	var values []float64
	for _, q := range a.Parity {
		values = append(values, q.Measured, q.Predicted)
	}
	low, high := bounds(values)
	margin := max(0.04*(high-low), 1e-9)
	plt := newPlot("measured (scaled)", "predicted (scaled)")
	setLinear(&plt.X, low-margin, high+margin, 4)
	setLinear(&plt.Y, low-margin, high+margin, 4)
	equal, err := plotter.NewLine(plotter.XYs{{X: plt.X.Min, Y: plt.X.Min}, {X: plt.X.Max, Y: plt.X.Max}})
	if err != nil {
		return "", fmt.Errorf("parity of %s: %w", a.Name, err)
	}
	equal.LineStyle = dashedLine
	plt.Add(equal, dots(a.Parity))
	return s.svg(165, 155, 1.3, "Held-out predictions of "+a.Name+" against measurements", plt.Draw)
}

// dots draws points as small squares, all in one path. Those that would cover
// one another within half a point are drawn once: there may be thousands.
type dots []Parity

// Plot implements plot.Plotter.
func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	const size, raster = 1.8, 0.5 // points
	toX, toY := p.Transforms(&c)
	seen := map[vg.Point]bool{}
	var path vg.Path
	for _, q := range d {
		at := vg.Point{
			X: vg.Length(math.Round(toX(q.Measured).Points()/raster) * raster),
			Y: vg.Length(math.Round(toY(q.Predicted).Points()/raster) * raster),
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		path.Move(vg.Point{X: at.X - size/2, Y: at.Y})
		path.Line(vg.Point{X: at.X + size/2, Y: at.Y})
	}
	c.SetLineStyle(draw.LineStyle{Color: inkLine, Width: size})
	c.Stroke(path)
}
