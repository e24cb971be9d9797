package report

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/metrics"
)

// SelectionMap is the selection of a problem as text, which is shown without JavaScript.
type SelectionMap struct {
	Letters []letter // of the algorithms
	Map     string   // a line for each layout, a column for each message size
}

// String returns the map and what its letters mean.
func (m SelectionMap) String() string {
	var b strings.Builder
	b.WriteString(m.Map + "\n\n")
	for _, l := range m.Letters {
		fmt.Fprintf(&b, "%s  %s\n", l.Letter, l.Algorithm)
	}
	return b.String()
}

// Within returns the text of String in lines of at most `width` columns: a wide map becomes several, one below the other.
// A width of 0 is no limit.
func (m SelectionMap) Within(width int) string {
	lines := strings.Split(m.Map, "\n")
	starts := columnStarts(lines[0])
	if end := starts[len(starts)-1]; width == 0 || end <= width {
		return m.String()
	}
	var parts []string
	for from := 1; from < len(starts)-1; {
		to := from + 1
		for to < len(starts)-1 && starts[1]+starts[to+1]-starts[from] <= width {
			to++
		}
		var b strings.Builder
		for i, line := range lines {
			cells := []rune(fmt.Sprintf("%-*s", starts[len(starts)-1], line))
			part := string(cells[:starts[1]]) + string(cells[starts[from]:starts[to]])
			fmt.Fprint(&b, map[bool]string{true: "\n"}[i > 0], strings.TrimRight(part, " "))
		}
		parts, from = append(parts, b.String()), to
	}
	return SelectionMap{m.Letters, strings.Join(parts, "\n\n")}.String()
}

// columnStarts returns where the columns of a map begin, that of the layouts first, and the end of the last one.
func columnStarts(header string) []int {
	const first = "nodes x ppn"
	starts := []int{0}
	for i := len(first); i < len(header); i++ {
		if header[i] != ' ' && header[i-1] == ' ' {
			starts = append(starts, i)
		}
	}
	return append(starts, len(header))
}

// letter is the letter that stands for an algorithm in a map of the selection.
type letter struct{ Letter, Algorithm string }

