package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tutti/benchrunner"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/campaign/verification"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/report"
	"tutti/verify"
)

// errNotProved reports a selection that was not shown to be at most Rules.Detect slower than the default. The command has
// already printed the results.
var errNotProved = errors.New("not proved")

type verifyOptions struct {
	*app
	set         []string
	rules       verify.Rules
	library     string
	machineTime time.Duration
	wallTime    time.Duration
	restart     bool
	drift       int
	compilers   []string // LIBRARY=COMMAND
	file        string   // selection file from elsewhere; "": those of the campaign
	config      string   // campaign file that says where file is verified
	dry         bool
	yes         bool
}

func verifyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify FOLDER | verify --rules FILE -c FILE [FOLDER]",
		Short: "Compare selection files with the library's defaults on the machine",
		Long: `verify compares each library of a campaign with and without its selection file, side by
side: in blocks that measure each chosen point once in both ways, in random order. It
tests the riskiest selections and a random sample of the others, in proportion to their
weights. A point that looks slower is measured again, and only the second measurement
decides. Points that are slower beyond noise are reverted to the library's default. Then
the files are written again, and these points and their neighbours are tested again. A
test program shows whether the library obeys its file. Without a compiler for it nothing
is proved.

There are three results. "Slower": points are slower although they use the default.
"Not slower by more than 5 %": this holds for every tested selection, and at most 5 %
of the others are slower, with a confidence of 95 %; only then the exit code is 0. "Not
proved": noise, failures or the limit left something open.

It may use as much machine time as the campaign did, at least 10 minutes for all
libraries together, unless --machine-time sets another limit. It chooses points that
fit, and first prints what they can show and what they cost. It asks for confirmation
above runner.confirm. --dry-run prints this and starts nothing.

The journal records every step. Run verify again to resume an interrupted verification,
or to go on with one that proves nothing yet, with a new limit. What is proved is printed
again unless the files have changed since. A campaign of recorded data is verified against
the data.

A verification on another placement than the tuned one, as on more switches, is marked
as such; it does not change the exit code. Ranks in another order than runner.order
are refused: their benchmarks fail.

--set changes the rules of the test:

` + rulesHelp() + `
--rules verifies a selection file from elsewhere against the default. The campaign file -c
says where: machine, library, collectives and grid. Nothing is tuned and the file stays as
it is: slower points are reported. Journal, report and a copy of the file are in FOLDER, by
default the output of the campaign file with -rules added. The limit of machine time is
stop.machine_time of the campaign file, else 2 hours. To go on: tutti verify FOLDER.

--drift N measures N candidates of the campaign again, spread over its problems and
points, and prints how far the times differ. It verifies nothing and leaves the campaign
unchanged. A difference well above the noise of the machine means that it is not the
machine that was tuned: tutti serve then tunes again ("when: drift").`,
		Example: examples(
			"tutti verify results/demo",
			"tutti verify results/night --dry-run",
			"tutti verify results/night --machine-time 2h --mpicc mpich=/opt/mpich/bin/mpicc",
			"tutti verify results/night --set points=20 --set tolerance=0.05",
			"tutti verify --rules /etc/openmpi/tuned.rules -c night.yaml",
			"tutti verify results/night --drift 16"),
		Args:              arguments(0, 1, "the folder of one campaign"),
		ValidArgsFunction: completeFolders,
	}
	o := verifyOptions{app: a, rules: verify.DefaultRules()}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "change a rule of the test: `KEY=VALUE`, repeatable")
	flags.StringVar(&o.file, "rules", "", "verify this selection `FILE` instead of a campaign's (with -c)")
	flags.StringVarP(&o.config, "config", "c", "", "campaign `FILE` that says where --rules is verified")
	mustComplete(errors.Join(cmd.MarkFlagFilename("rules"), cmd.MarkFlagFilename("config", "yaml", "yml")))
	flags.StringVar(&o.library, "library", "", "`NAME` of the only library to verify; default: all of the campaign")
	completeLibraries(cmd, "library")
	flags.DurationVar(&o.machineTime, "machine-time", 0, "limit of machine time for all libraries together; 0: what the campaign used, at least 10m")
	flags.DurationVar(&o.wallTime, "wall-time", 0, "begin no launch after this time")
	flags.BoolVar(&o.restart, "restart", false, "start again where a verification has ended")
	flags.IntVar(&o.drift, "drift", 0, "measure `N` candidates of the campaign again instead, at least one of each problem")
	flags.BoolVar(&o.dry, "dry-run", false, "print what can be shown and the expected cost; start nothing")
	flags.BoolVar(&o.yes, "yes", false, "do not ask for confirmation, whatever the verification costs")
	flags.StringArrayVar(&o.compilers, "mpicc", nil, "`LIBRARY=COMMAND` that compiles the test program, repeatable")
	a.formatFlag(cmd)
	mustComplete(cmd.RegisterFlagCompletionFunc("set", func(*cobra.Command, []string, string) (out []string, _ cobra.ShellCompDirective) {
		for _, r := range settableRules {
			out = append(out, r.key+"=")
		}
		return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(cmd, args); err != nil {
			return usageError(cmd, err)
		}
		if o.file != "" {
			return o.runRules(cmd.Context(), args)
		}
		if cmd.Flags().Changed("drift") {
			return measureDrift(cmd.Context(), a, args[0], o.drift)
		}
		return o.run(cmd.Context(), args[0])
	}
	return cmd
}

// settableRules lists the numbers of a verification that users can change with --set. The keys are those of
// verify.Rules.
var settableRules = []struct{ key, doc string }{
	{"points", "grid points of the random sample of a library"},
	{"between", "points of a collective between the grid points"},
	{"min_blocks", "minimum number of blocks of a first test"},
	{"max_blocks", "maximum number; it ends earlier when a point is not slower or noise hides it"},
	{"tolerance", "slower means slower by more than this share"},
	{"detect", "not slower means not slower by more than this share"},
	{"share", "largest share of slower selections among those that were not tested"},
	{"alpha", "probability of one false alarm or more for a library"},
}

func rulesHelp() string {
	defaults := map[string]any{}
	if text, err := json.Marshal(verify.DefaultRules()); err != nil || json.Unmarshal(text, &defaults) != nil {
		panic("the default rules are numbers")
	}
	var b strings.Builder
	for _, r := range settableRules {
		fmt.Fprintf(&b, "  %-10s  %s (%v)\n", r.key, r.doc, defaults[r.key])
	}
	return b.String()
}

// check applies the values of --set. It returns an error if a value is out of range, or if arguments contradict each
// other.
func (o *verifyOptions) check(cmd *cobra.Command, args []string) error {
	switch {
	case (o.file == "") != (o.config == ""):
		return errors.New("--rules FILE and -c FILE: want both, the selection file and the campaign file that says where it is verified")
	case o.file == "" && len(args) == 0:
		return errors.New("want the folder of one campaign, or --rules FILE and -c FILE")
	case o.file != "" && cmd.Flags().Changed("drift"):
		return errors.New("--drift measures a campaign again: want it without --rules")
	}
	for _, setting := range o.set {
		if err := setRule(&o.rules, setting); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("drift") && o.drift < 1 {
		return fmt.Errorf("--drift %d: want at least 1", o.drift)
	}
	o.rules.Detect = max(o.rules.Detect, o.rules.Tolerance+0.03)
	o.rules.MaxBlocks = max(o.rules.MaxBlocks, o.rules.MinBlocks)
	return o.rules.Validate()
}

// setRule applies one KEY=VALUE argument of --set.
func setRule(rules *verify.Rules, setting string) error {
	key, value, ok := strings.Cut(setting, "=")
	if !ok {
		return fmt.Errorf("--set %s: want KEY=VALUE", setting)
	}
	var keys []string
	for _, r := range settableRules {
		keys = append(keys, r.key)
	}
	if !slices.Contains(keys, key) {
		return fmt.Errorf("--set %w", config.NotOneOf(key, keys))
	}
	number, err := strconv.ParseFloat(value, 64)
	if err == nil {
		err = json.Unmarshal(fmt.Appendf(nil, "{%q: %s}", key, strconv.FormatFloat(number, 'f', -1, 64)), rules)
	}
	if err != nil {
		return fmt.Errorf("--set %s: want a number", setting)
	}
	return nil
}

// run verifies the libraries one after another and writes the report. The error matches
// journal.ErrLocked if another process uses the campaign.
func (o *verifyOptions) run(ctx context.Context, dir string) (err error) {
	jnl, contents, err := journal.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, jnl.Close()) }()
	o.warn(contents.Warnings)
	if facts, ok := o.provedBefore(dir); ok {
		return o.show(facts, func() { printVerification(o.app, facts, displayPath(dir)) })
	}
	c, err := assembly.Restore(contents, dir)
	if err != nil {
		return err
	}
	o.watchWaits(c)
	o.warnHost(c.Config)
	if err := c.Connect(contents.Header.ID, o.environ); err != nil {
		return err
	}
	rules, err := o.externalRules(c, contents)
	if err != nil {
		return err
	}
	chosen, err := chooseLibraries(c, o.library)
	if err != nil {
		return withCode(codeUsage, fmt.Errorf("--library %w", err))
	}
	compilers, err := parseCompilers(c, o.compilers)
	if err != nil {
		return withCode(codeUsage, err)
	}
	p, err := o.verifier(ctx, c, jnl, contents.State(), rules, compilers)
	if err != nil {
		return err
	}
	estimates, err := estimateCosts(p, chosen, o.wallTime)
	if err != nil {
		return err
	}
	if o.dry {
		return o.show(estimates, func() { printEstimates(o.app, estimates) })
	}
	if err := confirmVerify(o.app, c, estimates, o.yes); err != nil {
		return err
	}
	return o.verifyAndWrite(ctx, p, chosen, c)
}

