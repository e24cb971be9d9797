package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/campaign/export"
	"tutti/internal/lab"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// evaluation is what the flags of tutti evaluate say.
type evaluation struct {
	data       []string
	real       []string // of data: measured on real machines
	strategies []string
	figure     string
	versus     string
	keep       string
	seeds      []uint64
	launches   []benchrunner.Launch
	seconds    float64 // of a launch
	opt        lab.Options
	output     string
	curves     bool
	curveDir   string
	to         string
}

func (a *app) evaluateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evaluate --data FILE",
		Short: "Compare strategies on recorded data, or draw the paper's figures",
		Long: `evaluate replays recorded data under strategies, judges them against the complete
data without noise, and tells for each file and collective what it took until the
criteria held for three evaluations running, and the metrics at 1, 2, 5, 10, 20 and
50 % of the candidates (a point with an algorithm). With --figure it draws one of
the figures of Wilkins et al., "A FACT-based Approach" (ExaMPI 2021), on the data:
` + strings.Join(lab.FigureNames(), ", ") + `.

With --versus the replays end when the criteria have held, and one table holds the
machine time of a strategy beside that of the others, with ratios and their geometric
means. Seeds that never converge count as measuring everything. Under --launch every
start of a parallel program costs --launch-seconds: one for each candidate, one for
each layout and algorithm (osu), or one for each layout (native). With --parallel the
machine time of a round is that of packing its starts on so many nodes. --keep writes
outcomes into a file as they come, from which a run that was broken off goes on; a file
of anything else, or of other options, is left as it is.

With --model strategies differ in what they measure alone: every one has that model and
begins as regret does, and what would be selected is held against the truth, with
measurements in the place of predictions. Beside them --strategy takes rivals as they were
published (fact, acclaim, random-published: forests, their own beginning, the choice
predicted) and own-stop: regret until it stops by its own predictions. One that stops while
the criteria do not hold counts as never converged.

The results depend on data, flags and seeds alone, wall_seconds excepted.`,
		Example: indent(
			"tutti evaluate --data data/simgrid/C_bcast.csv --seeds 2",
			"tutti evaluate --data a.csv,b.csv --strategy random,uncertainty --output json",
			"tutti evaluate --data a.csv,b.csv --versus regret --launch none,candidate,osu,native --keep o.jsonl",
			"tutti evaluate --data data/simgrid/C_bcast.csv --figure fig3 --to results/figures"),
		Args: noArgs,
	}
	cmd.AddCommand(a.calibrateCommand(), a.modelsCommand())
	parse := evaluationFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		e, err := parse()
		if err != nil {
			return usageError(cmd, err)
		}
		if err := checkOutput(cmd, e.output); err != nil {
			return err
		}
		sets, warnings, err := e.load()
		if err != nil {
			return withCode(codeInput, err)
		}
		switch {
		case e.figure != "":
			return a.drawFigure(cmd.Context(), e, sets, warnings)
		case e.versus != "":
			return a.hold(cmd.Context(), e, sets, warnings)
		}
		return a.compare(cmd.Context(), e, sets, warnings)
	}
	return cmd
}

