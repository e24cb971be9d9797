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
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/campaign/proof"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/report"
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
	dry         bool
	yes         bool
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

It may take as much machine time of each library as the campaign did, 10 minutes at
least, unless --machine-time says otherwise. What it is expected to take is told first,
by what the launches and measurements of the campaign took; more than runner.confirm is
asked about. --dry-run tells it and starts nothing.

Every step is in the journal. An interrupted verification goes on when it is run
again; one that has ended is told again unless the files select differently now. A
campaign of recorded data is verified against the data.

What is measured on another placement than was tuned, as on more switches, is told: it
says nothing of the placement that was tuned, and the exit code is as without. Ranks in
another order than runner.order are refused: their benchmarks fail.`,
		Example: indent(
			"tutti verify results/demo",
			"tutti verify results/night --dry-run",
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
	flags.DurationVar(&o.machineTime, "machine-time", 0, "end a library's verification after so much machine time; 0: what the campaign took for it, 10m at least")
	flags.DurationVar(&o.wallTime, "wall-time", 0, "end before a block that would begin later than this")
	flags.BoolVar(&o.again, "again", false, "begin anew where a verification has ended")
	flags.BoolVar(&o.dry, "dry-run", false, "print what the verification is expected to take; start nothing")
	flags.BoolVar(&o.yes, "yes", false, "do not ask, whatever the verification may cost")
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
// tutti at work on the campaign makes the error match journal.ErrLocked.
func (a *app) verify(ctx context.Context, dir string, o verifyOptions) (err error) {
	jnl, contents, err := journal.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, jnl.Close()) }()
	a.warn(contents.Warnings)
	c, err := assembly.Recall(contents, dir)
	if err != nil {
		return err
	}
	a.watchWaits(c)
	if o.dry && !c.Config.Runner.Live() {
		return withCode(codeUsage, fmt.Errorf("--dry-run: runner.kind %s starts nothing", c.Config.Runner.Kind))
	}
	if err := c.Connect(contents.Header.ID, a.environ); err != nil {
		return err
	}
	chosen, err := oneLibrary(c, o.library)
	if err != nil {
		return withCode(codeUsage, err)
	}
	p, err := proof.New(ctx, c, jnl, contents.State(), proof.Options{
		Rules: o.rules, MachineTime: o.machineTime, WallTime: o.wallTime, Again: o.again, Compilers: compilers(o.compilers),
		Observe: newVerifyProgress(a.stderr).observe, Warn: func(text string) { a.warn([]string{text}) },
	})
	if err != nil {
		return err
	}
	if c.Config.Runner.Live() {
		estimates, err := prices(p, chosen)
		if err != nil {
			return err
		}
		if o.dry {
			return a.tellPrices(estimates, o.output)
		}
		if err := a.confirmVerify(c, estimates, o.yes); err != nil {
			return err
		}
	}
	return a.prove(ctx, p, chosen, o.output, c)
}

// prove verifies libraries, writes the files anew and tells what came of it.
func (a *app) prove(ctx context.Context, p *proof.Proof, chosen []config.Library, output string, c *assembly.Campaign) error {
	proved, err := a.verifyAll(ctx, p, chosen, folderWord(c))
	if err != nil {
		return err
	}
	facts, err := p.Write(program())
	if err != nil {
		return withOutputCode(err)
	}
	if output == "json" {
		err = report.WriteJSON(a.stdout, facts)
	} else {
		err = a.tellVerification(facts, nearPath(c.Config.Output))
	}
	if err == nil && !proved {
		return errNotProved
	}
	return err
}

// verifyAll verifies libraries one after another and reports whether all were proved.
func (a *app) verifyAll(ctx context.Context, p *proof.Proof, chosen []config.Library, folder string) (proved bool, err error) {
	proved = true
	for _, lib := range chosen {
		ok, err := a.verifyLibrary(ctx, p, lib, folder)
		if err != nil {
			return false, err
		}
		proved = proved && ok
	}
	return proved, nil
}

// verifyLibrary verifies one library and reports whether it was proved; one that cannot
// be measured is passed over. A budget that is used up is told and no error.
func (a *app) verifyLibrary(ctx context.Context, p *proof.Proof, lib config.Library, folder string) (proved bool, err error) {
	result, err := p.Library(ctx, lib)
	switch {
	case errors.Is(err, proof.ErrRecordedOnly):
		fmt.Fprintf(a.stderr, "tutti: %s: only %s can be verified\n", lib.Name, strings.Join(measurable(), " and "))
		return true, nil
	case ctx.Err() != nil:
		fmt.Fprintf(a.stderr, "tutti: stopped; everything measured is in the journal. Go on with:\n  tutti verify %s\n", folder)
		return false, errCancelled
	case errors.Is(err, verify.ErrBudget):
		spent := time.Duration(result.MachineSeconds * float64(time.Second))
		if budget := p.Budget(lib); budget > 0 && spent >= budget {
			folder += fmt.Sprintf(" --machine-time %v", (2*spent).Round(time.Second)+time.Second)
		}
		fmt.Fprintf(a.stderr, "tutti: %v; go on with: tutti verify %s\n", err, folder)
	case errors.Is(err, benchrunner.ErrUnavailable):
		return false, fmt.Errorf("%w\nwhat was measured is kept; go on with: tutti verify %s", err, folder)
	case err != nil:
		return false, withOutputCode(err)
	}
	return result.Proved() && len(result.Disobeyed()) == 0, nil
}

// compilers takes LIBRARY=COMMAND apart.
func compilers(given []string) map[string]string {
	out := map[string]string{}
	for _, text := range given {
		if name, command, ok := strings.Cut(text, "="); ok {
			out[name] = command
		}
	}
	return out
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
func oneLibrary(c *assembly.Campaign, name string) ([]config.Library, error) {
	var known []string
	for _, lib := range c.Config.Libraries {
		if lib.Name == name {
			return []config.Library{lib}, nil
		}
		known = append(known, lib.Name)
	}
	if name != "" {
		return nil, fmt.Errorf("--library %q: the campaign is for %s", name, strings.Join(known, ", "))
	}
	return c.Config.Libraries, nil
}

// tellVerification prints what was found and what is left open.
func (a *app) tellVerification(f report.Facts, dir string) error {
	if err := report.WriteVerification(a.stdout, f); err != nil {
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
		for _, text := range lib.Elsewhere {
			open = append(open, fmt.Sprintf("%s: verified on another placement than was tuned: %s", lib.Library, text))
		}
		fmt.Fprintln(a.stdout, strings.Join(open, "\n"))
	}
	_, err := fmt.Fprintf(a.stdout, "report: %s/%s\n", dir, export.ReportHTML)
	return err
}