// verifier returns the verifier of a campaign's files, or of a file from elsewhere.
func (o *verifyOptions) verifier(ctx context.Context, c *assembly.Campaign, jnl *journal.Journal, state *journal.State, given *mpi.RuleFile, compilers map[string]string) (*verification.Verifier, error) {
	opt := verification.Options{
		Rules: o.rules, MachineTime: o.machineTime, WallTime: o.wallTime, Again: o.restart, Compilers: compilers,
		Observe: (&verifyProgress{out: o.stderr, now: time.Now}).observe, Warn: o.warnOnce,
	}
	if given != nil {
		p, err := verification.NewOfFile(c, jnl, state, given, o.file, opt)
		return p, withCode(codeInput, err)
	}
	defer o.announce("training the final models ...")()
	return verification.New(ctx, c, jnl, state, opt)
}

// provedBefore returns the stored facts of a campaign whose files a verification has proved, if they are all that the
// command asks for.
func (o *verifyOptions) provedBefore(dir string) (report.Facts, bool) {
	if o.dry || o.restart || len(o.set) > 0 || len(o.compilers) > 0 {
		return report.Facts{}, false
	}
	facts, ok := export.Stored(dir, version)
	chosen := slices.DeleteFunc(slices.Clone(facts.Libraries), func(l report.LibraryFacts) bool { return o.library != "" && l.Library != o.library })
	if !ok || len(chosen) == 0 || slices.ContainsFunc(chosen, func(l report.LibraryFacts) bool { return !l.Verified }) {
		return report.Facts{}, false
	}
	return facts, true
}

