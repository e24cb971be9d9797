package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// printJSON prints a value as indented JSON.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// warn prints warnings to standard error.
func (a *app) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(a.stderr, "warning:", w)
	}
}

// printTable prints rows under a header in the style of all tables. Where a terminal
// is too narrow for it, cells have several lines, if that helps.
func (a *app) printTable(header table.Row, rows []table.Row) {
	t := table.NewWriter()
	t.SetOutputMirror(a.stdout)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	if width := terminalWidth(a.stdout); width > 0 {
		t.SetColumnConfigs(fitColumns(header, rows, width))
	}
	t.AppendHeader(header)
	t.AppendRows(rows)
	t.Render()
}

// terminalWidth is 0 where w is no terminal.
func terminalWidth(w io.Writer) int {
	if sticky, ok := w.(*stickyWriter); ok {
		w = sticky.to
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// fitColumns takes from the widest columns of a table what it is wider than width.
// It breaks no word; where that is not enough it is nil.
func fitColumns(header table.Row, rows []table.Row, width int) []table.ColumnConfig {
	left := width - 3*len(header) - 1 // without the lines
	columns := make([]table.ColumnConfig, len(header))
	words := make([]int, len(header)) // width of the longest
	for i := range columns {
		columns[i] = table.ColumnConfig{Number: i + 1, WidthMaxEnforcer: text.WrapSoft}
		for _, row := range append([]table.Row{header}, rows...) {
			cell := fmt.Sprint(row[i])
			columns[i].WidthMax = max(columns[i].WidthMax, text.StringWidth(cell))
			for word := range strings.FieldsSeq(cell) {
				words[i] = max(words[i], text.StringWidth(word))
			}
		}
		left -= columns[i].WidthMax
	}
	for ; left < 0; left++ {
		widest := -1
		for i, c := range columns {
			if c.WidthMax > words[i] && (widest < 0 || c.WidthMax > columns[widest].WidthMax) {
				widest = i
			}
		}
		if widest < 0 {
			return nil
		}
		columns[widest].WidthMax--
	}
	return columns
}

// formatHours returns hours with two significant digits, or with one below 0.01.
func formatHours(h float64) string {
	if h > 0 && h < 0.01 {
		return fmt.Sprintf("%.1g", h)
	}
	return fmt.Sprintf("%.*f", max(0, 2-int(math.Log10(max(1, h)))), h)
}

// formatSeconds returns a duration such as 1.25s or 3m10s. It rounds to 10 ms below 10 s, else to
// 1 s.
func formatSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// plural returns a count with its noun, for example "1 node" or "4 nodes".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
