// Package suites measures with the programs of benchmark suites: the OSU
// Micro-Benchmarks, the Intel MPI Benchmarks (IMB) and ReproMPI, or with a program of the user.
//
//	program, err := suites.NewOSU(suites.OSUOptions{Dir: "/opt/osu/mpi/collective", Version: "7.4"})
//	if err != nil {
//		return err
//	}
//	groups := program.Group(cases)
//
// # OSU Micro-Benchmarks, 5.x to 7.x
//
// One launch measures one collective and algorithm at message sizes of which each is twice the one
// before. The programs measure no other sizes. A time is the column Max Latency of the full listing: the
// mean over all timed calls of the rank whose mean is largest. OSU prints no median of the
// latest rank.
//
// OSU times each rank from its own entry into a call to its own return. A barrier separates
// the calls and is not timed. There is no confidence interval. CostSeconds counts timed and
// warm-up calls at the measured mean.
//
// OSU does not print the number of ranks. A world of one rank refuses to run, and several
// worlds print several headers. Each rank reports its host before it becomes the program;
// see benchrunner.ReportHosts.
//
// # Intel MPI Benchmarks, 2018 and newer
//
// One launch serves one collective and algorithm over any message sizes. Seconds is t_max:
// the mean over all repetitions of the rank whose mean is largest. There is no median and
// no interval. IMB prints minimum, maximum and average in this order, unlike other
// programs. It lowers the repetitions of large messages; Samples is the actual number.
// CostSeconds counts the repetitions at the measured mean.
//
// # ReproMPI 1.0.1 and its development version
//
// One launch of mpibenchmark serves one collective and algorithm over any message sizes.
// ReproMPI prints the time of every call of the rank that took longest. Seconds is the
// median; Low and High bound the median with 95 % confidence by order statistics. Calls
// that the window synchronisation found invalid are left out. There is no warm-up; the median ignores slow
// first calls. CostSeconds is the sum of the times of the calls, without their
// synchronisation. ReproMPI counts the bytes of reduce_scatter and reduce_scatter_block for
// each rank, tutti counts the whole vector.
//
// In all of them reductions sum MPI_FLOAT, and other collectives move MPI_BYTE or MPI_CHAR.
package suites

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lazyregexp"
	"tutti/metrics"
)

// Program is a benchmark suite, or a timing program of the user. It implements benchrunner.Program.
type Program struct {
	name    string // such as osu
	printed string // the name in messages about the output, such as OSU

	// follows reports whether one launch can measure case b directly after case a.
	follows func(a, b benchrunner.Case) bool
	// size returns the message size of a case as the program counts it, or why the program cannot measure it.
	size func(benchrunner.Case) (int64, error)
	// allowance returns how long the program may take for a case.
	allowance func(benchrunner.Case) time.Duration
	// command returns the command for one run of the program, which measures consecutive cases.
	// `sizes` has their message sizes.
	command func(s benchrunner.Launch, sizes []int64) benchrunner.Command
	// parse reads what the program printed in a launch.
	parse func(s benchrunner.Launch, lines iter.Seq[string]) (listing, error)
	// samples is the number of single times that a complete output has for a case; 0 if it has only averages.
	samples int
	// everyRank says that each rank may print the times of its calls.
	everyRank bool
}

var _ benchrunner.Program = (*Program)(nil)

// Name returns osu, imb, reprompi or own.
func (p *Program) Name() string { return p.name }

// Group puts cases into one launch if they have the same collective and algorithm, and if the program can
// measure their sizes one after another. A duplicate case gets its own launch.
func (p *Program) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	sorted := slices.Clone(cases)
	slices.SortStableFunc(sorted, func(a, b benchrunner.Case) int {
		pa, pb := a.Candidate, b.Candidate
		pa.MsgBytes, pb.MsgBytes = 0, 0
		return cmp.Or(coll.CompareCandidates(pa, pb), cmp.Compare(a.MsgBytes, b.MsgBytes))
	})
	var groups [][]benchrunner.Case
	for _, c := range sorted {
		if n := len(groups); n > 0 && p.follows(groups[n-1][len(groups[n-1])-1], c) {
			groups[n-1] = append(groups[n-1], c)
			continue
		}
		groups = append(groups, []benchrunner.Case{c})
	}
	return groups
}

