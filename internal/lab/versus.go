package lab

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/metrics"
	"tutti/report"
)

// lossRatio is the largest accepted ratio between the machine time of a strategy and that of the best other strategy.
// Table rows with a larger ratio count as lost.
const lossRatio = 1.05

// The number of resamples and the confidence level of the bootstrap intervals in Versus.
const (
	resamples  = 1000
	confidence = 0.95
)

// Versus compares one strategy with others by the machine time until the stopping criteria hold.
type Versus struct {
	Strategy string      `json:"strategy"`
	Others   []string    `json:"others"`
	Rows     []VersusRow `json:"rows"`
	Means    []VersusSum `json:"means"` // by launch, then of all rows
}

// group contains the outcomes of one data set, one strategy and one cost of launches, one outcome for each seed.
type group []Outcome

func groups(outcomes []Outcome) []group {
	var out []group
	for _, o := range outcomes {
		at := slices.IndexFunc(out, func(g group) bool {
			return g[0].Data == o.Data && g[0].Collective == o.Collective && g[0].Strategy == o.Strategy && g[0].Launch == o.Launch
		})
		if at < 0 {
			out = append(out, group{})
			at = len(out) - 1
		}
		out[at] = append(out[at], o)
	}
	return out
}

// VersusRow compares strategies on one data set with one cost of launches. Share is, for each strategy, the machine
// time until the stopping criteria hold, as a fraction of the time of measuring everything in one batch. It is the
// median over the seeds. A seed counts as 1 if it never converges or takes longer. Ratio is, for each other strategy,
// the Share of the compared strategy divided by that of the other one. Best is the greatest Ratio.
type VersusRow struct {
	Data       string             `json:"data"`
	Real       bool               `json:"real,omitzero"`
	Collective string             `json:"collective"`
	Launch     string             `json:"launch"`
	Seeds      int                `json:"seeds"`
	Share      map[string]float64 `json:"share"`
	Never      map[string]int     `json:"never"` // number of seeds that never converge
	Ratio      map[string]float64 `json:"ratio"`
	Best       float64            `json:"best"`      // 0 without another strategy
	Converges  bool               `json:"converges"` // some strategy converges for half of the seeds; other rows count in no mean

	bySeed map[string][]float64 // shares of each strategy
}

// VersusSum summarises the rows in which some strategy converges. Ratio and Best are geometric means of the fields of
// these names. Worst is the greatest Best, and Lost is the number of rows whose Best is above 1.05. Interval is the
// 95 % interval of the mean Ratio, from a bootstrap over the seeds.
type VersusSum struct {
	Launch   string                      `json:"launch"` // or "all", and "real" and "simulated" if the rows have both kinds of machines
	Rows     int                         `json:"rows"`
	Ratio    map[string]float64          `json:"ratio"`
	Interval map[string]metrics.Interval `json:"interval"`
	Best     float64                     `json:"best"`
	Worst    float64                     `json:"worst"`
	Lost     int                         `json:"lost"`
}

// NewVersus compares the outcomes of one strategy with those of all others. Each strategy must have outcomes for the
// same data sets and costs of launches, with the same number of seeds. Otherwise NewVersus returns an error.
func NewVersus(strategy string, outcomes []Outcome) (Versus, error) {
	v := Versus{Strategy: strategy}
	for _, o := range outcomes {
		if o.Strategy != strategy && !slices.Contains(v.Others, o.Strategy) {
			v.Others = append(v.Others, o.Strategy)
		}
	}
	if len(v.Others) == 0 {
		return v, fmt.Errorf("%s: no other strategy to compare with", strategy)
	}
	all := groups(outcomes)
	var launches []string
	for _, g := range all {
		if g[0].Strategy != strategy {
			continue
		}
		row, err := v.row(g, all)
		if err != nil {
			return v, err
		}
		v.Rows = append(v.Rows, row)
		if !slices.Contains(launches, row.Launch) {
			launches = append(launches, row.Launch)
		}
	}
	for _, l := range launches {
		v.Means = append(v.Means, v.mean(l, func(r VersusRow) bool { return r.Launch == l }))
	}
	isReal := func(r VersusRow) bool { return r.Real }
	isSimulated := func(r VersusRow) bool { return !r.Real }
	if slices.ContainsFunc(v.Rows, isReal) && slices.ContainsFunc(v.Rows, isSimulated) {
		v.Means = append(v.Means, v.mean("real", isReal), v.mean("simulated", isSimulated))
	}
	v.Means = append(v.Means, v.mean("all", func(VersusRow) bool { return true }))
	return v, nil
}

// row compares the outcomes `own` of the strategy with the other strategies' outcomes on the same data set, with
// the same cost of launches.
func (v Versus) row(own group, all []group) (VersusRow, error) {
	o := own[0]
	r := VersusRow{
		Data: o.Data, Real: o.Real, Collective: o.Collective, Launch: o.Launch, Seeds: len(own),
		Share: map[string]float64{}, Never: map[string]int{}, Ratio: map[string]float64{}, bySeed: map[string][]float64{},
	}
	for _, g := range all {
		if g[0].Data == o.Data && g[0].Collective == o.Collective && g[0].Launch == o.Launch {
			if err := r.add(g); err != nil {
				return r, err
			}
		}
	}
	if len(r.Share) != len(v.Others)+1 {
		return r, fmt.Errorf("%s %s launch %s: %d of %d strategies", o.Data, o.Collective, o.Launch, len(r.Share), len(v.Others)+1)
	}
	best := math.Inf(1)
	for _, other := range v.Others {
		r.Ratio[other] = r.Share[v.Strategy] / r.Share[other]
		if !sameStrategy(v.Strategy, other) {
			best = min(best, r.Share[other])
		}
	}
	if !math.IsInf(best, 1) {
		r.Best = r.Share[v.Strategy] / best
	}
	return r, nil
}

