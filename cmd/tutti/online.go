package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/journal"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/mpi/libtutti"
	"tutti/online"
	"tutti/preprocess"
)

func onlineCommand(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "online",
		Short:   "Learning while applications run",
		Example: indent("tutti online update learned"),
	}, onlineUpdateCommand(a))
}

// update is what the flags of tutti online update say.
type update struct {
	folder   string
	release  string
	released bool // by a flag
	base     string
	from     []string
	campaign string
	exclude  []string
	policy   string
	format   string
}

func onlineUpdateCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "update FOLDER",
		Short: "Make a table of what jobs of tutti run --learn have measured",
		Long: `update reads the samples that jobs have left in a folder, those that still run, too, and
writes FOLDER/tutti.table: what the next jobs select, and what they explore beside. In a
folder without samples the table explores everything. Samples stay: the same files
make the same table.

--from gives measurements of campaigns or of other machines, each a source of its own
in what is believed; --base is a table whose rules hold until an algorithm is faster beyond doubt.
--campaign takes both from the folder of a campaign that tuned libtutti. What jobs measured
that began after a source was written is held against it.

The policies: tutti explores what is worth it by the belief; iota draws by 1/t of forests.

It says what exploring cost, how all calls did beside the default (with an interval of
95 %), and of each class what is selected, since when and why. That is for jobs that
explore 10 % of calls. FOLDER/updates.jsonl holds which selections changed and when.`,
		Example: indent("tutti online update learned", "tutti online update learned --release 1+mpich-4.0.2 --base tuned/tutti.table --from tuned/measurements.csv"),
		Args:    arguments(1, 1, "the folder of --learn"),
	}
	var u update
	flags := cmd.Flags()
	flags.StringVar(&u.release, "release", "1", "of libtutti: `VERSION` as in a campaign, 1+mpich-4.0.2 for MPICH's algorithms, too")
	flags.StringVar(&u.base, "base", "", "`TABLE` whose rules come after those of the samples")
	flags.StringSliceVar(&u.from, "from", nil, "`FILE`s of measurements, each a source of its own")
	flags.StringVar(&u.campaign, "campaign", "", "`FOLDER` of a campaign for libtutti: its measurements are a source, its table and its release the default")
	flags.StringSliceVar(&u.exclude, "exclude", nil, "`algorithms` that are neither selected nor explored")
	flags.StringVar(&u.policy, "policy", online.PolicyTutti, online.PolicyTutti+" or "+online.PolicyIOTA)
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		u.folder, u.format, u.released = args[0], *format, cmd.Flags().Changed("release")
		if u.policy != online.PolicyTutti && u.policy != online.PolicyIOTA {
			return usageError(cmd, fmt.Errorf("--policy %s: want %s or %s", u.policy, online.PolicyTutti, online.PolicyIOTA))
		}
		return updateTable(a, u)
	}
	return cmd
}

func updateTable(a *app, u update) error {
	excluded, base, sources, err := u.read()
	if err != nil {
		return withCode(codeInput, err)
	}
	build, cat, err := openLearner(u.release)
	if err != nil {
		return err
	}
	if u.folder, err = filepath.Abs(u.folder); err != nil {
		return err
	}
	if err := os.MkdirAll(u.folder, 0o777); err != nil {
		return withOutputCode(err)
	}
	jobs, err := online.ReadFolder(u.folder, build.Banner())
	if err != nil {
		return withCode(codeInput, err)
	}
	for _, j := range jobs {
		for _, fault := range j.Faults {
			fmt.Fprintf(a.stderr, "warning: %s: %s: dropped\n", filepath.Join(u.folder, j.File), fault)
		}
	}
	known := possible{cat, excluded}
	now := func(p coll.Point) coll.Algorithm { return base.Select(p.Collective, p.Ranks(), p.PPN, p.MsgBytes) }
	var earlier [][]coll.Measurement
	for _, s := range sources {
		earlier = append(earlier, s.measured)
	}
	learnt, err := online.Learn(u.policy, jobs, earlier, online.Base{Feasible: known.at, Selected: now})
	if err != nil {
		return err
	}
	rules, mixes := told(learnt.Advice)
	x, err := build.ExportLearned(base, rules, append(mixes, known.mixes()...), u.folder)
	if err != nil {
		return withCode(codeInput, err)
	}
	if err := x.Write(u.folder); err != nil {
		return withOutputCode(err)
	}
	return recordUpdate(a, u, learnt, sources)
}

