package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"tutti/activelearn"

	"tutti/coll"
	"tutti/preprocess"
)

// metric is one of the metrics of table II of Wilkins et al. (ExaMPI 2021).
type metric struct {
	name, label string
	ideal       float64
	value       func(Quality) (v float64, ok bool)
}

var (
	r2Metric = metric{"r2", "R² of the predictions", 1, func(q Quality) (float64, bool) {
		if q.R2 == nil {
			return 0, false
		}
		return *q.R2, true
	}}
	slowdownMetric = metric{"slowdown", "average slowdown", 1, func(q Quality) (float64, bool) { return q.Slowdown, true }}
	accuracyMetric = metric{"accuracy", "classification accuracy", 1, func(q Quality) (float64, bool) { return q.Accuracy, true }}
	exactMetric    = metric{"exact", "accuracy as published: the fastest algorithm alone", 1, func(q Quality) (float64, bool) { return q.Exact, true }}
	mistakesMetric = metric{"mistakes", "proportion of significant mistakes", 0, func(q Quality) (float64, bool) { return q.Mistakes, true }}

	allMetrics = []metric{r2Metric, slowdownMetric, accuracyMetric, exactMetric, mistakesMetric}
)

// Ways to collect training sets. The authors of the method FACT compared it with random points whose times are not
// scaled. Their surrogate was DeepHyper's random forest; that of campaigns is a Gaussian process.
var (
	unscaledRandom = source{name: "random, unscaled", scaling: preprocess.None}
	scaledRandom   = source{name: "random, algorithm_log10", scaling: preprocess.AlgorithmLog10}
	fact           = source{name: "uncertainty, algorithm_log10", scaling: preprocess.AlgorithmLog10, choose: func(seed uint64) (activelearn.Strategy, error) {
		return activelearn.New("uncertainty", activelearn.Options{Seed: seed})
	}}
	factForest    = source{name: "variance of a forest of log10 times", scaling: preprocess.AlgorithmLog10, choose: newForestVariance(true)}
	factRawForest = source{name: "variance of a forest of times", scaling: preprocess.AlgorithmLog10, choose: newForestVariance(false)}
)

// shareFigure is a figure that shows metrics as a function of the size of the training set. It shows means over
// data sets and seeds, and the range of single runs.
type shareFigure struct {
	title   string
	sources []source
	metrics []metric
}

var (
	fig3 = shareFigure{"Random training sets without scaling", []source{unscaledRandom}, allMetrics}
	fig4 = shareFigure{"Random training sets under output scalings", randomByScaling(), []metric{slowdownMetric}}
	fig5 = shareFigure{"Random training sets without and with scaling", []source{unscaledRandom, scaledRandom}, allMetrics}
	fig7 = shareFigure{"FACT compared with random training sets without scaling", []source{unscaledRandom, fact}, allMetrics}
)

func randomByScaling() []source {
	var sources []source
	for _, s := range preprocess.Scalings() {
		sources = append(sources, source{name: string(s), scaling: s})
	}
	return sources
}

// draw trains models on training sets from every source and of every size (share of the candidates). It draws the
// metrics of these models. In the table, rows that combine all data sets come before those of each data set.
func (o shareFigure) draw(ctx context.Context, sets []Set, seeds []uint64, opt Options) (Figure, error) {
	all, err := samples(ctx, sets, seeds, opt, o.sources)
	if err != nil {
		return Figure{}, err
	}
	f := Figure{
		Title:  fmt.Sprintf("%s: mean and range of %d data sets, %d seeds", o.title, len(sets), len(seeds)),
		Header: []string{"data", "series", "share_percent", "metric", "mean", "low", "high", "runs"},
	}
	for _, m := range o.metrics {
		p := sharePanel(m.label)
		p.Ideal = m.ideal
		for i, src := range o.sources {
			line := Series{Name: src.name}
			for k, share := range figureShares {
				a := average(all, m, func(s sample) bool { return s.source == i && s.share == share })
				f.Rows = append(f.Rows, a.row("all", src.name, share, m.name))
				if a.runs > 0 {
					line.addRange(float64(k), a)
				}
			}
			p.Series = append(p.Series, line)
		}
		f.Panels = append(f.Panels, p)
	}
	for k, set := range sets {
		for _, m := range o.metrics {
			for i, src := range o.sources {
				for _, share := range figureShares {
					a := average(all, m, func(s sample) bool { return s.set == k && s.source == i && s.share == share })
					f.Rows = append(f.Rows, a.row(set.name(), src.name, share, m.name))
				}
			}
		}
	}
	return f, nil
}

