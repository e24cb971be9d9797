package suites

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// ReproMPI is the program mpibenchmark of ReproMPI. It implements benchrunner.Program.
type ReproMPI struct {
	Path        string // absolute path of mpibenchmark on the nodes
	Repetitions int    // timed calls of each size; 100 when zero
}

func (p *ReproMPI) repetitions() int { return cmp.Or(p.Repetitions, 100) }

// Name returns reprompi.
func (*ReproMPI) Name() string { return "reprompi" }

func reproName(c coll.Collective) string {
	if name := mpiName(c, coll.Allgatherv, coll.Alltoallv); name != "" {
		return "MPI_" + name
	}
	return ""
}

// Group implements benchrunner.Program. A group contains all sizes of one collective and algorithm. A
// duplicate case gets its own launch.
func (*ReproMPI) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return benchrunner.Sweeps(cases, benchrunner.Ascending)
}

// Allowance implements benchrunner.Program.
func (p *ReproMPI) Allowance(s benchrunner.Launch) time.Duration {
	return sumAllowance(s, func(c benchrunner.Case) time.Duration { return benchrunner.CallsTimeout(c, p.repetitions()) })
}

// Command implements benchrunner.Program. The cases must be one of the groups that Group returns.
func (p *ReproMPI) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	check := func(c benchrunner.Case) error { _, err := reproSize(c); return err }
	if err := checkLaunch("reprompi", s, check, benchrunner.Ascending); err != nil {
		return benchrunner.Command{}, err
	}
	first := s.Cases[0]
	sizes := make([]string, len(s.Cases))
	for i, c := range s.Cases {
		size, _ := reproSize(c)
		sizes[i] = strconv.FormatInt(size, 10)
	}
	args := []string{p.Path, "--calls-list=" + reproName(first.Collective), "--msizes-list=" + strings.Join(sizes, ","),
		"--nrep=" + strconv.Itoa(p.repetitions())}
	if first.Collective.Reduces() {
		args = append(args, "--datatype=MPI_FLOAT", "--operation=MPI_SUM")
	}
	return benchrunner.ReportHosts(s.Dir, benchrunner.Command{Args: args, Env: first.Env}), nil
}

// reproSize returns the size of a case in ReproMPI's terms. An error says why ReproMPI cannot measure it.
func reproSize(c benchrunner.Case) (int64, error) {
	element, size := c.Collective.ElementBytes(), c.MsgBytes
	switch {
	case reproName(c.Collective) == "":
		return 0, fmt.Errorf("ReproMPI has no call for %s", c.Collective)
	case !c.Collective.Sized():
		return 1, nil // the list of sizes must not be empty
	case c.Collective == coll.ReduceScatter || c.Collective == coll.ReduceScatterBlock:
		if size%int64(c.Ranks()) != 0 {
			return 0, fmt.Errorf("ReproMPI measures equal parts: %d bytes for %d ranks", size, c.Ranks())
		}
		size /= int64(c.Ranks())
	}
	switch {
	case size < element:
		return 0, fmt.Errorf("ReproMPI begins at %d bytes", element)
	case size%element != 0:
		return 0, fmt.Errorf("ReproMPI measures whole elements of %d bytes", element)
	}
	return size, nil
}

// Read implements benchrunner.Program. It reads ReproMPI's raw format.
func (p *ReproMPI) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	l, err := parseReproMPI(out.Lines())
	if phase, text := checkWorld(s, out, l.worlds, l.ranks, err); text != "" {
		return benchrunner.Reading{Outcomes: benchrunner.FailedAll(s, phase, text)}
	}
	var reading benchrunner.Reading
	reading.Outcomes = benchrunner.Outcomes(s, out, l.columns, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		r := l.find(c)
		if r == nil {
			return benchrunner.Outcome{}, false
		}
		cut := !out.Ended || out.TimedOut || out.Exit != 0
		if cut && len(r.seconds) > 0 && len(r.seconds)+r.invalid < p.repetitions() {
			return benchrunner.Outcome{}, false // the output ends among the calls of the case
		}
		if len(r.seconds) == 0 {
			return benchrunner.Failed(benchrunner.PhaseRun, fmt.Sprintf("all %d calls were not synchronised", r.invalid)), true
		}
		o := medianOutcome(r.seconds)
		reading.MeasureSeconds += o.CostSeconds
		if o.State == benchrunner.OutcomeDone && r.invalid > 0 {
			reading.Warnings = append(reading.Warnings, fmt.Sprintf("%v: %d of %d calls were not synchronised", c.Candidate, r.invalid, r.invalid+o.Samples))
		}
		return o, true
	})
	reading.Warnings = append(reading.Warnings, damagedLines("reprompi", l.damaged)...)
	return reading
}

