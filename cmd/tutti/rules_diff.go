package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/campaign"
	"tutti/coll"
	"tutti/preprocess"
)

// mattering is the least loss that counts as a difference, 2 %. Smaller ones are below what a roll-out changes.
const mattering = 1.02

type ruleDiffer struct {
	*app
	places
	release, data, campaign string
}

func rulesDiffCommand(a *app) *cobra.Command {
	d := ruleDiffer{app: a}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare what two files or campaigns select, and what it costs",
		Long: `diff compares two selection files, the files of two campaigns (their folders), or one of
each. It counts the points at which they differ. With times, from a CSV of measurements
(--data) or from the models of a campaign (--campaign), it says how many differences are
ties within noise, how many lose at most 2 %, and how many matter, which one is faster
there and by how much.

Points are those of the data, or of the campaign. Without them they are the powers of
two up to 4 MiB on --nodes and --ppn.`,
		Example: examples(
			"tutti rules diff old.rules new.rules --nodes 1,2,4,8,16 --ppn 32",
			"tutti rules diff old.rules new.rules --data measurements-openmpi.csv",
			"tutti rules diff results/monday results/friday --campaign results/friday --for openmpi"),
		Args:              arguments(2, 2, "two selection files or folders of campaigns"),
		ValidArgsFunction: completeFiles,
	}
	d.flags(cmd)
	releaseFlag(cmd, &d.release)
	cmd.Flags().StringVar(&d.data, "data", "", "CSV `FILE` of measurements, as tutti export writes it")
	cmd.Flags().StringVar(&d.campaign, "campaign", "", "`FOLDER` of a campaign whose times count")
	mustComplete(cmd.MarkFlagFilename("data", "csv"))
	mustComplete(cmd.MarkFlagDirname("campaign"))
	a.formatFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("data", "campaign")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return d.run(cmd, args[0], args[1]) }
	return cmd
}

// ruleSide is one of the two selections that are compared.
type ruleSide struct {
	path        string
	collectives []coll.Collective
	choose      func(coll.Point) coll.Algorithm
	grid        []coll.Point // of a campaign
}

// side reads a selection file, or the selection of a campaign.
func (d *ruleDiffer) side(cmd *cobra.Command, path string) (ruleSide, error) {
	s := ruleSide{path: path}
	if !isFolder(path) {
		f, err := readRules(cmd, path, d.release)
		if err != nil {
			return s, err
		}
		if f.Choose == nil {
			return s, withCode(codeInput, fmt.Errorf("%s: %s: see tutti rules check %s", path, f.Effect, path))
		}
		s.collectives, s.choose = f.Collectives, func(p coll.Point) coll.Algorithm { return f.Choose(p).Algorithm }
		return s, nil
	}
	problems, err := d.concluded(cmd, path, "for", d.release)
	if err != nil {
		return s, err
	}
	if s, err = sideOf(path, problems); err != nil {
		return s, usageError(cmd, err)
	}
	return s, nil
}

// sideOf returns the selection of a campaign for one library.
func sideOf(path string, problems []campaign.FinalSelection) (ruleSide, error) {
	s := ruleSide{path: path}
	choices := map[coll.Collective]func(coll.Point) coll.Algorithm{}
	for _, p := range problems {
		if choices[p.Collective] != nil {
			return s, fmt.Errorf("%s has several libraries: choose one with --for", path)
		}
		choices[p.Collective] = p.Selection.Choose
		s.collectives, s.grid = append(s.collectives, p.Collective), append(s.grid, p.Points...)
	}
	s.choose = func(p coll.Point) coll.Algorithm {
		if choose := choices[p.Collective]; choose != nil {
			return choose(p)
		}
		return coll.Default
	}
	return s, nil
}

// ruleDifference is a point at which two selections differ.
type ruleDifference struct {
	coll.Point
	A     coll.Algorithm `json:"a"`
	B     coll.Algorithm `json:"b"`
	Kind  string         `json:"kind"`            // matters, small, tie, unknown
	Ratio float64        `json:"ratio,omitempty"` // time of A divided by that of B; 0: unknown
}

