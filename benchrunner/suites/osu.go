package suites

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

// OSUOptions configure the OSU programs. OSU chooses values for fields that are zero.
type OSUOptions struct {
	Dir        string // absolute path of the folder with osu_bcast and the other programs, on the nodes
	Version    string // such as 7.4; empty when unknown, then options of newer releases are not used
	Iterations int    // timed calls of each size; OSU: 1000 up to 8 KiB, 100 above
	Warmup     int    // warm-up calls of each size; OSU: 200 up to 8 KiB, 10 above
}

// The first releases of OSU that have a feature. An unknown release is older than all of them.
var (
	anySizeSince = []int{5, 6} // sizes that are not powers of two; older releases round them up
	typesSince   = []int{7, 1} // -T
)

// NewOSU returns the programs of the OSU Micro-Benchmarks. In a launch, each message size is twice the
// previous one, because OSU measures no other sizes.
func NewOSU(opt OSUOptions) (*Program, error) {
	switch {
	case opt.Version != "" && len(mpi.ReleaseNumbers(opt.Version)) < 2:
		return nil, fmt.Errorf("osu: version %q: want a version as 7.4 or 5.6.2", opt.Version)
	case opt.Version != "" && !mpi.AtLeast(opt.Version, 5, 0):
		return nil, fmt.Errorf("osu: version %s: want 5.0 or newer", opt.Version)
	}
	return &Program{
		name: "osu", printed: "OSU", follows: doubles, size: opt.size, command: opt.command, parse: opt.parse,
		allowance: func(c benchrunner.Case) time.Duration {
			timed, warmup := opt.calls(c.MsgBytes)
			if c.Collective.Nonblocking() { // then again with computation, which takes as long as the calls
				timed, warmup = 3*timed, 3*warmup
			}
			return benchrunner.CallsTimeout(c, timed+warmup)
		},
	}, nil
}

// OSU returns the kind of program osu.
func OSU() benchrunner.ProgramKind {
	return benchrunner.ProgramKind{
		Name: "osu", Keys: []string{"version", "warmup", "iterations"}, Launches: benchrunner.LaunchOSU, Files: "osu_*",
		New: func(path string, o benchrunner.ProgramOptions) (benchrunner.Program, error) {
			opt := OSUOptions{Dir: path, Version: o.Version, Iterations: o.Iterations}
			if o.Iterations > 0 { // if OSU chooses the number of iterations, it also chooses the warm-up
				opt.Warmup = o.Warmup
			}
			return NewOSU(opt)
		},
		Trial: benchrunner.ProgramOptions{Iterations: 10, Warmup: 1},
		Search: benchrunner.ProgramSearch{
			Title: "OSU", File: "osu_bcast", Home: "OSU_HOME",
			Folders: []string{"", "bin", "mpi/collective", "libexec/osu-micro-benchmarks/mpi/collective", "c/mpi/collective", "libexec/osu-micro-benchmarks/mpi/collective/blocking"},
			Install: "build them with this MPI's mpicc and export OSU_HOME=PREFIX",
		},
	}
}

// osuNamed lists the collectives whose title has the name of the MPI function.
var osuNamed = []coll.Collective{
	coll.Allgather, coll.Allgatherv, coll.Allreduce, coll.Barrier, coll.Gather, coll.Reduce, coll.ReduceScatter, coll.ReduceScatterBlock,
	coll.Scatter,
}

// osuTitle returns the title in the output of OSU's program for a collective, "" if there is no program.
func osuTitle(c coll.Collective) string {
	switch c {
	case coll.Ialltoall:
		return "Non-blocking All-to-All"
	case coll.Iallgather, coll.Iallreduce, coll.Ibcast, coll.Ireduce:
		return "Non-blocking " + osuTitle(c.Blocking())
	case coll.Alltoall:
		return "All-to-All Personalized Exchange"
	case coll.Alltoallv:
		return "All-to-Allv Personalized Exchange"
	case coll.Bcast:
		return "Broadcast"
	}
	return mpiName(c, osuNamed)
}

// doubles reports whether OSU measures case b directly after case a.
func doubles(a, b benchrunner.Case) bool {
	return ascending(a, b) && a.Collective.Sized() && b.MsgBytes == 2*a.MsgBytes
}

// calls returns the numbers of timed calls and of warm-up calls that OSU makes for a size.
func (o OSUOptions) calls(bytes int64) (timed, warmup int) {
	timed, warmup = 1000, 200
	if bytes > 8192 {
		timed, warmup = 100, 10
	}
	return cmp.Or(o.Iterations, timed), cmp.Or(o.Warmup, warmup)
}

func (o OSUOptions) command(s benchrunner.Launch, sizes []int64) benchrunner.Command {
	c := s.Cases[0].Collective
	dir := o.Dir
	if c.Nonblocking() && path.Base(dir) == "blocking" { // the folders of newer releases
		dir = path.Join(path.Dir(dir), "non_blocking")
	}
	args := []string{path.Join(dir, "osu_"+string(c)), "-f"}
	if o.Iterations > 0 {
		args = append(args, "-i", strconv.Itoa(o.Iterations))
	}
	if o.Warmup > 0 {
		args = append(args, "-x", strconv.Itoa(o.Warmup))
	}
	if c.Sized() {
		args = append(args, "-m", fmt.Sprintf("%d:%d", sizes[0], sizes[len(sizes)-1]))
	}
	if c.Reduces() && mpi.AtLeast(o.Version, typesSince...) {
		args = append(args, "-T", "mpi_float") // otherwise these releases reduce characters
	}
	return benchrunner.Command{Args: args}
}

