package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"tutti/campaign/assembly"
	"tutti/campaign/drift"
)

func (a *app) driftCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drift FOLDER",
		Short: "Measure a few benchmarks of a campaign again and tell how far they differ",
		Long: `drift measures a small batch of what a campaign has measured again, spread evenly over
its problems and points, and compares the times. The campaign is left as it is. What
differs by much more than the noise of the machine says that it is not the machine
that was tuned: tutti serve tunes again under "when: drift".`,
		Example: indent("tutti drift results/night", "tutti drift results/night --candidates 32 --output json"),
		Args:    oneFolder,
	}
	number := cmd.Flags().Int("candidates", 16, "benchmarks to measure again; at least one of each problem")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		if *number < 1 {
			return usageError(cmd, fmt.Errorf("--candidates %d: want at least 1", *number))
		}
		c, results, contents, err := assembly.Reread(args[0])
		if err != nil {
			return err
		}
		a.warn(contents.Warnings)
		a.watchWaits(c)
		p, err := drift.Measure(cmd.Context(), c, results, *number, a.environ)
		if err != nil {
			return withOutputCode(err)
		}
		if *output == "json" {
			return json.NewEncoder(a.stdout).Encode(p)
		}
		fmt.Fprintf(a.stdout, "%d measured again, %d failed: they differ by %.1f %% (median), times are %.3f of what they were\n",
			p.Candidates, p.Failed, 100*p.Change, p.Ratio)
		return nil
	}
	return cmd
}