// SelectionOf returns the map of the cells of a problem.
func SelectionOf(p ProblemFacts) SelectionMap {
	letters := lettersOf(p)
	byName := map[string]string{}
	for _, l := range letters {
		byName[l.Algorithm] = l.Letter
	}
	var sizes []int64
	selected := map[coll.Point]map[int64]string{} // by point without size, then by size
	for _, c := range p.Cells {
		row := c.WithSize(0)
		if selected[row] == nil {
			selected[row] = map[int64]string{}
		}
		selected[row][c.MsgBytes] = byName[c.Algorithm]
		sizes = append(sizes, c.MsgBytes)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	fmt.Fprint(w, "nodes x ppn")
	for _, size := range sizes {
		fmt.Fprint(w, "\t", coll.FormatBytes(size))
	}
	rows := slices.SortedFunc(maps.Keys(selected), func(a, b coll.Point) int {
		return cmp.Or(cmp.Compare(a.PPN, b.PPN), coll.ComparePoints(a, b))
	})
	for _, row := range rows {
		fmt.Fprint(w, "\n", row.Layout())
		for _, size := range sizes {
			fmt.Fprint(w, "\t", selected[row][size])
		}
	}
	w.Flush() // a strings.Builder does not fail
	return SelectionMap{letters, b.String()}
}

// lettersOf returns the letters that stand for the algorithms in maps. They are the same as in palette.js.
// The library's default is a dot. The algorithms of the problem are A, B and so on, sorted by name. Other
// algorithms follow.
func lettersOf(p ProblemFacts) []letter {
	var listed, others []string
	for _, a := range p.Algorithms {
		listed = append(listed, a.Name)
	}
	for _, c := range p.Cells {
		others = append(others, c.Algorithm, c.Rival)
	}
	slices.Sort(listed)
	slices.Sort(others)
	letters := []letter{{"·", coll.Default.String()}}
	for _, name := range slices.Concat(listed, others) {
		if name == "" || slices.ContainsFunc(letters, func(l letter) bool { return l.Algorithm == name }) {
			continue
		}
		i := len(letters) - 1
		text := string(rune('A' + i%26))
		if i >= 26 {
			text += strconv.Itoa(i/26 + 1)
		}
		letters = append(letters, letter{text, name})
	}
	return letters
}

// The axes are logarithmic, so a value below one of these limits is drawn at the limit. convergence.js does
// the same.
const (
	leastSeconds  = 1e-3
	leastSlowdown = 1e-3 // slowdown minus 1
	leastMistakes = 5e-3
)

// convergenceSVG draws two charts for a problem: the average slowdown and the mistakes, both as functions
// of machine time. The problem must have at least one evaluation.
func convergenceSVG(p ProblemFacts, c Criteria) ([]byte, error) {
	byDefault := scoreOf(p, "default")
	if byDefault == nil {
		byDefault = &Score{Summary: metrics.Summary{Slowdown: math.NaN(), Mistakes: math.NaN()}}
	}
	slowdown, err := convergencePlot("average slowdown", p.Curve, leastSlowdown,
		func(e activelearn.Evaluation) float64 { return e.Slowdown - 1 }, c.Slowdown-1, byDefault.Slowdown-1,
		func(v float64) string { return trimmed(1+v, 3) })
	if err != nil {
		return nil, err
	}
	mistakes, err := convergencePlot("mistakes", p.Curve, leastMistakes,
		func(e activelearn.Evaluation) float64 { return e.Mistakes }, c.Mistakes, byDefault.Mistakes, FormatShare)
	if err != nil {
		return nil, err
	}
	canvas := vgsvg.New(660, 210)
	tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: 14, PadTop: 6, PadRight: 14, PadLeft: 4, PadBottom: 4}
	plots := [][]*plot.Plot{{slowdown, mistakes}}
	for i, part := range plot.Align(plots, tiles, draw.New(canvas))[0] {
		plots[0][i].Draw(part)
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("convergence of %s %s: %w", p.Library, p.Collective, err)
	}
	return b.Bytes()[max(0, bytes.Index(b.Bytes(), []byte("<svg"))):], nil
}

// convergencePlot draws one number of each evaluation over machine time. The function `figure` returns this
// number. Numbers below `least` are drawn at `least`. There is a horizontal line at `wanted` and at `byDefault`
// if these are positive. The function `write` formats a value.
func convergencePlot(title string, curve []activelearn.Evaluation, least float64, figure func(activelearn.Evaluation) float64, wanted, byDefault float64, write func(float64) string) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = title, "machine time"
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font.Variant = "Sans"
	}
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	xys := make(plotter.XYs, len(curve))
	for i, e := range curve {
		xys[i] = plotter.XY{X: max(e.MachineSeconds, leastSeconds), Y: max(figure(e), least)}
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return nil, fmt.Errorf("convergence: %w", err)
	}
	line.Color, line.Width = color.RGBA{G: 0x72, B: 0xb2, A: 0xff}, 1.5
	p.Add(line)
	p.X.Min, p.X.Max = p.X.Min/1.1, p.X.Max*1.1
	p.Y.Min, p.Y.Max = p.Y.Min/1.25, p.Y.Max*1.25
	marks := []mark{{y: wanted, text: " wanted " + write(wanted), wide: 0.25}, {y: byDefault, text: "library's default " + write(byDefault), wide: 0.45, right: true}}
	marks = slices.DeleteFunc(marks, func(m mark) bool { return !(m.y > 0) })
	for _, m := range marks {
		p.Y.Min, p.Y.Max = min(p.Y.Min, m.y/1.6), max(p.Y.Max, m.y*1.6)
	}
	for i, m := range marks {
		around := []plotter.XYs{xys}
		for k, other := range marks {
			if label := math.Pow(p.Y.Max/p.Y.Min, labelHeight/2); k != i {
				around = append(around, plotter.XYs{{X: p.X.Min, Y: other.y}, {X: p.X.Max, Y: other.y}}, plotter.XYs{{X: p.X.Min, Y: other.y * label}, {X: p.X.Max, Y: other.y * label}})
			}
		}
		if err := m.freeOf(p, around).add(p); err != nil {
			return nil, err
		}
	}
	p.X.Tick.Marker = logTicks(p.X.Min, p.X.Max, 5, FormatSeconds)
	p.Y.Tick.Marker = logTicks(p.Y.Min, p.Y.Max, 6, write)
	return p, nil
}