// The kinds of differences.
const (
	diffMatters = "matters" // loses more than 2 %, beyond noise
	diffSmall   = "small"   // loses at most 2 %
	diffTie     = "tie"     // the intervals overlap, or the difference is within noise
	diffUnknown = "unknown" // a time is missing
)

// ruleDiffs is the result of a comparison.
type ruleDiffs struct {
	A           string           `json:"a"`
	B           string           `json:"b"`
	Points      int              `json:"points"`
	Differ      int              `json:"differ"`
	Kinds       map[string]int   `json:"kinds"`
	FasterA     int              `json:"a_faster"` // of those that matter
	FasterB     int              `json:"b_faster"`
	Timed       int              `json:"timed"`                // points whose ratio is known: 1 with one algorithm in both files
	Ratio       float64          `json:"mean_ratio,omitempty"` // geometric mean of A's time divided by B's, over the timed points
	Differences []ruleDifference `json:"differences"`
	timed       bool             // there are times
}

func (d *ruleDiffer) run(cmd *cobra.Command, pathA, pathB string) error {
	a, err := d.side(cmd, pathA)
	if err != nil {
		return err
	}
	b, err := d.side(cmd, pathB)
	if err != nil {
		return err
	}
	t, err := d.times(cmd)
	if err != nil {
		return err
	}
	points, err := d.points(cmd, a, b, t)
	if err != nil {
		return err
	}
	var times []knownTimes
	if t.find != nil {
		times = []knownTimes{t}
	}
	out, err := compareSides(a, b, points, times)
	if err != nil {
		return err
	}
	return d.show(out, func() { d.printDiffs(out) })
}

// compareSides compares two selections at the given points, with the times of one or several sources, or none.
func compareSides(a, b ruleSide, points []coll.Point, times []knownTimes) (ruleDiffs, error) {
	out := ruleDiffs{A: a.path, B: b.path, Points: len(points), Kinds: map[string]int{}, Differences: []ruleDifference{}, timed: len(times) > 0}
	logs := 0.0
	for _, p := range points {
		x := ruleDifference{Point: p, A: a.choose(p), B: b.choose(p)}
		same := plainName(x.A) == plainName(x.B)
		if !same {
			if err := x.classify(times); err != nil {
				return out, err
			}
			out.count(x)
		}
		if out.timed && (same || x.Ratio > 0) {
			out.Timed++
			if !same {
				logs += math.Log(x.Ratio)
			}
		}
	}
	if out.Timed > 0 {
		out.Ratio = math.Exp(logs / float64(out.Timed))
	}
	slices.SortStableFunc(out.Differences, func(a, b ruleDifference) int {
		return cmp.Or(cmp.Compare(kindOrder(a.Kind), kindOrder(b.Kind)), cmp.Compare(math.Abs(math.Log(max(b.Ratio, 1e-300))), math.Abs(math.Log(max(a.Ratio, 1e-300)))))
	})
	return out, nil
}

// kindOrder ranks kinds of differences, the most important first.
func kindOrder(kind string) int {
	return slices.Index([]string{diffMatters, diffSmall, diffTie, diffUnknown}, kind)
}

func (o *ruleDiffs) count(x ruleDifference) {
	o.Differ++
	o.Kinds[x.Kind]++
	o.Differences = append(o.Differences, x)
	switch {
	case x.Kind != diffMatters:
	case x.Ratio > 1:
		o.FasterB++
	default:
		o.FasterA++
	}
}

