package main

import (
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
		Short:   "Learn from running applications",
		Example: examples("tutti online update learned"),
	}, onlineUpdateCommand(a))
}

type updateOptions struct {
	*app
	folder       string // with the samples
	table        string // folder of the table
	release      string
	isReleaseSet bool // --release was given
	users        []mpi.User
	base         string
	from         []string
	campaign     string
	exclude      []string
}

func onlineUpdateCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "update FOLDER [TABLE-FOLDER]",
		Short: "Make a selection table from the samples of jobs",
		Long: `update reads the samples that jobs of tutti run --learn have written to a folder, those
of running jobs too. It writes tutti.table: the algorithms that the next jobs select, and
those that they explore. Without samples the table explores everything. update deletes
no samples: the same files always give the same table. Files that it cannot use are left
out with a warning. The table lies in TABLE-FOLDER, by default in FOLDER: jobs of other
users should not be able to write there.

--from adds measurements of campaigns or of other machines. --base is a table whose
rules hold until the samples show that another is faster. --campaign takes both from
the folder of a campaign that tuned libtutti. update also prints how far samples differ
from measurements of the same candidates that are older.

Later jobs explore the algorithms that may be faster than the selected one, by a Gaussian
process.

update prints what exploring cost, and how long all calls took compared with the default
(with a 95 % interval). For each class of calls it prints the selected algorithm, since
when and why. The figures apply to jobs that explore 10 % of their calls.
The file updates.jsonl next to the table records which selections changed and when.`,
		Example: examples("tutti online update learned", "tutti online update learned --release 1+mpich-4.0.2 --base tuned/tutti.table --from tuned/measurements.csv"),
		Args:    arguments(1, 2, "the folder of --learn, and perhaps that of the table"),
	}
	o := updateOptions{app: a}
	flags := cmd.Flags()
	flags.StringVar(&o.release, "release", "1", "release of libtutti: `VERSION` as in a campaign; 1+mpich-4.0.2 adds the algorithms of MPICH")
	flags.StringVar(&o.base, "base", "", "`TABLE` with rules for calls without samples")
	flags.StringSliceVar(&o.from, "from", nil, "`FILE`s of further measurements")
	flags.StringVar(&o.campaign, "campaign", "", "`FOLDER` of a campaign for libtutti: adds its measurements; its table and release are the defaults of --base and --release")
	flags.StringSliceVar(&o.exclude, "exclude", nil, "`algorithms` that are neither selected nor explored")
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.folder, o.table, o.isReleaseSet = args[0], args[len(args)-1], cmd.Flags().Changed("release")
		return o.run()
	}
	return cmd
}

func (o *updateOptions) run() error {
	excluded, base, sources, err := o.read()
	if err != nil {
		return withCode(codeInput, err)
	}
	build, cat, err := openLearner(o.release, o.users)
	if err != nil {
		return err
	}
	feasible := feasibleAlgorithms{cat, excluded}
	if err := feasible.exclude(&base); err != nil {
		return withCode(codeInput, err)
	}
	for _, folder := range []*string{&o.folder, &o.table} {
		if *folder, err = filepath.Abs(*folder); err != nil {
			return err
		}
		if err := os.MkdirAll(*folder, 0o777); err != nil {
			return withOutputCode(err)
		}
	}
	jobs, warnings, err := online.ReadFolder(o.folder, build.Banner())
	if err != nil {
		return withCode(codeInput, err)
	}
	o.warn(warnings)
	selected := func(p coll.Point) coll.Algorithm { return base.Select(p.Collective, p.Ranks(), p.PPN, p.MsgBytes) }
	var earlier [][]coll.Measurement
	for _, s := range sources {
		earlier = append(earlier, s.measured)
	}
	learnt, err := online.Learn(jobs, earlier, online.Base{Feasible: feasible.at, Selected: selected})
	if err != nil {
		return err
	}
	rules, mixes := rulesFrom(learnt.Advice)
	x, err := build.ExportLearned(base, rules, append(mixes, feasible.mixes()...), o.table)
	if err != nil {
		return withCode(codeInput, err)
	}
	if err := x.Write(o.table); err != nil {
		return withOutputCode(err)
	}
	written, err := os.Stat(o.table) // its time is by the clock that dates the files of samples
	if err == nil {
		err = online.Summarize(o.folder, jobs, written.ModTime())
	}
	if err != nil {
		o.warn([]string{err.Error()})
	}
	return o.recordUpdate(learnt, sources)
}

// openLearner opens a release of libtutti. It returns the release and its catalogue of algorithms, which
// includes the algorithms of users.
func openLearner(release string, users []mpi.User) (libtutti.Build, *mpi.Catalogue, error) {
	lib, cat, err := libraries.Release("libtutti", release, users...)
	if err != nil {
		return libtutti.Build{}, nil, withCode(codeInput, err)
	}
	opened, err := lib.Open(cat, "")
	if err != nil {
		return libtutti.Build{}, nil, err
	}
	return opened.(libtutti.Build), cat, nil
}

