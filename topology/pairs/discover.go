package pairs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tutti/benchrunner"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/topology/discover"
)

// Options control how pairs of ranks are measured.
type Options struct {
	Folder  string // folder in the campaign's output folder
	Jobs    int    // number of jobs, each with the most nodes of the grid
	Nodes   int    // nodes of each job; default the most nodes of the grid
	Program string // path of tutti's benchmark program; default that of the campaign's first library

	Bytes     int     // size of the large message
	Precision float64 // relative error at which a stage ends
	Seconds   float64 // longest time of a stage
	Passes    int     // most measurements of each pair
	PLogP     string  // pairs of ranks whose PLogP parameters are measured: classes (an example of each class), all, or a list such as n1:n2,n1/0:n2/3

	Repetitions int // of each time from which PLogP parameters are computed

	Version string   // version of tutti, for the journal
	Environ []string // environment of the process
}

// Values of Options.PLogP.
const (
	PLogPClasses = "classes"
	PLogPAll     = "all"
)

// Defaults are the options of a discovery that the user does not set.
var Defaults = Options{Folder: "topology", Jobs: 1, Bytes: 1 << 20, Precision: 0.05, Seconds: 60, Passes: 64, Repetitions: 10, PLogP: PLogPClasses}

const maxRepetitions = 1024 // of csource/pairs

func (o Options) validate() error {
	switch {
	case o.Jobs < 1 || o.Nodes < 0:
		return fmt.Errorf("%d jobs of %d nodes: want 1 or more", o.Jobs, o.Nodes)
	case o.Bytes < 1 || o.Bytes > 1<<30:
		return fmt.Errorf("%d bytes: want 1 to 1 GiB", o.Bytes)
	case !(o.Precision > 0) || !(o.Seconds > 0) || !(o.Seconds < 1e6) || o.Passes < 1:
		return fmt.Errorf("precision %g, %g seconds, %d passes: want numbers above 0", o.Precision, o.Seconds, o.Passes)
	case o.Repetitions < 1 || o.Repetitions > maxRepetitions:
		return fmt.Errorf("%d repetitions: want 1 to %d", o.Repetitions, maxRepetitions)
	}
	return nil
}

// plan returns a plan of measurements with the options that apply to every launch.
func (o Options) plan() discover.Plan {
	return discover.Plan{Bytes: o.Bytes, Passes: o.Passes, Repetitions: o.Repetitions, Precision: o.Precision, Seconds: o.Seconds}
}

// Discovery measures the communication of pairs of ranks on a machine. It continues the measurements of an
// earlier process.
type Discovery struct {
	Dir string // folder of the journal, jobs and results

	campaign *assembly.Campaign
	opt      Options
	lib      config.Library
	layout   coll.Layout
	journal  *journal.Journal

	mu    sync.Mutex     // guards the journal and its state
	state *journal.State // of the journal, including the records of this process
}

// Open starts or resumes the measurement of a campaign's machine. Its errors match assembly.ErrInput or
// journal.ErrLocked, or come from the file system.
func Open(c *assembly.Campaign, opt Options) (*Discovery, error) {
	d, err := prepare(c, opt)
	if err != nil {
		return nil, err
	}
	journal, contents, err := d.openJournal()
	if err != nil {
		return nil, err
	}
	d.journal, d.state = journal, contents.State()
	if err := d.campaign.Connect(contents.Header.ID, d.opt.Environ); err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	return d, nil
}

func prepare(c *assembly.Campaign, opt Options) (*Discovery, error) {
	if err := opt.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", assembly.ErrInput, err)
	}
	if !c.Config.Runner.Live() {
		return nil, fmt.Errorf("%w: runner.kind %s has no machine that could be measured", assembly.ErrInput, c.Config.Runner.Kind)
	}
	lib := c.Config.Libraries[0]
	if opt.Program == "" && !c.Config.Benchmark.Kind().BuiltIn {
		return nil, fmt.Errorf("%w: benchmark.program %s measures no pairs: name the program that tutti build benchmark made", assembly.ErrInput, c.Config.Benchmark.Program)
	}
	path, err := filepath.Abs(cmp.Or(opt.Program, lib.Benchmark))
	if err != nil {
		return nil, err
	}
	opt.Program = path
	c = c.Sequential().In(filepath.Join(c.Config.Output, opt.Folder))
	layout := coll.Layout{Nodes: cmp.Or(opt.Nodes, slices.Max(c.Config.Grid.Nodes)), PPN: slices.Max(c.Config.Grid.PPN)}
	return &Discovery{Dir: c.Config.Output, campaign: c, opt: opt, lib: lib, layout: layout}, nil
}

