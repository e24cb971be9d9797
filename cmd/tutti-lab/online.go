package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/lab"
	"tutti/internal/lab/simulate"
	"tutti/preprocess"
)

type onlineReplay struct {
	traces   []string
	data     []string
	defaults string
	recorded string
	library  string
	from     []string
	exclude  []string
	policies []string
	opt      simulate.Options
	picture  string
	trend    string
	bestMap  string
	keep     string
}

func (a *app) onlineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "online --trace FILE --data FILE",
		Short: "Replay applications over recorded times under policies that learn",
		Long: `online replays what applications call (the traces of tutti run) over recorded
times, run after run, under policies that choose the algorithm of each call and learn
from its time:

  iota     IOTA: draws by weights 1/t of boosted trees that are trained between runs
  share    the best known algorithm; a share of the calls (--explore) draws as iota does
  explore  libtutti in mode explore: the best known algorithm; a share of the calls draws
           by the weights of the table that online update makes between runs
  learn    libtutti in mode learn: successive elimination and change detection in each run,
           and online update between runs
  tutti    the online knowledge gradient with a Gaussian process, within a budget of time
  oracle   the fastest algorithm at every call
  default  the library as shipped: library_default in the data, or by --defaults

explore and learn run the C code of libtutti and need a C compiler: cc, or the one that
CC names. Each call counts at the nearest recorded point of its collective. All policies see the
same calls with the same noise. --from names measurements of another application or
machine to learn from first; --keep writes the times that the last policy saw.

The results depend only on files and flags.`,
		Example: indent(
			"tutti-lab online --trace app.csv --data recorded.csv",
			"tutti-lab online --trace app.csv --data c.csv --defaults defaults.csv --recorded C --policy learn,tutti --runs 8 --format json",
			"tutti-lab online --trace app.csv --data c.csv --slow 'ring@250-400*2' --policy learn,tutti"),
		Args: noArguments,
	}
	parse := onlineFlags(cmd)
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := parse()
		if err != nil {
			return usageError(cmd, err)
		}
		return a.simulate(cmd.Context(), r)
	}
	return cmd
}

// onlineFlags adds the flags of tutti-lab online. It returns a function that reads their values.
func onlineFlags(cmd *cobra.Command) func() (onlineReplay, error) {
	r := onlineReplay{opt: simulate.DefaultOptions()}
	flags, o := cmd.Flags(), &r.opt
	flags.StringSliceVar(&r.traces, "trace", nil, "trace `FILE`s, one for each application (required)")
	flags.StringSliceVar(&r.data, "data", nil, "recorded `FILE`s of one machine, repeated or separated by commas (required)")
	flags.StringVar(&r.defaults, "defaults", "", "`FILE` of the library's choices, in recorded names")
	flags.StringVar(&r.recorded, "recorded", "", "with --defaults: the `machine` there")
	flags.StringVar(&r.library, "library", "mpich", "with --defaults: the `library` there")
	flags.StringSliceVar(&r.from, "from", nil, "`FILE`s of measurements made elsewhere, each a source of its own")
	flags.StringSliceVar(&r.exclude, "exclude", nil, "`algorithms` that no policy may call")
	policies := flags.String("policy", strings.Join(simulate.Policies(), ","), "policies, separated by commas")
	flags.IntVar(&o.Runs, "runs", o.Runs, "runs of each application")
	flags.IntVar(&o.Iterations, "iterations", o.Iterations, "iterations of a run; its calls are distributed over them")
	flags.Float64Var(&o.Noise, "noise", o.Noise, "relative noise of each call")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "of calls, noise and draws")
	flags.Float64Var(&o.ExploreShare, "explore", o.ExploreShare, "share of calls that explore, of share and explore")
	flags.IntVar(&o.MaxExplored, "explored", o.MaxExplored, "maximum number of calls of a class that explore in a run, of iota and share")
	flags.Float64Var(&o.Budget, "budget", o.Budget, "share of the time of calls that exploring may cost, of explore, learn and tutti")
	slow := flags.StringSlice("slow", nil, "`ALGORITHM@[RUN:]FROM-TO*FACTOR`: slower in these iterations of each run, from run RUN on")
	flags.StringVar(&r.picture, "picture", "", "`FILE.png` of the regret and of each run compared with the default")
	flags.StringVar(&r.trend, "trend", "", "`FILE.png` of the algorithms that the last policy ran in the most expensive class of the last application")
	flags.StringVar(&r.bestMap, "map", "", "`FILE.png` of the last policy's choices after the last application, compared with the default, at all recorded points")
	flags.StringVar(&r.keep, "keep", "", "`FILE` for the times that the last policy saw in the last application, as measurements")
	return func() (onlineReplay, error) {
		var err error
		if r.policies, err = simulate.ParsePolicies(*policies); err != nil {
			return r, err
		}
		for _, text := range *slow {
			s, err := parseSlow(text)
			if err != nil {
				return r, err
			}
			o.Slow = append(o.Slow, s)
		}
		switch {
		case len(r.traces) == 0:
			return r, errors.New("--trace FILE is missing")
		case len(r.data) == 0:
			return r, errors.New("--data FILE is missing")
		case (r.defaults == "") != (r.recorded == ""):
			return r, errors.New("--defaults goes with --recorded")
		}
		return r, o.Validate()
	}
}

// slowPattern matches a slowdown such as ring@5:0-200*2: ALGORITHM@[RUN:]FROM-TO*FACTOR.
var slowPattern = regexp.MustCompile(`^([^@]+)@(?:(\d+):)?(\d+)-(\d+)\*(.+)$`)

