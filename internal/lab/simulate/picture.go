package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/internal/lab"
)

// Draw returns a figure of the runs, averaged over the applications. It shows the time relative to the
// default and to the best algorithms. It also shows the regret relative to a run with the best algorithms,
// and the number of exploring calls.
func Draw(outcomes []Outcome) lab.Figure {
	panels := []lab.Panel{
		{X: "run", Y: "time / that of the default", Ideal: 1},
		{X: "run", Y: "time / that of the best", Ideal: 1},
		{X: "run", Y: "regret so far, in runs of the best"},
		{X: "run", Y: "calls that explore, %"},
	}
	var names []string
	runs := map[string][][]RunOutcome{}
	for _, o := range outcomes {
		if _, ok := runs[o.Policy]; !ok {
			names = append(names, o.Policy)
		}
		runs[o.Policy] = append(runs[o.Policy], o.Runs)
	}
	for _, name := range names {
		lines := make([]lab.Series, len(panels))
		for k := range runs[name][0] {
			var sum [4]float64
			for _, of := range runs[name] {
				r := of[k]
				for i, v := range []float64{r.OverDefault(), r.OverBest(), r.Regret / r.Best, 100 * r.ExploredShare()} {
					sum[i] += v / float64(len(runs[name]))
				}
			}
			for i, v := range sum {
				lines[i].Add(float64(k+1), v)
			}
		}
		for i, line := range lines {
			line.Name = name
			panels[i].Series = append(panels[i].Series, line)
		}
	}
	return lab.Figure{Title: "Learning while applications run", Panels: panels}
}

// maxTrends is the number of algorithms that DrawTrend shows: those with most calls in the last run.
const maxTrends = 6

// DrawTrend returns a figure of the share of the calls of the outcome's class that each algorithm served, run by
// run. Under the policy iota this share follows the probability that the algorithm is drawn (Steiner 2023, figures
// 5.10b, 5.12b and 5.13b).
func (o Outcome) DrawTrend() lab.Figure {
	order := make([]int, len(o.Class.Algorithms))
	for a := range order {
		order[a] = a
	}
	last := o.Runs[len(o.Runs)-1].Served
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(last[b], last[a]) })
	panel := lab.Panel{X: "run", Y: fmt.Sprintf("calls of %v, %%", o.Class.Point)}
	for _, a := range order[:min(maxTrends, len(order))] {
		line := lab.Series{Name: o.Class.Algorithms[a].String()}
		for run, r := range o.Runs {
			calls := 0
			for _, n := range r.Served {
				calls += n
			}
			line.Add(float64(run+1), 100*float64(r.Served[a])/float64(max(1, calls)))
		}
		panel.Series = append(panel.Series, line)
	}
	return lab.Figure{Title: fmt.Sprintf("%s: algorithms that %s ran", o.Application, o.Policy), Panels: []lab.Panel{panel}}
}

// BestMap returns a map for each collective, with layouts as rows and sizes as columns. Each cell has the
// recorded time of the algorithm that the policy predicts to be fastest, divided by that of the default. The policy learns from the measurements
// in `earlier`, one slice for each source, before it chooses (Steiner 2023, figures 5.11, 5.14 and 5.15).
func BestMap(policyName string, recorded []coll.Measurement, excluded []coll.Algorithm, earlier [][]coll.Measurement, opt Options) ([]lab.Map, error) {
	at := byPoint(recorded, excluded)
	var app Application
	for _, point := range pointsWithDefault(at) {
		app.Classes = append(app.Classes, newClass(point, 1, at[point]))
	}
	p, err := newPolicy(policyName, app, earlier, opt)
	if err != nil {
		return nil, err
	}
	predicted := func(class int) (int, error) { return p.best(class), nil }
	if q, ok := p.(interface{ predicted(class int) (int, error) }); ok {
		predicted = q.predicted
	}
	var out []lab.Map
	for _, c := range coll.Collectives() {
		ratios := map[coll.Point]float64{}
		for i, class := range app.Classes {
			if class.Collective == c {
				a, err := predicted(i)
				if err != nil {
					return nil, err
				}
				ratios[class.Point] = class.Seconds[a] / class.Seconds[0]
			}
		}
		if len(ratios) > 0 {
			out = append(out, mapOf(c, ratios))
		}
	}
	return out, nil
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
			ratio, ok := ratios[coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: s}]
			if row[k] = ratio; !ok {
				row[k] = math.NaN()
			}
		}
		m.Cells = append(m.Cells, row)
	}
	return m
}