func (o OSUOptions) size(c benchrunner.Case) (int64, error) {
	element := c.Collective.ElementBytes()
	switch {
	case osuTitle(c.Collective) == "":
		return 0, fmt.Errorf("OSU has no program for %s", c.Collective)
	case c.Ranks() < 2:
		return 0, errors.New("OSU measures two ranks or more")
	case !c.Collective.Sized():
	case c.MsgBytes < element:
		return 0, fmt.Errorf("OSU begins at %d bytes", element)
	case c.MsgBytes%element != 0:
		return 0, fmt.Errorf("OSU measures whole elements of %d bytes", element)
	case o.Version != "" && !mpi.AtLeast(o.Version, anySizeSince...) && c.MsgBytes&(c.MsgBytes-1) != 0:
		return 0, fmt.Errorf("OSU %s measures powers of two only", o.Version)
	}
	return c.MsgBytes, nil
}

const osuOneRank = "This test requires at least two processes"

// parse parses an output of OSU. If it has results of several datatypes, parse keeps those of the datatype that
// the command requests.
func (o OSUOptions) parse(s benchrunner.Launch, lines iter.Seq[string]) (listing, error) {
	l, err := parseOSU(lines)
	c, want := s.Cases[0].Collective, "MPI_CHAR"
	if c.Reduces() {
		want = "MPI_FLOAT"
	}
	if title := osuTitle(c); err == nil && l.title != "" && !strings.EqualFold(l.title, title) {
		err = fmt.Errorf("the program measured %q, want %q", l.title, title)
	}
	if len(l.sections) > 1 {
		l.sections = slices.DeleteFunc(l.sections, func(s section) bool { return s.name != want })
	}
	for _, section := range l.sections {
		for i := range section.rows {
			r := &section.rows[i]
			timed, warmup := o.calls(r.bytes)
			if r.warmup = warmup; r.overall > 0 { // of nonblocking collectives, OSU does not print the calls
				r.calls = timed
				r.min, r.max = cmp.Or(r.min, r.avg), cmp.Or(r.max, r.avg)
			}
		}
	}
	return l, err
}

// osuHeader matches the title of a program of OSU: its library, the kind of accelerator whose memory has the buffers, what
// it measures, and the release. Source: print_preamble of util/osu_util_mpi.c.
var osuHeader = lazyregexp.New(`# OSU ([A-Za-z]\w*)(?:-(CUDA MANAGED|\S+))? (.+?) Test(?: v(\S+))?\s*$`)

// osuTitleOf returns the title of a program from the match of its header, such as Broadcast for the latency of MPI's
// broadcast. The titles of other programs are longer.
func osuTitleOf(m []string) string {
	whole := strings.Join(strings.Fields(m[3]), " ")
	title, latency := strings.CutSuffix(whole, " Latency")
	switch {
	case m[1] != "MPI":
		return m[1] + " " + whole
	case !latency:
		return whole
	}
	return title
}

func parseOSU(lines iter.Seq[string]) (listing, error) {
	var l listing
	var columns []string
	for line := range lines {
		// OSU's warning about memory has no line end, so the title may follow in the same line.
		if m := osuHeader.FindStringSubmatch(line); m != nil {
			l.worlds++
			l.title, l.memory, l.release, columns = osuTitleOf(m), m[2], m[4], nil
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
			l.begin()
			if len(l.sections) == 0 {
				l.sections = append(l.sections, section{})
			}
		case columns != nil && likeNumber.MatchString(text):
			l.add(parseOSURow(columns, text))
		}
	}
	return l, nil
}

var osuColumnGap = lazyregexp.New(`\s{2,}`)

// osuColumns returns the names of the columns in a header line of OSU. Two or more spaces separate names. It
// returns an error for the output of other programs.
func osuColumns(text string) ([]string, error) {
	names := osuColumnGap.Split(strings.TrimSpace(strings.TrimPrefix(text, "#")), -1)
	if slices.Contains(names, "Avg Latency(us)") || slices.Contains(names, "Pure Comm.(us)") {
		return names, nil
	}
	return nil, fmt.Errorf("columns %q: want Avg Latency(us) or Pure Comm.(us) among them", strings.Join(names, ", "))
}

func parseOSURow(columns []string, text string) (row, error) {
	fields := strings.Fields(text)
	var r row
	err := parseFields(columns, fields, map[string]any{
		"Size": &r.bytes, "Avg Latency(us)": &r.avg, "Min Latency(us)": &r.min, "Max Latency(us)": &r.max,
		"Iterations": &r.calls, "Overall(us)": &r.overall, "Compute(us)": &r.compute,
		"Pure Comm.(us)": &r.avg, "Min Comm.(us)": &r.min, "Max Comm.(us)": &r.max,
	})
	if i := slices.Index(columns, "Validation"); err == nil && i >= 0 {
		r.wrong = fields[i] != "Pass"
	}
	if err == nil && slices.Contains(columns, "Transmit Size") {
		r.skipped = "the data are of a derived datatype (option -D)"
	}
	return r, err
}
