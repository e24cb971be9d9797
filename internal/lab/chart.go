package lab

// Chart is one coordinate system of lines over the numbers from 1 on.
type Chart struct {
	X, Y  string
	Ideal float64 // on the y axis, always shown
	Lines []Line
}

// Line has a value for each of the numbers.
type Line struct {
	Name string
	Y    []float64
}

// NewFigure returns a figure without a table, drawn like the paper's.
func NewFigure(name, title string, charts []Chart) Figure {
	f := Figure{Name: name, Title: title}
	for i, c := range charts {
		p := panel{x: c.X, y: c.Y, ideal: c.Ideal, legend: i == 0}
		for _, l := range c.Lines {
			s := series{name: l.Name}
			for k, y := range l.Y {
				s.add(float64(k+1), averages{mean: y, low: y, high: y})
			}
			p.series = append(p.series, s)
		}
		f.panels = append(f.panels, p)
	}
	return f
}
