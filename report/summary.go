package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
)

// scoreOf returns a copy of the score with that name, nil when there is none.
func scoreOf(p ProblemFacts, name string) *Score {
	for _, s := range p.Scores {
		if s.Name == name {
			return &s
		}
	}
	return nil
}

// WriteSummary writes a text table without colours, a row for each problem, in the
// order of f: measured is the share of the candidates, tuned and default are average
// slowdowns, mistakes are those of the tuned selection.
//
// It returns an error naming the field when a figure is NaN or infinite.
func WriteSummary(w io.Writer, f Facts) error {
	if err := check(f); err != nil {
		return err
	}
	t := newTable([]any{"library", "collective", "stop", "measured", "machine time", "tuned", "default", "mistakes"}, 4, 5, 6, 7, 8)
	for _, p := range f.Problems {
		measured := 0.0 // when there are no candidates
		if p.Candidates > 0 {
			measured = float64(p.Trials-p.Failed-p.Repeats) / float64(p.Candidates)
		}
		tuned, byDefault := scoreOf(p, "tuned"), scoreOf(p, "default")
		t.AppendRow(table.Row{
			p.Library, p.Collective, stopWords(p.Stop), formatShare(measured), formatSeconds(p.MachineSeconds),
			scoreText(tuned, Score.slowdownText), scoreText(byDefault, Score.slowdownText),
			scoreText(tuned, Score.mistakesText),
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