// openLearner opens a release of libtutti.
func openLearner(release string) (libtutti.Learner, *mpi.Catalogue, error) {
	lib, cat, err := libraries.Release("libtutti", release)
	if err != nil {
		return nil, nil, withCode(codeInput, err)
	}
	opened, err := lib.Open(cat, "")
	if err != nil {
		return nil, nil, err
	}
	build, ok := opened.(libtutti.Learner)
	if !ok {
		return nil, nil, errors.New("libtutti cannot learn")
	}
	return build, cat, nil
}

// recordUpdate writes down what changed, and shows what was learnt.
func recordUpdate(a *app, u update, learnt online.Result, sources []source) error {
	updates, err := online.ReadUpdates(u.folder)
	if err != nil {
		return withCode(codeInput, err)
	}
	now := time.Now().UTC()
	this := online.Update{Time: now, Changes: learnt.Changes(updates)}
	if err := this.Write(u.folder); err != nil {
		return withOutputCode(err)
	}
	report := learnt.Report(append(updates, this), now)
	for _, s := range sources {
		report.Drift = append(report.Drift, learnt.Drift(s.path, s.measured, s.written))
	}
	if u.format == formatJSON {
		return a.printJSON(report)
	}
	printLearnt(a, report)
	return nil
}

// source is a file of measurements made elsewhere.
type source struct {
	path     string
	written  time.Time
	measured []coll.Measurement
}

// readCampaign reads what a campaign measured of libtutti, and where its table is; it takes its
// release unless a flag names one.
func (u *update) readCampaign() (source, error) {
	earlier, err := assembly.Earlier([]string{u.campaign})
	if err != nil {
		return source{}, err
	}
	about, err := os.Stat(filepath.Join(u.campaign, journal.FileName))
	if err != nil {
		return source{}, err
	}
	s := source{path: u.campaign, written: about.ModTime()}
	for _, p := range earlier[0].Problems {
		if p.Library != libtutti.Library.Facts().Name {
			continue
		}
		if !u.released {
			u.release = p.Version
		}
		s.measured = append(s.measured, p.Measurements...)
	}
	if len(s.measured) == 0 {
		return s, fmt.Errorf("%s: the campaign has measured nothing of libtutti", u.campaign)
	}
	if table := tableIn(u.campaign); u.base == "" {
		if _, err := os.Stat(table); err == nil {
			u.base = table
		}
	}
	return s, nil
}

// read reads what the flags name.
func (u *update) read() (excluded []coll.Algorithm, base libtutti.Table, sources []source, err error) {
	for _, name := range u.exclude {
		alg, err := coll.ParseAlgorithm(name)
		if err != nil {
			return nil, base, nil, err
		}
		excluded = append(excluded, alg)
	}
	if u.campaign != "" {
		s, err := u.readCampaign()
		if err != nil {
			return nil, base, nil, err
		}
		sources = append(sources, s)
	}
	if u.base != "" {
		if base, err = readTable(u.base); err != nil {
			return nil, base, nil, err
		}
		if slices.ContainsFunc(base.Rules, func(r libtutti.Rule) bool { return r.Order != "" }) {
			return nil, base, nil, fmt.Errorf("--base %s: it has rules for orders of ranks, which samples do not tell: want a table of one campaign", u.base)
		}
	}
	for _, path := range u.from {
		t, err := preprocess.ReadTable(path)
		if err != nil {
			return nil, base, nil, err
		}
		about, err := os.Stat(path)
		if err != nil {
			return nil, base, nil, err
		}
		sources = append(sources, source{path, about.ModTime(), t.Measurements()})
	}
	for i := range sources {
		sources[i].measured = slices.DeleteFunc(sources[i].measured, func(m coll.Measurement) bool { return m.Collective == coll.Alltoallv })
	}
	return excluded, base, sources, nil
}

// possible is what a release can run, less what is excluded.
type possible struct {
	catalogue *mpi.Catalogue
	excluded  []coll.Algorithm
}