// evaluationFlags adds the flags; what it returns reads them.
func evaluationFlags(cmd *cobra.Command) func() (evaluation, error) {
	e := evaluation{opt: lab.DefaultOptions()}
	flags, o := cmd.Flags(), &e.opt
	flags.StringSliceVar(&e.data, "data", nil, "recorded `FILE`s, repeated or separated by commas (required)")
	strategies := flags.String("strategy", strings.Join(activelearn.Names(), ","), "strategies, or "+strings.Join(lab.Contenders(), ", ")+", separated by commas")
	flags.StringSliceVar(&e.real, "real", nil, "more recorded `FILE`s, of real machines: tables sum them up apart")
	model := flags.String("model", "", "one model for every strategy: "+modelNames()+"; also the same beginning, and what would be selected is judged")
	flags.IntVar(&o.Initial, "initial", 0, "points measured first; 0: the strategy's own")
	_ = flags.MarkHidden("initial") // for studies of the method
	flags.StringVar(&e.figure, "figure", "", "draw "+strings.Join(lab.FigureNames(), ", ")+" instead")
	seeds := flags.Int("seeds", 5, "number of seeds")
	first := flags.Uint64("first-seed", 1, "first of the seeds")
	flags.Float64Var(&o.Noise, "noise", o.Noise, "relative noise of the replayed times; recorded repetitions have their own")
	flags.Float64Var(&o.JobNoise, "job-noise", 0, "relative noise of all times of a round together, as of a disturbed job")
	flags.StringVar(&e.versus, "versus", "", "one table of this `strategy` beside the others")
	flags.StringVar(&e.keep, "keep", "", "with --versus: `FILE` of outcomes, to go on from")
	launches := flags.String("launch", lab.LaunchNone, "what one launch measures: none (launches are free), candidate, osu or native, or several of them")
	flags.Float64Var(&e.seconds, "launch-seconds", 0.5, "price of one launch in seconds")
	flags.IntVar(&o.Nodes, "parallel", 0, "`nodes` on which the starts of a round run side by side; 0: one after another")
	scaling := flags.String("preprocess", string(o.Scaling), "output scaling")
	flags.Float64Var(&o.Criteria.Slowdown, "slowdown", o.Criteria.Slowdown, "criterion: average slowdown below")
	flags.Float64Var(&o.Criteria.Mistakes, "mistakes", o.Criteria.Mistakes, "criterion: proportion of significant mistakes below")
	flags.IntVar(&o.Criteria.Patience, "patience", o.Criteria.Patience, "evaluations running that meet the criteria")
	flags.IntVar(&o.Batch.Candidates, "batch", o.Batch.Candidates, "candidates in a round at least")
	flags.Float64Var(&o.Batch.Growth, "growth", o.Batch.Growth, "share of the measured candidates in a round at least")
	flags.IntVar(&o.Trees, "trees", o.Trees, "trees of a forest")
	flags.IntVar(&o.Workers, "workers", o.Workers, "replays side by side; does not change the results")
	flags.BoolVar(&e.curves, "curves", false, "with --output json: every evaluation, too")
	flags.StringVar(&e.curveDir, "curve-dir", "", "folder for the convergence curves as CSV, one file per data and collective")
	flags.StringVar(&e.to, "to", "results/figures", "folder for the figure as CSV, SVG and PNG")
	prior := priorFlags(flags)
	output := outputFlag(cmd)
	return func() (evaluation, error) {
		o.Prior = prior()
		e.output = *output
		o.Scaling = preprocess.Scaling(*scaling)
		o.Model, o.Alike = learner.Model(*model), *model != ""
		if len(e.data)+len(e.real) == 0 {
			return e, errors.New("--data FILE is missing")
		}
		if *seeds < 1 {
			return e, fmt.Errorf("--seeds %d: want 1 or more", *seeds)
		}
		e.seeds = lab.Seeds(*first, *seeds)
		var err error
		if e.versus != "" && !flags.Changed("strategy") {
			*strategies += ",oracle"
		}
		if e.strategies, err = lab.ParseStrategies(*strategies); err != nil {
			return e, err
		}
		if e.launches, err = lab.ParseLaunches(*launches, e.seconds); err != nil {
			return e, err
		}
		o.Launch = e.launches[0]
		if e.versus != "" {
			o.ToShare = 0
		}
		return e, errors.Join(e.agree(flags.Changed), o.Validate())
	}
}

// agree refuses flags that do nothing together.
func (e evaluation) agree(given func(flag string) bool) error {
	if e.versus != "" {
		return e.agreeVersus(given)
	}
	if e.keep != "" {
		return errors.New("--keep goes with --versus")
	}
	if e.figure == "" {
		if given("to") {
			return errors.New("--to: only --figure writes there")
		}
		if e.curves && e.output != "json" {
			return errors.New("--curves goes with --output json; --curve-dir writes them as CSV")
		}
		return nil
	}
	if len(e.launches) > 1 {
		return errors.New("--launch: a figure is of one")
	}
	for _, name := range []string{"strategy", "model", "preprocess", "curves", "curve-dir", "output"} {
		if given(name) {
			return fmt.Errorf("--%s does not go with --figure", name)
		}
	}
	_, err := lab.ParseFigure(e.figure)
	return err
}

func (e evaluation) agreeVersus(given func(flag string) bool) error {
	if !slices.Contains(e.strategies, e.versus) || len(e.strategies) == 1 {
		return fmt.Errorf("--versus %s: want it and another one in --strategy %s", e.versus, strings.Join(e.strategies, ","))
	}
	for _, name := range []string{"figure", "to", "curves", "curve-dir"} {
		if given(name) {
			return fmt.Errorf("--%s does not go with --versus", name)
		}
	}
	return nil
}

