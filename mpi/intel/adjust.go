package intel

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tutti/coll"
)

// errSyntax reports a value that Intel MPI would not take.
var errSyntax = errors.New("not a value of I_MPI_ADJUST")

// variable returns the variable of a collective.
func variable(c coll.Collective) string { return "I_MPI_ADJUST_" + strings.ToUpper(string(c)) }

// rule takes an algorithm for messages and communicators in a range, bounds
// included.
type rule struct {
	Algorithm           int // 0 leaves the decision to the library
	LowBytes, HighBytes int64
	LowRanks, HighRanks int
}

// rules is the value of one variable; the first rule that holds decides.
type rules []rule

// find returns the algorithm for a communicator and a measure of message size, 0 where
// the library decides.
func (r rules) find(ranks int, size int64) int {
	for _, x := range r {
		if size >= x.LowBytes && size <= x.HighBytes && ranks >= x.LowRanks && ranks <= x.HighRanks {
			return x.Algorithm
		}
	}
	return 0
}

// String is the value of the variable: rules with one algorithm stand together, in
// the order in which algorithms appear.
func (r rules) String() string {
	var order []int
	conditions := map[int][]string{}
	for _, x := range r {
		if conditions[x.Algorithm] == nil {
			order = append(order, x.Algorithm)
		}
		conditions[x.Algorithm] = append(conditions[x.Algorithm],
			fmt.Sprintf("%d-%d@%d-%d", x.LowBytes, x.HighBytes, x.LowRanks, x.HighRanks))
	}
	var parts []string
	for _, id := range order {
		parts = append(parts, strconv.Itoa(id)+":"+strings.Join(conditions[id], ","))
	}
	return strings.Join(parts, ";")
}

// parse reads the value of a variable. A range may be a single number, and what is
// left out holds for all. The error matches errSyntax.
func parse(value string) (rules, error) {
	var out rules
	for _, part := range strings.Split(value, ";") {
		number, conditions, given := strings.Cut(part, ":")
		id, err := parseNumber(number, math.MaxInt32)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: algorithm: %w", errSyntax, value, err)
		}
		if !given {
			out = append(out, rule{Algorithm: int(id), HighBytes: math.MaxInt64, HighRanks: math.MaxInt32})
			continue
		}
		for _, text := range strings.Split(conditions, ",") {
			x, err := parseCondition(text)
			if err != nil {
				return nil, fmt.Errorf("%w: %q: %w", errSyntax, value, err)
			}
			x.Algorithm = int(id)
			out = append(out, x)
		}
	}
	return out, nil
}

func parseCondition(text string) (rule, error) {
	x := rule{HighRanks: math.MaxInt32}
	sizes, ranks, given := strings.Cut(text, "@")
	var err error
	if x.LowBytes, x.HighBytes, err = parseRange(sizes, math.MaxInt64); err != nil {
		return x, fmt.Errorf("message size: %w", err)
	}
	if given {
		low, high, err := parseRange(ranks, math.MaxInt32)
		if err != nil {
			return x, fmt.Errorf("ranks: %w", err)
		}
		x.LowRanks, x.HighRanks = int(low), int(high)
	}
	return x, nil
}

func parseRange(text string, limit int64) (low, high int64, err error) {
	first, last, given := strings.Cut(text, "-")
	if low, err = parseNumber(first, limit); err != nil || !given {
		return low, low, err
	}
	if high, err = parseNumber(last, limit); err == nil && high < low {
		err = fmt.Errorf("%s: want an ascending range", text)
	}
	return low, high, err
}

func parseNumber(text string, limit int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > limit || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("%q: want a number of 0 to %d", text, limit)
	}
	return n, nil
}

// sized reports whether the library knows a message size for the collective.
func sized(c coll.Collective) bool { return c.Sized() && c != coll.Alltoallv }

// Size implements mpi.Library.
func (library) Size(p coll.Point) int64 { return size(p) }

// size is the measure of message size that the conditions compare: bytes of the
// buffer for bcast, reductions and scans, bytes of one rank for allgather, gather
// and scatter, bytes to one rank for alltoall, bytes of all ranks for
// allgatherv and reduce_scatter. It is 0 for barrier and
// alltoallv, which have none. Sizes are C ints: larger ones measure as the largest.
//
// Source: table of message sizes in the chapter of the Developer Reference.
func size(p coll.Point) int64 {
	if !sized(p.Collective) {
		return 0
	}
	bytes := p.Count() * p.Collective.ElementBytes()
	if p.Collective == coll.Allgatherv { // of a reduce_scatter, MsgBytes is all of it
		bytes *= int64(p.Ranks())
	}
	return min(bytes, math.MaxInt32)
}
