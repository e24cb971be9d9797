package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) loadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Put a service under load and check how it behaves",
		Long: `load starts a tutti serve whose campaigns run on recorded data. Clients watch the event
streams of all campaigns, drop their connections and open them again, while others read at
a fixed rate. It fails when a target is missed: the latency of reads, the growth of memory,
or an event stream that differs from the journal.`,
		Example: indent("tutti-lab load --tutti bin/tutti --campaign configs/demo.yaml"),
		Args:    noArguments,
	}
	var o loadOptions
	flags := cmd.Flags()
	flags.StringVar(&o.Program, "tutti", "bin/tutti", "path of tutti")
	flags.StringVar(&o.Campaign, "campaign", "configs/demo.yaml", "campaign file on recorded data")
	flags.StringVar(&o.Dir, "out", "", "folder of the service, kept afterwards; none: a temporary one")
	flags.IntVar(&o.Campaigns, "campaigns", 2, "campaigns at a time")
	flags.IntVar(&o.Clients, "clients", 200, "clients that watch events")
	flags.Float64Var(&o.Rate, "rate", 50, "reads per second")
	flags.DurationVar(&o.Time, "time", time.Minute, "duration of the load")
	flags.DurationVar(&o.Drop, "drop", 10*time.Second, "mean time until a client drops its connection")
	flags.DurationVar(&o.P99, "p99", 50*time.Millisecond, "target: 99th percentile of the latency of reads")
	flags.Float64Var(&o.Growth, "growth", 2, "target: growth of live memory from the second to the last quarter, MiB")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.Validate(); err != nil {
			return usageError(cmd, err)
		}
		missed, err := runLoad(cmd.Context(), o, a.stdout)
		if err != nil {
			return err
		}
		if len(missed) > 0 {
			return fmt.Errorf("%d targets missed:\n%s", len(missed), strings.Join(missed, "\n"))
		}
		fmt.Fprintln(a.stdout, "all targets met")
		return nil
	}
	return cmd
}
