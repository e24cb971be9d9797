package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
		"interval": formatInterval,
		"of":       formatOf,
		"share":    formatShare,
		"slowdown": formatSlowdown,
		"seconds":  formatSeconds,
		"stop":     stopWords,
		"absent":   func() string { return absent },
	}).Parse(pageText))
)

// WriteHTML writes the report as one HTML page that needs nothing else: plots are
// inline SVG, there are no scripts, fonts or links to other places. The same
// facts give the same bytes.
//
// It returns an error naming the field when a figure is NaN or infinite.
func WriteHTML(w io.Writer, f Facts) error {
	if err := check(f); err != nil {
		return err
	}
	v, err := newPage(f)
	if err != nil {
		return fmt.Errorf("report as HTML: %w", err)
	}
	if err := pageTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("report as HTML: %w", err)
	}
	return nil
}
