package lab

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/metrics"
)

// calibrationGroup sums up replays.
type calibrationGroup struct {
	name                 string
	runs, stopped, good  int
	evaluations, covered int
	first, held          []float64 // machine time over the first and the held one, of all
	mistakes             []float64 // true, at the stop
}

func (g *calibrationGroup) add(c Calibration) {
	g.runs++
	g.evaluations += c.Evaluations
	g.covered += c.Covered
	if c.FirstSeconds > 0 {
		g.first = append(g.first, c.StopSeconds/c.FirstSeconds)
	}
	if c.HeldSeconds > 0 {
		g.held = append(g.held, c.StopSeconds/c.HeldSeconds)
	}
	if !c.Stopped {
		return
	}
	g.stopped++
	if c.Good {
		g.good++
	}
	g.mistakes = append(g.mistakes, c.Mistakes)
}

// WriteCalibration prints a table of calibrations by noise, by data and of all: how often
// the truth met the criteria where the predictions ended a replay, how often both upper
// ends were above the truth, and the machine time of the replay over two others. The first
// is that at which the truth first met the criteria, the second that at which it had met
// them for long enough. A replay that was broken off before the predictions ended it counts
// with the time until then, so that its ratios are lower bounds.
func WriteCalibration(w io.Writer, all []Calibration) error {
	var groups []*calibrationGroup
	group := func(name string) *calibrationGroup {
		i := slices.IndexFunc(groups, func(g *calibrationGroup) bool { return g.name == name })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &calibrationGroup{name: name})
		}
		return groups[i]
	}
	for _, by := range []func(Calibration) string{
		func(c Calibration) string { return "noise " + noiseName(c.Noise, c.Tail) },
		func(c Calibration) string { return c.Data },
		func(Calibration) string { return "all" },
	} {
		for _, c := range all {
			group(by(c)).add(c)
		}
	}
	t := newTable()
	t.AppendHeader(table.Row{
		"data", "replays", "stopped", "truth held", "upper ends above", "time/first: median", "geo. mean",
		"time/held: median", "geo. mean", "mistakes at stop: median", "greatest",
	})
	for _, g := range groups {
		t.AppendRow(table.Row{
			g.name, g.runs, g.stopped, proportion(g.good, g.stopped), proportion(g.covered, g.evaluations),
			ratio(metrics.Median(g.first)), ratio(geometricMean(g.first)),
			ratio(metrics.Median(g.held)), ratio(geometricMean(g.held)),
			percentage(metrics.Median(g.mistakes)), percentage(greatest(g.mistakes)),
		})
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

func noiseName(noise, tail float64) string {
	s := strconv.FormatFloat(100*noise, 'g', 3, 64) + " %"
	if tail > 0 {
		s += " and outliers " + strconv.FormatFloat(100*tail, 'g', 3, 64) + " %"
	}
	return s
}

func proportion(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

func ratio(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func percentage(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + " %"
}

func greatest(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return slices.Max(v)
}

// geometricMean is not a number for no values.
func geometricMean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(v)))
}
