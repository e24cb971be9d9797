package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/mpi/libtutti"
	"tutti/selection"
)

func (a *app) runtimeJoinCommand() *cobra.Command {
	var tables []libtutti.Dealt
	var paths []string
	cmd := &cobra.Command{
		Use:   "join ORDER=TABLE [ORDER=TABLE]",
		Short: "Make a table that holds for the order of ranks that was tuned, or one for both orders",
		Long: `Joins tables of campaigns that differ in runner.order. The library looks how the
ranks of each communicator lie and follows the rules for their order; ranks in
another order, and with one table in any other, are left to the MPI library. Where the orders are the same, as on
one node, the first table that has a rule counts.`,
		Example: indent("tutti runtime join block=results/block/tutti.table cyclic=results/cyclic/tutti.table -o tutti.table"),
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
				tables, paths = append(tables, libtutti.Dealt{Order: parsed}), append(paths, path)
			}
			if len(args) == 0 {
				return usageError(cmd, errors.New("want the table of a campaign, or of one in each order"))
			}
			return nil
		},
	}
	out := cmd.Flags().StringP("out", "o", "tutti.table", "the `FILE`")
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
