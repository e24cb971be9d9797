package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tutti/internal/lab"
)

func (a *app) constantsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "constants [NAME...] -- ARGUMENT...",
		Short: "What halving and doubling each constant of the method changes",
		Long: `constants halves and doubles each number in the files constants.go, or the numbers
that are named. Each time it builds tutti in the root of the repository and runs the
campaign of the given arguments of tutti tune, which must use recorded data. A cell has
the machine time until the stop relative to the constant's own value, the average true
slowdown and the mistakes, or = if no result changes. The range is that in which every
problem converges and meets the criteria, with the same machine time within a tenth.`,
		Example: indent("tutti-lab constants -- -c configs/small.yaml"),
		Args:    cobra.ArbitraryArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		names, tune := args, []string(nil)
		if at := cmd.ArgsLenAtDash(); at >= 0 {
			names, tune = args[:at], args[at:]
		}
		if len(tune) == 0 {
			return usageError(cmd, fmt.Errorf("want the arguments of tutti tune after --"))
		}
		constants, err := lab.ReadConstants(names)
		if err != nil {
			return err
		}
		var done []lab.Constant
		err = lab.VaryConstants(cmd.Context(), constants, tune, func(c lab.Constant) {
			done = append(done, c)
			fmt.Fprintf(a.stderr, "%s: halved %v, doubled %v\n", c.Name, c.Halved, c.Doubled)
		})
		if err != nil {
			return err
		}
		return lab.WriteConstants(a.stdout, done)
	}
	return cmd
}
