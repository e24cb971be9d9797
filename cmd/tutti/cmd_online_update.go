package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/campaign/online"
	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/mpi/libtutti"
	"tutti/preprocess"
)

// tableOf is the table in a folder that jobs learn in.
func tableOf(folder string) string { return filepath.Join(folder, "tutti.table") }

// update is what the flags of tutti online update say.
type update struct {
	folder  string
	release string
	base    string
	from    []string
	exclude []string
	policy  string
}

func (a *app) onlineUpdateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "update FOLDER",
		Short: "Make a table of what jobs of tutti run --learn have measured",
		Long: `update reads the samples that jobs have left in a folder, those that still run, too, and
writes FOLDER/tutti.table: what the next jobs select, and what they explore beside. In a
folder without samples the table explores everything. Samples stay: the same files
make the same table.

--from gives measurements of campaigns or of other machines, each a source of its own
in what is believed; --base is a table whose rules hold until an algorithm is faster beyond doubt.

The policies: tutti explores what is worth it by the belief; iota draws by 1/t of forests.`,
		Example: indent("tutti online update learned", "tutti online update learned --release 1+mpich-4.0.2 --base tuned/tutti.table --from tuned/measurements.csv"),
		Args:    oneArgument("the folder of --learn"),
	}
	var u update
	flags := cmd.Flags()
	flags.StringVar(&u.release, "release", "1", "of libtutti: `VERSION` as in a campaign, 1+mpich-4.0.2 for MPICH's algorithms, too")
	flags.StringVar(&u.base, "base", "", "`TABLE` whose rules come after those of the samples")
	flags.StringSliceVar(&u.from, "from", nil, "`FILE`s of measurements, each a source of its own")
	flags.StringSliceVar(&u.exclude, "exclude", nil, "`algorithms` that are neither selected nor explored")
	flags.StringVar(&u.policy, "policy", online.PolicyTutti, online.PolicyTutti+" or "+online.PolicyIOTA)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		u.folder = args[0]
		if u.policy != online.PolicyTutti && u.policy != online.PolicyIOTA {
			return usageError(cmd, fmt.Errorf("--policy %s: want %s or %s", u.policy, online.PolicyTutti, online.PolicyIOTA))
		}
		return a.update(u)
	}
	return cmd
}

func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError(cmd, fmt.Errorf("want %s, got %d arguments", what, len(args)))
		}
		return nil
	}
}

func (a *app) update(u update) error {
	lib, cat, err := libraries.Release("libtutti", u.release)
	if err != nil {
		return withCode(codeInput, err)
	}
	opened, err := lib.Open(cat, "")
	if err != nil {
		return err
	}
	build, ok := opened.(libtutti.Learner)
	if !ok {
		return errors.New("libtutti cannot learn")
	}
	excluded, base, earlier, err := u.read()
	if err != nil {
		return withCode(codeInput, err)
	}
	if err := os.MkdirAll(u.folder, 0o777); err != nil {
		return withOutputCode(err)
	}
	samples, err := readFolder(a.stderr, u.folder, build.Banner())
	if err != nil {
		return withCode(codeInput, err)
	}
	known := possible{cat, excluded}
	now := func(p coll.Point) coll.Algorithm { return base.Select(p.Collective, p.Ranks(), p.PPN, p.MsgBytes) }
	advice, err := online.Advise(u.policy, samples, earlier, online.Selected{Feasible: known.at, Now: now}, online.DefaultOptions())
	if err != nil {
		return err
	}
	rules, mixes := told(advice)
	for _, c := range coll.Collectives() {
		if c != coll.Alltoallv {
			mixes = append(mixes, libtutti.Anywhere(c, known.of(c)))
		}
	}
	folder, err := filepath.Abs(u.folder)
	if err != nil {
		return err
	}
	x, err := build.Learnt(base, rules, mixes, folder)
	if err != nil {
		return withCode(codeInput, err)
	}
	if err := x.Write(folder); err != nil {
		return withOutputCode(err)
	}
	a.showAdvice(advice, len(samples))
	return nil
}

// read reads what the flags name.
func (u update) read() (excluded []coll.Algorithm, base libtutti.Table, earlier [][]coll.Measurement, err error) {
	for _, name := range u.exclude {
		alg, err := coll.ParseAlgorithm(name)
		if err != nil {
			return nil, base, nil, err
		}
		excluded = append(excluded, alg)
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
		earlier = append(earlier, slices.DeleteFunc(t.Measurements(), func(m coll.Measurement) bool { return m.Collective == coll.Alltoallv }))
	}
	return excluded, base, earlier, nil
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

// readFolder reads the samples of all jobs, and says what of them is dropped. They are of one
// MPI library: the one that the table is for, or any.
func readFolder(w io.Writer, folder, banner string) ([]online.Sample, error) {
	paths, err := filepath.Glob(filepath.Join(escaped(folder), "*.samples"))
	if err != nil {
		return nil, err
	}
	var out []online.Sample
	var library, first string
	for _, path := range paths { // in the order of their names
		s, err := online.ReadSamples(path)
		if err != nil {
			return nil, err
		}
		for _, fault := range s.Faults {
			fmt.Fprintf(w, "warning: %s: %s: dropped\n", path, fault)
		}
		switch {
		case s.Library == "":
			continue
		case !strings.Contains(s.Library, banner):
			return nil, fmt.Errorf("%s: samples of %s: want those of %s", path, s.Library, banner)
		case library == "":
			library, first = s.Library, path
		case s.Library != library:
			return nil, fmt.Errorf("%s: samples of %s: %s has those of %s: each MPI library wants a folder of its own", path, s.Library, first, library)
		}
		out = append(out, s.Calls...)
	}
	return out, nil
}

// escaped is a folder as a pattern that matches itself.
func escaped(folder string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(folder)
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
			Collective: at.Collective, Ranks: at.Ranks, PPN: at.PPN, Bytes: at.Bytes, Choices: libtutti.Weighed(a.Algorithms, a.Weights),
		})
	}
	return rules, mixes
}

func (a *app) showAdvice(advice []online.Advice, samples int) {
	fmt.Fprintf(a.stdout, "%d calls\n", samples)
	if len(advice) == 0 {
		return
	}
	var rows []table.Row
	for _, of := range advice {
		explored := 0
		for _, weight := range of.Weights {
			if weight > 0 {
				explored++
			}
		}
		rows = append(rows, table.Row{of.Point, of.Samples, of.Algorithms[of.Best], fmt.Sprintf("%.2f", of.Faster), fmt.Sprintf("%d of %d", explored, len(of.Algorithms))})
	}
	a.printTable(table.Row{"point", "calls", "selected", "faster", "explored"}, rows)
}
