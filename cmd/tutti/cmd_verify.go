package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/campaign/report"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/store"
	"tutti/verify"
)

// errNotProved ends verify after everything has been told.
var errNotProved = errors.New("not proved")

// verifyOptions are the flags of tutti verify.
type verifyOptions struct {
	rules       verify.Rules
	library     string
	machineTime time.Duration
	wallTime    time.Duration
	again       bool
	compilers   []string // LIBRARY=COMMAND
	output      string
}

func (a *app) verifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify FOLDER",
		Short: "Prove on the machine that the selection files made nothing slower",
		Long: `verify runs every library of a campaign as shipped and with its selection file loaded,
side by side: in blocks that measure each chosen point once in both ways, in random
order. A point that looks slower is measured afresh, and that alone decides; what is
slower beyond noise is left to the library's default, the files are written anew, and
these points and their neighbours are looked at again until nothing is left. A probe
shows whether the library obeys its file.

Every step is in the journal. An interrupted verification goes on when it is run
again; one that has ended is told again unless the files select differently now. A
campaign of recorded data is verified against the data.`,
		Example: indent(
			"tutti verify results/demo",
			"tutti verify results/night --machine-time 2h --mpicc mpich=/opt/mpich/bin/mpicc"),
		Args: oneFolder,
	}
	o := verifyOptions{rules: verify.DefaultRules()}
	flags := cmd.Flags()
	flags.StringVar(&o.library, "library", "", "`NAME` of the one library to verify; every one of the campaign when empty")
	flags.IntVar(&o.rules.Points, "points", o.rules.Points, "grid points of a collective; more where the selection has more places")
	flags.IntVar(&o.rules.Between, "between", o.rules.Between, "points of a collective between those of the grid")
	flags.IntVar(&o.rules.MinBlocks, "min-blocks", o.rules.MinBlocks, "blocks of a first look at least")
	flags.IntVar(&o.rules.MaxBlocks, "max-blocks", o.rules.MaxBlocks, "blocks of a first look at most; it ends when the interval of the ratio is narrow")
	flags.Float64Var(&o.rules.Tolerance, "tolerance", o.rules.Tolerance, "slower means by more than this share")
	flags.Float64Var(&o.rules.Alpha, "alpha", o.rules.Alpha, "probability of a false alarm at one point or more of a library")
	flags.DurationVar(&o.machineTime, "machine-time", 0, "end a library's verification after so much machine time")
	flags.DurationVar(&o.wallTime, "wall-time", 0, "end before a block that would begin later than this")
	flags.BoolVar(&o.again, "again", false, "begin anew where a verification has ended")
	flags.StringArrayVar(&o.compilers, "mpicc", nil, "`LIBRARY=COMMAND` that compiles the probe of obedience")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		o.output = *output
		o.rules.Detect = max(o.rules.Detect, o.rules.Tolerance+0.03)
		o.rules.MaxBlocks = max(o.rules.MaxBlocks, o.rules.MinBlocks)
		if err := o.rules.Validate(); err != nil {
			return usageError(cmd, err)
		}
		return a.verify(cmd.Context(), args[0], o)
	}
	return cmd
}

// verify verifies the libraries one after another and writes the report. Another
// tutti at work on the campaign makes the error match store.ErrLocked.
func (a *app) verify(ctx context.Context, dir string, o verifyOptions) (err error) {
	journal, contents, err := store.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	a.warn(contents.Warnings)
	b, err := recallSpec(contents, dir)
	if err != nil {
		return err
	}
	if err := b.connect(contents.Header.ID, a.environ); err != nil {
		return err
	}
	v := &verifier{app: a, built: b, dir: b.config.Output, id: contents.Header.ID, options: o, journal: journal, state: contents.State()}
	if v.results, err = b.recall(v.state, dir); err != nil {
		return err
	}
	chosen, err := oneLibrary(b, o.library)
	if err != nil {
		return withCode(codeUsage, err)
	}
	v.options.rules.Seed = b.config.Seed
	if v.taught, err = train(ctx, b, v.results); err != nil {
		return err
	}
	proved := true
	for _, lib := range chosen {
		port, cat, err := libraries.Release(lib.Name, lib.Version)
		if err != nil {
			return err
		}
		m, ok := port.(mpi.Measurable)
		if !ok {
			fmt.Fprintf(a.stderr, "tutti: %s: only %s can be verified\n", lib.Name, strings.Join(measurable(), " and "))
			continue
		}
		result, err := v.library(ctx, &verifySubject{verifier: v, lib: lib, port: m, cat: cat})
		switch {
		case ctx.Err() != nil:
			fmt.Fprintf(a.stderr, "tutti: stopped; everything measured is in the journal. Go on with:\n  tutti verify %s\n", shellWord(nearPath(v.dir)))
			return errCancelled
		case errors.Is(err, verify.ErrBudget):
			fmt.Fprintf(a.stderr, "tutti: %v; go on with: tutti verify %s\n", err, shellWord(nearPath(v.dir)))
		case errors.Is(err, benchrunner.ErrUnavailable):
			return fmt.Errorf("%w\nwhat was measured is kept; go on with: tutti verify %s", err, shellWord(nearPath(v.dir)))
		case err != nil:
			return err
		}
		proved = proved && result.Proved() && len(result.Disobeyed()) == 0
	}
	return v.finish(proved)
}