// ascending reports whether cases a and b have the same collective, layout and algorithm, and b has the larger
// message size.
func ascending(a, b benchrunner.Case) bool {
	return a.WithSize(0) == b.WithSize(0) && a.Algorithm == b.Algorithm && a.MsgBytes < b.MsgBytes
}

// Allowance implements benchrunner.Program. It returns the sum over the cases of the launch, but at least
// MinAllowance.
func (p *Program) Allowance(s benchrunner.Launch) time.Duration {
	total := time.Duration(0)
	for _, c := range s.Cases {
		total += p.allowance(c)
	}
	return max(benchrunner.MinAllowance, total)
}

// Command implements benchrunner.Program. The cases must be one of the groups that Group returns.
func (p *Program) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	sizes := make([]int64, len(s.Cases))
	for i, c := range s.Cases {
		var err error
		if sizes[i], err = p.size(c); err != nil {
			return benchrunner.Command{}, fmt.Errorf("%s: %v: %w", p.name, c.Candidate, err)
		}
		if i > 0 && !p.follows(s.Cases[i-1], c) {
			return benchrunner.Command{}, fmt.Errorf("%s: %v cannot follow %v in one launch", p.name, c.Candidate, s.Cases[i-1].Candidate)
		}
	}
	cmd := p.command(s, sizes)
	cmd.Env = s.Cases[0].Env
	return benchrunner.ReportHosts(s.Dir, cmd), nil
}

// Read implements benchrunner.Program. It returns one outcome for each case.
func (p *Program) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	l, err := p.parse(s, out.Lines())
	reading := benchrunner.Reading{Release: l.release}
	if phase, text := l.fault(s, out, err); text != "" {
		reading.Outcomes = benchrunner.FailedAll(s, phase, text)
		return reading
	}
	stopped := !out.Ended || out.TimedOut || out.Exit != 0
	reading.Outcomes = benchrunner.Outcomes(s, out, l.begun, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		size, _ := p.size(c)
		rows := l.rows(s, func(r row) bool { return !c.Collective.Sized() || r.bytes == size })
		incomplete := len(rows) > 0 && 0 < len(rows[0].samples) && len(rows[0].samples)+rows[0].invalid < p.samples
		switch {
		case len(rows) == 0 || incomplete && stopped:
			return benchrunner.Outcome{}, false
		case incomplete && out.StdoutCut:
			return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("%s printed so much that times of calls may be missing", p.printed)), true
		case len(rows) > 1:
			return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("%s printed %d lines for the size", p.printed, len(rows))), true
		}
		o := p.outcome(s, out, rows[0], &reading)
		if o.State == benchrunner.OutcomeDone && !c.Algorithm.IsDefault() {
			o.Evidence = coll.NotObserved
		}
		return o, true
	})
	return reading
}

// outcome returns the outcome of a case from its row. It adds the times to the reading.
func (p *Program) outcome(s benchrunner.Launch, out benchrunner.Output, r row, reading *benchrunner.Reading) benchrunner.Outcome {
	if phase, text := r.fault(p.printed); text != "" {
		return benchrunner.Failed(phase, text)
	}
	o := benchrunner.Outcome{
		State: benchrunner.OutcomeDone, Seconds: r.max, Samples: r.calls, Overall: r.overallOf(r.max), CostSeconds: (r.max + r.overall) * float64(r.calls),
	}
	if len(r.samples) > 0 {
		median, interval, err := metrics.MedianInterval(r.samples, medianConfidence)
		if err != nil {
			return benchrunner.Failed(benchrunner.PhaseParse, err.Error())
		}
		o.Seconds, o.Low, o.High, o.Samples, o.CostSeconds = median, interval.Low, interval.High, len(r.samples), floats.Sum(r.samples)
	}
	spent := o.CostSeconds
	if p.everyRank {
		spent /= float64(s.Layout.Ranks())
	}
	if err := errors.Join(coll.CheckCall(o.Seconds), coll.CheckCall(max(spent, coll.ShortestCall)), out.Fits(reading.MeasureSeconds+spent)); err != nil {
		return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("%d calls of %.3g s: %v", o.Samples, o.Seconds, err))
	}
	warmup := r.max * float64(r.warmup)
	reading.MeasureSeconds += spent
	reading.WarmupSeconds += warmup
	o.CostSeconds += warmup
	return o
}