// points returns the points to compare: those of the times, of the campaigns, or of the flags.
func (d *ruleDiffer) points(cmd *cobra.Command, a, b ruleSide, t knownTimes) ([]coll.Point, error) {
	all := slices.Concat(a.collectives, b.collectives)
	slices.Sort(all)
	collectives, err := d.chosen(slices.Compact(all))
	if err != nil {
		return nil, usageError(cmd, err)
	}
	layouts, sizes, err := d.grid()
	if err != nil {
		return nil, usageError(cmd, err)
	}
	known := t.points
	if known == nil {
		known = slices.Concat(a.grid, b.grid)
	}
	var out []coll.Point
	for _, p := range known {
		if slices.Contains(collectives, p.Collective) && (len(d.nodes) == 0 || slices.Contains(d.nodes, p.Nodes)) &&
			(len(d.ppn) == 0 || slices.Contains(d.ppn, p.PPN)) && (len(d.sizes) == 0 || slices.Contains(sizes, p.MsgBytes)) {
			out = append(out, p)
		}
	}
	if known == nil {
		if len(d.nodes) == 0 {
			return nil, usageError(cmd, fmt.Errorf("--nodes is missing: want the numbers of nodes, --data or --campaign"))
		}
		for _, c := range collectives {
			for _, l := range layouts {
				for _, size := range sizes {
					if !c.Sized() {
						size = 0
					}
					out = append(out, coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size})
				}
			}
		}
	}
	slices.SortFunc(out, coll.ComparePoints)
	if out = slices.Compact(out); len(out) == 0 {
		return nil, withCode(codeInput, fmt.Errorf("no point to compare: the files have rules for %s, and the times are of other points", strings.Join(coll.Words(collectives), ", ")))
	}
	return out, nil
}

// knownTimes are the times with which differences are judged.
type knownTimes struct {
	points []coll.Point
	find   func(coll.Point) ([]campaign.CandidateTime, error) // nil: no times
}

// times reads the times of --data or --campaign.
func (d *ruleDiffer) times(cmd *cobra.Command) (knownTimes, error) {
	switch {
	case d.data != "":
		t, err := preprocess.ReadTable(d.data)
		if err != nil {
			return knownTimes{}, withCode(codeInput, err)
		}
		printWarnings(d.stderr, t.Warnings)
		return timesOfTable(t), nil
	case d.campaign != "":
		problems, err := d.concluded(cmd, d.campaign, "for", d.release)
		if err != nil {
			return knownTimes{}, err
		}
		return timesOfCampaign(problems), nil
	}
	return knownTimes{}, nil
}

func timesOfTable(t *preprocess.Table) knownTimes {
	at := map[coll.Point][]campaign.CandidateTime{}
	var out knownTimes
	for _, m := range t.Measurements() {
		if at[m.Point] == nil {
			out.points = append(out.points, m.Point)
		}
		at[m.Point] = append(at[m.Point], campaign.CandidateTime{Algorithm: m.Algorithm, Source: campaign.SourceMeasured, Seconds: m.Seconds, Low: m.Low, High: m.High})
	}
	out.find = func(p coll.Point) ([]campaign.CandidateTime, error) { return at[p], nil }
	return out
}

func timesOfCampaign(problems []campaign.FinalSelection) knownTimes {
	var out knownTimes
	for _, p := range problems {
		out.points = append(out.points, p.Points...)
	}
	out.find = func(at coll.Point) ([]campaign.CandidateTime, error) {
		for _, p := range problems {
			if p.Collective == at.Collective {
				return p.Candidates(at)
			}
		}
		return nil, nil
	}
	return out
}

// classify sets the kind and the ratio of a difference. Several sources of times must agree that it matters, and on who is
// faster; otherwise the difference is a tie. The ratio is their geometric mean.
func (x *ruleDifference) classify(times []knownTimes) error {
	x.Kind = diffUnknown
	logs, known, faster := 0.0, 0, 0
	for _, t := range times {
		kind, ratio, err := x.judgedBy(t)
		if err != nil {
			return err
		}
		if kind == diffUnknown {
			continue
		}
		if x.Kind == diffUnknown || kindOrder(kind) > kindOrder(x.Kind) {
			x.Kind = kind
		}
		known++
		logs += math.Log(ratio)
		faster += cmp.Compare(ratio, 1)
	}
	if known > 0 {
		x.Ratio = math.Exp(logs / float64(known))
	}
	if x.Kind == diffMatters && max(faster, -faster) < known {
		x.Kind = diffTie
	}
	return nil
}

