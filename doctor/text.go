package doctor

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Widths of the columns. A line has the state, the name and the summary of a check. Other details are in
// the lines below.
const (
	stateWidth  = 7
	nameWidth   = 17
	nameColumn  = 2 + stateWidth + 2
	textColumn  = nameColumn + nameWidth + 2
	belowColumn = nameColumn + 2
)

// Text writes the report as text. It breaks lines between words at the given width. A longer word, such as
// a path, stays on one line.
func (r *Report) Text(w io.Writer, width int) error {
	var b strings.Builder
	for _, s := range sections() {
		title := false
		for _, c := range r.Checks {
			if c.Section != s {
				continue
			}
			if !title {
				title = true
				fmt.Fprintf(&b, "%s\n", s)
			}
			writeCheck(&b, c, width)
		}
		if title {
			b.WriteString("\n")
		}
	}
	r.writeSets(&b, width)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteChecks writes checks in the format of Report.Text.
func WriteChecks(w io.Writer, checks []Check, width int) error {
	var b strings.Builder
	for _, c := range checks {
		writeCheck(&b, c, width)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeCheck(b *strings.Builder, c Check, width int) {
	head := fmt.Sprintf("  %-*s  %-*s  ", stateWidth, c.State, nameWidth, c.Name)
	details := c.Details
	if long := utf8.RuneCountInString(head) > textColumn; long || len(details) == 0 {
		b.WriteString(strings.TrimRight(head, " ") + "\n")
	} else {
		writeHanging(b, head, details[0], textColumn, width)
		details = details[1:]
	}
	below := strings.Repeat(" ", belowColumn)
	for _, d := range details {
		writeHanging(b, below, d, belowColumn+2, width)
	}
	if c.Fix != "" {
		writeHanging(b, below+"-> ", c.Fix, belowColumn+3, width)
	}
}

// writeHanging writes `head` and then the text. All lines after the first are indented to the given column.
func writeHanging(b *strings.Builder, head, text string, column, width int) {
	lines := wrap(text, width-column)
	b.WriteString(head + strings.Join(lines, "\n"+strings.Repeat(" ", column)) + "\n")
}

func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

func (r *Report) writeSets(b *strings.Builder, width int) {
	if !r.Ready() {
		what := "No campaign can run here yet. What is missing:\n"
		if len(r.Sets) > 0 {
			what = "This campaign cannot run here yet. What is missing:\n"
		}
		b.WriteString(what)
		for _, l := range r.MissingParts {
			writeHanging(b, "  ", l.What, 4, width)
			if l.Fix != "" {
				writeHanging(b, "    -> ", l.Fix, 7, width)
			}
		}
		return
	}
	b.WriteString("A campaign can run here with\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  library\tlauncher\tprogram\tscheduler")
	for _, s := range r.Sets {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", s.Library, s.Launcher, s.Program, s.Scheduler)
	}
	t.Flush() // a strings.Builder does not fail
}