// parseSlow parses a slowdown in the form ALGORITHM@[RUN:]FROM-TO*FACTOR, such as ring@5:0-200*2.
func parseSlow(text string) (simulate.Slow, error) {
	fault := fmt.Errorf("--slow %s: want ALGORITHM@[RUN:]FROM-TO*FACTOR, as ring@250-400*2, or ring@5:0-200*2 from run 5 on", text)
	part := slowPattern.FindStringSubmatch(text)
	if part == nil {
		return simulate.Slow{}, fault
	}
	since, err0 := strconv.Atoi(cmp.Or(part[2], "1"))
	from, err1 := strconv.Atoi(part[3])
	to, err2 := strconv.Atoi(part[4])
	factor, err3 := strconv.ParseFloat(part[5], 64)
	algorithm, err4 := coll.ParseAlgorithm(part[1])
	if err := errors.Join(err0, err1, err2, err3, err4); err != nil {
		return simulate.Slow{}, errors.Join(fault, err)
	}
	return simulate.Slow{Algorithm: algorithm, Since: since, From: from, To: to, Factor: factor}, nil
}

// simulate replays every application under every policy.
func (a *app) simulate(ctx context.Context, r onlineReplay) error {
	in, err := r.read()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.policies, simulate.NeedsProgram) {
		folder, err := os.MkdirTemp("", "tutti-lab-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		if r.opt.Program, err = simulate.BuildProgram(ctx, folder); err != nil {
			return err
		}
	}
	outcomes, err := a.runPolicies(ctx, r, in)
	if err != nil {
		return err
	}
	if r.keep != "" {
		if err := export.WriteFile(r.keep, outcomes[len(outcomes)-1].WriteMeasured); err != nil {
			return err
		}
	}
	if err := r.draw(in, outcomes); err != nil {
		return err
	}
	if a.format == "json" {
		lines := json.NewEncoder(a.stdout)
		for _, o := range outcomes {
			if err := lines.Encode(o); err != nil {
				return err
			}
		}
		return nil
	}
	_, err = fmt.Fprintln(a.stdout, simulate.Table(outcomes))
	return err
}

// draw writes the pictures that the flags name.
func (r onlineReplay) draw(in onlineInput, outcomes []simulate.Outcome) error {
	last := outcomes[len(outcomes)-1]
	bestMap := func(w io.Writer) error {
		maps, err := simulate.BestMap(last.Policy, in.recorded, in.excluded, append(in.earlier, last.Measured), r.opt)
		if err != nil {
			return err
		}
		return lab.WriteMaps(w, fmt.Sprintf("Choices of %s after %s, time / that of the default", last.Policy, last.Application), maps)
	}
	for _, picture := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{r.picture, simulate.Draw(outcomes).WritePNG}, {r.trend, last.DrawTrend().WritePNG}, {r.bestMap, bestMap},
	} {
		if picture.path == "" {
			continue
		}
		if err := export.WriteFile(picture.path, picture.write); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) runPolicies(ctx context.Context, r onlineReplay, in onlineInput) ([]simulate.Outcome, error) {
	var outcomes []simulate.Outcome
	for _, app := range in.applications {
		if app.Unrecorded > 0 {
			fmt.Fprintf(a.stderr, "warning: %s: no recorded times for %.1f %% of the calls\n", app.Name, 100*app.Unrecorded)
		}
		for _, policy := range r.policies {
			o, err := simulate.Run(ctx, app, policy, in.earlier, r.opt)
			if err != nil {
				return nil, err
			}
			outcomes = append(outcomes, o)
			fmt.Fprintf(a.stderr, "%s %s\n", app.Name, policy)
		}
	}
	return outcomes, nil
}

// onlineInput is what the policies learn from and replay.
type onlineInput struct {
	applications []simulate.Application
	recorded     []coll.Measurement
	excluded     []coll.Algorithm
	earlier      [][]coll.Measurement // of other applications or machines, by file in r.from
}

func (r onlineReplay) read() (in onlineInput, err error) {
	if in.recorded, err = r.readRecorded(); err != nil {
		return in, err
	}
	for _, path := range r.from {
		t, err := preprocess.ReadTable(path)
		if err != nil {
			return in, err
		}
		in.earlier = append(in.earlier, t.Measurements())
	}
	for _, name := range r.exclude {
		algorithm, err := coll.ParseAlgorithm(name)
		if err != nil {
			return in, fmt.Errorf("--exclude: %w", err)
		}
		in.excluded = append(in.excluded, algorithm)
	}
	for _, path := range r.traces {
		trace, err := preprocess.ReadTrace(path)
		if err != nil {
			return in, err
		}
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		app, err := simulate.NewApplication(name, preprocess.Tunable(trace.Calls), in.recorded, in.excluded)
		if err != nil {
			return in, err
		}
		in.applications = append(in.applications, app)
	}
	return in, nil
}

// readRecorded returns the recorded times of the machine, including the times of the library's default.
func (r onlineReplay) readRecorded() ([]coll.Measurement, error) {
	var recorded []coll.Measurement
	for _, path := range r.data {
		t, err := preprocess.ReadTable(path)
		if err != nil {
			return nil, err
		}
		recorded = append(recorded, t.Measurements()...)
	}
	if r.defaults != "" {
		d, err := preprocess.ReadDefaults(r.defaults)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(d.Machines(), r.recorded) || !slices.Contains(d.Libraries(), r.library) {
			return nil, fmt.Errorf("%s: no row for machine %q and library %q: it has %s and %s", r.defaults, r.recorded, r.library,
				strings.Join(d.Machines(), ", "), strings.Join(d.Libraries(), ", "))
		}
		recorded = append(recorded, d.Rows(recorded, r.recorded, r.library)...)
	}
	return recorded, nil
}