// of returns the algorithms of a collective, the default first.
func (p possible) of(c coll.Collective) []coll.Algorithm {
	all := append([]coll.Algorithm{coll.Default}, p.catalogue.Algorithms(c)...)
	return slices.DeleteFunc(all, func(a coll.Algorithm) bool { return !a.IsDefault() && slices.Contains(p.excluded, a) })
}

// at returns those that can run at a point.
func (p possible) at(point coll.Point) []coll.Algorithm {
	return slices.DeleteFunc(p.of(point.Collective), func(a coll.Algorithm) bool {
		return p.catalogue.Check(coll.Candidate{Point: point, Algorithm: a}) != nil
	})
}

// mixes are for calls of which nothing is known.
func (p possible) mixes() (out []libtutti.Mix) {
	for _, c := range coll.Collectives() {
		if c == coll.Alltoallv {
			continue
		}
		all := p.of(c)
		out = append(out, libtutti.MixForAll(c, libtutti.NewChoices(all, slices.Repeat([]float64{1}, len(all)), nil)))
	}
	return out
}

// told turns advice into rules and mixes.
func told(advice []online.Advice) (rules []libtutti.Rule, mixes []libtutti.Mix) {
	for _, a := range advice {
		ranks, ppn := int64(a.Ranks()), int64(a.PPN)
		at := libtutti.Rule{
			Collective: a.Collective, Ranks: libtutti.Range{Low: ranks, High: ranks}, PPN: libtutti.Range{Low: ppn, High: ppn},
			Bytes: libtutti.Range{Low: a.Low, High: a.High}, Algorithm: a.Algorithms[a.Best],
		}
		rules = append(rules, at)
		mixes = append(mixes, libtutti.Mix{
			Collective: at.Collective, Ranks: at.Ranks, PPN: at.PPN, Bytes: at.Bytes, Budget: libtutti.Thousandths(a.Budget), Choices: libtutti.NewChoices(a.Algorithms, a.Weights, a.Most),
		})
	}
	return rules, mixes
}

// printLearnt prints what tutti online update has learnt.
func printLearnt(a *app, r online.Report) {
	fmt.Fprintf(a.stdout, "calls %d, jobs %d\n", r.Calls, r.AllJobs)
	if r.Calls > 0 {
		printPrice(a, r.Price)
	}
	for _, d := range r.Drift {
		if d.Candidates > 0 {
			fmt.Fprintf(a.stdout, "%s: %d candidates timed by applications since differ by %.1f %%, times are %.3f of what they were\n",
				d.Source, d.Candidates, 100*d.Change, d.Ratio)
		}
	}
	for _, t := range r.TimeChanges {
		if t.Point == nil {
			fmt.Fprintf(a.stdout, "%s: all calls took %.2f times as long\n", t.Job, t.Factor)
		} else {
			fmt.Fprintf(a.stdout, "%s: from here on %s takes %.2f times as long at %s\n", t.Job, t.Algorithm, t.Factor, t.Point)
		}
	}
	if len(r.Classes) == 0 {
		return
	}
	var rows []table.Row
	for _, c := range r.Classes {
		since, between := "", ""
		if !c.Since.IsZero() {
			since = c.Since.Format("2006-01-02 15:04")
		}
		if c.FasterLow > 0 {
			between = fmt.Sprintf("%.2f to %.2f", c.FasterLow, c.FasterHigh)
		}
		rows = append(rows, table.Row{c.Point, c.Calls, c.Selected, fmt.Sprintf("%.2f", c.Faster), between, fmt.Sprintf("%d of %d", c.Explored, c.Of), since, c.Why})
	}
	a.printTable(table.Row{"point", "calls", "selected", "faster", "measured", "explored", "since", "why"}, rows)
}

func printPrice(a *app, p online.Price) {
	fmt.Fprintf(a.stdout, "exploring in %.0f %% of calls took %.1f %% of collective time\n", 100*p.Explore, 100*p.Cost)
	if p.OverDefault > 0 {
		fmt.Fprintf(a.stdout, "all calls, these among them, took %.3f of the default (%.3f to %.3f)\n", p.OverDefault, p.Low, p.High)
	}
}
