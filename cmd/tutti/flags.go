package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tutti/internal/config"
	"tutti/mpi/libraries"
)

// The values of --format.
const (
	formatTable = "table"
	formatJSON  = "json"
)

type choice struct {
	value   *string
	allowed []string
}

func (c choice) String() string { return *c.value }
func (c choice) Type() string   { return "word" }

func (c choice) Set(word string) error {
	if !slices.Contains(c.allowed, word) {
		return errors.New(config.Hint(word, c.allowed))
	}
	*c.value = word
	return nil
}

// choiceFlag adds a flag that takes one of the allowed words and stores it in `value`. Shells complete these words,
// and the usage text lists them.
func choiceFlag(cmd *cobra.Command, name string, value *string, initial string, allowed []string, usage string) {
	*value = initial
	cmd.Flags().Var(choice{value, allowed}, name, usage+": "+strings.Join(allowed, ", "))
	mustComplete(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp)))
}

// completeLibraries makes shells complete the names of libraries as values of a flag.
func completeLibraries(cmd *cobra.Command, flag string) {
	mustComplete(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(libraries.Names(), cobra.ShellCompDirectiveNoFileComp)))
}

// completeReleases makes shells complete a library, and after its name the releases that tutti knows.
func completeReleases(cmd *cobra.Command, flag string, names []string) {
	mustComplete(cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		name, _, _ := strings.Cut(typed, "=")
		lib, ok := libraries.Named(name)
		if !ok || !slices.Contains(names, name) {
			return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		var out []string
		for _, cat := range lib.Releases() {
			out = append(out, name+"="+cat.Version)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}))
}

// formatFlag adds the flag --format, which says how the function `show` prints results.
func (a *app) formatFlag(cmd *cobra.Command) {
	choiceFlag(cmd, "format", &a.format, formatTable, []string{formatTable, formatJSON}, "`FORMAT` of the results")
}

// fileFlag adds the required flag -c for the file of a campaign or a service.
func fileFlag(cmd *cobra.Command, file *string, usage string) {
	cmd.Flags().StringVarP(file, "config", "c", "", usage)
	mustComplete(cmd.MarkFlagFilename("config", "yaml", "yml"))
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if *file == "" {
			return usageError(cmd, errors.New("-c FILE is missing"))
		}
		return nil
	}
}

// mustComplete panics if `err` is not nil, which means that a completion is registered for a flag that does not
// exist.
func mustComplete(err error) {
	if err != nil {
		panic(err)
	}
}

var (
	noArgs    = arguments(0, 0, "no arguments")
	oneFolder = arguments(1, 1, "the folder of one campaign")
)

// arguments returns a function that checks the number of arguments: at least `least` and at most `most`, or
// no limit if `most` is negative. The text `what` says in the error which arguments are wanted.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case most == 0 && len(args) > 0 && cmd.Flags().Lookup("config") != nil && !cmd.Flags().Changed("config"):
			return usageError(cmd, fmt.Errorf("unknown argument %q: -c names the file, as in %s -c %s", args[0], cmd.CommandPath(), shellWord(args[0])))
		case most == 0 && len(args) > 0:
			return usageError(cmd, fmt.Errorf("unknown argument %q", args[0]))
		case len(args) < least || most >= 0 && len(args) > most:
			return usageError(cmd, fmt.Errorf("want %s, got %d arguments", what, len(args)))
		}
		return nil
	}
}

func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeSettings completes KEY=VALUE. It completes the keys of campaign files, and those values that come
// from a fixed list.
func completeSettings(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, k := range config.Keys() {
		if key, _, valued := strings.Cut(begun, "="); !valued {
			out = append(out, k.Name+"=")
		} else if key == k.Name {
			for _, v := range k.Values {
				out = append(out, key+"="+v)
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// verbs adds subcommands to a parent command. Without a subcommand, the parent command prints its help.
func verbs(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.Args = oneCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(children...)
	return cmd
}

// oneCommand returns an error unless the first argument is a subcommand of cmd.
func oneCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return usageError(cmd, fmt.Errorf("unknown command %w", config.NotOneOf(args[0], names)))
}

// flagError turns an error about flags into a usage error. For an unknown flag it suggests the
// most similar one. If a value is not a number, it says what is allowed.
func flagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok && errors.As(err, new(*strconv.NumError)) {
		want := map[string]string{"int": "a whole number", "float64": "a number"}[invalid.GetFlag().Value.Type()]
		err = fmt.Errorf("--%s %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), want)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := config.Suggest(unknown.GetSpecifiedName(), names); near != "" {
			err = fmt.Errorf("%w: did you mean --%s?", err, near)
		}
	}
	return usageError(cmd, err)
}

// usageError adds the exit code of usage errors. It also adds a hint to --help.
func usageError(cmd *cobra.Command, err error) error {
	return withCode(codeUsage, fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
}