// again returns the command that goes on with a verification of a campaign's folder, with the same rules and limits.
func (o *verifyOptions) again(folder string) string {
	words := []string{"tutti", "verify", folder}
	add := func(flag, value string) { words = append(words, flag, shellWord(value)) }
	for _, s := range o.set {
		add("--set", s)
	}
	if o.library != "" {
		add("--library", o.library)
	}
	if o.machineTime > 0 {
		add("--machine-time", config.ShortDuration(o.machineTime))
	}
	if o.wallTime > 0 {
		add("--wall-time", config.ShortDuration(o.wallTime))
	}
	for _, c := range o.compilers {
		add("--mpicc", c)
	}
	return strings.Join(words, " ")
}

// verifyAndWrite verifies libraries, updates the files of the campaign and prints the outcome.
func (o *verifyOptions) verifyAndWrite(ctx context.Context, p *verification.Verifier, chosen []config.Library, c *assembly.Campaign) error {
	a, proved := o.app, true
	for _, lib := range chosen {
		if c.Config.Runner.Live() {
			a.printLine(lib.Name + ": preparing the comparison ...")
		}
		ok, err := o.verifyLibrary(ctx, p, lib, c)
		if err != nil {
			return err
		}
		proved = proved && ok
	}
	written := a.announce("drawing the report and writing the files ...")
	facts, err := p.Write(ctx, export.Program{Version: version, Versions: versions()})
	written()
	switch {
	case err != nil && ctx.Err() != nil:
		a.printStopped("", o.again(folderWord(c)))
		return errCancelled
	case err != nil:
		return withOutputCode(err)
	}
	err = a.show(facts, func() { printVerification(a, facts, displayPath(c.Config.Output)) })
	if err == nil && !proved {
		return errNotProved
	}
	return err
}

// verifyLibrary verifies one library. It returns true if the selection was proved to be as good as the default.
// Nothing is proved of a library that cannot be run.
func (o *verifyOptions) verifyLibrary(ctx context.Context, p *verification.Verifier, lib config.Library, c *assembly.Campaign) (proved bool, err error) {
	a, again := o.app, o.again(folderWord(c))
	result, err := p.Verify(ctx, lib)
	switch {
	case errors.Is(err, verification.ErrRecordedOnly):
		a.printLine(fmt.Sprintf("tutti: %s: cannot be run here, so nothing is verified: verify it on a machine with this library, or leave it out with --library", lib.Name))
		return false, nil
	case ctx.Err() != nil:
		a.printStopped(openJobsNotice(c), again)
		return false, errCancelled
	case errors.Is(err, benchrunner.ErrUnavailable):
		return false, fmt.Errorf("%w\nThe measurements are kept. Resume with: %s", err, again)
	case err != nil:
		return false, withOutputCode(err)
	}
	for _, u := range result.Untrusted() {
		c := u.ControlSpeedup
		a.printLine(fmt.Sprintf("tutti: %s %s: the measurements cannot be trusted: points that the file does not change differ by %.3f [%.3f, %.3f]; verify again on a quiet machine with --restart",
			lib.Name, u.Collective, c.Value, c.Low, c.High))
	}
	return result.Proved(), nil
}

