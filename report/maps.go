package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tutti/coll"
)

// grid is the axes of a problem's maps: every number of nodes and every size that
// occurs, the same for each ppn so that maps can be compared.
type grid struct {
	ppns, nodes []int
	sizes       []int64
}

func gridOf(cells []Cell) grid {
	return grid{
		ppns:  distinct(cells, func(c Cell) int { return c.PPN }),
		nodes: distinct(cells, func(c Cell) int { return c.Nodes }),
		sizes: distinct(cells, func(c Cell) int64 { return c.MsgBytes }),
	}
}

// distinct returns the different values of part, ascending.
func distinct[T cmp.Ordered](cells []Cell, part func(Cell) T) []T {
	var values []T
	for _, c := range cells {
		values = append(values, part(c))
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// tile is how one cell looks.
type tile struct {
	fill  ink
	text  string
	inks  ink    // of the text
	group string // a thick line parts neighbours of different groups; none beside ""
}

// tiles is one map: rows are sizes, columns are nodes; nil is outside the grid.
type tiles [][]*tile

// newTiles lays out the cells with one ppn.
func newTiles(g grid, cells []Cell, ppn int, paint func(Cell) tile) tiles {
	t := make(tiles, len(g.sizes))
	for i := range t {
		t[i] = make([]*tile, len(g.nodes))
	}
	for _, c := range cells {
		if c.PPN != ppn {
			continue
		}
		row, _ := slices.BinarySearch(g.sizes, c.MsgBytes)
		column, _ := slices.BinarySearch(g.nodes, c.Nodes)
		look := paint(c)
		t[row][column] = &look
	}
	return t
}

// tileText is the size of the text in a tile.
const tileText = vg.Length(7)

// Plot implements plot.Plotter. Tiles of one fill make one path: a page holds
// tens of thousands of them.
func (t tiles) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	const gap = 0.3 // points between a tile and the edge of its place
	paths := map[ink]*vg.Path{}
	for row := range t {
		for column, look := range t[row] {
			if look == nil {
				continue
			}
			if paths[look.fill] == nil {
				paths[look.fill] = new(vg.Path)
			}
			x, y := float64(column), float64(row)
			addBox(paths[look.fill], toX(x-0.5)+gap, toY(y-0.5)+gap, toX(x+0.5)-gap, toY(y+0.5)-gap)
		}
	}
	for _, k := range inks() {
		if paths[k] != nil {
			c.SetColor(k)
			c.Fill(*paths[k])
		}
	}
	t.drawBorders(c, p)
	t.drawTexts(c, p)
}

func addBox(path *vg.Path, x0, y0, x1, y1 vg.Length) {
	path.Move(vg.Point{X: x0, Y: y0})
	path.Line(vg.Point{X: x1, Y: y0})
	path.Line(vg.Point{X: x1, Y: y1})
	path.Line(vg.Point{X: x0, Y: y1})
	path.Close()
}

// drawBorders strokes the edges between neighbours of different groups.
func (t tiles) drawBorders(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	var path vg.Path
	for row := range t {
		for column := range t[row] {
			x, y := float64(column), float64(row)
			if column > 0 && t.parted(row, column, row, column-1) {
				path.Move(vg.Point{X: toX(x - 0.5), Y: toY(y - 0.5)})
				path.Line(vg.Point{X: toX(x - 0.5), Y: toY(y + 0.5)})
			}
			if row > 0 && t.parted(row, column, row-1, column) {
				path.Move(vg.Point{X: toX(x - 0.5), Y: toY(y - 0.5)})
				path.Line(vg.Point{X: toX(x + 0.5), Y: toY(y - 0.5)})
			}
		}
	}
	if len(path) > 0 {
		c.SetLineStyle(borderLine)
		c.Stroke(path)
	}
}

func (t tiles) parted(row, column, otherRow, otherColumn int) bool {
	a, b := t[row][column], t[otherRow][otherColumn]
	return a != nil && b != nil && a.group != b.group && a.group != "" && b.group != ""
}

// drawTexts writes the text of every tile that is big enough for it.
func (t tiles) drawTexts(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	width, height := toX(1)-toX(0), toY(1)-toY(0)
	const lift = 0.1 * tileText // digits and capitals have no descent to be centred with
	for row := range t {
		for column, look := range t[row] {
			if look == nil || look.text == "" || height < tileText {
				continue
			}
			style := letters(look.inks, tileText, text.XCenter, text.YCenter)
			if style.Width(look.text) <= width {
				c.FillText(style, vg.Point{X: toX(float64(column)), Y: toY(float64(row)) + lift}, look.text)
			}
		}
	}
}

// Sizes of tiles in points: wide enough for a letter or for 1.234, smaller only
// when a map would become larger than maxMap.
const (
	narrowTile = vg.Length(16)
	wideTile   = vg.Length(20)
	tileHeight = vg.Length(11)
	maxMap     = vg.Length(1200)
)

// nodeMap draws one map of tiles over nodes and sizes.
func (s *sheet) nodeMap(g grid, t tiles, width vg.Length, label string) (template.HTML, error) {
	const left, below = 56, 32 // points for the axes
	width = min(width, maxMap/vg.Length(len(g.nodes)))
	height := min(tileHeight, maxMap/vg.Length(len(g.sizes)))
	var nodes, sizes []string
	letterCount := 0
	for _, n := range g.nodes {
		nodes = append(nodes, strconv.Itoa(n))
		letterCount = max(letterCount, len(nodes[len(nodes)-1]))
	}
	for _, n := range g.sizes {
		sizes = append(sizes, coll.FormatBytes(n))
	}
	plt := newPlot("nodes (number)", "message size")
	digit := 0.6 * labelHeight // the width of a digit is 0.56 of its height, and some air
	setNames(&plt.X, nodes, float64((digit*vg.Length(letterCount)+2)/width))
	setNames(&plt.Y, sizes, float64(labelHeight/height))
	plt.Add(t)
	w := left + max(width*vg.Length(len(g.nodes)), 48) // 48: the axis title
	h := below + max(height*vg.Length(len(g.sizes)), 56)
	return s.svg(w, h, 1.25, label, plt.Draw)
}

// panel is one map with its heading.
type panel struct {
	Heading string
	SVG     template.HTML
}

// panels draws one map per ppn.
func (s *sheet) panels(p ProblemFacts, title string, width vg.Length, paint func(Cell) tile) ([]panel, error) {
	g := gridOf(p.Cells)
	var out []panel
	for _, ppn := range g.ppns {
		heading := fmt.Sprintf("%s, %d processes per node", title, ppn)
		if ppn == 1 {
			heading = title + ", 1 process per node"
		}
		label := fmt.Sprintf("%s %s: %s", p.Library, p.Collective, heading)
		svg, err := s.nodeMap(g, newTiles(g, p.Cells, ppn, paint), width, label)
		if err != nil {
			return nil, err
		}
		out = append(out, panel{heading, svg})
	}
	return out, nil
}

// paintMeasured shows how many of the algorithms were measured at a cell.
func paintMeasured(algorithms int) func(Cell) tile {
	return func(c Cell) tile {
		step := 0
		if c.Measured > 0 {
			step = 1
		}
		if algorithms > 1 && c.Measured > 1 {
			step = min(1+(len(ramp)-2)*(c.Measured-1)/(algorithms-1), len(ramp)-1)
		}
		number := ""
		if c.Measured > 0 {
			number = strconv.Itoa(c.Measured)
		}
		return tile{fill: ramp[step], text: number, inks: onRamp(step)}
	}
}

// paintSlowdown shows a slowdown. Strong fills are significant mistakes.
func paintSlowdown(threshold float64, part func(Cell) *float64) func(Cell) tile {
	return func(c Cell) tile {
		x := part(c)
		if x == nil {
			return tile{fill: ramp[0], text: "?", inks: inkQuiet}
		}
		step := slowdownStep(*x, threshold)
		return tile{fill: ramp[step], text: shortRatio(*x), inks: onRamp(step)}
	}
}

// slowdownShares are the upper ends of the steps of ramp but the last, as shares
// of the mistake threshold: with 0.1 they are 1.01, 1.05, 1.1, 1.25, 1.5 and 2.
var slowdownShares = []float64{0.1, 0.5, 1, 2.5, 5, 10}

// slowdownStep is the step of ramp for a slowdown; from rampFaint on it is more
// than the threshold above 1.
func slowdownStep(x, threshold float64) int {
	const slack = 1e-12 // of rounding: 1.1 is within 1+0.1
	for step, share := range slowdownShares {
		if x <= 1+share*threshold+slack {
			return step
		}
	}
	return len(slowdownShares)
}

// shortRatio writes a ratio in at most four characters or so.
func shortRatio(x float64) string {
	switch {
	case x >= 9999.5:
		return strconv.FormatFloat(x, 'e', 0, 64)
	case x >= 99.5:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// codes gives each algorithm of a problem a short code, and a fill by how often
// it is selected. Algorithms that occur in cells only come last.
type codes struct {
	names    []string // in order of the codes
	listed   int      // how many of the names are listed by the problem
	code     map[string]string
	fill     map[string]ink
	selected map[string]int // cells
}

func codesOf(p ProblemFacts) codes {
	c := codes{code: map[string]string{}, fill: map[string]ink{}, selected: map[string]int{}}
	add := func(name string) {
		if _, known := c.code[name]; name != "" && !known {
			c.code[name] = letterCode(len(c.names))
			c.names = append(c.names, name)
		}
	}
	for _, a := range p.Algorithms {
		add(a.Name)
	}
	c.listed = len(c.names)
	for _, cell := range p.Cells {
		add(cell.Selected)
		c.selected[cell.Selected]++
	}
	ranked := slices.Clone(c.names)
	slices.SortStableFunc(ranked, func(a, b string) int { return cmp.Compare(c.selected[b], c.selected[a]) })
	for i, name := range ranked {
		c.fill[name] = kinds[i%len(kinds)]
	}
	return c
}

// letterCode counts A, B … Z, A1, B1 …
func letterCode(i int) string {
	code := string(rune('A' + i%26))
	if i >= 26 {
		code += strconv.Itoa(i / 26)
	}
	return code
}

// paint shows the selected algorithm of a cell.
func (c codes) paint(cell Cell) tile {
	if cell.Selected == "" {
		return tile{fill: ramp[0], text: "?", inks: inkQuiet}
	}
	text := c.code[cell.Selected]
	if cell.Tie != "" {
		text += tieMark
	}
	return tile{fill: c.fill[cell.Selected], text: text, inks: inkLine, group: cell.Selected}
}

// tieMark stands behind the code of a choice that is as fast as another one.
const tieMark = "="
