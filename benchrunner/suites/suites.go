// Package suites measures with the programs of benchmark suites: the OSU
// Micro-Benchmarks, the Intel MPI Benchmarks (IMB) and ReproMPI. Each is a
// benchrunner.Program: it says how the program is called and reads what it prints.
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
// latest rank. Releases from 7.3 also print the median over the calls of the
// mean over the ranks; a warning reports a mean of more than twice that median, because
// then few calls were much slower than the others.
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
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// mpiName returns the MPI name of a collective without MPI_, "" for one that the suite does not have (missing).
func mpiName(c coll.Collective, missing ...coll.Collective) string {
	if slices.Contains(missing, c) {
		return ""
	}
	return strings.ToUpper(string(c[:1])) + string(c[1:])
}

func sumAllowance(s benchrunner.Launch, timeOf func(benchrunner.Case) time.Duration) time.Duration {
	total := time.Duration(0)
	for _, c := range s.Cases {
		total += timeOf(c)
	}
	return max(benchrunner.MinAllowance, total)
}

// checkLaunch returns an error unless a program can measure the cases of a launch in their order. The function
// `check` returns an error for a case that the program cannot measure. The function `follows` reports whether
// the program can measure b directly after a.
func checkLaunch(program string, s benchrunner.Launch, check func(benchrunner.Case) error, follows func(a, b benchrunner.Case) bool) error {
	for i, c := range s.Cases {
		if err := check(c); err != nil {
			return fmt.Errorf("%s: %v: %w", program, c.Candidate, err)
		}
		if i > 0 && !follows(s.Cases[i-1], c) {
			return fmt.Errorf("%s: %v cannot follow %v in one launch", program, c.Candidate, s.Cases[i-1].Candidate)
		}
	}
	return nil
}

// checkWorld returns why all results of a launch are unusable, and the phase that failed. The text is empty if
// the results are usable. The parameters are the number of MPI worlds that printed a header, the number of
// ranks in the header (0 if there is none), and the error of the parser.
func checkWorld(s benchrunner.Launch, out benchrunner.Output, worlds, ranks int, err error) (phase, text string) {
	refusal, want := out.Refusal(), s.Layout.Ranks()
	switch {
	case refusal != "":
		return benchrunner.PhaseRun, refusal
	case err != nil:
		return benchrunner.PhaseParse, err.Error()
	case worlds == 0: // the program may not have started
		return "", ""
	case ranks == 1 && want > 1:
		return benchrunner.PhaseLaunch, severalWorlds(max(worlds, want), want)
	case worlds > 1:
		return benchrunner.PhaseLaunch, severalWorlds(worlds, want)
	case ranks != 0 && ranks != want:
		return benchrunner.PhaseLaunch, fmt.Sprintf("a world of %d ranks, want %d", ranks, want)
	}
	if misplaced := out.PlacementError(s.Layout); misplaced != "" {
		return benchrunner.PhaseLaunch, misplaced
	}
	return "", ""
}

func damagedLines(program string, lines []string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, fmt.Sprintf("%s: damaged line %q", program, line))
	}
	return out
}

func severalWorlds(worlds, want int) string {
	return fmt.Sprintf("%d worlds, want one of %d ranks: the launcher is not the library's", worlds, want)
}

// row is one row of results. Columns that the output does not have are zero.
type row struct {
	bytes         int64 // message size; zero for a barrier
	calls         int
	min, avg, max float64 // seconds: mean times of the ranks
	median        float64 // seconds: median over the calls of the mean over the ranks
	wrong         bool    // the check of the data failed
	skipped       string  // reason for which the suite did not measure the size
}

// section holds the rows of one benchmark of IMB, or of one datatype of OSU.
type section struct {
	name  string // such as Bcast or MPI_CHAR; empty with OSU before 7.1
	ranks int    // IMB only
	rows  []row
}

// listing is the output of OSU or IMB.
type listing struct {
	title    string // of an OSU program, such as Broadcast
	release  string // such as 7.4 or 2021.11
	worlds   int    // number of titles, at least 1 with a section; each MPI world prints one
	sections []section
	damaged  []string // lines that look like rows but cannot be read
}

// add appends the row in a line to the last section. The parameter `valid` is false if the row cannot be read.
func (l *listing) add(line string, r row, valid bool) {
	if !valid {
		l.damaged = append(l.damaged, line)
		return
	}
	last := &l.sections[len(l.sections)-1]
	last.rows = append(last.rows, r)
}

// outcomeOf returns the outcome for a message size. It returns false if the rows do not contain this size. The
// function `done` returns the outcome of a valid row.
func outcomeOf(suite string, rows []row, size int64, done func(row) benchrunner.Outcome) (benchrunner.Outcome, bool) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.bytes != size })
	if len(rows) != 1 {
		return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("%s printed %d lines for the size", suite, len(rows))), len(rows) > 1
	}
	if phase, text := rows[0].fault(suite); text != "" {
		return benchrunner.Failed(phase, text), true
	}
	return done(rows[0]), true
}

// fault returns why the result in a row is invalid, and the phase that failed. text is empty for a valid
// row. If the minimum, mean and maximum are in a wrong order, the columns probably have another order.
func (r row) fault(suite string) (phase, text string) {
	switch {
	case r.skipped != "":
		return benchrunner.PhaseRun, suite + " left the size out: " + r.skipped
	case r.wrong:
		return benchrunner.PhaseRun, suite + " found wrong data in the result"
	case r.max == 0 && r.calls == 0:
		return benchrunner.PhaseParse, "not the full listing: option -f had no effect"
	case !(r.max > 0):
		return benchrunner.PhaseParse, suite + " printed a time of 0.00 us"
	case r.min > r.avg || r.avg > r.max:
		return benchrunner.PhaseParse, fmt.Sprintf("times %.4g ≤ %.4g ≤ %.4g us do not hold", r.min*1e6, r.avg*1e6, r.max*1e6)
	}
	return "", ""
}

// parseFields parses the fields of a row into variables. The map has the variable for each column name. A
// variable of type *float64 gets a time in seconds. The result is false if the number of fields is wrong or a
// field is not a number.
func parseFields(columns, fields []string, variables map[string]any) bool {
	if len(fields) != len(columns) {
		return false
	}
	for i, name := range columns {
		var err error
		switch v := variables[name].(type) {
		case *int64:
			*v, err = strconv.ParseInt(fields[i], 10, 64)
		case *int:
			*v, err = strconv.Atoi(fields[i])
		case *float64:
			*v, err = parseMicros(fields[i])
		}
		if err != nil {
			return false
		}
	}
	return true
}

// decimal matches a time as the suites print it. The decimal separator may be a comma, depending on the
// locale.
var decimal = regexp.MustCompile(`^[0-9]+([.,][0-9]+)?$`)

func parseMicros(text string) (float64, error) {
	if !decimal.MatchString(text) {
		return 0, fmt.Errorf("%q: want a time in microseconds", text)
	}
	us, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	return us * 1e-6, err
}

func beginsWithDigit(text string) bool { return text != "" && text[0] >= '0' && text[0] <= '9' }
