package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// What commands take beside flags.
var (
	noArgs    = arguments(0, 0, "no arguments")
	oneFolder = arguments(1, 1, "the folder of one campaign")
	oneID     = arguments(1, 1, "the ID of one campaign")
)

// arguments checks that there are from least to most arguments, any number above least when
// most is negative; what says which.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case most == 0 && len(args) > 0:
			return usageError(cmd, fmt.Errorf("unknown argument %q", args[0]))
		case len(args) < least || most >= 0 && len(args) > most:
			return usageError(cmd, fmt.Errorf("want %s, got %d arguments", what, len(args)))
		}
		return nil
	}
}

// verbs makes cmd the parent of others: alone it shows its help.
func verbs(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.Args = oneVerb
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(children...)
	return cmd
}

// oneVerb refuses words that are no verb, with those that look like it, or all of a few.
func oneVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = ": did you mean " + strings.Join(near, " or ") + "?"
	} else if cmd.HasParent() {
		var names []string
		for _, c := range cmd.Commands() {
			names = append(names, c.Name())
		}
		hint = ": want " + strings.Join(names, ", ")
	}
	return usageError(cmd, fmt.Errorf("unknown verb %q%s", args[0], hint))
}
