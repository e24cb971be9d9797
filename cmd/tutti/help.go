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

// exampleWord matches a word of a command, with the flag or redirection before it.
var exampleWord = lazyregexp.New(`(?:(?:--?\S+|>) )?(?:'[^']*'|[^\s'])+`)

// examples returns the examples of a command for its help. A command of more than terminalWidth columns continues on
// the next line; it can be pasted into a shell.
func examples(commands ...string) string {
	var b strings.Builder
	for i, command := range commands {
		if i > 0 {
			b.WriteString("\n")
		}
		at := 0
		for k, match := range exampleWord.FindAllStringSubmatch(command, -1) {
			word := match[0]
			switch {
			case k == 0:
				word = "  " + word
			case at+len(" ")+len(word)+len(` \`) > terminalWidth:
				b.WriteString(" \\\n")
				word, at = "      "+word, 0
			default:
				word = " " + word
			}
			b.WriteString(word)
			at += len(word)
		}
	}
	return b.String()
}