func (l *reproListing) find(c benchrunner.Case) *reproResult {
	want, err := reproSize(c)
	if err != nil {
		return nil
	}
	for k, r := range l.results {
		if k.call == reproName(c.Collective) && (!c.Collective.Sized() || l.bytes(k.count) == want) {
			return r
		}
	}
	return nil
}

// reproKey identifies a result: by ReproMPI's name of the collective and by the value in the column
// "count".
type reproKey struct {
	call  string
	count int64
}

type reproResult struct {
	seconds []float64 // time of each valid call on the rank that took longest
	invalid int       // number of calls that the synchronisation found invalid
}

// reproListing is the parsed output of ReproMPI. typeBytes is the factor that converts counts to bytes.
type reproListing struct {
	worlds    int // number of lines "nprocs", at least 1 with a header; each MPI world prints one
	ranks     int
	typeBytes int64
	inBytes   bool // the column of sizes contains bytes instead of counts
	columns   bool // the output has a header of results
	results   map[reproKey]*reproResult
	damaged   []string // lines that look like rows but cannot be read
}

// maxDamaged is the largest number of damaged lines that are kept. A raw output can have very many lines.
const maxDamaged = 10

// parseReproMPI parses the output of ReproMPI: lines "#@key=value", a header, and rows whose columns are
// separated by white space.
func parseReproMPI(lines []string) (reproListing, error) {
	l := reproListing{typeBytes: 1, results: map[reproKey]*reproResult{}}
	var columns []string
	for _, line := range lines {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case strings.HasPrefix(line, "#@"):
			if err := l.setting(strings.TrimPrefix(line, "#@")); err != nil {
				return reproListing{}, err
			}
		case strings.HasPrefix(line, "#"):
		case slices.Contains(fields, "test") && (slices.Contains(fields, "count") || slices.Contains(fields, "msize_bytes")):
			if !slices.Contains(fields, "runtime_sec") {
				return reproListing{}, fmt.Errorf("columns %s: want runtime_sec among them, as mpibenchmark prints without --verbose and --summary", strings.Join(fields, ", "))
			}
			columns = fields
			l.worlds = max(l.worlds, 1) // even without "nprocs"
			l.columns, l.inBytes = true, slices.Contains(fields, "msize_bytes")
		case columns != nil && hasCallName(fields):
			if !l.row(columns, fields) && len(l.damaged) < maxDamaged {
				l.damaged = append(l.damaged, line)
			}
		}
	}
	return l, nil
}

func hasCallName(fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, "MPI_") })
}

func (l *reproListing) setting(text string) error {
	name, value, _ := strings.Cut(strings.TrimSpace(text), "=")
	switch name {
	case "nprocs":
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("@nprocs=%s: want a number", value)
		}
		l.worlds++
		l.ranks = n
	case "datatype_size_bytes":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 || n > 1<<20 {
			return fmt.Errorf("@datatype_size_bytes=%s: want a number", value)
		}
		l.typeBytes = n
	}
	return nil
}

func (l *reproListing) bytes(count int64) int64 {
	if l.inBytes {
		return count
	}
	return count * l.typeBytes
}

func (l *reproListing) row(columns, fields []string) bool {
	if len(fields) != len(columns) {
		return false
	}
	var k reproKey
	var seconds, errorCode float64
	for i, name := range columns {
		var err error
		switch name {
		case "test":
			k.call = fields[i]
		case "count", "msize_bytes":
			k.count, err = strconv.ParseInt(fields[i], 10, 64)
		case "runtime_sec":
			seconds, err = strconv.ParseFloat(strings.Replace(fields[i], ",", ".", 1), 64) // the user's locale may use a comma
		case "errorcode":
			errorCode, err = strconv.ParseFloat(fields[i], 64)
		}
		if err != nil {
			return false
		}
	}
	if math.IsInf(seconds, 0) || !(seconds >= 0) {
		return false
	}
	r := l.results[k]
	if r == nil {
		r = &reproResult{}
		l.results[k] = r
	}
	if errorCode != 0 {
		r.invalid++
	} else {
		r.seconds = append(r.seconds, seconds)
	}
	return true
}