// measurable are the titles of the libraries that can be measured.
func measurable() []string {
	var out []string
	for _, l := range libraries.All() {
		if _, ok := l.(mpi.Measurable); ok {
			out = append(out, l.Facts().Title)
		}
	}
	return out
}

// oneLibrary returns the libraries of a campaign, or the one called name.
func oneLibrary(b *built, name string) ([]config.Library, error) {
	var known []string
	for _, lib := range b.config.Libraries {
		if lib.Name == name {
			return []config.Library{lib}, nil
		}
		known = append(known, lib.Name)
	}
	if name != "" {
		return nil, fmt.Errorf("--library %q: the campaign is for %s", name, strings.Join(known, ", "))
	}
	return b.config.Libraries, nil
}

// library verifies one library: the files as they are, then as each pass leaves them,
// until nothing has to be put back.
func (v *verifier) library(ctx context.Context, s *verifySubject) (verify.Result, error) {
	session, err := verify.Open(verify.Options{
		Library: s.lib.Name, Rules: v.options.rules, MachineTime: v.options.machineTime, WallTime: v.options.wallTime,
		Again: v.options.again, Observe: v.observe,
	}, v.state.Verification(s.lib.Name), v)
	if err != nil {
		return verify.Result{}, withCode(codeInput, fmt.Errorf("journal of %s: %w", v.dir, err))
	}
	for ended := false; !ended && err == nil; {
		var files verify.Files
		if files, err = s.write(ctx); err == nil {
			ended, err = session.Examine(ctx, files)
		}
	}
	result, recallErr := session.Result()
	return result, errors.Join(err, recallErr)
}

// verifier is one call of tutti verify. It is the log of its verifications.
type verifier struct {
	app     *app
	built   *built
	dir     string // of the campaign, absolute
	id      string // of the campaign
	options verifyOptions
	journal *store.Journal
	state   *store.State // of the journal, growing
	results []campaign.Result
	taught  taught
	written []report.LibraryFacts // what was written of libraries, by the last pass
}

// Append writes an entry to the journal.
func (v *verifier) Append(e verify.Entry) error {
	r, err := e.Record()
	if err == nil {
		err = v.journal.Append(r)
	}
	if err != nil {
		return withOutputCode(err)
	}
	v.state.Add(r)
	return nil
}

func (v *verifier) observe(e verify.Event) {
	look := "first look"
	if e.Look == verify.SecondLook {
		look = "second look"
	}
	fmt.Fprintf(v.app.stderr, "%s: pass %d, %s, block %d: %d points\n", e.Library, e.Pass, look, e.Block, e.Spots)
}

// finish writes every file of the campaign and tells what was found.
func (v *verifier) finish(proved bool) error {
	done, err := v.taught.conclude(v.built, v.results, v.state)
	if err != nil {
		return err
	}
	facts, err := done.writeAll(v.dir, v.written...)
	if err != nil {
		return withOutputCode(err)
	}
	if v.options.output == "json" {
		err = report.WriteJSON(v.app.stdout, facts)
	} else {
		err = v.tell(facts)
	}
	if err == nil && !proved {
		return errNotProved
	}
	return err
}

func (v *verifier) tell(f report.Facts) error {
	if err := report.WriteVerification(v.app.stdout, f); err != nil {
		return err
	}
	for _, lib := range f.Verification {
		var open []string
		for _, o := range lib.Obedience {
			if line := fmt.Sprintf("%s: not obeyed: %s %dx%d: %s", lib.Library, o.Collective, o.Nodes, o.PPN, o.Note); o.State == string(verify.NotObeyed) && !slices.Contains(open, line) {
				open = append(open, line)
			}
		}
		if !lib.Ended {
			open = append(open, lib.Library+": the verification has not ended")
		}
		if n := len(lib.Slower); n > 0 {
			open = append(open, fmt.Sprintf("%s: slower than the default at %d points, though left to it", lib.Library, n))
		}
		if len(open) == 0 {
			open = append(open, lib.Library+": nothing is slower than the default")
		}
		fmt.Fprintln(v.app.stdout, strings.Join(open, "\n"))
	}
	_, err := fmt.Fprintf(v.app.stdout, "report: %s/%s\n", nearPath(v.dir), reportHTML)
	return err
}
