package suites

import (
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

// Options say how the programs are called. Zero values leave a number to OSU.
type OSUOptions struct {
	Dir        string // absolute folder of osu_bcast and the others, as the nodes see it
	Version    string // as 7.4; empty when unknown: what only some releases can is not used
	Iterations int    // timed calls of each size; OSU: 1000 up to 8 KiB, 100 above
	Warmup     int    // calls before them; OSU: 200 up to 8 KiB, 10 above
	MemLimit   int64  // bytes of one rank; OSU: 512 MiB, larger sizes are left out
	Tail       bool   // median of the calls, from 7.3 on
	OneHost    bool   // the nodes of a layout are imagined: all ranks are on this host
}

// Program is the OSU Micro-Benchmarks as a benchrunner.Program.
type OSU struct {
	opt     OSUOptions
	release osuRelease
}

// release is major and minor version; zero when unknown.
type osuRelease struct{ major, minor int }

// from reports whether the release is known and not older than another one.
func (r osuRelease) from(major, minor int) bool {
	return r.major > major || r.major == major && r.minor >= minor
}

// The oldest releases that can do something.
var (
	anySizeSince = osuRelease{5, 6} // sizes that are no power of two; older ones round them up
	typesSince   = osuRelease{7, 1} // -T
	tailSince    = osuRelease{7, 3} // -z
)

// New checks the options. It does not look for the programs: they may be on other
// machines only.
func NewOSU(opt OSUOptions) (*OSU, error) {
	if !path.IsAbs(opt.Dir) {
		return nil, fmt.Errorf("osu: folder %q of the programs: want an absolute path", opt.Dir)
	}
	if opt.Iterations < 0 || opt.Warmup < 0 || opt.MemLimit < 0 {
		return nil, fmt.Errorf("osu: iterations %d, warm-up %d, memory limit %d: want no negative number", opt.Iterations, opt.Warmup, opt.MemLimit)
	}
	p := &OSU{opt: opt}
	if opt.Version != "" {
		r, err := parseOSURelease(opt.Version)
		if err != nil {
			return nil, err
		}
		if !r.from(5, 0) {
			return nil, fmt.Errorf("osu: version %s: want 5.0 or newer", opt.Version)
		}
		p.release = r
	}
	if opt.Tail && !p.release.from(tailSince.major, tailSince.minor) {
		return nil, fmt.Errorf("osu: version %q has no tail latencies: want 7.3 or newer", opt.Version)
	}
	return p, nil
}

// HasTail reports whether a release can print the median of the calls; false for one
// that is not known.
func OSUHasTail(version string) bool {
	r, err := parseOSURelease(version)
	return err == nil && r.from(tailSince.major, tailSince.minor)
}

func parseOSURelease(s string) (osuRelease, error) {
	n := mpi.ReleaseNumbers(s)
	if len(n) < 2 {
		return osuRelease{}, fmt.Errorf("osu: version %q: want a version as 7.4 or 5.6.2", s)
	}
	return osuRelease{n[0], n[1]}, nil
}

// Name returns osu.
func (*OSU) Name() string { return "osu" }

// titles are what the programs call themselves; OSU has no others of ours.
var osuTitles = map[coll.Collective]string{
	coll.Allgather:          "Allgather",
	coll.Allgatherv:         "Allgatherv",
	coll.Allreduce:          "Allreduce",
	coll.Alltoall:           "All-to-All Personalized Exchange",
	coll.Alltoallv:          "All-to-Allv Personalized Exchange",
	coll.Barrier:            "Barrier",
	coll.Bcast:              "Broadcast",
	coll.Gather:             "Gather",
	coll.Reduce:             "Reduce",
	coll.ReduceScatter:      "Reduce_scatter",
	coll.ReduceScatterBlock: "Reduce_scatter_block",
	coll.Scatter:            "Scatter",
}

// Group puts sizes that follow each other by doubling, of one collective and
// algorithm, into one start; the sweep of OSU measures nothing between them.
func (*OSU) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return benchrunner.Sweeps(cases, doubles)
}

// follows reports whether the sweep comes from a directly to b.
func doubles(a, b benchrunner.Case) bool {
	return benchrunner.Ascending(a, b) && a.Collective.Sized() && b.MsgBytes == 2*a.MsgBytes
}

// Allowance returns the time of all calls and as many barriers at the pace of
// benchrunner.CallTimeout, at least half a minute.
func (p *OSU) Allowance(s benchrunner.Launch) time.Duration {
	total := time.Duration(0)
	for _, c := range s.Cases {
		timed, warmup := p.calls(c)
		total += benchrunner.CallsTimeout(c, timed+warmup)
	}
	return max(benchrunner.MinAllowance, total)
}

