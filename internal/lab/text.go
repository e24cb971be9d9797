package lab

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"tutti/metrics"
)

// group contains the outcomes of one set under one strategy with one cost of launches, one outcome for each
// seed.
type group []Outcome

// groups groups outcomes that differ only in their seed. The groups have the order of their first outcomes.
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

// values returns the number that pick returns for each outcome, in ascending order.
func (g group) values(pick func(Outcome) float64) []float64 {
	out := make([]float64, len(g))
	for i, o := range g {
		out[i] = pick(o)
	}
	slices.Sort(out)
	return out
}

func (g group) median(pick func(Outcome) float64) float64 {
	return metrics.Median(g.values(pick))
}

// medianRange formats the median over the seeds and the range, for example "4.1 (3.2-5.0)".
func (g group) medianRange(pick func(Outcome) float64) string {
	v := g.values(pick)
	if len(v) == 1 {
		return fmt.Sprintf("%.1f", v[0])
	}
	return fmt.Sprintf("%.1f (%.1f-%.1f)", g.median(pick), v[0], v[len(v)-1])
}

func (g group) converged() string {
	n := 0
	for _, o := range g {
		if o.Converged {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(g))
}

// WriteText writes two tables with a row for each set and strategy. The first has the machine time until
// convergence, the second the slowdown and the mistakes at each of Shares. Numbers are medians over the
// seeds with their range. Seeds that never converge count with everything that they measured.
func WriteText(w io.Writer, outcomes []Outcome) error {
	convergence, shares := newTable(), newTable()
	convergence.AppendHeader(table.Row{"data", "collective", "strategy", "launch", "converged", "machine s", "% of machine time", "% of candidates", "slowdown", "mistakes %"})
	header := table.Row{"data", "collective", "strategy", "launch"}
	for _, s := range Shares {
		header = append(header, fmt.Sprintf("%g %%", 100*s))
	}
	shares.AppendHeader(header)
	for _, g := range groups(outcomes) {
		name := table.Row{g[0].Data, g[0].Collective, g[0].Strategy, g[0].Launch}
		convergence.AppendRow(append(slices.Clone(name), g.converged(),
			fmt.Sprintf("%.4g", g.median(func(o Outcome) float64 { return o.MachineSeconds })),
			g.medianRange(func(o Outcome) float64 { return 100 * o.MachineShare }),
			g.medianRange(func(o Outcome) float64 { return 100 * o.PointShare }),
			fmt.Sprintf("%.3f", g.median(func(o Outcome) float64 { return o.Slowdown })),
			fmt.Sprintf("%.1f", g.median(func(o Outcome) float64 { return 100 * o.Mistakes })),
		))
		row := slices.Clone(name)
		for i := range Shares {
			if slices.ContainsFunc(g, func(o Outcome) bool { return len(o.At) <= i }) {
				row = append(row, "-")
				continue
			}
			row = append(row, fmt.Sprintf("%.3f / %.0f %%",
				g.median(func(o Outcome) float64 { return o.At[i].Slowdown }),
				g.median(func(o Outcome) float64 { return 100 * o.At[i].Mistakes })))
		}
		shares.AppendRow(row)
	}
	_, err := fmt.Fprintf(w, "Until the criteria hold (median and range over the seeds):\n%s\n\nSlowdown and significant mistakes at shares of the candidates (medians):\n%s\n",
		convergence.Render(), shares.Render())
	return err
}

// WriteTable prints rows under a header.
func WriteTable(w io.Writer, header table.Row, rows []table.Row) error {
	t := newTable()
	t.AppendHeader(header)
	t.AppendRows(rows)
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

func newTable() table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.SeparateColumns = false
	t.Style().Options.DrawBorder = false
	return t
}
