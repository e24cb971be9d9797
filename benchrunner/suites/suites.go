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
// One launch serves one collective and algorithm over message sizes that double, which is
// all the programs can sweep. Seconds is the column Max Latency of the full listing: the
// mean over all timed calls of the rank whose mean is largest. OSU prints no median of the
// latest rank. With Tail, releases from 7.3 also print the median over the calls of the
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
// # Intel MPI Benchmarks, 2019 and newer
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
// median; Low and High bound the median with 95 % confidence by order statistics. With
// Summary it prints only its own medians, without an interval. Calls that the window
// synchronisation found invalid are left out. There is no warm-up; the median ignores slow
// first calls. CostSeconds is the sum of the times of the calls, without their
// synchronisation. ReproMPI counts the bytes of reduce_scatter and reduce_scatter_block for
// each rank, tutti counts the whole vector.
//
// In all of them reductions sum MPI_FLOAT, and other collectives move MPI_BYTE or MPI_CHAR.
package suites

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"tutti/benchrunner"
)

// checkLaunch returns an error unless a program can measure the cases of a launch in their
// order: check accepts each case, and follows accepts each pair of neighbours.
func checkLaunch(program string, s benchrunner.Launch, check func(benchrunner.Case) error, follows func(a, b benchrunner.Case) bool) error {
	if len(s.Cases) == 0 {
		return fmt.Errorf("%s: launch without a case", program)
	}
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

// severalWorlds is the error of a program that started as several parallel programs.
func severalWorlds(worlds, want int) string {
	return fmt.Sprintf("%d worlds, want one of %d ranks: the launcher is not the library's", worlds, want)
}

// damagedLines returns a warning for each damaged line.
func damagedLines(program string, lines []string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, fmt.Sprintf("%s: damaged line %q", program, line))
	}
	return out
}

// checkOrder returns why three times in seconds cannot be a minimum, mean and maximum, ""
// if they can. It detects listings whose columns are in another order.
func checkOrder(low, mean, high float64) string {
	if low <= mean && mean <= high {
		return ""
	}
	return fmt.Sprintf("times %.4g ≤ %.4g ≤ %.4g us do not hold", low*1e6, mean*1e6, high*1e6)
}

// decimal is a time as the suites print it. The user's locale may use a comma.
var decimal = regexp.MustCompile(`^[0-9]+([.,][0-9]+)?$`)

// parseMicros reads a time in microseconds and returns seconds.
func parseMicros(text string) (float64, error) {
	if !decimal.MatchString(text) {
		return 0, fmt.Errorf("%q: want a time in microseconds", text)
	}
	us, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	return us * 1e-6, err
}

// beginsWithDigit reports whether a line may be a row of results.
func beginsWithDigit(text string) bool { return text != "" && text[0] >= '0' && text[0] <= '9' }
