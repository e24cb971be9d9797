package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/internal/infile"
	"tutti/mpi"
	"tutti/mpi/libtutti"
)

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

func rulesJoinCommand(a *app) *cobra.Command {
	var tables []libtutti.OrderTable
	var paths []string
	cmd := &cobra.Command{
		Use:   "join ORDER=TABLE [ORDER=TABLE]",
		Short: "Join tables of the runtime library for different orders of ranks",
		Long: `join makes one table of the tables of campaigns that differ in runner.order. The
runtime library finds the order of the ranks of each communicator and follows the
rules for this order. Ranks in any other order are left to the MPI library. Where
both orders are the same, as on one node, the first table with a rule wins.

With a single table, the result is a table that applies to this order only.`,
		Example:           examples("tutti rules join block=results/block/tutti.table cyclic=results/cyclic/tutti.table --out tutti.table"),
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
		if err := mpi.WriteFile(*out, joined.Bytes()); err != nil {
			return withOutputCode(err)
		}
		fmt.Fprintln(a.stdout, *out)
		return nil
	}
	return cmd
}
