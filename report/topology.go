package report

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"

	"tutti/topology"
	"tutti/topology/discover"
)

// topologyView holds the values that the template topology.html inserts.
type topologyView struct {
	*topology.Merged
	Name  string
	Style template.CSS
	Heat  *heatView // nil without measured pairs
}

// heatView shows the distances between nodes as a heat map, below the dendrogram of the nodes.
type heatView struct {
	Nodes   []string     // in the order of rows and columns
	Names   []rowName    // next to the rows
	Group   int          // rows to a name, except the last one
	Picture template.URL // a pixel for each pair
	Tree    string       // path of the dendrogram, in the units of the view box

	Shortest, Middle, Longest string // of the logarithmic scale of colors
}

// rowName is the name of the first of several rows.
type rowName struct {
	Name string
	Rows int
}

// mostNames limits the names next to a heat map, so that it fits on a screen.
const mostNames = 64

var (
	//go:embed topology.html
	topologyText     string
	topologyTemplate = template.Must(template.New("topology").Parse(topologyText))
)

// WriteTopologyHTML writes the levels of a machine as one HTML page that needs no other files. If there are
// measured pairs, the page has a heat map of their distances and a dendrogram. For wrong pairs it returns the
// errors of discover.PairDistances.
func WriteTopologyHTML(w io.Writer, name string, m topology.Merged, pairs []discover.PairTime) error {
	v := topologyView{Merged: &m, Name: name, Style: template.CSS(asset("draw.css") + asset("report.css"))}
	if len(pairs) > 0 {
		var err error
		if v.Heat, err = newHeatView(pairs); err != nil {
			return err
		}
	}
	if err := topologyTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("topology as HTML: %w", err)
	}
	return nil
}

func newHeatView(pairs []discover.PairTime) (*heatView, error) {
	distances, nodes, err := discover.PairDistances(pairs)
	if err != nil {
		return nil, err
	}
	tree, order := distances.Dendrogram()
	least, most := math.Inf(1), 0.0
	for i := range nodes {
		for j := range i {
			least, most = min(least, distances.At(i, j)), max(most, distances.At(i, j))
		}
	}
	picture, err := heatMap(distances, order, least, most)
	v := heatView{
		Picture: picture, Tree: treePath(tree, order), Group: (len(order) + mostNames - 1) / mostNames,
		Shortest: FormatSeconds(least), Middle: FormatSeconds(math.Sqrt(least * most)), Longest: FormatSeconds(most),
	}
	for _, i := range order {
		v.Nodes = append(v.Nodes, nodes[i])
	}
	for group := range slices.Chunk(v.Nodes, v.Group) {
		v.Names = append(v.Names, rowName{group[0], len(group)})
	}
	return &v, err
}

// heatMap returns a PNG picture as a data URL. Pairs with the shortest distance are light, those with the
// longest dark, on a logarithmic scale.
func heatMap(distances discover.Matrix, order []int, least, most float64) (template.URL, error) {
	picture := image.NewRGBA(image.Rect(0, 0, len(order), len(order)))
	for y, i := range order {
		for x, j := range order {
			share := 0.0
			if i != j && most > least {
				share = math.Log(distances.At(i, j)/least) / math.Log(most/least)
			}
			part := func(light, dark float64) uint8 { return uint8(math.Round(light + share*(dark-light))) }
			picture.Set(x, y, color.RGBA{part(0xf2, 0x0b), part(0xf5, 0x3c), part(0xfa, 0x6f), 0xff})
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, picture)
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), err
}

// treePath returns an SVG path that draws a dendrogram in a square of side 1000. Each member has a column of
// equal width. The smaller the distance of a merge, the lower it is drawn.
func treePath(d discover.Dendrogram, order []int) string {
	const side = 1000
	x, y := make([]float64, d.N+len(d.Merges)), make([]float64, d.N+len(d.Merges))
	for column, member := range order {
		x[member], y[member] = side*(float64(column)+0.5)/float64(d.N), side
	}
	top := d.Merges[len(d.Merges)-1].Height
	var b strings.Builder
	for t, m := range d.Merges {
		g := d.N + t
		x[g], y[g] = (x[m.A]+x[m.B])/2, side*(1-0.95*m.Height/max(top, 1e-9))
		fmt.Fprintf(&b, "M%.1f %.1fV%.1fH%.1fV%.1f", x[m.A], y[m.A], y[g], x[m.B], y[m.B])
	}
	return b.String()
}
