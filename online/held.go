package online

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/internal/lab"
)

// Held shows what a policy that knows what earlier sources say holds to be best at every
// recorded point, called there or not: its time beside that of the default, a map for each
// collective, layouts by sizes.
func Held(policy string, recorded []coll.Measurement, excluded []coll.Algorithm, earlier [][]coll.Measurement, opt Options) ([]lab.Map, error) {
	p := everywhere(recorded, excluded)
	pol, err := newPolicy(policy, p, earlier, opt)
	if err != nil {
		return nil, err
	}
	var out []lab.Map
	for _, c := range collectivesOf(p) {
		ratios := map[coll.Point]float64{}
		for i, class := range p.Classes {
			if class.Collective == c {
				ratios[class.Point] = class.Seconds[pol.tuned(i)] / class.Seconds[0]
			}
		}
		out = append(out, mapOf(c, ratios))
	}
	return out, nil
}

// everywhere is a problem of all recorded points with a time of the default.
func everywhere(recorded []coll.Measurement, excluded []coll.Algorithm) Problem {
	at := recordedAt(recorded, excluded)
	var points []coll.Point
	for point, ms := range at {
		if slices.ContainsFunc(ms, isDefault) {
			points = append(points, point)
		}
	}
	slices.SortFunc(points, coll.ComparePoints)
	var p Problem
	for _, point := range points {
		p.Classes = append(p.Classes, newClass(point, 1, at[point]))
	}
	return p
}

func mapOf(c coll.Collective, ratios map[coll.Point]float64) lab.Map {
	var layouts []coll.Layout
	var sizes []int64
	for p := range ratios {
		layouts, sizes = append(layouts, p.Layout()), append(sizes, p.MsgBytes)
	}
	slices.SortFunc(layouts, coll.CompareLayouts)
	slices.Sort(sizes)
	layouts, sizes = slices.Compact(layouts), slices.Compact(sizes)
	m := lab.Map{Title: string(c)}
	for _, s := range sizes {
		m.Columns = append(m.Columns, coll.FormatBytes(s))
	}
	for _, l := range layouts {
		m.Rows = append(m.Rows, fmt.Sprintf("%d × %d", l.Nodes, l.PPN))
		row := make([]float64, len(sizes))
		for k, s := range sizes {
			ratio, known := ratios[coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: s}]
			if row[k] = ratio; !known {
				row[k] = math.NaN()
			}
		}
		m.Cells = append(m.Cells, row)
	}
	return m
}