const medianConfidence = 0.95

// mpiName returns the MPI name of a collective without MPI_. It returns "" if the collective is not among those that a
// suite has.
func mpiName(c coll.Collective, has []coll.Collective) string {
	if !slices.Contains(has, c) {
		return ""
	}
	return strings.ToUpper(string(c[:1])) + string(c[1:])
}

// row holds the results for one message size. Columns that the output does not have are zero.
type row struct {
	bytes         int64 // message size as the program counts it; zero for a barrier
	calls, warmup int
	min, avg, max float64   // seconds: mean times of the ranks
	overall       float64   // seconds: a nonblocking call with computation; 0 for other calls
	compute       float64   // seconds of that computation
	samples       []float64 // seconds: time of each valid call on the rank that took longest
	invalid       int       // number of calls that the synchronisation found invalid
	wrong         bool      // the check of the data failed
	skipped       string    // reason for which the suite did not measure the size, or measured something else
	bad           string    // a number that could not be read, and why; empty if all could
}

// overallOf returns the time of a nonblocking call with computation of the same length, as coll.Measurement.Overall, if the
// call takes `seconds` alone. It is 0 for other calls. The computation of the suite may be longer than the call.
func (r row) overallOf(seconds float64) float64 {
	if r.overall == 0 {
		return 0
	}
	return seconds * (1 + max(0, r.overall-r.compute)/r.avg)
}

// section holds the rows of one benchmark of IMB or ReproMPI, or of one datatype of OSU.
type section struct {
	name  string // such as Bcast, MPI_Bcast or MPI_CHAR; empty with OSU before 7.1
	ranks int    // size of the MPI world; 0 if the output does not have it
	part  bool   // the benchmark ran on a part of the world
	multi bool   // several groups of ranks measured at the same time
	rows  []row
}

// listing is a parsed output.
type listing struct {
	title    string // of an OSU program, such as Broadcast
	release  string // such as 7.4 or 2021.11
	memory   string // kind of accelerator whose memory has the buffers, such as CUDA; empty: the host's
	begun    bool   // the program has begun to measure
	worlds   int    // number of titles, at least 1 if the program has begun; each MPI world prints one
	sections []section
	unread   []string // why lines of tables are no rows, one for each line
}

// begin notes that the program has begun to measure. It counts one MPI world if the output has no known title.
func (l *listing) begin() { l.begun, l.worlds = true, max(l.worlds, 1) }

// add appends a row to the last section, even if some of its numbers could not be read. It notes a line that is no
// row, as the error says.
func (l *listing) add(r row, err error) {
	if errors.Is(err, errFields) {
		l.unread = append(l.unread, err.Error())
		return
	}
	if err != nil {
		r.bad = err.Error()
	}
	last := &l.sections[len(l.sections)-1]
	last.rows = append(last.rows, r)
}

// rows returns those rows that `wanted` chooses, of the sections whose MPI world has as many ranks as the launch, or an
// unknown number of ranks. If any of them could be read, the others are left out, since they may be other text.
func (l listing) rows(s benchrunner.Launch, wanted func(row) bool) []row {
	var good, bad []row
	for _, section := range l.sections {
		if section.ranks != 0 && section.ranks != s.Layout.Ranks() {
			continue
		}
		for _, r := range section.rows {
			switch {
			case !wanted(r):
			case r.bad == "":
				good = append(good, r)
			default:
				bad = append(bad, r)
			}
		}
	}
	if len(good) > 0 {
		return good
	}
	return bad[:min(len(bad), 1)]
}

