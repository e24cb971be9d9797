package main

import (
	"strings"

	"github.com/spf13/cobra"

	"tutti/internal/lazyregexp"
	"tutti/report"
)

// wrapHelp makes --help break descriptions at terminalWidth columns.
func wrapHelp(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = wrapDescription(cmd.Long)
		help(cmd, args)
	})
}

// listEntry matches the indented name of a list's entry, with the blanks before its text.
var listEntry = lazyregexp.New(`^ +\S+ +`)

// wrapDescription breaks a description at terminalWidth columns. A line that begins with blanks is an entry of a list, or
// continues one if it has more than four of them. A line that begins with a tab is code. All other lines up to an empty
// one are a paragraph.
func wrapDescription(text string) string {
	var blocks []string
	open := false // the last block goes on
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		isEntry := strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "     ")
		if open && line != "" && !isEntry {
			blocks[len(blocks)-1] += " " + strings.TrimSpace(line)
		} else {
			blocks = append(blocks, line)
		}
		open = line != "" && !strings.HasPrefix(line, "\t")
	}
	for i, b := range blocks {
		if strings.HasPrefix(b, "\t") {
			continue
		}
		name := listEntry.FindString(b)
		lines := strings.Split(strings.TrimRight(report.Wrap(b[len(name):], terminalWidth-len(name)), "\n"), "\n")
		for k := range lines[1:] {
			lines[k+1] = strings.Repeat(" ", len(name)) + strings.TrimSpace(lines[k+1])
		}
		blocks[i] = name + strings.Join(lines, "\n")
	}
	return strings.Join(blocks, "\n")
}
