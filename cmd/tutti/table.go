package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/internal/infile"
	"tutti/mpi/libtutti"
	"tutti/selection"
)

func tableCommand(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "table",
		Short:   "Show and join selection tables of the runtime library",
		Example: indent("tutti table show tuned/tutti.table"),
	}, tableShowCommand(a), tableJoinCommand(a))
}

func tableIn(folder string) string { return filepath.Join(folder, "tutti.table") }

func readTable(path string) (libtutti.Table, error) {
	text, err := infile.Read(path, libtutti.MaxBytes)
	if err != nil {
		return libtutti.Table{}, withCode(codeInput, err)
	}
	t, err := libtutti.Parse(text)
	if err != nil {
		return libtutti.Table{}, withCode(codeInput, fmt.Errorf("%s: %w", path, err))
	}
	return t, nil
}

func tableShowCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "show TABLE",
		Short:             "Show which algorithm a table selects for which calls",
		Long:              "show reads a table as the runtime library in an application does, and prints its rules.",
		Example:           indent("tutti table show tuned/tutti.table", "tutti table show learned/tutti.table --format json"),
		Args:              arguments(1, 1, "one table"),
		ValidArgsFunction: completeFiles,
	}
	a.formatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		t, err := readTable(args[0])
		if err != nil {
			return err
		}
		return a.show(t, func() { printRules(a, t) })
	}
	return cmd
}

func printRules(a *app, t libtutti.Table) {
	if t.For != "" {
		fmt.Fprintf(a.stdout, "only for %s\n", t.For)
	}
	var rows []table.Row
	for _, r := range t.Rules {
		rows = append(rows, table.Row{r.Collective, formatRange(r.Ranks, number), formatRange(r.PPN, number), cmp.Or(string(r.Order), "any"), formatRange(r.Bytes, coll.FormatBytes), r.Algorithm})
	}
	a.printTable(table.Row{"collective", "ranks", "per node", "order", "bytes", "algorithm"}, rows)
	for _, m := range t.Mixes {
		fmt.Fprintf(a.stdout, "explores %s on %s ranks, %s per node, %s: %d algorithms\n",
			m.Collective, formatRange(m.Ranks, number), formatRange(m.PPN, number), formatRange(m.Bytes, coll.FormatBytes), len(m.Choices))
	}
}

func number(n int64) string { return fmt.Sprint(n) }

func formatRange(r libtutti.Range, format func(int64) string) string {
	if r.Low == r.High {
		return format(r.Low)
	}
	return format(r.Low) + " to " + format(r.High)
}

func tableJoinCommand(a *app) *cobra.Command {
	var tables []libtutti.OrderTable
	var paths []string
	cmd := &cobra.Command{
		Use:   "join ORDER=TABLE [ORDER=TABLE]",
		Short: "Join the tables of campaigns that differ in the order of ranks",
		Long: `join makes one table of the tables of campaigns that differ in runner.order. The
runtime library finds the order of the ranks of each communicator and follows the
rules for this order. Ranks in any other order are left to the MPI library. Where
both orders are the same, as on one node, the first table with a rule wins.

With a single table, the result is a table that applies to this order only.`,
		Example:           indent("tutti table join block=results/block/tutti.table cyclic=results/cyclic/tutti.table --out tutti.table"),
		ValidArgsFunction: completeFiles,
		Args: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				order, path, found := strings.Cut(arg, "=")
				parsed, err := coll.ParseOrder(order)
				if !found || path == "" {
					err = cmp.Or(err, errors.New("want ORDER=TABLE"))
				}
				if err != nil {
					return usageError(cmd, fmt.Errorf("%q: %w", arg, err))
				}
				tables, paths = append(tables, libtutti.OrderTable{Order: parsed}), append(paths, path)
			}
			if len(args) == 0 {
				return usageError(cmd, errors.New("want one or two tables, as ORDER=TABLE"))
			}
			return nil
		},
	}
	out := cmd.Flags().StringP("out", "o", "tutti.table", "joined table, a `FILE`")
	cmd.RunE = func(*cobra.Command, []string) error {
		for i := range tables {
			var err error
			if tables[i].Table, err = readTable(paths[i]); err != nil {
				return err
			}
		}
		joined, err := libtutti.Join(tables...)
		if err != nil {
			return withCode(codeInput, fmt.Errorf("%s: %w", strings.Join(paths, ", "), err))
		}
		if err := selection.WriteFile(*out, joined.Bytes()); err != nil {
			return withOutputCode(err)
		}
		fmt.Fprintln(a.stdout, *out)
		return nil
	}
	return cmd
}
