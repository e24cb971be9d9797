package lab

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Map is a grid of ratios, 1 where two things are alike.
type Map struct {
	Title         string
	Columns, Rows []string
	Cells         [][]float64 // of each row; NaN: nothing is known
}

const (
	cellWidth  = 1.15 * vg.Centimeter
	cellHeight = 0.62 * vg.Centimeter
	rowNames   = 1.6 * vg.Centimeter
	mapMargin  = 0.4 * vg.Centimeter
	mapHeader  = 1.3 * vg.Centimeter // a map's title and the names of its columns
)

// farthest is the ratio, or one over it, from which on cells have the full colour.
const farthest = 4

// tint is blue below 1 and red above, the paler the closer to it.
func tint(ratio float64) color.Color {
	strength := math.Min(1, math.Abs(math.Log(ratio))/math.Log(farthest))
	away := func(full uint8) uint8 { return uint8(255 - strength*float64(255-full)) }
	if ratio < 1 {
		return color.NRGBA{away(0x3a), away(0x86), away(0xd0), 255}
	}
	return color.NRGBA{away(0xd6), away(0x50), away(0x45), 255}
}

// WriteMaps draws maps as a PNG, one below the other, with the number in each cell.
func WriteMaps(w io.Writer, title string, maps []Map) error {
	width, height := vg.Length(0), titleHeight+mapMargin
	for _, m := range maps {
		width = max(width, rowNames+vg.Length(len(m.Columns))*cellWidth+2*mapMargin)
		height += mapHeader + vg.Length(len(m.Rows))*cellHeight + mapMargin
	}
	img := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(perInch))
	c := draw.New(img)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c.FillText(letters(11, ink, text.XCenter, text.YTop), vg.Point{X: c.Center().X, Y: c.Max.Y - 6}, title)
	top := c.Max.Y - titleHeight
	for _, m := range maps {
		m.draw(c, vg.Point{X: mapMargin, Y: top})
		top -= mapHeader + vg.Length(len(m.Rows))*cellHeight + mapMargin
	}
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
	return err
}

// draw a map whose upper left corner is at a point.
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
			corner := vg.Rectangle{Min: vg.Point{X: x, Y: middle - cellHeight/2}, Max: vg.Point{X: x + cellWidth, Y: middle + cellHeight/2}}
			c.SetColor(tint(ratio))
			c.Fill(corner.Path())
			c.FillText(letters(8, ink, text.XCenter, text.YCenter), vg.Point{X: x + cellWidth/2, Y: middle}, fmt.Sprintf("%.2f", ratio))
		}
	}
}
