package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tutti/campaign/assembly"
	"tutti/doctor"
	"tutti/internal/config"
	"tutti/mpi/libraries"
	"tutti/topology"
	"tutti/topology/pairs"
)

// errNotReady means that no campaign can run here. The command has already printed the reasons.
var errNotReady = errors.New("no campaign can run here")

type doctorOptions struct {
	*app
	file     string
	prefixes []string
	folders  []string
	network  bool
	tree     string
	noRun    bool
}

func doctorCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what campaigns on this machine need, and test it",
		Long: `doctor looks for MPI libraries, launchers, benchmark programs and Slurm, on a login
node or inside a job. It says what is missing and how to get it. With a campaign file
it also says whether that campaign could run.

It starts programs of at most two processes. It builds programs in a temporary folder
inside the current one. Where Slurm answers and tutti is not inside a job, srun starts
two processes for a second.

With --network and a campaign file it measures pairs of the campaign's nodes in two
jobs: slow nodes, slow links and oversubscribed switches, each with its figure and the
probability of a false alarm.`,
		Example: examples("tutti doctor", "tutti doctor -c campaign.yaml", "tutti doctor --network -c campaign.yaml", "tutti doctor --mpi /opt/mpich-4.2 --no-run", "tutti doctor --format json"),
		Args:    noArgs,
	}
	o := doctorOptions{app: a}
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "config", "c", "", "campaign `FILE` to check")
	flags.StringArrayVar(&o.prefixes, "mpi", nil, "`FOLDER` of an MPI installation, with bin/mpicc; repeatable")
	flags.StringArrayVar(&o.folders, "programs", nil, "`FOLDER` with benchmark programs; repeatable")
	flags.BoolVar(&o.network, "network", false, "measure pairs of the campaign's nodes instead, and find slow ones")
	flags.StringVar(&o.tree, "topology", "", "`FILE` of the nodes' switches (--network); default: the measured topology of the campaign")
	flags.BoolVar(&o.noRun, "no-run", false, "start no parallel programs")
	a.formatFlag(cmd)
	mustComplete(errors.Join(cmd.MarkFlagFilename("config", "yaml", "yml"), cmd.MarkFlagDirname("mpi"), cmd.MarkFlagDirname("programs")))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !o.network {
			return o.run(cmd.Context())
		}
		if o.file == "" {
			return usageError(cmd, errors.New("--network needs a campaign: -c FILE"))
		}
		return o.measureNetwork(cmd.Context())
	}
	return cmd
}

// run examines the machine and prints the findings. The error matches errNotReady if no campaign
// can run.
func (o *doctorOptions) run(ctx context.Context) error {
	opt := doctor.Options{Environ: o.environ, Dir: ".", Prefixes: o.prefixes, Folders: o.folders, Run: !o.noRun}
	if o.file != "" {
		c, err := config.Load(o.file, config.Layers{Environ: o.environ})
		if err != nil {
			return withCode(codeInput, err)
		}
		if opt.Dir = nearestFolder(c.Output); c.Runner.Live() {
			b, err := withPaths(ctx, o.app, c)
			if err != nil {
				return err
			}
			opt.Campaign = b.Config
			opt.Hidden = b.HiddenSettings(o.environ)
			opt.Refused = refusedParts(ctx, o.app, b)
			if opt.Run && c.Runner.Facts().Attached {
				if opt.Tried, err = tryLaunches(ctx, o.app, b, opt.Dir); err != nil {
					return err
				}
			}
		}
	}
	examined := o.announce("looking for MPI libraries, launchers and programs, and trying them ...")
	r, err := doctor.Examine(ctx, opt)
	examined()
	if err != nil {
		return err
	}
	err = o.show(struct {
		Ready bool `json:"ready"`
		*doctor.Report
	}{r.Ready(), r}, func() { _ = r.Text(o.stdout, terminalWidth) })
	if err == nil && !r.Ready() {
		return errNotReady
	}
	return err
}

// capacityTime is the longest time that doctor waits until a scheduler reports its limits.
const capacityTime = 20 * time.Second

// withPaths builds a campaign of a copy of its configuration that has the paths of its libraries' programs.
func withPaths(ctx context.Context, a *app, c *config.Campaign) (*assembly.Campaign, error) {
	own := *c
	own.Libraries = slices.Clone(c.Libraries)
	if err := addPaths(ctx, a, &own); err != nil {
		return nil, err
	}
	return assembly.New(&own)
}

// refusedParts returns the layouts and message sizes of a campaign that cannot be measured on this machine.
func refusedParts(ctx context.Context, a *app, b *assembly.Campaign) []string {
	ctx, cancel := context.WithTimeout(ctx, capacityTime)
	defer cancel()
	var f assembly.Forecast
	err := b.Connect("doctor", a.environ)
	if err == nil {
		f, err = b.Forecast(ctx)
	}
	if err != nil {
		return []string{"cannot determine which parts of the grid can be measured: " + err.Error()}
	}
	var out []string
	for _, l := range f.LeftOut {
		out = append(out, l.String())
	}
	return out
}