// parseCompilers parses the LIBRARY=COMMAND values of --mpicc. It returns the compiler command of each
// library, and an error if a library is not in the campaign.
func parseCompilers(c *assembly.Campaign, given []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range given {
		name, command, ok := strings.Cut(text, "=")
		if !ok || name == "" || command == "" {
			return nil, fmt.Errorf("--mpicc %q: want LIBRARY=COMMAND", text)
		}
		if _, err := chooseLibraries(c, name); err != nil {
			return nil, fmt.Errorf("--mpicc %w", err)
		}
		out[name] = command
	}
	return out, nil
}

// chooseLibraries returns all libraries of a campaign, or only the one with the given name.
func chooseLibraries(c *assembly.Campaign, name string) ([]config.Library, error) {
	for _, lib := range c.Config.Libraries {
		if lib.Name == name {
			return []config.Library{lib}, nil
		}
	}
	if name != "" {
		return nil, config.NotOneOf(name, c.Config.LibraryNames())
	}
	return c.Config.Libraries, nil
}

// printVerification prints the outcome of each library and what remains to be done.
func printVerification(a *app, f report.Facts, dir string) {
	fmt.Fprint(a.stdout, report.VerificationTable(f))
	for _, lib := range f.Verification {
		for _, line := range verdictLines(lib.Result) {
			a.printWrapped(line)
		}
		for _, text := range lib.OtherPlacements {
			a.printWrapped(fmt.Sprintf("%s: verified on another placement than was tuned: %s", lib.Library, text))
		}
	}
	printVerdicts(a, f.Verdicts(), dir)
	a.printFit("report: %s/%s", dir, export.ReportHTML)
}

// verdictLines returns what the verification of a library shows, and a line for each reason why it is not more.
func verdictLines(r verify.Result) []string {
	var open []string
	for _, text := range []string{r.Headline(), r.Extra()} {
		if text != "" {
			open = append(open, r.Library+": "+text)
		}
	}
	for _, o := range r.Unforced() {
		line := fmt.Sprintf("%s: not obeyed: %s %dx%d: %s", r.Library, o.Collective, o.Nodes, o.PPN, o.Note)
		switch o.State {
		case verify.NotChecked:
			line = fmt.Sprintf("%s: not checked whether the files are obeyed: %s", r.Library, o.Note)
		case verify.NoAnswer:
			line = fmt.Sprintf("%s: not checked whether the files are obeyed: the test program gave no answer: %s; verify again", r.Library, cmp.Or(o.Note, "it did not run"))
		}
		if !slices.Contains(open, line) {
			open = append(open, line)
		}
	}
	if !r.Ended {
		open = append(open, r.Library+": the verification has not ended")
	}
	if n := r.Unmeasured(); len(n) > 0 {
		open = append(open, fmt.Sprintf("%s: not compared: %s, for example %v: %s; go on with tutti verify",
			r.Library, plural(len(n), "point"), n[0].Point, cmp.Or(n[0].Failure, "not measured")))
	}
	if n := len(r.Open()) - len(r.Unmeasured()); n > 0 {
		open = append(open, fmt.Sprintf("%s: noise hides whether the selection is slower at %s; go on with tutti verify on a quiet machine", r.Library, plural(n, "point")))
	}
	if r.Exhausted != "" {
		open = append(open, fmt.Sprintf("%s: %s; go on with a larger limit", r.Library, r.Exhausted))
	}
	if n := len(r.Slower); n > 0 && !r.Fixed {
		open = append(open, fmt.Sprintf("%s: slower than the default at %d points, although reverted to it", r.Library, n))
	}
	return open
}

// measureDrift measures some candidates of a campaign again. It prints how much their times differ from the
// recorded times.
func measureDrift(ctx context.Context, a *app, folder string, candidates int) error {
	c, results, contents, err := assembly.RestoreAll(folder)
	if err != nil {
		return err
	}
	a.warn(contents.Warnings)
	a.watchWaits(c)
	p, err := verification.MeasureDrift(ctx, c, results, candidates, a.environ)
	if err != nil {
		return withOutputCode(err)
	}
	return a.show(p, func() {
		a.printFit("%d measured again, %d failed: median difference %.1f %%, times are %.3f of the recorded ones",
			p.Candidates, p.Failed, 100*p.Change, p.Ratio)
	})
}