// judgedBy returns the kind of a difference and A's time divided by B's, according to one source of times.
func (x *ruleDifference) judgedBy(t knownTimes) (kind string, ratio float64, err error) {
	all, err := t.find(x.Point)
	if err != nil {
		return "", 0, err
	}
	a, okA := timeOf(all, x.A)
	b, okB := timeOf(all, x.B)
	if !okA || !okB {
		return diffUnknown, 0, nil
	}
	ratio = a.Seconds / b.Seconds
	noise := math.Pow(10, 2*math.Sqrt(2*preprocess.MeasurementNoise)) // two standard deviations of a ratio of two measurements
	loss := max(ratio, 1/ratio)
	switch known := a.High > 0 && b.High > 0; {
	case known && a.Low <= b.High && b.Low <= a.High, !known && loss <= noise:
		return diffTie, ratio, nil
	case loss <= mattering:
		return diffSmall, ratio, nil
	}
	return diffMatters, ratio, nil
}

func timeOf(all []campaign.CandidateTime, alg coll.Algorithm) (campaign.CandidateTime, bool) {
	for _, t := range all {
		if t.Seconds == 0 {
			t.Seconds = t.Ratio // forests predict ratios alone
		}
		if plainName(t.Algorithm) == plainName(alg) && t.Seconds > 0 {
			return t, true
		}
	}
	return campaign.CandidateTime{}, false
}

// plainName returns the name of an algorithm without parameters of the value 0, which stands for the library's own
// value.
func plainName(alg coll.Algorithm) string {
	params := slices.DeleteFunc(slices.Clone(alg.Params()), func(p coll.Param) bool { return p.Value == "0" })
	plain, err := coll.NewAlgorithm(alg.Name, params...)
	if err != nil {
		return alg.String()
	}
	return plain.String()
}

// mostShown is the largest number of differences that the table shows.
const mostShown = 10

func (a *app) printDiffs(o ruleDiffs) {
	a.printFit("A: %s\nB: %s", o.A, o.B)
	if !o.timed {
		a.printWrapped(fmt.Sprintf("%d of %s differ; which one is faster: give --data or --campaign", o.Differ, plural(o.Points, "point")))
	} else {
		a.printFit("Of %d that differ, %d matter: A is faster at %d, B at %d.", o.Differ, o.Kinds[diffMatters], o.FasterA, o.FasterB)
		a.printWrapped(fmt.Sprintf("The others: %d lose at most 2 %%, %d are ties within noise, %d have no time.", o.Kinds[diffSmall], o.Kinds[diffTie], o.Kinds[diffUnknown]))
		a.printFit("%s are compared.", plural(o.Points, "point"))
		if o.Ratio > 0 {
			a.printFit("A takes %.3f of B's time in geometric mean over %s.", o.Ratio, plural(o.Timed, "point"))
		}
	}
	if len(o.Differences) == 0 {
		return
	}
	var rows []table.Row
	for _, x := range o.Differences[:min(len(o.Differences), mostShown)] {
		faster := ""
		switch {
		case x.Ratio > 1:
			faster = fmt.Sprintf("B %.2f times", x.Ratio)
		case x.Ratio > 0:
			faster = fmt.Sprintf("A %.2f times", 1/x.Ratio)
		}
		if x.Kind == diffTie {
			faster = "tie"
		}
		rows = append(rows, table.Row{x.Collective, x.Nodes, x.PPN, coll.FormatBytes(x.MsgBytes), x.A, x.B, faster})
	}
	a.printTable(table.Row{"collective", "nodes", "ppn", "message size", "A", "B", "faster"}, rows)
	if n := len(o.Differences) - mostShown; n > 0 {
		fmt.Fprintf(a.stdout, "and %d more: --format json has all\n", n)
	}
}
