package report

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ink is a colour of the plots. It is its own value in the light theme, by which
// the SVG is found again and bound to a CSS variable; so no two inks may be
// alike in it.
type ink struct{ name, light, dark string }

// RGBA makes an ink a color.Color. The light values are written #RRGGBB.
func (k ink) RGBA() (r, g, b, a uint32) {
	v, err := strconv.ParseUint(k.light[1:], 16, 24)
	if err != nil {
		panic("report: ink " + k.name + ": " + err.Error())
	}
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}.RGBA()
}

var (
	inkLine  = ink{"line", "#1C1C22", "#ECECF0"}  // lines, markers and text
	inkQuiet = ink{"quiet", "#5A5A64", "#A9A9B4"} // axes and remarks
	inkPaper = ink{"paper", "#FFFFFE", "#17171B"} // the page; text on strong fills
)

// ramp runs from faint to strong in both themes: the further from the page's own
// colour the higher the value. Up to rampFaint steps carry text in inkLine, the
// others in inkPaper.
var ramp = []ink{
	{"r0", "#F6F6F7", "#222227"},
	{"r1", "#E4E4E7", "#303037"},
	{"r2", "#CFCFD4", "#44444D"},
	{"r3", "#6E6E77", "#9A9AA4"},
	{"r4", "#505058", "#B6B6C0"},
	{"r5", "#33333A", "#D3D3DB"},
	{"r6", "#18181D", "#F4F4F8"},
}

// rampFaint is the number of faint steps of ramp.
const rampFaint = 3

// kinds fill the categories of a map. They follow the hues of Okabe and Ito,
// "Color Universal Design" (2008), paled so that a letter stays readable on them;
// their greys differ as well, but the letter is what tells them apart.
var kinds = []ink{
	{"k0", "#F3F3F1", "#26262C"},
	{"k1", "#A9D6F0", "#1D4A66"},
	{"k2", "#F0C36E", "#6E5010"},
	{"k3", "#7CC4AC", "#1B5C48"},
	{"k4", "#DDB4CF", "#6A3A5A"},
	{"k5", "#6F9FC8", "#33608A"},
	{"k6", "#DB9A6E", "#86471F"},
	{"k7", "#A2A2A8", "#5C5C66"},
}

func inks() []ink {
	all := []ink{inkLine, inkQuiet, inkPaper}
	all = append(all, ramp...)
	return append(all, kinds...)
}

// variables returns the inks of one theme as CSS declarations.
func variables(dark bool) string {
	var b strings.Builder
	for _, k := range inks() {
		value := k.light
		if dark {
			value = k.dark
		}
		fmt.Fprintf(&b, "--%s:%s;", k.name, value)
	}
	return b.String()
}

// onRamp is the ink for text on a step of ramp.
func onRamp(step int) ink {
	if step < rampFaint {
		return inkLine
	}
	return inkPaper
}

var (
	solidLine  = draw.LineStyle{Color: inkLine, Width: 1.3}
	dashedLine = draw.LineStyle{Color: inkLine, Width: 0.8, Dashes: []vg.Length{5, 3}}
	dottedLine = draw.LineStyle{Color: inkQuiet, Width: 0.8, Dashes: []vg.Length{1, 2.5}}
	thinLine   = draw.LineStyle{Color: inkQuiet, Width: 0.5}
	borderLine = draw.LineStyle{Color: inkLine, Width: 1.2}

	filledMark  = draw.GlyphStyle{Color: inkLine, Radius: 2.4, Shape: draw.CircleGlyph{}}
	hollowMark  = draw.GlyphStyle{Color: inkLine, Radius: 2.6, Shape: draw.RingGlyph{}}
	prunedMark  = draw.GlyphStyle{Color: inkQuiet, Radius: 2.8, Shape: draw.TriangleGlyph{}}
	failedMark  = draw.GlyphStyle{Color: inkLine, Radius: 3, Shape: draw.CrossGlyph{}}
	labelHeight = vg.Length(9)
)

// letters is the style of text in a plot.
func letters(k ink, size vg.Length, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: k, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

// newPlot returns an empty plot in the common style, axes titled.
func newPlot(xTitle, yTitle string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []struct {
		*plot.Axis
		title string
		x     text.XAlignment
		y     text.YAlignment
	}{
		{&p.X, xTitle, text.XCenter, text.YTop},
		{&p.Y, yTitle, text.XRight, text.YCenter},
	} {
		axis.Label.Text = axis.title
		axis.Label.Padding = 2
		axis.Label.TextStyle = letters(inkLine, labelHeight, text.XCenter, text.YBottom)
		axis.Tick.Label = letters(inkQuiet, labelHeight, axis.x, axis.y)
		axis.Tick.LineStyle = thinLine
		axis.Tick.Length = 3
		axis.LineStyle = thinLine
		axis.Padding = 3
	}
	return p
}
