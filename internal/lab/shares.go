package lab

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tutti/preprocess"
)

// metric is one of the metrics of table II of the paper.
type metric struct {
	name, label string
	ideal       float64
	pick        func(Quality) (float64, bool)
}

var metricsOfPaper = []metric{
	{"r2", "R² of the predictions", 1, func(q Quality) (float64, bool) {
		if q.R2 == nil {
			return 0, false
		}
		return *q.R2, true
	}},
	slowdownMetric,
	{"accuracy", "classification accuracy", 1, func(q Quality) (float64, bool) { return q.Accuracy, true }},
	{"mistakes", "proportion of significant mistakes", 0, func(q Quality) (float64, bool) { return q.Mistakes, true }},
}

var slowdownMetric = metric{"slowdown", "average slowdown", 1, func(q Quality) (float64, bool) { return q.Slowdown, true }}

// The training sets of the paper before FACT, and those of FACT.
var (
	plain   = source{name: "random, unscaled", scaling: preprocess.None}
	rescale = source{name: "random, algorithm_log10", scaling: preprocess.AlgorithmLog10}
	fact    = source{name: "uncertainty, algorithm_log10", scaling: preprocess.AlgorithmLog10, active: true}
)

// overShares is a figure of metrics against the size of the training set: their means
// over sets and seeds with the range of single runs.
type overShares struct {
	title   string
	sources []source
	shown   []metric
}

var (
	fig3 = overShares{"Random training sets without scaling", []source{plain}, metricsOfPaper}
	fig4 = overShares{"Random training sets under output scalings", scaled(), []metric{slowdownMetric}}
	fig5 = overShares{"Random training sets without and with scaling", []source{plain, rescale}, metricsOfPaper}
	fig7 = overShares{"FACT beside random training sets without scaling", []source{plain, fact}, metricsOfPaper}
)

// scaled are random training sets under each output scaling.
func scaled() []source {
	var sources []source
	for _, s := range preprocess.Scalings() {
		sources = append(sources, source{name: string(s), scaling: s})
	}
	return sources
}

// draw trains on the shares from every source.
func (o overShares) draw(ctx context.Context, sets []Set, seeds []uint64, opt Options) (Figure, error) {
	all, err := samples(ctx, sets, seeds, opt, o.sources)
	if err != nil {
		return Figure{}, err
	}
	f := Figure{
		Title:  o.title + ": " + averaged(sets, seeds),
		Header: []string{"data", "series", "share_percent", "metric", "mean", "low", "high", "runs"},
	}
	for _, m := range o.shown {
		p := sharePanel(m.label)
		p.ideal = m.ideal
		p.legend = len(o.sources) > 1 && len(f.panels) == 0
		for i, src := range o.sources {
			line := series{name: src.name}
			for _, share := range figureShares {
				a := average(all, m.pick, func(s sample) bool { return s.source == i && s.share == share })
				f.Rows = append(f.Rows, a.row("all", src.name, share, m.name))
				if a.runs > 0 {
					line.add(sharePosition(share), a)
				}
			}
			p.series = append(p.series, line)
		}
		f.panels = append(f.panels, p)
	}
	if len(sets) > 1 {
		f.Rows = append(f.Rows, rowsOfSets(all, sets, o.sources, o.shown)...)
	}
	return f, nil
}

// rowsOfSets are the rows of each set by itself.
func rowsOfSets(all []sample, sets []Set, sources []source, shown []metric) [][]string {
	var rows [][]string
	for k, set := range sets {
		for _, m := range shown {
			for i, src := range sources {
				for _, share := range figureShares {
					a := average(all, m.pick, func(s sample) bool { return s.set == k && s.source == i && s.share == share })
					rows = append(rows, a.row(set.name(), src.name, share, m.name))
				}
			}
		}
	}
	return rows
}

// name is the data's, with the collective where it does not say so itself.
func (s Set) name() string {
	if strings.HasSuffix(s.Data, "_"+string(s.Collective)) {
		return s.Data
	}
	return s.Data + " " + string(s.Collective)
}

func averaged(sets []Set, seeds []uint64) string {
	return fmt.Sprintf("mean and range of %d data sets, %d seeds", len(sets), len(seeds))
}

// averages is the mean of some runs with their range.
type averages struct {
	mean, low, high float64
	runs            int
}

func (a *averages) take(v float64) {
	if a.runs == 0 {
		a.low, a.high = v, v
	}
	a.low, a.high = min(a.low, v), max(a.high, v)
	a.mean += (v - a.mean) / float64(a.runs+1)
	a.runs++
}

// average is over the samples that are wanted and have the number.
func average(all []sample, pick func(Quality) (float64, bool), wanted func(sample) bool) averages {
	var a averages
	for _, s := range all {
		if v, ok := pick(s.Quality); ok && wanted(s) {
			a.take(v)
		}
	}
	return a
}

// row leaves the numbers empty where no run has any.
func (a averages) row(data, series string, share float64, metric string) []string {
	row := []string{data, series, percent(share), metric, "", "", "", strconv.Itoa(a.runs)}
	if a.runs > 0 {
		row[4], row[5], row[6] = number(a.mean), number(a.low), number(a.high)
	}
	return row
}

func percent(share float64) string { return strconv.FormatFloat(math.Round(100*share), 'f', -1, 64) }

// sharePosition is where a share stands on the axis: equal steps from the largest.
func sharePosition(share float64) float64 {
	for i, s := range figureShares {
		if s == share {
			return float64(i)
		}
	}
	panic("evaluate: a share that no figure has")
}

// sharePanel has the shares on its x axis.
func sharePanel(label string) panel {
	p := panel{x: "training set, % of the candidates", y: label, dodge: true}
	for i, s := range figureShares {
		p.ticks = append(p.ticks, tick{at: float64(i), label: percent(s)})
	}
	return p
}