// recordUpdate appends the changed selections to updates.jsonl, and prints the report.
func (o *updateOptions) recordUpdate(learnt online.Result, sources []source) error {
	updates, err := online.ReadUpdates(o.table)
	if err != nil {
		return withCode(codeInput, err)
	}
	now := time.Now().UTC()
	this := online.Update{Time: now, Changes: learnt.Changes(updates)}
	if err := this.Write(o.table); err != nil {
		return withOutputCode(err)
	}
	report := learnt.Report(append(updates, this), now)
	for _, s := range sources {
		report.Drift = append(report.Drift, learnt.Drift(s.path, s.measured, s.written))
	}
	return o.show(report, func() { printLearnt(o.app, report) })
}

// source is a file or a campaign from which an update reads measurements, in addition to the samples of
// jobs.
type source struct {
	path     string
	written  time.Time
	measured []coll.Measurement
}

// readCampaign reads the measurements of a campaign that tuned libtutti. The update uses the table and the
// release of this campaign unless flags name others. It also uses the user-defined algorithms of the campaign.
func (o *updateOptions) readCampaign() (source, error) {
	earlier, err := assembly.Earlier([]string{o.campaign})
	if err != nil {
		return source{}, err
	}
	about, err := os.Stat(filepath.Join(o.campaign, journal.FileName))
	if err != nil {
		return source{}, err
	}
	s := source{path: o.campaign, written: about.ModTime()}
	for _, p := range earlier[0].Problems {
		if p.Library != libtutti.Library.Facts().Name {
			continue
		}
		if !o.isReleaseSet {
			o.release = p.Version
		}
		o.users = p.Users
		s.measured = append(s.measured, p.Measurements...)
	}
	if len(s.measured) == 0 {
		return s, fmt.Errorf("%s: the campaign has no measurements of libtutti", o.campaign)
	}
	if table := tableIn(o.campaign); o.base == "" {
		if _, err := os.Stat(table); err == nil {
			o.base = table
		}
	}
	return s, nil
}

// read reads what the flags name: the excluded algorithms, the base table (whose rules hold where no algorithm
// is shown to be faster) and the sources of measurements.
func (o *updateOptions) read() (excluded []coll.Algorithm, base libtutti.Table, sources []source, err error) {
	for _, name := range o.exclude {
		alg, err := coll.ParseAlgorithm(name)
		if err != nil {
			return nil, base, nil, err
		}
		excluded = append(excluded, alg)
	}
	if o.campaign != "" {
		s, err := o.readCampaign()
		if err != nil {
			return nil, base, nil, err
		}
		sources = append(sources, s)
	}
	if o.base != "" {
		if base, err = readTable(o.base); err != nil {
			return nil, base, nil, err
		}
		if slices.ContainsFunc(base.Rules, func(r libtutti.Rule) bool { return r.Order != "" }) {
			return nil, base, nil, fmt.Errorf("--base %s: it has rules for orders of ranks, but samples have no order: want the table of one campaign", o.base)
		}
	}
	for _, path := range o.from {
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
		sources[i].measured = slices.DeleteFunc(sources[i].measured, func(m coll.Measurement) bool { return m.Collective.SizesDiffer() })
	}
	return excluded, base, sources, nil
}

// feasibleAlgorithms determines which algorithms of a release an update may use. It leaves out the excluded
// ones.
type feasibleAlgorithms struct {
	catalogue *mpi.Catalogue
	excluded  []coll.Algorithm
}

// exclude leaves the calls of the table's rules for excluded algorithms to the MPI library. It returns an error for an
// excluded algorithm that neither the catalogue nor a rule has.
func (f feasibleAlgorithms) exclude(base *libtutti.Table) error {
	for _, alg := range f.excluded {
		if alg.IsDefault() {
			return fmt.Errorf("--exclude %s: the library's own choice is always a candidate: want the name of another algorithm", alg)
		}
		known := slices.ContainsFunc(coll.BlockingCollectives(), func(c coll.Collective) bool {
			_, err := f.catalogue.Lookup(c, alg)
			return err == nil
		})
		for i, r := range base.Rules {
			if r.Algorithm == alg {
				known = true
				base.Rules[i].Algorithm, base.Rules[i].Activation = coll.Default, nil
			}
		}
		if !known {
			return fmt.Errorf("--exclude %s: libtutti %s has no such algorithm, nor has a rule of --base: want a name as in a table", alg, f.catalogue.Version)
		}
	}
	return nil
}

