package lab

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// panel is one coordinate system.
type panel struct {
	x, y   string
	ideal  float64 // on the y axis, always shown
	log    bool    // y axis
	dodge  bool    // move series apart, so that their ranges do not hide each other
	legend bool
	note   string // last line of the legend
	ticks  []tick // of the x axis; none: chosen by the numbers
	series []series
	across []rule // horizontal lines
	down   []rule // vertical lines
}

type tick struct {
	at    float64
	label string
}

type rule struct {
	at    float64
	label string
}

// series is a line with markers and ranges.
type series struct {
	name   string
	plain  bool // without markers and ranges
	points plotter.XYs
	ranges plotter.YErrors
	filled []bool // of each marker; nil: all
}

func (s *series) add(x float64, a averages) {
	s.points = append(s.points, plotter.XY{X: x, Y: a.mean})
	s.ranges = append(s.ranges, struct{ Low, High float64 }{a.mean - a.low, a.high - a.mean})
}

// Pictures are read in black and white: series differ in dashes and markers, and
// grey only repeats it.
var (
	ink   = color.Gray{Y: 0x18}
	quiet = color.Gray{Y: 0x70}
	faint = color.Gray{Y: 0xD8}

	dashes = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}, {1, 3}}
	filled = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}
	hollow = []draw.GlyphDrawer{draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}
)

const (
	panelWidth  = 11 * vg.Centimeter
	panelHeight = 7.5 * vg.Centimeter
	titleHeight = 0.9 * vg.Centimeter
	perInch     = 144 // of the PNG: twice a common screen
)

// lowestR2 cuts the axis of R²: further down the models know nothing either way.
const lowestR2 = -1

// WriteSVG draws the figure.
func (f Figure) WriteSVG(w io.Writer) error {
	width, height := f.size()
	c := vgsvg.New(width, height)
	if err := f.draw(draw.NewCanvas(c, width, height)); err != nil {
		return err
	}
	_, err := c.WriteTo(w)
	return err
}

// WritePNG draws the figure.
func (f Figure) WritePNG(w io.Writer) error {
	width, height := f.size()
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(perInch))
	if err := f.draw(draw.New(c)); err != nil {
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// grid returns the columns and rows of the panels.
func (f Figure) grid() (columns, rows int) {
	columns = min(2, len(f.panels))
	return columns, (len(f.panels) + columns - 1) / columns
}

func (f Figure) size() (width, height vg.Length) {
	columns, rows := f.grid()
	if columns == 1 {
		return 1.4 * panelWidth, 1.2*panelHeight + titleHeight
	}
	return vg.Length(columns) * panelWidth, vg.Length(rows)*panelHeight + titleHeight
}

func (f Figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	columns, rows := f.grid()
	plots := make([][]*plot.Plot, rows)
	for r := range plots {
		plots[r] = make([]*plot.Plot, columns)
	}
	for i, p := range f.panels {
		drawn, err := p.plot()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		plots[i/columns][i%columns] = drawn
	}
	c.FillText(letters(11, ink, text.XCenter, text.YTop), vg.Point{X: c.Center().X, Y: c.Max.Y - 6}, f.Title)
	below := c
	below.Max.Y -= titleHeight
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 12, PadY: 12, PadLeft: 6, PadRight: 10, PadBottom: 4}
	for r, row := range plot.Align(plots, tiles, below) {
		for k, canvas := range row {
			if plots[r][k] != nil {
				plots[r][k].Draw(canvas)
			}
		}
	}
	return nil
}

