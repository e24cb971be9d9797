package suites

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/mpi"
)

// OSUOptions configure the OSU programs. OSU chooses values for fields that are zero.
type OSUOptions struct {
	Dir        string // absolute path of the folder with osu_bcast and the other programs, on the nodes
	Version    string // such as 7.4; empty when unknown, then options of newer releases are not used
	Iterations int    // timed calls of each size; OSU: 1000 up to 8 KiB, 100 above
	Warmup     int    // warm-up calls of each size; OSU: 200 up to 8 KiB, 10 above
}

// OSU runs the programs of the OSU Micro-Benchmarks. It implements benchrunner.Program.
type OSU struct{ opt OSUOptions }

// The first releases of OSU that have a feature. An unknown release is older than all of them.
var (
	anySizeSince = []int{5, 6} // sizes that are not powers of two; older releases round them up
	typesSince   = []int{7, 1} // -T
	tailSince    = []int{7, 3} // -z
)

// NewOSU checks the version and returns the programs.
func NewOSU(opt OSUOptions) (*OSU, error) {
	switch {
	case opt.Version != "" && len(mpi.ReleaseNumbers(opt.Version)) < 2:
		return nil, fmt.Errorf("osu: version %q: want a version as 7.4 or 5.6.2", opt.Version)
	case opt.Version != "" && !mpi.AtLeast(opt.Version, 5, 0):
		return nil, fmt.Errorf("osu: version %s: want 5.0 or newer", opt.Version)
	}
	return &OSU{opt}, nil
}

// Name returns osu.
func (*OSU) Name() string { return "osu" }

// osuTitle returns the title in the output of OSU's program for a collective, "" if there is no program.
func osuTitle(c coll.Collective) string {
	switch c {
	case coll.Alltoall:
		return "All-to-All Personalized Exchange"
	case coll.Alltoallv:
		return "All-to-Allv Personalized Exchange"
	case coll.Bcast:
		return "Broadcast"
	}
	return mpiName(c, coll.Exscan, coll.Scan)
}

// Group implements benchrunner.Program. A group has one collective and one algorithm. Each size in it is
// twice the size before, because OSU measures no other sizes.
func (*OSU) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return benchrunner.Sweeps(cases, doubles)
}

// doubles reports whether OSU measures case b directly after case a.
func doubles(a, b benchrunner.Case) bool {
	return benchrunner.Ascending(a, b) && a.Collective.Sized() && b.MsgBytes == 2*a.MsgBytes
}

// Allowance implements benchrunner.Program.
func (p *OSU) Allowance(s benchrunner.Launch) time.Duration {
	return sumAllowance(s, func(c benchrunner.Case) time.Duration {
		timed, warmup := p.calls(c)
		return benchrunner.CallsTimeout(c, timed+warmup)
	})
}

// calls returns the numbers of timed calls and of warm-up calls that OSU makes for a case.
func (p *OSU) calls(c benchrunner.Case) (timed, warmup int) {
	timed, warmup = 1000, 200
	if c.MsgBytes > 8192 {
		timed, warmup = 100, 10
	}
	return cmp.Or(p.opt.Iterations, timed), cmp.Or(p.opt.Warmup, warmup)
}

// Command implements benchrunner.Program. The cases must be one of the groups that Group returns.
func (p *OSU) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	if err := checkLaunch("osu", s, p.check, doubles); err != nil {
		return benchrunner.Command{}, err
	}
	first, last := s.Cases[0], s.Cases[len(s.Cases)-1]
	args := []string{path.Join(p.opt.Dir, "osu_"+string(first.Collective)), "-f"}
	if p.opt.Iterations > 0 {
		args = append(args, "-i", strconv.Itoa(p.opt.Iterations))
	}
	if p.opt.Warmup > 0 {
		args = append(args, "-x", strconv.Itoa(p.opt.Warmup))
	}
	if first.Collective.Sized() {
		args = append(args, "-m", fmt.Sprintf("%d:%d", first.MsgBytes, last.MsgBytes))
	}
	if first.Collective.Reduces() && mpi.AtLeast(p.opt.Version, typesSince...) {
		args = append(args, "-T", "mpi_float") // otherwise these releases reduce characters
	}
	if mpi.AtLeast(p.opt.Version, tailSince...) {
		args = append(args, "-z") // also prints the median of the calls
	}
	return benchrunner.ReportHosts(s.Dir, benchrunner.Command{Args: args, Env: first.Env}), nil
}

func (p *OSU) check(c benchrunner.Case) error {
	element := c.Collective.ElementBytes()
	switch {
	case osuTitle(c.Collective) == "":
		return fmt.Errorf("OSU has no program for %s", c.Collective)
	case c.Ranks() < 2:
		return errors.New("OSU measures two ranks or more")
	case !c.Collective.Sized():
		return nil
	case c.MsgBytes < element:
		return fmt.Errorf("OSU begins at %d bytes", element)
	case c.MsgBytes%element != 0:
		return fmt.Errorf("OSU measures whole elements of %d bytes", element)
	case p.opt.Version != "" && !mpi.AtLeast(p.opt.Version, anySizeSince...) && c.MsgBytes&(c.MsgBytes-1) != 0:
		return fmt.Errorf("OSU %s measures powers of two only", p.opt.Version)
	}
	return nil
}

const osuOneRank = "This test requires at least two processes"

