package lab

import (
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Panel is one coordinate system of a figure. The first panel of a figure has the legend if it has several series.
type Panel struct {
	X, Y   string  // names of the axes
	Ideal  float64 // best value; the y axis always includes it
	Series []Series

	log   bool     // the y axis is logarithmic
	note  string   // last line of the legend
	ticks []string // labels of the x positions 0, 1 and so on; none: numbers

	limits []limit
}

// limit is a labelled line across a panel, at a value of the y axis, or of the x axis if it is vertical.
type limit struct {
	at       float64
	label    string
	vertical bool
}

// Series is a line with markers and error bars.
type Series struct {
	Name   string
	points plotter.XYs
	ranges plotter.YErrors
	hollow []bool // whether each marker is drawn hollow; nil: none is
}

// Add adds a point without an error bar.
func (s *Series) Add(x, y float64) { s.addRange(x, averages{mean: y, low: y, high: y}) }

// addRange adds a point whose error bar is the range of values.
func (s *Series) addRange(x float64, a averages) {
	s.points = append(s.points, plotter.XY{X: x, Y: a.mean})
	s.ranges = append(s.ranges, struct{ Low, High float64 }{a.mean - a.low, a.high - a.mean})
}

// Series differ in dashes and markers, not in colours, so that pictures are readable in black and white.
var (
	ink   = color.Gray{Y: 0x18}
	quiet = color.Gray{Y: 0x70}

	filled = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}
	hollow = []draw.GlyphDrawer{draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}
)

const (
	panelWidth  = 11 * vg.Centimeter
	panelHeight = 7.5 * vg.Centimeter
	titleHeight = 0.9 * vg.Centimeter
	perInch     = 144 // pixels: twice as many as a common screen has
)

// lowestR2 is the lower end of the axis of R². A model with a lower R² is useless, whatever the value is.
const lowestR2 = -1

// WritePNG draws the figure: its title, and below it the panels, at most two in a row.
func (f Figure) WritePNG(w io.Writer) error {
	columns := min(2, len(f.Panels))
	rows := (len(f.Panels) + columns - 1) / columns
	width, height := vg.Length(columns)*panelWidth, vg.Length(rows)*panelHeight
	if columns == 1 {
		width, height = 1.4*panelWidth, 1.2*panelHeight
	}
	return writePNG(w, f.Title, width, height+titleHeight, func(c draw.Canvas) error {
		plots := make([][]*plot.Plot, rows)
		for i, p := range f.Panels {
			one, err := p.plot(i == 0 && len(p.Series) > 1)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			plots[i/columns] = append(plots[i/columns], one)
		}
		for len(plots[rows-1]) < columns {
			plots[rows-1] = append(plots[rows-1], nil)
		}
		tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 12, PadY: 12, PadLeft: 6, PadRight: 10, PadBottom: 4}
		for r, row := range plot.Align(plots, tiles, c) {
			for k, canvas := range row {
				if plots[r][k] != nil {
					plots[r][k].Draw(canvas)
				}
			}
		}
		return nil
	})
}

func writePNG(w io.Writer, title string, width, height vg.Length, paint func(draw.Canvas) error) error {
	img := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(perInch))
	c := draw.New(img)
	c.FillText(letters(11, ink, text.XCenter, text.YTop), vg.Point{X: c.Center().X, Y: c.Max.Y - 6}, title)
	c.Max.Y -= titleHeight
	if err := paint(c); err != nil {
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
	return err
}

func letters(size font.Length, in color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: in, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

func (p Panel) plot(legend bool) (*plot.Plot, error) {
	out := plot.New()
	for _, axis := range []*plot.Axis{&out.X, &out.Y} {
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = letters(9, ink, 0, 0).Font, letters(8, ink, 0, 0).Font
	}
	out.X.Label.Text, out.Y.Label.Text = p.X, p.Y
	out.Legend.TextStyle = letters(8, ink, text.XLeft, text.YCenter)
	out.Legend.ThumbnailWidth, out.Legend.Padding = 26, 5
	out.Add(plotter.NewGrid())
	for i := range p.Series {
		if err := p.addSeries(out, i, legend); err != nil {
			return nil, err
		}
	}
	if p.note != "" {
		out.Legend.Add(p.note)
	}
	if p.ticks != nil {
		out.NominalX(p.ticks...)
	}
	if p.log {
		out.Y.Scale, out.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	} else {
		out.Y.Min, out.Y.Max = max(min(out.Y.Min, p.Ideal), lowestR2), max(out.Y.Max, p.Ideal)
	}
	for _, l := range p.limits {
		axis := &out.Y
		if l.vertical {
			axis = &out.X
		}
		axis.Min, axis.Max = min(axis.Min, l.at), max(axis.Max, l.at)
		out.Add(l)
	}
	out.Legend.Left = p.ticks != nil // shares begin on the left, where curves are near the ideal value
	out.Legend.Top = !out.Legend.Left || !p.log && p.Ideal < (out.Y.Min+out.Y.Max)/2
	return out, nil
}

// addSeries draws series i: error bars, a line above them and markers on top.
func (p Panel) addSeries(out *plot.Plot, i int, legend bool) error {
	s := p.Series[i]
	if p.ticks != nil { // moved apart, so that error bars do not hide each other
		s.points = slices.Clone(s.points)
		for k := range s.points {
			s.points[k].X += 0.09 * (float64(i) - float64(len(p.Series)-1)/2)
		}
	}
	line, marks, err := plotter.NewLinePoints(s.points)
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{s.points, s.ranges})
	if err != nil {
		return err
	}
	line.Color, line.Width, line.Dashes = ink, vg.Points(1.1), plotutil.Dashes(i)
	bars.Color, bars.Width, bars.CapWidth = quiet, vg.Points(0.5), vg.Points(3)
	marks.GlyphStyleFunc = func(k int) draw.GlyphStyle {
		style := draw.GlyphStyle{Color: line.Color, Radius: vg.Points(3.2), Shape: filled[i%len(filled)]}
		if s.hollow != nil && s.hollow[k] {
			style.Shape = hollow[i%len(hollow)]
		}
		return style
	}
	marks.GlyphStyle = marks.GlyphStyleFunc(0) // the marker in the legend
	out.Add(bars, line, marks)
	if legend {
		out.Legend.Add(s.Name, line, marks)
	}
	return nil
}

// Plot implements plot.Plotter.
func (l limit) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	style := draw.LineStyle{Color: ink, Width: vg.Points(0.7), Dashes: []vg.Length{3, 2}}
	if l.vertical {
		x := toX(l.at)
		c.StrokeLine2(style, x, c.Min.Y, x, c.Max.Y)
		c.FillText(letters(8, ink, text.XRight, text.YTop), vg.Point{X: x - 3, Y: c.Max.Y - 3}, l.label)
		return
	}
	y := toY(l.at)
	c.StrokeLine2(style, c.Min.X, y, c.Max.X, y)
	c.FillText(letters(8, ink, text.XLeft, text.YTop), vg.Point{X: c.Min.X + 3, Y: y - 2}, l.label)
}
