package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/journal"
	"tutti/service"
	"tutti/service/client"
)

func (r *remote) listCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the campaigns, newest first",
		Example: indent("tutti remote list", "tutti remote list --state running --output json"),
		Args:    noArgs,
	}
	state := cmd.Flags().String("state", "", "only campaigns in this state")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if s := service.State(*state); s != "" && !slices.Contains(service.States(), s) {
			return usageError(cmd, fmt.Errorf("--state %q: want one of %v", s, service.States()))
		}
		c, err := r.connect(cmd)
		if err != nil {
			return err
		}
		all, err := c.Campaigns(cmd.Context(), service.State(*state))
		if err != nil {
			return withRemoteCode(err)
		}
		return r.print(all, func() {
			rows := make([]table.Row, len(all))
			for i, one := range all {
				rows[i] = table.Row{one.ID, oneLine(one.Name), one.Base, one.Machine, statusText(one), one.Progress.Rounds, one.Progress.Trials, seconds(one.Progress.MachineSeconds), slowdownOf(one)}
			}
			r.printTable(table.Row{"id", "name", "base", "machine", "state", "round", "trials", "machine time", "slowdown"}, rows)
		})
	}
	return cmd
}

// oneLine keeps what a stranger named a campaign from steering the terminal.
func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 {
			return '?'
		}
		return c
	}, s)
}

func statusText(c service.Campaign) string {
	if c.State == service.Done && !c.Converged {
		return "done, not converged"
	}
	return string(c.State)
}

func slowdownOf(c service.Campaign) string {
	if c.Progress.Slowdown == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", c.Progress.Slowdown)
}

// show prints one campaign.
func (r *remote) show(c service.Campaign) error {
	return r.print(c, func() {
		p := c.Progress
		name := ""
		if c.Name != "" {
			name = fmt.Sprintf(" (%s)", oneLine(c.Name))
		}
		fmt.Fprintf(r.stdout, "campaign %s%s of %s on %s: %s\n", c.ID, name, c.Base, c.Machine, statusText(c))
		fmt.Fprintf(r.stdout, "made %s: %s\n", c.Created.Format(time.DateTime+" MST"), oneLine(c.Reason))
		fmt.Fprintf(r.stdout, "%d of %d problems converged, round %d, %d trials, %d failed, %s of the machine, slowdown %s, %d jobs\n",
			p.Converged, p.Problems, p.Rounds, p.Trials, p.FailedTrials, seconds(p.MachineSeconds), slowdownOf(c), p.Jobs)
		if c.NodeHours > 0 {
			fmt.Fprintf(r.stdout, "%s of %s node-hours\n", hours(p.NodeSeconds/3600), hours(c.NodeHours))
		}
		if c.Waits != "" {
			fmt.Fprintf(r.stdout, "waits %s\n", oneLine(c.Waits))
		}
		if c.Error != "" {
			fmt.Fprintf(r.stdout, "error: %s\n", oneLine(c.Error))
		}
	})
}

func (r *remote) showCommand() *cobra.Command {
	return r.turnCommand("show", "Show a campaign", (*client.Client).Campaign)
}

func (r *remote) pauseCommand() *cobra.Command {
	return r.turnCommand("pause", "Stop a campaign so that it can be resumed", (*client.Client).Pause)
}

func (r *remote) resumeCommand() *cobra.Command {
	return r.turnCommand("resume", "Let a campaign go on", (*client.Client).Resume)
}

func (r *remote) cancelCommand() *cobra.Command {
	return r.turnCommand("cancel", "Stop a campaign for good and cancel its jobs", (*client.Client).Cancel)
}

// turnCommand is a verb that takes an ID and gives the campaign.
func (r *remote) turnCommand(verb, short string, do func(*client.Client, context.Context, string) (service.Campaign, error)) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short,
		Example: indent("tutti remote " + verb + " 3k9f2m7q"),
		Args:    oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.connect(cmd)
			if err != nil {
				return err
			}
			one, err := do(c, cmd.Context(), args[0])
			if err != nil {
				return withRemoteCode(err)
			}
			return r.show(one)
		},
	}
}

func (r *remote) createCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "create BASE", Short: "Make a campaign of one of the service's campaign files",
		Example: indent("tutti remote create demo", "tutti remote create demo --name night --set stop.slowdown=1.02 --watch"),
		Args:    arguments(1, 1, "the name of one base"),
	}
	name := cmd.Flags().String("name", "", "for people")
	set := cmd.Flags().StringArray("set", nil, "override `KEY=VALUE` of the campaign file; may be repeated")
	from := cmd.Flags().String("from", "", "`ID` of the campaign whose measurements it starts from")
	key := cmd.Flags().String("key", "", "idempotency key: repeating the command with the same one makes no second campaign")
	watch := cmd.Flags().Bool("watch", false, "stay and tell its progress until it is over")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ask := service.Request{Base: args[0], Name: *name, From: *from}
		for _, s := range *set {
			k, v, ok := strings.Cut(s, "=")
			if !ok {
				return usageError(cmd, fmt.Errorf("--set %s: want KEY=VALUE", s))
			}
			if ask.Set == nil {
				ask.Set = map[string]string{}
			}
			ask.Set[k] = v
		}
		c, err := r.connect(cmd)
		if err != nil {
			return err
		}
		made, err := c.Create(cmd.Context(), ask, *key)
		if err != nil {
			return withRemoteCode(err)
		}
		if *watch {
			return r.watch(cmd.Context(), c, made.ID)
		}
		return r.show(made)
	}
	return cmd
}