// calls returns how often OSU makes a call.
func (p *OSU) calls(c benchrunner.Case) (timed, warmup int) {
	timed, warmup = 1000, 200
	if c.MsgBytes > 8192 {
		timed, warmup = 100, 10
	}
	if p.opt.Iterations > 0 {
		timed = p.opt.Iterations
	}
	if p.opt.Warmup > 0 {
		warmup = p.opt.Warmup
	}
	return timed, warmup
}

// Command returns the call of the program for the cases, which must be one of the
// groups of Group. The error says what OSU cannot measure.
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
		if p.opt.MemLimit > 0 {
			args = append(args, "-M", strconv.FormatInt(p.opt.MemLimit, 10))
		}
	}
	if first.Collective.Reduces() && p.release.from(typesSince.major, typesSince.minor) {
		args = append(args, "-T", "mpi_float") // these releases reduce characters otherwise
	}
	if p.opt.Tail {
		args = append(args, "-z")
	}
	return benchrunner.ReportHosts(s.Dir, benchrunner.Command{Args: args, Env: first.Env}), nil
}

// check reports why OSU cannot measure a case.
func (p *OSU) check(c benchrunner.Case) error {
	element := c.Collective.ElementBytes()
	switch {
	case osuTitles[c.Collective] == "":
		return fmt.Errorf("OSU has no program for %s", c.Collective)
	case c.Ranks() < 2:
		return errors.New("OSU measures two ranks or more")
	case !c.Collective.Sized():
		return nil
	case c.MsgBytes < element:
		return fmt.Errorf("OSU begins at %d bytes", element)
	case c.MsgBytes%element != 0:
		return fmt.Errorf("OSU measures whole elements of %d bytes", element)
	case p.release != osuRelease{} && !p.release.from(anySizeSince.major, anySizeSince.minor) && c.MsgBytes&(c.MsgBytes-1) != 0:
		return fmt.Errorf("OSU %s measures powers of two only", p.opt.Version)
	}
	return nil
}

// alone is what OSU says on standard error to a world of one rank.
const osuOneRank = "This test requires at least two processes"

// Read makes outcomes of a listing.
func (p *OSU) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	l, err := parseOSU(out.Lines())
	if phase, text := p.unfit(s, out, l, err); text != "" {
		return benchrunner.Reading{Outcomes: benchrunner.FailedAll(s, phase, text)}
	}
	var reading benchrunner.Reading
	sec := chooseDatatype(l.sections, s.Cases[0].Collective)
	reading.Outcomes = benchrunner.Outcomes(s, out, len(l.sections) > 0, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		rows := slices.DeleteFunc(slices.Clone(sec.rows), func(r osuRow) bool { return r.bytes != c.MsgBytes })
		if len(rows) != 1 {
			return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("OSU printed %d lines for the size", len(rows))), len(rows) > 1
		}
		return p.outcome(c, rows[0], &reading), true
	})
	if c := s.Cases[0].Collective; c.Reduces() && sec.datatype != "" && sec.datatype != "MPI_FLOAT" && sec.datatype != "MPI_INT" {
		reading.Warnings = append(reading.Warnings, fmt.Sprintf("osu_%s reduced elements of %s", c, sec.datatype))
	}
	reading.Warnings = append(reading.Warnings, damagedLines("osu", l.damaged)...)
	return reading
}

// unfit says why nothing of the output can be used; text is empty when it can.
func (p *OSU) unfit(s benchrunner.Launch, out benchrunner.Output, l osuListing, err error) (phase, text string) {
	refusal := out.Refusal()
	misplaced := ""
	if l.headers > 0 { // before that the program may not have come to start
		misplaced = out.PlacementError(s.Layout, p.opt.OneHost)
	}
	switch want := osuTitles[s.Cases[0].Collective]; {
	case refusal != "":
		return benchrunner.PhaseRun, refusal
	case strings.Contains(string(out.Stderr)+string(out.Stdout), osuOneRank):
		return benchrunner.PhaseLaunch, fmt.Sprintf("worlds of one rank, want one of %d: the launcher is not the library's", s.Layout.Ranks())
	case err != nil:
		return benchrunner.PhaseParse, err.Error()
	case l.headers > 1:
		return benchrunner.PhaseLaunch, severalWorlds(l.headers, s.Layout.Ranks())
	case misplaced != "":
		return benchrunner.PhaseLaunch, misplaced
	case l.headers == 1 && l.title != want:
		return benchrunner.PhaseParse, fmt.Sprintf("the program measured %q, want %q", l.title, want)
	}
	return "", ""
}

// choose returns the results for the datatype that the collective is asked with,
// or the only ones there are.
func chooseDatatype(sections []osuSection, c coll.Collective) osuSection {
	want := "MPI_CHAR"
	if c.Reduces() {
		want = "MPI_FLOAT"
	}
	for _, s := range sections {
		if s.datatype == want {
			return s
		}
	}
	if len(sections) == 1 {
		return sections[0]
	}
	return osuSection{}
}

