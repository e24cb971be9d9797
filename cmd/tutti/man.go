package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand returns the hidden command that writes a manual page for every command, for packages.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "man FOLDER",
		Short:             "Write the manual pages of all commands",
		Long:              `man writes a manual page of section 1 for every command into FOLDER, which it creates.`,
		Example:           examples("tutti man share/man/man1"),
		Args:              arguments(1, 1, "one folder"),
		ValidArgsFunction: completeFolders,
		Hidden:            true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			keepTables(root)
			root.DisableAutoGenTag = true // the date: the same program writes the same pages
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return withOutputCode(err)
			}
			header := &doc.GenManHeader{Section: "1", Source: "tutti " + version, Manual: "tutti"}
			return withOutputCode(doc.GenManTree(root, header, args[0]))
		},
	}
}

// keepTables indents the tables in the help texts of a command and its descendants, so that Markdown takes them for
// literal text.
func keepTables(cmd *cobra.Command) {
	var b strings.Builder
	inTable := false
	for line := range strings.Lines(wrapDescription(cmd.Long)) {
		if strings.HasPrefix(line, "  ") {
			if !inTable {
				b.WriteString("\n")
			}
			line = "    " + line
		}
		inTable = strings.HasPrefix(line, "  ")
		b.WriteString(line)
	}
	cmd.Long = b.String()
	for _, sub := range cmd.Commands() {
		keepTables(sub)
	}
}