// fault returns why all results of a launch are unusable, and the phase that failed. The text is empty if the
// results are usable. `err` is the error of the parser.
func (l listing) fault(s benchrunner.Launch, out benchrunner.Output, err error) (phase, text string) {
	refusal, want, ranks := out.Refusal(), s.Layout.Ranks(), 0
	if len(l.sections) > 0 && len(l.rows(s, func(row) bool { return true })) == 0 {
		ranks = l.sections[0].ranks
	}
	several := func(worlds string) (phase, text string) {
		return benchrunner.PhaseLaunch, fmt.Sprintf("%s, want one of %d ranks: the launcher is not the library's", worlds, want)
	}
	switch {
	case refusal != "":
		return benchrunner.PhaseRun, refusal
	case bytes.Contains(out.Stderr, []byte(osuOneRank)) || bytes.Contains(out.Stdout, []byte(osuOneRank)):
		return several("worlds of one rank")
	case err != nil:
		return benchrunner.PhaseParse, err.Error()
	case l.worlds == 0: // the program may not have started
		return "", ""
	case ranks == 1 && want > 1:
		return several(fmt.Sprintf("%d worlds", max(l.worlds, want)))
	case l.worlds > 1:
		return several(fmt.Sprintf("%d worlds", l.worlds))
	case ranks != 0 && ranks != want:
		return benchrunner.PhaseLaunch, fmt.Sprintf("a world of %d ranks, want %d", ranks, want)
	}
	if misplaced := out.PlacementError(s.Layout); misplaced != "" {
		return benchrunner.PhaseLaunch, misplaced
	}
	return "", ""
}

// fault returns why the result in a row is invalid, and the phase that failed. The result `text` is empty for a
// valid row. If the minimum, mean and maximum are in a wrong order, the columns probably have another order.
func (r row) fault(printed string) (phase, text string) {
	switch {
	case r.skipped != "":
		return benchrunner.PhaseRun, printed + " left the size out: " + r.skipped
	case r.wrong:
		return benchrunner.PhaseRun, printed + " found wrong data in the result"
	case r.bad != "":
		return benchrunner.PhaseParse, printed + " printed " + r.bad
	case len(r.samples) > 0:
		return "", ""
	case r.invalid > 0:
		return benchrunner.PhaseRun, fmt.Sprintf("all %d calls were not synchronised", r.invalid)
	case r.max == 0 && r.calls == 0:
		return benchrunner.PhaseParse, "not the full listing: option -f had no effect"
	case !(r.max > 0):
		return benchrunner.PhaseParse, printed + " printed a time of 0.00 us"
	case r.calls < 1:
		return benchrunner.PhaseParse, fmt.Sprintf("%s counted %d calls", printed, r.calls)
	case r.min > r.avg || r.avg > r.max:
		return benchrunner.PhaseParse, fmt.Sprintf("times %.4g ≤ %.4g ≤ %.4g us do not hold", r.min*1e6, r.avg*1e6, r.max*1e6)
	}
	return "", ""
}

// errFields reports that a line has another number of fields than a row. It is probably no row.
var errFields = errors.New("a row without the columns of its header")

// parseFields parses the fields of a row. The map `variables` has, for the name of each column, the variable that
// gets the value. A variable of type *float64 gets a time in seconds. The error says which field is no number. It is
// errFields if the number of fields is wrong.
func parseFields(columns, fields []string, variables map[string]any) error {
	if len(fields) != len(columns) {
		return errFields
	}
	var faults []error
	var texts []string
	var times []*float64
	for i, name := range columns {
		var err error
		switch v := variables[name].(type) {
		case *int64:
			if *v, err = strconv.ParseInt(fields[i], 10, 64); err == nil && *v < 0 {
				err = errors.New("below 0")
			}
		case *int:
			*v, err = strconv.Atoi(fields[i])
		case *float64:
			texts, times = append(texts, fields[i]), append(times, v)
			if !plain.MatchString(fields[i]) {
				err = errors.New("no decimal number")
			}
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %.40q: want a decimal number", name, fields[i]))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	micros, err := coll.ParseNumbers(texts...)
	for i, us := range micros {
		*times[i] = us * 1e-6
	}
	return err
}

// plain matches the characters of a time as OSU and IMB print it. The decimal separator may be a comma, depending on
// the locale.
var plain = lazyregexp.New(`^[0-9.,]+$`)

// likeNumber matches a text that begins with a number, or with something that looks like one.
var likeNumber = lazyregexp.New(`(?i)^[-+]?([0-9.]|nan|inf)`)