// outcome makes an outcome of a line and adds its time to the reading.
func (p *OSU) outcome(c benchrunner.Case, r osuRow, reading *benchrunner.Reading) benchrunner.Outcome {
	switch {
	case r.wrong:
		return benchrunner.Failed(benchrunner.PhaseRun, "OSU found wrong data in the result")
	case r.max == 0 && r.iterations == 0:
		return benchrunner.Failed(benchrunner.PhaseParse, "not the full listing: option -f had no effect")
	case !(r.max > 0):
		return benchrunner.Failed(benchrunner.PhaseParse, "OSU printed a time of 0.00 us")
	case checkOrder(r.min, r.avg, r.max) != "":
		return benchrunner.Failed(benchrunner.PhaseParse, checkOrder(r.min, r.avg, r.max))
	}
	_, warmup := p.calls(c)
	timed := float64(r.iterations) * r.max
	before := float64(warmup) * r.max
	reading.MeasureSeconds += timed
	reading.WarmupSeconds += before
	if r.median > 0 && r.avg > 2*r.median {
		reading.Warnings = append(reading.Warnings, fmt.Sprintf("%v: mean %.2f us, median %.2f us: few calls were much slower than the others",
			c.Candidate, r.avg*1e6, r.median*1e6))
	}
	return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: r.max, Samples: r.iterations, CostSeconds: timed + before}
}

// row is one line of results in seconds. What a listing does not have is zero.
type osuRow struct {
	bytes         int64 // zero for a barrier
	avg, min, max float64
	median        float64 // over the calls, of the mean over the ranks
	iterations    int
	wrong         bool // the check of the data failed
}

// section is the results for one datatype.
type osuSection struct {
	datatype string // as MPI_CHAR; empty before 7.1
	rows     []osuRow
}

// listing is what was printed.
type osuListing struct {
	title    string // as Allreduce
	version  string // as 7.4
	headers  int    // how often the title came: once for each world
	sections []osuSection
	damaged  []string // lines that look like results and are not
}

// The title of a release built for accelerators has -CUDA or the like after MPI.
var osuTitle = regexp.MustCompile(`# OSU MPI(?:-\S+)? (.+?) Latency Test(?: v(\S+))?\s*$`)

// parse reads the lines of a listing. Lines of libraries and launchers between
// them are passed over.
func parseOSU(lines []string) (osuListing, error) {
	var l osuListing
	var columns []string
	for _, line := range lines {
		// A warning about memory has no end of line: the title follows in it.
		if m := osuTitle.FindStringSubmatch(line); m != nil {
			l.headers++
			l.title, l.version, columns = m[1], m[2], nil
			continue
		}
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "# Datatype:"):
			name := strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(text, "# Datatype:")), ".")
			l.sections = append(l.sections, osuSection{datatype: name})
		case strings.HasPrefix(text, "# Size ") || strings.HasPrefix(text, "# Avg Latency"):
			names, err := osuColumns(text)
			if err != nil {
				return osuListing{}, err
			}
			columns = names
			if len(l.sections) == 0 {
				l.sections = append(l.sections, osuSection{})
			}
		case columns != nil && beginsWithDigit(text):
			r, ok := parseOSURow(columns, text)
			if !ok {
				l.damaged = append(l.damaged, line)
				continue
			}
			last := &l.sections[len(l.sections)-1]
			last.rows = append(last.rows, r)
		}
	}
	return l, nil
}

var osuColumnGap = regexp.MustCompile(`\s{2,}`)

// header returns the names of the columns, which have single spaces inside. The
// error is for listings of other kinds of programs.
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

var osuTail = regexp.MustCompile(`^P([0-9]+) Tail Lat\(us\)$`)

// parseRow reads a line under the columns; it is not ok when a field is missing,
// too much or no number.
func parseOSURow(columns []string, text string) (osuRow, bool) {
	fields := strings.Fields(text)
	if len(fields) != len(columns) {
		return osuRow{}, false
	}
	var r osuRow
	for i, name := range columns {
		var err error
		switch name {
		case "Size":
			r.bytes, err = strconv.ParseInt(fields[i], 10, 64)
		case "Avg Latency(us)":
			r.avg, err = parseMicros(fields[i])
		case "Min Latency(us)":
			r.min, err = parseMicros(fields[i])
		case "Max Latency(us)":
			r.max, err = parseMicros(fields[i])
		case "Iterations":
			r.iterations, err = strconv.Atoi(fields[i])
		case "Validation":
			r.wrong = fields[i] != "Pass"
		default:
			if m := osuTail.FindStringSubmatch(name); m != nil && m[1] == "50" {
				r.median, err = parseMicros(fields[i])
			}
		}
		if err != nil {
			return osuRow{}, false
		}
	}
	return r, r.bytes >= 0 && r.iterations >= 0
}