// tryLaunches runs one launch of each library as the campaign does. It is for campaigns whose launches need no queue.
func tryLaunches(ctx context.Context, a *app, b *assembly.Campaign, dir string) ([]doctor.Tried, error) {
	own := b.Config
	var out []doctor.Tried
	for i, lib := range own.Libraries {
		t := doctor.Tried{Library: lib.Name, Layout: b.Largest(lib.Name).Layout().String()}
		own.Libraries[i].Site, t.Err = b.TryLaunch(ctx, lib, dir, "doctor", a.environ)
		out = append(out, t)
	}
	for i, lib := range own.Libraries {
		out[i].Settings = assembly.SiteWarnings(lib)
	}
	return out, ctx.Err()
}

// preflight prints which needs of a campaign this machine does not meet. The error matches
// errNotReady if none of the benchmarks can run.
func preflight(ctx context.Context, a *app, c *config.Campaign) error {
	if !c.Runner.Live() {
		return nil
	}
	checks, err := doctor.Preflight(ctx, doctor.Options{Environ: a.environ, Dir: nearestFolder(c.Output), Campaign: c})
	if err != nil || len(checks) == 0 {
		return err
	}
	if err := doctor.WriteChecks(a.stderr, checks, terminalWidth); err != nil {
		return err
	}
	if slices.ContainsFunc(checks, func(c doctor.Check) bool { return c.State == doctor.Missing }) {
		a.printLine("tutti: the campaign cannot run here. Examine the machine with tutti doctor -c FILE, or start with tutti tune --skip-checks")
		return errNotReady
	}
	return nil
}

// warnHost prints warnings about this machine if a campaign measures on it.
func (a *app) warnHost(c *config.Campaign) {
	if c.Runner.Facts().Attached {
		a.warn(doctor.HostWarnings())
	}
}

// addPaths sets what follows from the MPI library that the benchmark program loads: its path for libraries of a campaign
// whose selection files depend on the path, and the launcher of libtutti.
func addPaths(ctx context.Context, a *app, c *config.Campaign) error {
	needsPath := func(lib config.Library) bool {
		port, ok := libraries.Named(lib.Name)
		return ok && lib.Path == "" && port.Facts().FromFile
	}
	needsLauncher := func(lib config.Library) bool {
		port, ok := libraries.Named(lib.Name)
		return ok && lib.Launcher == "" && port.Facts().Preload
	}
	needs := func(lib config.Library) bool { return needsPath(lib) || needsLauncher(lib) }
	if !c.Runner.Live() || !slices.ContainsFunc(c.Libraries, needs) {
		return nil
	}
	found, err := doctor.BenchmarkFiles(ctx, doctor.Options{Environ: a.environ, Dir: nearestFolder(c.Output), Campaign: c})
	for i, path := range found {
		if needsLauncher(c.Libraries[i]) {
			if below := libraries.Loaded(path); below != nil {
				c.Libraries[i].Launcher = c.Runner.DefaultLauncher(config.Library{Name: below.Facts().Name})
			}
		}
		if needsPath(c.Libraries[i]) {
			c.Libraries[i].Path = path
		}
	}
	return err
}

// nearestFolder returns the nearest existing folder: the given one or one above it.
func nearestFolder(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// measureNetwork measures the communication between pairs of a campaign's nodes and prints which nodes or
// links are slow. It asks for confirmation if the expected cost exceeds runner.confirm.
func (o *doctorOptions) measureNetwork(ctx context.Context) error {
	c, err := loadMeasuring(o.app, o.file)
	if err != nil {
		return err
	}
	tree, err := networkTree(o.tree, filepath.Join(c.Config.Output, "topology", pairs.TreeFile))
	if err != nil {
		return err
	}
	opt := pairs.Defaults
	opt.Version, opt.Environ = version, o.environ
	first, err := pairs.ForecastNetwork(ctx, c, opt)
	if err != nil {
		return err
	}
	if err := confirmPairs(o.app, append(first, first...), c.Config.Runner.Confirm, "raise runner.confirm"); err != nil {
		return err
	}
	n, err := pairs.MeasureNetwork(ctx, c, tree, opt)
	if errors.Is(err, pairs.ErrNothing) {
		return withCode(codeNotReady, err)
	}
	if err != nil {
		return err
	}
	checks := doctor.NetworkChecks(n)
	return o.show(checks, func() { _ = doctor.WriteChecks(o.stdout, checks, terminalWidth) })
}

// networkTree reads a topology from the file `named`, or from the file `measured` if `named` is empty. It
// returns nil if `named` is empty and the file `measured` does not exist.
func networkTree(named, measured string) (*topology.Tree, error) {
	t, err := readTopology(cmp.Or(named, measured), "")
	if named == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &t, err
}