// widerFont is by how much a label may be wider than computed: browsers choose the font. The widest label has about 100
// points, and DejaVu Sans is a sixth wider than Liberation Sans.
const widerFont = vg.Length(18)

// mark is a dashed horizontal line with a label at its left or right end, above or below it.
type mark struct {
	y            float64
	text         string
	wide         float64 // width of the label, as a share of the chart's
	right, below bool
}

const labelHeight = 0.125 // of a mark, as a share of the chart's height

// freeOf returns the mark with its label where no curve runs through it: at its end of the line, or else at the other one.
// If there is no such place, it returns the mark.
func (m mark) freeOf(p *plot.Plot, curves []plotter.XYs) mark {
	for _, right := range []bool{m.right, !m.right} {
		for _, below := range []bool{false, true} {
			at := mark{m.y, m.text, m.wide, right, below}
			if !slices.ContainsFunc(curves, func(c plotter.XYs) bool { return at.meets(p, c) }) {
				return at
			}
		}
	}
	return m
}

// meets reports whether a curve runs through the place of the label.
func (m mark) meets(p *plot.Plot, curve plotter.XYs) bool {
	unit := func(v float64, a plot.Axis) float64 { return math.Log(v/a.Min) / math.Log(a.Max/a.Min) }
	from, low := 0.0, unit(m.y, p.Y)
	if m.right {
		from = 1 - m.wide
	}
	if m.below {
		low -= labelHeight
	}
	to, high := from+m.wide, low+labelHeight
	for i := range curve {
		a, b := curve[max(0, i-1)], curve[i]
		ax, ay, bx, by := unit(a.X, p.X), unit(a.Y, p.Y), unit(b.X, p.X), unit(b.Y, p.Y)
		if bx < from || ax > to {
			continue
		}
		at := func(x float64) float64 { // the height of this part of the curve within the width of the label
			if bx == ax {
				return by
			}
			return ay + (by-ay)*(min(max(x, ax), bx)-ax)/(bx-ax)
		}
		if left, right := at(from), at(to); max(left, right) >= low && min(left, right) <= high {
			return true
		}
	}
	return false
}

func (m mark) add(p *plot.Plot) error {
	ends := plotter.XYs{{X: p.X.Min, Y: m.y}, {X: p.X.Max, Y: m.y}}
	line, err := plotter.NewLine(ends)
	if err != nil {
		return err
	}
	line.Dashes = []vg.Length{4, 3}
	at, align, offset := ends[:1], text.XLeft, vg.Point{Y: 2}
	if m.right {
		at, align, offset.X = ends[1:], text.XRight, -widerFont
	}
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: []string{m.text}})
	if err != nil {
		return err
	}
	labels.TextStyle[0].XAlign, labels.TextStyle[0].Font.Variant = align, "Sans"
	if m.below {
		labels.TextStyle[0].YAlign = text.YTop
		offset.Y = -2
	}
	labels.Offset = offset
	p.Add(line, labels)
	return nil
}

// logTicks returns ticks with labels at 1, 2 and 5 times powers of ten between low and high. If these are
// more than maxTicks, it returns only the powers of ten.
func logTicks(low, high float64, maxTicks int, write func(float64) string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, digits := range [][]float64{{1, 2, 5}, {1}} {
		ticks = nil
		for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
			for _, d := range digits {
				if v := d * math.Pow(10, power); v >= low && v <= high {
					ticks = append(ticks, plot.Tick{Value: v, Label: write(v)})
				}
			}
		}
		if len(ticks) <= maxTicks {
			break
		}
	}
	return ticks
}
