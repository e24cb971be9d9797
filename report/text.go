package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// WriteVerification writes a text table without colours of what verifications
// showed, a row for each library and collective; nothing when there is none. same is
// the ratio where the file leaves the choice to the library.
//
// It returns an error naming the field when a figure is NaN or infinite.
func WriteVerification(w io.Writer, f Facts) error {
	if err := check(f); err != nil {
		return err
	}
	t := newTable([]any{"library", "collective", "points", "changed", "speed-up [95 %]", "same [95 %]", "put back", "slower", "obedience"}, 3, 4, 5, 6, 7, 8)
	for _, v := range f.Verification {
		for _, c := range v.Collectives {
			t.AppendRow(table.Row{v.Library, c.Collective, c.Points, c.Changed, c.Speedup.text(), c.Same.text(), putBackText(c), c.Slower, obedienceText(c)})
		}
	}
	return writeTable(w, t)
}

// WriteMachineTime writes a text table without colours of where the time of jobs
// went; nothing when there were none.
//
// It returns an error naming the field when a figure is NaN or infinite.
func WriteMachineTime(w io.Writer, f Facts) error {
	if err := check(f); err != nil {
		return err
	}
	t := newTable([]any{"library", "problem", "jobs", "queue", "launch", "warm-up", "measuring", "idle", "all"}, 3, 4, 5, 6, 7, 8, 9)
	for _, m := range machineTimes(f) {
		t.AppendRow(table.Row{m.Library, m.Problem, m.Jobs, m.Queue, m.Launch, m.Warmup, m.Measure, m.Idle, m.All})
	}
	return writeTable(w, t)
}

// newTable returns a table whose given columns, from 1, hold figures.
func newTable(header []any, figures ...int) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row(header))
	var columns []table.ColumnConfig
	for _, number := range figures {
		columns = append(columns, table.ColumnConfig{Number: number, Align: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	return t
}

func writeTable(w io.Writer, t table.Writer) error {
	if t.Length() == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(w, t.Render()); err != nil {
		return fmt.Errorf("report as text: %w", err)
	}
	return nil
}

// text is the value with its interval.
func (r *Range) text() string {
	if r == nil {
		return absent
	}
	return formatInterval(formatSlowdown(r.Value), formatSlowdown(r.Low), formatSlowdown(r.High))
}

func putBackText(c VerifiedCollective) string {
	if c.Left {
		return fmt.Sprintf("all (%d points)", c.PutBack)
	}
	return fmt.Sprint(c.PutBack)
}

func obedienceText(c VerifiedCollective) string {
	if len(c.Obedience) == 0 {
		return absent
	}
	return strings.Join(c.Obedience, ", ")
}