// of returns the algorithms that calls of a collective may use. The library's default comes first.
func (f feasibleAlgorithms) of(c coll.Collective) []coll.Algorithm {
	all := append([]coll.Algorithm{coll.Default}, f.catalogue.Algorithms(c)...)
	return slices.DeleteFunc(all, func(a coll.Algorithm) bool { return !a.IsDefault() && slices.Contains(f.excluded, a) })
}

// at returns the algorithms that can run for a collective, a layout and a message size. Samples have no
// size if ranks pass different ones, because every algorithm serves all of them.
func (f feasibleAlgorithms) at(point coll.Point) []coll.Algorithm {
	if point.Collective.SizesDiffer() {
		point.MsgBytes = 1
	}
	return slices.DeleteFunc(f.of(point.Collective), func(a coll.Algorithm) bool {
		return f.catalogue.Check(coll.Candidate{Point: point, Algorithm: a}) != nil
	})
}

// mixes returns entries for calls of which the table has no samples. Each such call runs one of all
// algorithms, drawn with equal probability.
func (f feasibleAlgorithms) mixes() (out []libtutti.Mix) {
	for _, c := range coll.BlockingCollectives() {
		all := f.of(c)
		out = append(out, libtutti.Mix{Scope: libtutti.Everywhere(c), Choices: libtutti.NewChoices(all, slices.Repeat([]float64{1}, len(all)), nil)})
	}
	return out
}

// rulesFrom converts the advice for each class of similar calls to entries of a table. A rule says which
// algorithm to select. A mix lists the algorithms that a share of the calls tries at random.
func rulesFrom(advice []online.Advice) (rules []libtutti.Rule, mixes []libtutti.Mix) {
	for _, a := range advice {
		ranks, ppn := int64(a.Ranks()), int64(a.PPN)
		at := libtutti.Scope{
			Collective: a.Collective, Ranks: libtutti.Range{Low: ranks, High: ranks}, PPN: libtutti.Range{Low: ppn, High: ppn},
			Bytes: libtutti.Range{Low: a.Low, High: a.High},
		}
		if a.Collective.SizesDiffer() { // samples have no size
			at.Bytes = libtutti.Everywhere(a.Collective).Bytes
		}
		rules = append(rules, libtutti.Rule{Scope: at, Algorithm: a.Algorithms[a.Best]})
		mixes = append(mixes, libtutti.Mix{Scope: at, Budget: libtutti.Thousandths(a.Budget), Choices: libtutti.NewChoices(a.Algorithms, a.Weights, a.Most)})
	}
	return rules, mixes
}

func printLearnt(a *app, r online.Report) {
	fmt.Fprintf(a.stdout, "calls %d, jobs %d\n", r.Calls, r.AllJobs)
	if r.Calls > 0 {
		a.printFit("exploring in %.0f %% of calls took %.1f %% of collective time", 100*r.Price.Explore, 100*r.Price.Cost)
		if r.Price.OverDefault > 0 {
			a.printFit("all calls, exploring ones included, took %.3f of the default (%.3f to %.3f)", r.Price.OverDefault, r.Price.Low, r.Price.High)
		}
	}
	for _, d := range r.Drift {
		if d.Candidates > 0 {
			a.printFit("%s: %d candidates, timed again by applications, differ by %.1f %%; times are %.3f of the earlier ones",
				d.Source, d.Candidates, 100*d.Change, d.Ratio)
		}
	}
	for _, t := range r.TimeChanges {
		if t.Point == nil {
			a.printFit("%s: all calls took %.2f times as long", t.Job, t.Factor)
		} else {
			a.printFit("%s: since this job %s takes %.2f times as long at %s", t.Job, t.Algorithm, t.Factor, t.Point)
		}
	}
	if len(r.Classes) == 0 {
		return
	}
	header := table.Row{"point", "calls", "selected", "faster", "explored", "since"}
	if !slices.ContainsFunc(r.Classes, func(c online.ClassReport) bool { return !c.Since.IsZero() }) {
		header = header[:5]
	}
	var rows []table.Row
	for _, c := range r.Classes {
		since, faster := "", fmt.Sprintf("%.2f", c.Faster)
		if !c.Since.IsZero() {
			since = c.Since.Format(time.DateOnly)
		}
		if c.FasterLow > 0 {
			faster += fmt.Sprintf(" [%.2f, %.2f]", c.FasterLow, c.FasterHigh)
		}
		row := table.Row{c.Point, c.Calls, c.Selected, faster, fmt.Sprintf("%d of %d", c.Explored, c.Of), since}
		rows = append(rows, row[:len(header)])
	}
	a.printTable(header, rows)
	for _, c := range r.Classes {
		if c.Why != "" {
			a.printFit("%s: %s: %s", c.Point, c.Selected, c.Why)
		}
	}
}
