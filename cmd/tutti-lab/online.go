package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/internal/lab"
	"tutti/online"
	"tutti/preprocess"
)

// replays holds the flags of tutti-lab online.
type replays struct {
	traces   []string
	data     []string
	defaults string
	recorded string
	library  string
	from     []string
	exclude  []string
	policies []string
	opt      online.Options
	format   string
	picture  string
	served   string
	held     string
	keep     string
}

func (a *app) onlineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "online --trace FILE --data FILE",
		Short: "Replay applications over recorded times under policies that learn",
		Long: `online replays what applications call (the traces of tutti run) over recorded
times, run after run, under policies that choose the algorithm of each call and learn
from its time:

  iota     drawn by performance vectors 1/t of forests that are trained between runs
  share    the best known, but for a share of calls that are drawn so (--explore)
  explore  the best known, but for a share of calls that are drawn by what knowing more
           is worth; learns between runs: what tutti run --learn does
  star     in each run: every algorithm a few times (--tries), then the best, watched
  tutti    expected time less what knowing more is worth, within an account of time
  oracle   the fastest algorithm at every call
  default  the library as shipped, which the data call library_default or --defaults tells

Each call counts at the nearest recorded point of its collective. Policies see the same
calls with the same noise. --from gives them measurements of another application or
machine to begin with; --keep writes what the last policy was told.

The results depend on files and flags alone.`,
		Example: indent(
			"tutti-lab online --trace app.csv --data recorded.csv",
			"tutti-lab online --trace app.csv --data c.csv --defaults defaults.csv --recorded C --policy star,tutti --runs 8 --format json",
			"tutti-lab online --trace app.csv --data c.csv --slow 'ring@250-400*2' --policy star,tutti"),
		Args: noArguments,
	}
	parse := onlineFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := parse()
		if err != nil {
			return usageError(cmd, err)
		}
		if err := checkFormat(cmd, r.format); err != nil {
			return err
		}
		return a.simulate(cmd.Context(), r)
	}
	return cmd
}