// fig8 shows the machine time for collecting training sets at random and by active learning, summed over the data
// sets. Hollow markers are training sets with which the stopping criteria are not met.
func fig8(ctx context.Context, sets []Set, seeds []uint64, opt Options) (Figure, error) {
	sources := []source{unscaledRandom, scaledRandom, fact, factForest, factRawForest}
	all, err := samples(ctx, sets, seeds, opt, sources)
	if err != nil {
		return Figure{}, err
	}
	f := Figure{
		Title:  fmt.Sprintf("Time to collect training sets: sum of the data sets, %d seeds", len(seeds)),
		Header: []string{"series", "share_percent", "machine_seconds", "low", "high", "slowdown", "mistakes", "meets_criteria", "seeds"},
	}
	p := sharePanel("machine time, s")
	p.log = true
	p.note = "filled: meets the criteria; hollow: does not"
	for i, src := range sources {
		line := Series{Name: src.name}
		for k, share := range figureShares {
			selects := func(s sample) bool { return s.source == i && s.share == share }
			seconds := collectionTime(all, len(seeds), selects)
			slowdown, mistakes := average(all, slowdownMetric, selects), average(all, mistakesMetric, selects)
			meets := slowdown.mean < opt.Criteria.Slowdown && mistakes.mean < opt.Criteria.Mistakes
			line.addRange(float64(k), seconds)
			line.hollow = append(line.hollow, !meets)
			f.Rows = append(f.Rows, []string{
				src.name, percent(share), number(seconds.mean), number(seconds.low), number(seconds.high),
				number(slowdown.mean), number(mistakes.mean), strconv.FormatBool(meets), strconv.Itoa(seconds.runs),
			})
		}
		p.Series = append(p.Series, line)
	}
	f.Panels = []Panel{p}
	return f, nil
}

func fig9(ctx context.Context, sets []Set, seeds []uint64, opt Options) (Figure, error) {
	bcasts := slices.DeleteFunc(slices.Clone(sets), func(s Set) bool { return s.Collective != coll.Bcast })
	if len(bcasts) == 0 {
		return Figure{}, errors.New("no recorded data of bcast")
	}
	return fig8(ctx, bcasts, seeds, opt)
}

// collectionTime computes, for each seed, the sum of the collection times of all data sets. It returns the average
// over the seeds.
func collectionTime(all []sample, seeds int, selects func(sample) bool) averages {
	sums := make([]float64, seeds)
	for _, s := range all {
		if selects(s) {
			sums[s.seed] += s.seconds
		}
	}
	var a averages
	for _, v := range sums {
		a.add(v)
	}
	return a
}

type averages struct {
	mean, low, high float64
	runs            int
}

func (a *averages) add(v float64) {
	if a.runs == 0 {
		a.low, a.high = v, v
	}
	a.low, a.high = min(a.low, v), max(a.high, v)
	a.mean += (v - a.mean) / float64(a.runs+1)
	a.runs++
}

// average returns the mean and the range of a metric over the selected samples. Samples without a value of the
// metric do not count.
func average(all []sample, m metric, selects func(sample) bool) averages {
	var a averages
	for _, s := range all {
		if v, ok := m.value(s.Quality); ok && selects(s) {
			a.add(v)
		}
	}
	return a
}

func (a averages) row(data, series string, share float64, metric string) []string {
	row := []string{data, series, percent(share), metric, "", "", "", strconv.Itoa(a.runs)}
	if a.runs > 0 {
		row[4], row[5], row[6] = number(a.mean), number(a.low), number(a.high)
	}
	return row
}

func percent(share float64) string { return strconv.FormatFloat(math.Round(100*share), 'f', -1, 64) }

// number formats a value with six digits, which suffice to tell any two results apart.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// sharePanel returns a panel whose x axis shows figureShares.
func sharePanel(label string) Panel {
	p := Panel{X: "training set, % of the candidates", Y: label}
	for _, s := range figureShares {
		p.ticks = append(p.ticks, percent(s))
	}
	return p
}