func letters(size font.Length, in color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: in, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

func (p panel) plot() (*plot.Plot, error) {
	out := plot.New()
	for _, axis := range []*plot.Axis{&out.X, &out.Y} {
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = letters(9, ink, 0, 0).Font, ink
		axis.Label.Padding = vg.Points(3)
		axis.Tick.Label.Font, axis.Tick.Label.Color = letters(8, ink, 0, 0).Font, ink
	}
	out.X.Label.Text, out.Y.Label.Text = p.x, p.y
	out.Legend.TextStyle = letters(8, ink, text.XLeft, text.YCenter)
	out.Legend.ThumbnailWidth = 26
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	out.Add(grid)
	for i := range p.series {
		if err := p.addSeries(out, i); err != nil {
			return nil, err
		}
	}
	p.setAxes(out)
	out.Add(rules(p))
	p.placeLegend(out)
	return out, nil
}

// addSeries draws ranges below, the line above them, and the markers on top.
func (p panel) addSeries(out *plot.Plot, i int) error {
	s := p.series[i]
	points := make(plotter.XYs, len(s.points))
	for k, xy := range s.points {
		if p.dodge {
			xy.X += 0.09 * (float64(i) - float64(len(p.series)-1)/2)
		}
		points[k] = xy
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width, line.Dashes = ink, vg.Points(1.1), dashes[i%len(dashes)]
	if i%2 == 1 {
		line.Color = quiet
	}
	bars, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{points, s.ranges})
	if err != nil {
		return err
	}
	bars.Color, bars.Width, bars.CapWidth = quiet, vg.Points(0.5), vg.Points(3)
	if s.plain {
		out.Add(line)
		return nil
	}
	out.Add(bars, line)
	marks, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	marks.GlyphStyleFunc = func(k int) draw.GlyphStyle {
		style := draw.GlyphStyle{Color: line.Color, Radius: vg.Points(3.2), Shape: filled[i%len(filled)]}
		if s.filled != nil && !s.filled[k] {
			style.Shape = hollow[i%len(hollow)]
		}
		return style
	}
	marks.GlyphStyle = marks.GlyphStyleFunc(0) // of the legend
	out.Add(marks)
	if p.legend {
		out.Legend.Add(s.name, line, marks)
	}
	return nil
}

func (p panel) setAxes(out *plot.Plot) {
	if len(p.ticks) > 0 {
		var marks plot.ConstantTicks
		for _, t := range p.ticks {
			marks = append(marks, plot.Tick{Value: t.at, Label: t.label})
		}
		out.X.Tick.Marker = marks
		out.X.Min, out.X.Max = -0.4, float64(len(p.ticks))-0.6
	} else {
		out.X.Min, out.X.Max = 0, 1.02*out.X.Max
		out.X.Tick.Marker = plot.TickerFunc(roundTicks)
	}
	if p.log {
		out.Y.Min, out.Y.Max = decade(out.Y.Min, math.Floor), decade(out.Y.Max, math.Ceil)
		out.Y.Scale = plot.LogScale{}
		out.Y.Tick.Marker = plot.TickerFunc(decades)
		return
	}
	for _, r := range p.across {
		out.Y.Min, out.Y.Max = min(out.Y.Min, r.at), max(out.Y.Max, r.at)
	}
	low, high := max(min(out.Y.Min, p.ideal), lowestR2), max(out.Y.Max, p.ideal)
	room := max(0.04*(high-low), 1e-3)
	out.Y.Min, out.Y.Max = low-room, high+room
	out.Y.Tick.Marker = plot.TickerFunc(roundTicks)
}

// roundTicks marks four to nine multiples of 1, 2 or 5 times a power of ten.
func roundTicks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	for _, k := range []float64{5, 2} {
		if (high-low)/(k*step) >= 4 {
			step *= k
			break
		}
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var out []plot.Tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		out = append(out, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step+0, 'f', digits, 64)})
	}
	return out
}

func decade(v float64, round func(float64) float64) float64 {
	return math.Pow(10, round(math.Log10(v)))
}

// decades marks powers of ten, and their multiples without a label.
func decades(low, high float64) []plot.Tick {
	var out []plot.Tick
	for e := math.Floor(math.Log10(low)); math.Pow(10, e) <= high*1.0001; e++ {
		power := math.Pow(10, e)
		out = append(out, plot.Tick{Value: power, Label: strconv.FormatFloat(power, 'g', -1, 64)})
		for k := 2.0; k < 10 && k*power < high; k++ {
			out = append(out, plot.Tick{Value: k * power})
		}
	}
	return out
}

// placeLegend puts it into the corner on the left that the curves leave free:
// with the largest training sets they are close to the ideal.
func (p panel) placeLegend(out *plot.Plot) {
	out.Legend.Left = true
	out.Legend.Padding, out.Legend.XOffs, out.Legend.YOffs = 5, 4, 4
	middle := (out.Y.Min + out.Y.Max) / 2
	out.Legend.Top = !p.log && p.ideal < middle
	if len(p.ticks) == 0 {
		out.Legend.Left, out.Legend.Top = false, true
	}
	if out.Legend.Top {
		out.Legend.YOffs *= -1
	}
	if !out.Legend.Left {
		out.Legend.XOffs *= -1
	}
	if p.note != "" {
		out.Legend.Add(p.note)
	}
}

// rules draws the lines across and down with their labels.
type rules panel

// Plot implements plot.Plotter.
func (r rules) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	style := draw.LineStyle{Color: ink, Width: vg.Points(0.7), Dashes: []vg.Length{3, 2}}
	for _, line := range r.across {
		y := toY(line.at)
		c.StrokeLine2(style, c.Min.X, y, c.Max.X, y)
		c.FillText(letters(8, ink, text.XLeft, text.YTop), vg.Point{X: c.Min.X + 3, Y: y - 2}, line.label)
	}
	for i, line := range r.down {
		x := toX(line.at)
		c.StrokeLine2(style, x, c.Min.Y, x, c.Max.Y)
		c.FillText(letters(8, ink, text.XRight, text.YTop), vg.Point{X: x - 3, Y: c.Max.Y - 3 - vg.Length(11*i)}, line.label)
	}
}