func (r *remote) watchCommand() *cobra.Command {
	return &cobra.Command{
		Use: "watch ID", Short: "Tell the progress of a campaign until it is over",
		Long: `watch prints a line for each evaluation, failure and stop of a campaign, from its
beginning; with --output json every line of its journal. It ends when the campaign
does, with the exit code that tutti tune would have had.`,
		Example: indent("tutti remote watch 3k9f2m7q", "tutti remote watch 3k9f2m7q --output json"),
		Args:    oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.connect(cmd)
			if err != nil {
				return err
			}
			return r.watch(cmd.Context(), c, args[0])
		},
	}
}

// watch follows a campaign and ends with its exit code.
func (r *remote) watch(ctx context.Context, c *client.Client, id string) error {
	err := c.Watch(ctx, id, 0, func(e service.Event) error {
		if r.output == "json" {
			_, err := fmt.Fprintf(r.stdout, "%s\n", e.Data)
			return err
		}
		if line := lineOf(e); line != "" {
			_, err := fmt.Fprintln(r.stdout, line)
			return err
		}
		return nil
	})
	if err != nil {
		return withRemoteCode(err)
	}
	one, err := c.Campaign(ctx, id)
	if err != nil {
		return withRemoteCode(err)
	}
	if r.output == "text" {
		if err := r.show(one); err != nil {
			return err
		}
	}
	return outcome(one)
}

// outcome is how a campaign that came to rest ended.
func outcome(c service.Campaign) error {
	switch {
	case c.State == service.Done && c.Converged:
		return nil
	case c.State == service.Done:
		return errNotConverged
	case c.State == service.Cancelled:
		return errCancelled
	case c.State == service.Failed && c.Exit > 0:
		return withCode(c.Exit, fmt.Errorf("campaign %s failed: %s", c.ID, oneLine(c.Error)))
	}
	return fmt.Errorf("campaign %s is %s: %s", c.ID, c.State, oneLine(c.Error))
}

func (r *remote) filesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "files ID", Short: "List the files of a campaign that can be fetched",
		Example: indent("tutti remote files 3k9f2m7q"),
		Args:    oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.connect(cmd)
			if err != nil {
				return err
			}
			files, err := c.Files(cmd.Context(), args[0])
			if err != nil {
				return withRemoteCode(err)
			}
			return r.print(files, func() {
				rows := make([]table.Row, len(files))
				for i, f := range files {
					rows[i] = table.Row{oneLine(f.Name), f.Size, f.Type}
				}
				r.printTable(table.Row{"name", "bytes", "type"}, rows)
			})
		},
	}
}

func (r *remote) getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "get ID NAME", Short: "Fetch a file of a campaign",
		Long:    `get writes one of the files that tutti remote files lists. It replaces nothing.`,
		Example: indent("tutti remote get 3k9f2m7q report.html", "tutti remote get 3k9f2m7q mpich.json -o -"),
		Args:    arguments(2, 2, "the ID of one campaign and the name of one file"),
	}
	out := cmd.Flags().StringP("out", "o", "", "where it goes, - is standard output; default its own name in this folder")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		c, err := r.connect(cmd)
		if err != nil {
			return err
		}
		to := cmp.Or(*out, path.Base(args[1]))
		w, err := r.saveTo(to)
		if err != nil {
			return err
		}
		err = c.Download(cmd.Context(), args[0], args[1], w)
		err = errors.Join(withRemoteCode(err), withOutputCode(w.Close()))
		if err != nil && to != "-" {
			err = errors.Join(err, os.Remove(to)) // a part of a file looks like a file
		}
		return err
	}
	return cmd
}

// lineOf tells an event in a line; "" for those that are not worth one.
func lineOf(e service.Event) string {
	var rec journal.Record
	if json.Unmarshal(e.Data, &rec) != nil || e.Seq == 1 { // the header is no record
		return ""
	}
	at := rec.Time.Format(time.TimeOnly)
	switch rec.Kind {
	case journal.KindEvaluation:
		v := rec.Evaluation
		return fmt.Sprintf("%s  %s  round %d: slowdown %.3f, mistakes %.1f %%, %d trials, %s of the machine",
			at, rec.Problem, v.Round, v.Slowdown, 100*v.Mistakes, v.Trials, seconds(v.MachineSeconds))
	case journal.KindTrial:
		if rec.Trial.Error != "" {
			return oneLine(fmt.Sprintf("%s  %s  failed: %v: %s", at, rec.Problem, rec.Trial.Candidate, rec.Trial.Error))
		}
	case journal.KindGrow:
		return oneLine(fmt.Sprintf("%s  %s  goes on with other values of parameters: %v", at, rec.Problem, coll.AlgorithmsOf(rec.Grow)))
	case journal.KindStop:
		return oneLine(fmt.Sprintf("%s  %s  stopped: %s", at, rec.Problem, rec.Stop))
	}
	return ""
}