// add enters the outcomes of one strategy into the row: its share of machine time, and how many seeds never converge.
func (r *VersusRow) add(g group) error {
	if len(g) != r.Seeds {
		return fmt.Errorf("%s %s launch %s: %d seeds of %s, want %d", r.Data, r.Collective, r.Launch, len(g), g[0].Strategy, r.Seeds)
	}
	for _, o := range g {
		if !o.Converged {
			r.Never[o.Strategy]++
		}
	}
	name := g[0].Strategy
	if 2*r.Never[name] <= len(g) {
		r.Converges = true
	}
	for _, o := range g {
		share := 1.0
		if o.Converged {
			share = min(1, o.MachineShare)
		}
		r.bySeed[name] = append(r.bySeed[name], share)
	}
	r.Share[name] = metrics.Median(r.bySeed[name])
	return nil
}

// mean averages the rows for which `selects` returns true. It leaves out a row if no strategy converged in at least
// half of its seeds.
func (v Versus) mean(launch string, selects func(VersusRow) bool) VersusSum {
	rows := slices.DeleteFunc(slices.Clone(v.Rows), func(r VersusRow) bool { return !r.Converges || !selects(r) })
	sum := VersusSum{Launch: launch, Rows: len(rows), Ratio: map[string]float64{}, Interval: map[string]metrics.Interval{}, Best: 1}
	if len(rows) == 0 {
		return sum
	}
	var seeds []float64
	for i := range rows[0].Seeds {
		seeds = append(seeds, float64(i))
	}
	for _, other := range v.Others {
		ratio := func(seeds []float64) float64 { return v.ratio(rows, other, seeds) }
		sum.Ratio[other] = ratio(seeds)
		sum.Interval[other], _ = metrics.Bootstrap(seeds, ratio, resamples, confidence, 1) // there are seeds
	}
	var best []float64
	for _, r := range rows {
		if r.Best > 0 {
			best = append(best, r.Best)
		}
		sum.Worst = max(sum.Worst, r.Best)
		if r.Best > lossRatio {
			sum.Lost++
		}
	}
	if len(best) > 0 {
		sum.Best = geometricMean(best)
	}
	return sum
}

// ratio compares the strategy with another one by their median shares of machine time. It divides these in each row
// and returns the geometric mean over the rows. `seeds` contains the indices of the seeds that count.
func (v Versus) ratio(rows []VersusRow, other string, seeds []float64) float64 {
	median := func(shares []float64) float64 {
		var picked []float64
		for _, i := range seeds {
			picked = append(picked, shares[int(i)])
		}
		return metrics.Median(picked)
	}
	var ratios []float64
	for _, r := range rows {
		ratios = append(ratios, median(r.bySeed[v.Strategy])/median(r.bySeed[other]))
	}
	return geometricMean(ratios)
}

// WriteText writes a table with shares in per cent, ratios, and the numbers of seeds that never converge.
func (v Versus) WriteText(w io.Writer) error {
	head := table.Row{"data", "collective", "launch"}
	for _, s := range v.strategies() {
		head = append(head, s+" %")
	}
	for _, s := range v.Others {
		head = append(head, "/ "+s)
	}
	head = append(head, "/ best", "never converge")
	var numbers []int
	for i := 4; i < len(head); i++ {
		numbers = append(numbers, i)
	}
	t := report.NewTable(head, numbers...)
	for _, r := range v.Rows {
		t.AppendRow(v.cells(r))
	}
	t.AppendSeparator()
	for _, m := range v.Means {
		row := table.Row{"geometric mean", fmt.Sprintf("of %d", m.Rows), m.Launch}
		for range v.strategies() {
			row = append(row, "")
		}
		for _, s := range v.Others {
			if m.Rows == 0 {
				row = append(row, "-")
				continue
			}
			row = append(row, fmt.Sprintf("%s (%s to %s)", fraction(m.Ratio[s]), fraction(m.Interval[s].Low), fraction(m.Interval[s].High)))
		}
		t.AppendRow(append(row, fmt.Sprintf("%.3f", m.Best), fmt.Sprintf("worst %.2f, %d above %.2f", m.Worst, m.Lost, lossRatio)))
	}
	_, err := fmt.Fprintf(w, "Machine time of %s until the criteria hold, per cent of measuring everything (medians), compared with others:\n%s\n", v.Strategy, t.Render())
	return err
}

// strategies returns the name of the compared strategy, followed by those of the others.
func (v Versus) strategies() []string { return append([]string{v.Strategy}, v.Others...) }

// cells returns a row of the table. The mark "!" means that the row counts as lost.
func (v Versus) cells(r VersusRow) table.Row {
	row := table.Row{r.Data, r.Collective, r.Launch}
	never := ""
	for _, s := range v.strategies() {
		row = append(row, fmt.Sprintf("%.2f", 100*r.Share[s]))
		never += fmt.Sprintf("%d ", r.Never[s])
	}
	for _, s := range v.Others {
		row = append(row, fmt.Sprintf("%.3f", r.Ratio[s]))
	}
	best := fmt.Sprintf("%.3f", r.Best)
	switch {
	case !r.Converges:
		best = "-"
	case r.Best > lossRatio:
		best += " !"
	}
	return append(row, best, never+fmt.Sprintf("of %d", r.Seeds))
}

// fraction formats a ratio below 1 as a fraction, for example 1/8.2.
func fraction(v float64) string {
	if v > 0 && v < 1 {
		return fmt.Sprintf("1/%.1f", 1/v)
	}
	return fmt.Sprintf("%.2f", v)
}
