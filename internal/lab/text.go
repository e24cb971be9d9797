package lab

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
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