func (d *Discovery) openJournal() (*journal.Journal, *journal.Contents, error) {
	spec, err := json.Marshal(d.campaign.Config)
	if err != nil {
		return nil, nil, err
	}
	h := journal.Header{ID: journal.NewID(), Campaign: d.campaign.Config.Name, Version: d.opt.Version, Spec: spec}
	jnl, err := journal.Create(d.Dir, h)
	if errors.Is(err, journal.ErrExists) {
		return journal.Open(d.Dir)
	}
	return jnl, &journal.Contents{Header: h}, err
}

// Close closes the journal and releases its lock.
func (d *Discovery) Close() error { return d.journal.Close() }

// Measure measures pairs of ranks in opt.Jobs jobs, and then the parameters of the PLogP model for the pairs
// that opt.PLogP names. It skips launches that earlier processes completed, and waits for their running jobs.
//
// It returns ctx.Err() or the error of a runner. It returns an error matching ErrNothing if no launch
// measured anything, or assembly.ErrInput if opt.PLogP names a pair that was not measured.
func (d *Discovery) Measure(ctx context.Context) error {
	plan := d.opt.plan()
	plan.Inside, plan.Rounds = true, discover.AllRounds
	if err := d.run(ctx, pairs, plan, d.opt.Jobs); err != nil {
		return err
	}
	found, err := d.Found()
	if err != nil {
		return err
	}
	plan = d.opt.plan()
	what := examples
	if d.opt.PLogP == PLogPClasses {
		plan.Classes = discover.Classes(&found.Tree, found.pairs())
	} else if what, plan.Classes, err = d.missingPairs(found); err != nil {
		return err
	}
	if len(plan.Classes) == 0 {
		return nil
	}
	return d.run(ctx, what, plan, 1)
}

// missingPairs returns the pairs in opt.PLogP whose PLogP parameters were not measured yet. Each pair is returned as
// a Class that contains only this pair. The result `kind` is the name that the journal uses for the launch that
// measures them.
func (d *Discovery) missingPairs(found *Found) (kind string, missing []discover.Class, err error) {
	var names []string
	if d.opt.PLogP != PLogPAll {
		names = strings.Split(d.opt.PLogP, ",")
	}
	if missing, err = discover.RankPairs(found.pairs(), names); err != nil {
		return "", nil, fmt.Errorf("%w: %w", assembly.ErrInput, err)
	}
	missing = slices.DeleteFunc(missing, func(c discover.Class) bool {
		return slices.ContainsFunc(found.Parameters, func(p discover.ClassParameters) bool { return p.Class == c.Name })
	})
	digest := fnv.New32a()
	for _, c := range missing {
		io.WriteString(digest, c.Name+"\n")
	}
	return fmt.Sprintf("%s-%08x", examples, digest.Sum32()), missing, nil
}

// Forecast returns the jobs that Measure would submit first, without writing files. It returns the errors of Open,
// and an error for jobs that cannot run on the machine.
func Forecast(ctx context.Context, c *assembly.Campaign, opt Options) ([]assembly.PlannedJob, error) {
	d, err := prepare(c, opt)
	if err != nil {
		return nil, err
	}
	plan := d.opt.plan()
	plan.Inside, plan.Rounds = true, discover.AllRounds
	return d.forecast(ctx, pairs, plan)
}

func (d *Discovery) forecast(ctx context.Context, what string, plan discover.Plan) ([]assembly.PlannedJob, error) {
	if err := d.campaign.Connect("dry-run", d.opt.Environ); err != nil {
		return nil, err
	}
	machine, err := d.campaign.Machine(d.lib, program{d.opt.Program, plan}, unforced)
	if err != nil {
		return nil, err
	}
	out := []assembly.PlannedJob{}
	for round := range d.opt.Jobs {
		batch := d.batch(round+1, candidate(what, d.layout), nil)
		jobs, err := machine.Plan(ctx, batch)
		if err != nil {
			return nil, err
		}
		out = append(out, assembly.PlannedJobs(d.problem(), batch, jobs)...)
	}
	return out, nil
}

// batch returns a batch with one launch, and with the jobs that were already submitted for this launch.
func (d *Discovery) batch(round int, c coll.Candidate, jobs []coll.Job) benchrunner.Batch {
	return benchrunner.Batch{
		Label: d.lib.Name + "-" + c.Algorithm.Name, Round: round, Jobs: jobs,
		Requests: []benchrunner.Request{{Candidate: c, Attempt: 1}},
	}
}