// Read implements benchrunner.Program. It returns one outcome for each case.
func (p *OSU) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	l, err := parseOSU(out.Lines())
	phase, text := checkWorld(s, out, l.worlds, 0, err)
	if phase != benchrunner.PhaseRun && strings.Contains(string(out.Stderr)+string(out.Stdout), osuOneRank) {
		phase, text = benchrunner.PhaseLaunch, fmt.Sprintf("worlds of one rank, want one of %d: the launcher is not the library's", s.Layout.Ranks())
	}
	if want := osuTitle(s.Cases[0].Collective); text == "" && l.title != "" && l.title != want {
		phase, text = benchrunner.PhaseParse, fmt.Sprintf("the program measured %q, want %q", l.title, want)
	}
	reading := benchrunner.Reading{Release: l.release}
	if text != "" {
		reading.Outcomes = benchrunner.FailedAll(s, phase, text)
		return reading
	}
	sec := chooseDatatype(l.sections, s.Cases[0].Collective)
	reading.Outcomes = benchrunner.Outcomes(s, out, len(l.sections) > 0, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		return outcomeOf("OSU", sec.rows, c.MsgBytes, func(r row) benchrunner.Outcome { return p.outcome(c, r, &reading) })
	})
	if c := s.Cases[0].Collective; c.Reduces() && sec.name != "" && sec.name != "MPI_FLOAT" && sec.name != "MPI_INT" {
		reading.Warnings = append(reading.Warnings, fmt.Sprintf("osu_%s reduced elements of %s", c, sec.name))
	}
	reading.Warnings = append(reading.Warnings, damagedLines("osu", l.damaged)...)
	return reading
}

// chooseDatatype returns the section of the datatype that Command requests. If there is only one section,
// it returns that one.
func chooseDatatype(sections []section, c coll.Collective) section {
	want := "MPI_CHAR"
	if c.Reduces() {
		want = "MPI_FLOAT"
	}
	for _, s := range sections {
		if s.name == want {
			return s
		}
	}
	if len(sections) == 1 {
		return sections[0]
	}
	return section{}
}

func (p *OSU) outcome(c benchrunner.Case, r row, reading *benchrunner.Reading) benchrunner.Outcome {
	_, warmup := p.calls(c)
	timed := float64(r.calls) * r.max
	before := float64(warmup) * r.max
	reading.MeasureSeconds += timed
	reading.WarmupSeconds += before
	if r.median > 0 && r.avg > 2*r.median {
		reading.Warnings = append(reading.Warnings, fmt.Sprintf("%v: mean %.2f us, median %.2f us: few calls were much slower than the others",
			c.Candidate, r.avg*1e6, r.median*1e6))
	}
	return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: r.max, Samples: r.calls, CostSeconds: timed + before}
}

// Releases of OSU for accelerators print a suffix after MPI, such as -CUDA.
var osuHeader = regexp.MustCompile(`# OSU MPI(?:-\S+)? (.+?) Latency Test(?: v(\S+))?\s*$`)

func parseOSU(lines []string) (listing, error) {
	var l listing
	var columns []string
	for _, line := range lines {
		// OSU's warning about memory has no line end, so the title may follow in the same line.
		if m := osuHeader.FindStringSubmatch(line); m != nil {
			l.worlds++
			l.title, l.release, columns = m[1], m[2], nil
			continue
		}
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "# Datatype:"):
			name := strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(text, "# Datatype:")), ".")
			l.sections = append(l.sections, section{name: name})
		case strings.HasPrefix(text, "# Size ") || strings.HasPrefix(text, "# Avg Latency"):
			names, err := osuColumns(text)
			if err != nil {
				return listing{}, err
			}
			columns = names
			l.worlds = max(l.worlds, 1) // even without a known title
			if len(l.sections) == 0 {
				l.sections = append(l.sections, section{})
			}
		case columns != nil && beginsWithDigit(text):
			r, ok := parseOSURow(columns, text)
			l.add(line, r, ok)
		}
	}
	return l, nil
}

var osuColumnGap = regexp.MustCompile(`\s{2,}`)

// osuColumns returns the names of the columns. A name contains single spaces only; more spaces separate
// names. It returns an error for the output of non-blocking collectives and of other programs.
func osuColumns(text string) ([]string, error) {
	names := osuColumnGap.Split(strings.TrimSpace(strings.TrimPrefix(text, "#")), -1)
	for _, n := range names {
		switch {
		case n == "Overall(us)":
			return nil, fmt.Errorf("a listing of a non-blocking collective: want a blocking one")
		case n == "Avg Latency(us)":
			return names, nil
		}
	}
	return nil, fmt.Errorf("columns %q: want Avg Latency(us) among them", strings.Join(names, ", "))
}

func parseOSURow(columns []string, text string) (row, bool) {
	fields := strings.Fields(text)
	var r row
	ok := parseFields(columns, fields, map[string]any{
		"Size": &r.bytes, "Avg Latency(us)": &r.avg, "Min Latency(us)": &r.min, "Max Latency(us)": &r.max,
		"Iterations": &r.calls, "P50 Tail Lat(us)": &r.median,
	})
	if i := slices.Index(columns, "Validation"); ok && i >= 0 {
		r.wrong = fields[i] != "Pass"
	}
	return r, ok && r.bytes >= 0 && r.calls >= 0
}
