package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tutti/internal/config"
	"tutti/service"
	"tutti/service/api"
)

func (a *app) loadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Put a service under load and check how it behaves",
		Long: `load runs a service whose campaigns use recorded data. Clients watch the event streams of
all campaigns, drop their connections and open them again, while others read at a fixed
rate. It fails when a target is missed: the latency of reads, the growth of memory, or an
event stream that differs from the journal. Service and clients share a process.`,
		Example: indent("tutti-lab load --tutti bin/tutti --campaign configs/demo.yaml"),
		Args:    noArguments,
	}
	var o loadOptions
	flags := cmd.Flags()
	flags.StringVar(&o.Program, "tutti", "bin/tutti", "path of tutti, which runs the campaigns")
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
		report, err := runLoad(cmd.Context(), o)
		if err != nil {
			return err
		}
		report.print(a.stdout, o)
		if missed := report.missed(o); len(missed) > 0 {
			return fmt.Errorf("%d targets missed:\n%s", len(missed), strings.Join(missed, "\n"))
		}
		fmt.Fprintln(a.stdout, "all targets met")
		return nil
	}
	return cmd
}

// loadOptions describe the load on a service and the targets that the service must meet; see the flags.
type loadOptions struct {
	Program, Campaign, Dir string
	Campaigns, Clients     int
	Rate                   float64 // reads per second
	Time, Drop, P99        time.Duration
	Growth                 float64 // MiB
}

// Validate returns an error for options that give no load, such as zero clients.
func (o loadOptions) Validate() error {
	if o.Campaigns < 1 || o.Clients < 1 || o.Rate <= 0 || o.Time < time.Second || o.Drop <= 0 {
		return fmt.Errorf("want at least one campaign, one client, a rate and a drop time above 0, and a second")
	}
	return nil
}

// loadTest is the state of a load test: the service, the latest campaigns and the measurements so far.
type loadTest struct {
	loadOptions
	service  *service.Service
	url      string
	deadline time.Time

	mu     sync.Mutex
	latest []string // newest campaign of each machine
	report loadReport
	err    error
}

// runLoad puts a service under load. Clients stay connected until all campaigns have ended.
func runLoad(ctx context.Context, o loadOptions) (report loadReport, err error) {
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "tutti-load-"); err != nil {
			return report, err
		}
		defer func() { err = cmp.Or(err, os.RemoveAll(o.Dir)) }()
	}
	for _, path := range []*string{&o.Program, &o.Campaign, &o.Dir} {
		if *path, err = filepath.Abs(*path); err != nil {
			return report, err
		}
	}
	if _, err := os.Stat(o.Program); err != nil {
		return report, err
	}
	t := &loadTest{loadOptions: o, latest: make([]string, o.Campaigns), deadline: time.Now().Add(o.Time)}
	stop, err := t.startService(ctx)
	if err != nil {
		return report, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Time+2*time.Minute)
	defer cancel()
	for machine := range t.latest {
		t.create(ctx, machine, 1)
	}
	var tasks sync.WaitGroup
	for machine := range t.latest {
		tasks.Go(func() { t.runMachine(ctx, machine) })
	}
	tasks.Go(func() { t.readAll(ctx) })
	tasks.Go(func() { t.sampleMemory(ctx) })
	tasks.Wait()
	return t.report, cmp.Or(errors.Join(t.err, stop()), ctx.Err())
}

// startService starts the service, which has one campaign file for each machine, and its HTTP server. The
// function `stop` ends both of them.
func (t *loadTest) startService(ctx context.Context) (stop func() error, err error) {
	opt := service.Options{Service: config.Service{State: filepath.Join(t.Dir, "state")}, Command: []string{t.Program}}
	for i := range t.Campaigns {
		opt.Bases = append(opt.Bases, config.Base{Name: baseName(i), Machine: baseName(i), File: t.Campaign})
	}
	if t.service, err = service.New(opt); err != nil {
		return nil, err
	}
	handler, err := api.New(t.service, api.Options{})
	if err != nil {
		return nil, errors.Join(err, t.service.Close())
	}
	l, err := api.Listen("127.0.0.1:0", api.ListenOptions{})
	if err != nil {
		return nil, errors.Join(err, t.service.Close())
	}
	t.url = "http://" + l.Addr().String()
	running, end := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { ended <- handler.Serve(running, l) }()
	go func() { ended <- t.service.Run(running) }()
	return func() error {
		end()
		return errors.Join(<-ended, <-ended)
	}, nil
}

// baseName returns the name of campaign file i of the service, which is also the name of its machine.
func baseName(i int) string { return "m" + strconv.Itoa(i+1) }

// create creates a campaign on a machine. It returns false if this failed.
func (t *loadTest) create(ctx context.Context, machine, seed int) bool {
	c, _, err := t.service.Create(ctx, service.Request{
		Base: baseName(machine), Name: fmt.Sprintf("load %d", seed), Set: map[string]string{"seed": strconv.Itoa(100*machine + seed)},
	}, "")
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest[machine], t.err = c.ID, errors.Join(t.err, err)
	t.report.campaigns++
	return err == nil
}

// runMachine runs one campaign after another on a machine until the deadline. Clients watch each of them.
func (t *loadTest) runMachine(ctx context.Context, machine int) {
	var clients sync.WaitGroup
	defer clients.Wait()
	for seed := 2; ; seed++ {
		id := t.campaignOf(machine)
		for i := machine; i < t.Clients; i += t.Campaigns {
			clients.Go(func() { t.watch(ctx, id, i) })
		}
		if err := t.await(ctx, id); err != nil {
			t.mu.Lock()
			t.err = errors.Join(t.err, err)
			t.mu.Unlock()
			return
		}
		if time.Now().After(t.deadline) || ctx.Err() != nil || !t.create(ctx, machine, seed) {
			return
		}
	}
}

// campaignOf returns the ID of the newest campaign of a machine.
func (t *loadTest) campaignOf(machine int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.latest[machine]
}

// await waits until a campaign has ended. It cancels the campaign at the deadline.
func (t *loadTest) await(ctx context.Context, id string) error {
	for ctx.Err() == nil {
		c, err := t.service.Campaign(id)
		switch {
		case err != nil:
			return err
		case c.State == service.Failed:
			return fmt.Errorf("campaign %s failed: %s", id, c.Error)
		case c.State.Over():
			return nil
		case time.Now().After(t.deadline) && c.State != service.Stopping:
			if _, err := t.service.Cancel(id); err != nil && !errors.Is(err, service.ErrState) {
				return err
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}