// onlineFlags adds the flags. The returned function reads them.
func onlineFlags(cmd *cobra.Command) func() (replays, error) {
	r := replays{opt: online.DefaultOptions()}
	flags, o := cmd.Flags(), &r.opt
	flags.StringSliceVar(&r.traces, "trace", nil, "trace `FILE`s, one for each application (required)")
	flags.StringSliceVar(&r.data, "data", nil, "recorded `FILE`s of one machine, repeated or separated by commas (required)")
	flags.StringVar(&r.defaults, "defaults", "", "`FILE` of what the library chooses, in recorded names")
	flags.StringVar(&r.recorded, "recorded", "", "with --defaults: the `machine` there")
	flags.StringVar(&r.library, "library", "mpich", "with --defaults: the `library` there")
	flags.StringSliceVar(&r.from, "from", nil, "`FILE`s of measurements made elsewhere, each a source of its own")
	flags.StringSliceVar(&r.exclude, "exclude", nil, "`algorithms` that no policy may call")
	policies := flags.String("policy", strings.Join(online.Policies(), ","), "policies, separated by commas")
	flags.IntVar(&o.Runs, "runs", o.Runs, "runs of each application")
	flags.IntVar(&o.Iterations, "iterations", o.Iterations, "iterations of a run, over which its calls are spread")
	flags.Float64Var(&o.Noise, "noise", o.Noise, "relative noise of each call")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "of calls, noise and draws")
	flags.IntVar(&o.Tries, "tries", o.Tries, "star: calls of each algorithm")
	flags.Float64Var(&o.Explore, "explore", o.Explore, "share, explore: of calls that explore")
	flags.IntVar(&o.Explored, "explored", o.Explored, "iota, share, explore: calls of a class that explore in a run, at most")
	flags.Float64Var(&o.Over, "over", o.Over, "tutti: share of the default's time that learning may cost")
	slow := flags.StringSlice("slow", nil, "`ALGORITHM@[RUN:]FROM-TO*FACTOR`: slower in these iterations of each run, from one on")
	flags.StringVar(&r.picture, "picture", "", "`FILE.png` of regret and of each run beside the default")
	flags.StringVar(&r.served, "served", "", "`FILE.png` of which algorithms the last policy ran in the last application's class that takes most time")
	flags.StringVar(&r.held, "map", "", "`FILE.png` of what the last policy holds to be best after the last application, beside the default, at all recorded points")
	flags.StringVar(&r.keep, "keep", "", "`FILE` for what the last policy was told by the last application")
	format := formatFlag(cmd)
	return func() (replays, error) {
		r.format = *format
		var err error
		if r.policies, err = online.ParsePolicies(*policies); err != nil {
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

// parseSlow reads ALGORITHM@[RUN:]FROM-TO*FACTOR.
func parseSlow(text string) (online.Slow, error) {
	fault := fmt.Errorf("--slow %s: want ALGORITHM@[RUN:]FROM-TO*FACTOR, as ring@250-400*2, or ring@5:0-200*2 from run 5 on", text)
	name, rest, ok := strings.Cut(text, "@")
	since := 1
	var err0 error
	if run, later, some := strings.Cut(rest, ":"); some {
		since, err0 = strconv.Atoi(run)
		rest = later
	}
	span, times, ok2 := strings.Cut(rest, "*")
	low, high, ok3 := strings.Cut(span, "-")
	from, err1 := strconv.Atoi(low)
	to, err2 := strconv.Atoi(high)
	factor, err3 := strconv.ParseFloat(times, 64)
	if !ok || !ok2 || !ok3 || errors.Join(err0, err1, err2, err3) != nil {
		return online.Slow{}, fault
	}
	algorithm, err := coll.ParseAlgorithm(name)
	if err != nil {
		return online.Slow{}, errors.Join(fault, err)
	}
	return online.Slow{Algorithm: algorithm, Since: since, From: from, To: to, Factor: factor}, nil
}

// simulate replays every application under every policy.
func (a *app) simulate(ctx context.Context, r replays) error {
	inputs, err := r.read()
	if err != nil {
		return err
	}
	var outcomes []online.Outcome
	for _, p := range inputs.problems {
		if p.Left > 0 {
			fmt.Fprintf(a.stderr, "warning: %s: no recorded times for %.1f %% of the calls\n", p.Name, 100*p.Left)
		}
		for _, policy := range r.policies {
			o, err := online.Simulate(ctx, p, policy, inputs.earlier, r.opt)
			if err != nil {
				return err
			}
			outcomes = append(outcomes, o)
			fmt.Fprintf(a.stderr, "%s %s\n", p.Name, policy)
		}
	}
	if r.keep != "" {
		if err := writeFile(r.keep, outcomes[len(outcomes)-1].WriteKnown); err != nil {
			return err
		}
	}
	if r.picture != "" {
		if err := writeFile(r.picture, online.Draw(outcomes).WritePNG); err != nil {
			return err
		}
	}
	if r.served != "" {
		if err := writeFile(r.served, outcomes[len(outcomes)-1].DrawServed().WritePNG); err != nil {
			return err
		}
	}
	if r.held != "" {
		if err := r.drawHeld(inputs, outcomes[len(outcomes)-1]); err != nil {
			return err
		}
	}
	if r.format == "json" {
		lines := json.NewEncoder(a.stdout)
		for _, o := range outcomes {
			if err := lines.Encode(o); err != nil {
				return err
			}
		}
		return nil
	}
	header, rows := online.Table(outcomes)
	return lab.WriteTable(a.stdout, header, rows)
}

// drawHeld draws what is held to be best by what an outcome and those before it were told.
func (r replays) drawHeld(in applications, o online.Outcome) error {
	maps, err := online.Held(o.Policy, in.recorded, in.excluded, append(in.earlier, o.Known), r.opt)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("What %s holds to be best after %s, time / that of the default", o.Policy, o.Problem)
	return writeFile(r.held, func(w io.Writer) error { return lab.WriteMaps(w, title, maps) })
}

// applications are the problems of applications on the recorded machine, and measurements made
// elsewhere.
type applications struct {
	problems []online.Problem
	recorded []coll.Measurement
	excluded []coll.Algorithm
	earlier  [][]coll.Measurement
}

func (r replays) read() (applications, error) {
	var in applications
	var err error
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
		p, err := online.NewProblem(name, trace, in.recorded, in.excluded)
		if err != nil {
			return in, err
		}
		in.problems = append(in.problems, p)
	}
	return in, nil
}

// readRecorded returns what was recorded on the machine, with what the library would choose.
func (r replays) readRecorded() ([]coll.Measurement, error) {
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
			return nil, fmt.Errorf("%s: nothing of machine %q and library %q: it has %s and %s", r.defaults, r.recorded, r.library,
				strings.Join(d.Machines(), ", "), strings.Join(d.Libraries(), ", "))
		}
		recorded = append(recorded, d.Rows(recorded, r.recorded, r.library)...)
	}
	return recorded, nil
}
