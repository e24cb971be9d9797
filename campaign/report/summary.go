package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// SummaryRow is one problem in one line. Tuned and Default are nil when they
// were not scored.
type SummaryRow struct {
	Library, Collective string
	Stop                string  // stop reason; "" while running
	Measured            float64 // share of the candidates; 0 when there are none
	MachineSeconds      float64
	Tuned, Default      *Score
}

// Summary returns one row per problem, in the order of f.
func Summary(f Facts) []SummaryRow {
	rows := make([]SummaryRow, len(f.Problems))
	for i, p := range f.Problems {
		rows[i] = SummaryRow{
			Library: p.Library, Collective: p.Collective, Stop: p.Stop, MachineSeconds: p.MachineSeconds,
			Tuned: scoreOf(p, "tuned"), Default: scoreOf(p, "default"),
		}
		if p.Candidates > 0 {
			rows[i].Measured = float64(p.Trials-p.Failed) / float64(p.Candidates)
		}
	}
	return rows
}

// scoreOf returns a copy of the score with that name, nil when there is none.
func scoreOf(p ProblemFacts, name string) *Score {
	for _, s := range p.Scores {
		if s.Name == name {
			return &s
		}
	}
	return nil
}

// WriteSummary writes the rows of Summary as a text table without colours:
// measured is the share of the candidates, tuned and default are average
// slowdowns, mistakes are those of the tuned selection.
//
// It returns an error naming the field when a figure is NaN or infinite.
func WriteSummary(w io.Writer, f Facts) error {
	if err := check(f); err != nil {
		return err
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{
		"library", "collective", "stop", "measured", "machine time", "tuned", "default", "mistakes",
	})
	columns := make([]table.ColumnConfig, 0, 5)
	for number := 4; number <= 8; number++ { // the columns of figures
		columns = append(columns, table.ColumnConfig{Number: number, Align: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	for _, r := range Summary(f) {
		t.AppendRow(table.Row{
			r.Library, r.Collective, stopWords(r.Stop), formatShare(r.Measured), formatSeconds(r.MachineSeconds),
			scoreText(r.Tuned, Score.slowdownText), scoreText(r.Default, Score.slowdownText),
			scoreText(r.Tuned, Score.mistakesText),
		})
	}
	if _, err := fmt.Fprintln(w, t.Render()); err != nil {
		return fmt.Errorf("report as text: %w", err)
	}
	return nil
}

func scoreText(s *Score, part func(Score) string) string {
	if s == nil {
		return absent
	}
	return part(*s)
}

func (s Score) slowdownText() string { return formatSlowdown(s.Slowdown) }
func (s Score) mistakesText() string { return formatShare(s.Mistakes) }
