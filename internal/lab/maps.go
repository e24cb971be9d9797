package lab

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Map is a grid of ratios of two times. The ratio 1 means that the times are equal.
type Map struct {
	Title         string
	Columns, Rows []string
	Cells         [][]float64 // of each row; NaN: not measured
}

const (
	cellWidth  = 1.15 * vg.Centimeter
	cellHeight = 0.62 * vg.Centimeter
	rowNames   = 1.6 * vg.Centimeter
	mapMargin  = 0.4 * vg.Centimeter
	mapHeader  = 1.3 * vg.Centimeter // a map's title and the names of its columns
)

// fullColour is the ratio above which a cell has the full colour. The same applies to ratios below its
// reciprocal.
const fullColour = 4

// tint returns the colour of a ratio: blue if it is below 1, red if it is above 1. The colour is paler for
// ratios near 1.
func tint(ratio float64) color.Color {
	strength := math.Min(1, math.Abs(math.Log(ratio))/math.Log(fullColour))
	fade := func(full uint8) uint8 { return uint8(255 - strength*float64(255-full)) }
	if ratio < 1 {
		return color.NRGBA{fade(0x3a), fade(0x86), fade(0xd0), 255}
	}
	return color.NRGBA{fade(0xd6), fade(0x50), fade(0x45), 255}
}

func (m Map) height() vg.Length { return mapHeader + vg.Length(len(m.Rows))*cellHeight + mapMargin }

// WriteMaps draws maps, one below another, as a PNG. Each cell shows its ratio.
func WriteMaps(w io.Writer, title string, maps []Map) error {
	width, height := vg.Length(0), titleHeight+mapMargin
	for _, m := range maps {
		width = max(width, rowNames+vg.Length(len(m.Columns))*cellWidth+2*mapMargin)
		height += m.height()
	}
	return writePNG(w, title, width, height, func(c draw.Canvas) error {
		top := c.Max.Y
		for _, m := range maps {
			m.draw(c, vg.Point{X: mapMargin, Y: top})
			top -= m.height()
		}
		return nil
	})
}

func (m Map) draw(c draw.Canvas, at vg.Point) {
	c.FillText(letters(9, ink, text.XLeft, text.YTop), at, m.Title)
	left, top := at.X+rowNames, at.Y-mapHeader
	for k, name := range m.Columns {
		c.FillText(letters(8, quiet, text.XCenter, text.YBottom), vg.Point{X: left + (vg.Length(k)+0.5)*cellWidth, Y: top + 3}, name)
	}
	for i, name := range m.Rows {
		middle := top - (vg.Length(i)+0.5)*cellHeight
		c.FillText(letters(8, quiet, text.XRight, text.YCenter), vg.Point{X: left - 5, Y: middle}, name)
		for k, ratio := range m.Cells[i] {
			if math.IsNaN(ratio) {
				continue
			}
			x := left + vg.Length(k)*cellWidth
			corners := vg.Rectangle{Min: vg.Point{X: x, Y: middle - cellHeight/2}, Max: vg.Point{X: x + cellWidth, Y: middle + cellHeight/2}}
			c.SetColor(tint(ratio))
			c.Fill(corners.Path())
			c.FillText(letters(8, ink, text.XCenter, text.YCenter), vg.Point{X: x + cellWidth/2, Y: middle}, fmt.Sprintf("%.2f", ratio))
		}
	}
}