// hold prints the table of one strategy beside the others.
func (a *app) hold(ctx context.Context, e evaluation, sets []lab.Set, warnings []string) error {
	a.warn(warnings)
	design := e.design(sets)
	emit := a.progress
	if e.keep != "" {
		kept, err := lab.KeepOutcomes(e.keep, e.opt, e.seconds)
		if err != nil {
			return withOutputCode(withCode(codeInput, err)) // a folder that takes no file, or what the file holds
		}
		defer kept.Close() // every line is written at once
		design.Known = kept.Known
		emit = func(o lab.Outcome) error {
			if err := kept.Add(o); err != nil {
				return withOutputCode(err)
			}
			return a.progress(o)
		}
	}
	outcomes, err := lab.Compare(ctx, design, e.opt, emit)
	if err != nil {
		return err
	}
	v, err := lab.NewVersus(e.versus, outcomes)
	if err != nil {
		return err
	}
	if e.output == "json" {
		return json.NewEncoder(a.stdout).Encode(v)
	}
	return v.WriteText(a.stdout)
}

// load reads the recorded data, those of real machines last.
func (e evaluation) load() ([]lab.Set, []string, error) {
	sets, warnings, err := lab.Load(append(slices.Clone(e.data), e.real...))
	for i, s := range sets {
		sets[i].Real = slices.ContainsFunc(e.real, func(path string) bool {
			return strings.TrimSuffix(filepath.Base(path), ".csv") == s.Data
		})
	}
	return sets, warnings, err
}

// modelNames are those that --model takes.
func modelNames() string {
	var names []string
	for _, m := range learner.Models() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

func (e evaluation) design(sets []lab.Set) lab.Design {
	return lab.Design{Sets: sets, Strategies: e.strategies, Seeds: e.seeds, Launches: e.launches}
}

// progress tells a reader that a replay is done.
func (a *app) progress(o lab.Outcome) error {
	fmt.Fprintf(a.stderr, "%s %s %s launch %s seed %d: %.1f s\n", o.Data, o.Collective, o.Strategy, o.Launch, o.Seed, o.WallSeconds)
	return nil
}

// compare prints the outcomes, as they come for a script and all together for a reader.
func (a *app) compare(ctx context.Context, e evaluation, sets []lab.Set, warnings []string) error {
	if e.curveDir != "" { // before the long work, not after it
		if err := os.MkdirAll(e.curveDir, 0o777); err != nil {
			return withOutputCode(err)
		}
	}
	emit := a.progress
	if e.output == "json" {
		lines := json.NewEncoder(a.stdout)
		emit = func(o lab.Outcome) error {
			if !e.curves {
				o.Curve = nil
			}
			return lines.Encode(o)
		}
		a.warn(warnings)
	}
	outcomes, err := lab.Compare(ctx, e.design(sets), e.opt, emit)
	if err != nil {
		return err
	}
	if e.curveDir != "" {
		if err := writeCurves(e.curveDir, sets, outcomes); err != nil {
			return withOutputCode(err)
		}
	}
	if e.output == "json" {
		return nil
	}
	return lab.WriteText(a.stdout, outcomes, warnings)
}

// writeCurves writes one file for each set.
func writeCurves(dir string, sets []lab.Set, outcomes []lab.Outcome) error {
	for _, s := range sets {
		var of []lab.Outcome
		for _, o := range outcomes {
			if o.Data == s.Data && o.Collective == string(s.Collective) {
				of = append(of, o)
			}
		}
		path := filepath.Join(dir, fmt.Sprintf("curve-%s-%s.csv", s.Data, s.Collective))
		if err := export.WriteFile(path, func(w io.Writer) error { return lab.WriteCurve(w, of) }); err != nil {
			return err
		}
	}
	return nil
}

// drawFigure writes a figure into its folder and its table to standard output.
func (a *app) drawFigure(ctx context.Context, e evaluation, sets []lab.Set, warnings []string) error {
	a.warn(warnings)
	if err := os.MkdirAll(e.to, 0o777); err != nil {
		return withOutputCode(err)
	}
	f, err := lab.Draw(ctx, e.figure, sets, e.seeds, e.opt)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	for _, file := range []struct {
		suffix string
		write  func(io.Writer) error
	}{
		{".csv", func(w io.Writer) error { return f.WriteCSV(io.MultiWriter(w, &table)) }}, {".svg", f.WriteSVG}, {".png", f.WritePNG},
	} {
		path := filepath.Join(e.to, f.Name+file.suffix)
		if err := export.WriteFile(path, file.write); err != nil {
			return withOutputCode(err)
		}
		fmt.Fprintln(a.stderr, path)
	}
	_, err = a.stdout.Write(table.Bytes())
	return err
}
