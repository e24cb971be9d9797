package mvapich

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tutti/coll"
)

// errSyntax reports a value that MVAPICH2 would not take, or not as it looks.
var errSyntax = errors.New("not a value of an MVAPICH2 tuning variable")

// maxRanges is the length of the library's table, which it does not check.
const maxRanges = 32

// variables are those that choose an algorithm by themselves.
var variables = map[coll.Collective]string{
	coll.Allgather:     "MV2_INTER_ALLGATHER_TUNING",
	coll.Allgatherv:    "MV2_INTER_ALLGATHERV_TUNING",
	coll.Allreduce:     "MV2_INTER_ALLREDUCE_TUNING",
	coll.Alltoall:      "MV2_ALLTOALL_TUNING",
	coll.Bcast:         "MV2_INTER_BCAST_TUNING",
	coll.Reduce:        "MV2_INTER_REDUCE_TUNING",
	coll.ReduceScatter: "MV2_INTER_RED_SCAT_TUNING",
	coll.Scatter:       "MV2_INTER_SCATTER_TUNING",
}

// variable returns the variable of a collective, and whether there is one.
func variable(c coll.Collective) (string, bool) {
	name, ok := variables[c]
	return name, ok
}

// sizeRange takes an algorithm for messages of up to UpTo bytes, above those of the
// range before. The last one holds for all that are larger.
type sizeRange struct {
	Algorithm int
	UpTo      int64
}

// ranges is the value of one variable, ascending, at least one.
type ranges []sizeRange

// find returns the algorithm for a measure of message size.
func (r ranges) find(size int64) int {
	for _, x := range r[:len(r)-1] {
		if size <= x.UpTo {
			return x.Algorithm
		}
	}
	return r[len(r)-1].Algorithm
}

// String is the value of the variable. A single range is written as a bare number:
// the library reads no more of it.
func (r ranges) String() string {
	if len(r) == 1 {
		return strconv.Itoa(r[0].Algorithm)
	}
	var parts []string
	low := int64(0)
	for i, x := range r {
		high := "+"
		if i < len(r)-1 {
			high = strconv.FormatInt(x.UpTo, 10)
		}
		parts = append(parts, fmt.Sprintf("%d:%d-%s", x.Algorithm, low, high))
		low = x.UpTo + 1
	}
	return strings.Join(parts, ",")
}

// parse reads the value of a variable. The error matches errSyntax. Stricter than
// the library, it wants ranges that leave no gap, from 0 to all.
func parse(value string) (ranges, error) {
	parts := strings.Split(value, ",")
	if len(parts) > maxRanges {
		return nil, fmt.Errorf("%w: %d ranges: the library's table has %d", errSyntax, len(parts), maxRanges)
	}
	if len(parts) == 1 && !strings.Contains(value, ":") {
		id, err := parseNumber(value)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errSyntax, err)
		}
		return ranges{{int(id), math.MaxInt32}}, nil
	}
	var out ranges
	next := int64(0)
	for i, part := range parts {
		x, low, err := parseRange(part, i == len(parts)-1)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: %q: %w", errSyntax, part, err)
		case low != next:
			return nil, fmt.Errorf("%w: %q: want it to begin at %d", errSyntax, part, next)
		}
		out, next = append(out, x), x.UpTo+1
	}
	return out, nil
}

func parseRange(text string, last bool) (x sizeRange, low int64, err error) {
	number, sizes, _ := strings.Cut(text, ":")
	first, end, ok := strings.Cut(sizes, "-")
	if !ok {
		return x, 0, errors.New("want number:low-high")
	}
	id, err := parseNumber(number)
	if err != nil {
		return x, 0, err
	}
	if low, err = parseNumber(first); err != nil {
		return x, 0, err
	}
	x = sizeRange{int(id), math.MaxInt32}
	if last != (end == "+") {
		return x, 0, errors.New("want + as the end of the last range, and only there")
	}
	if !last {
		if x.UpTo, err = parseNumber(end); err == nil && x.UpTo < low {
			err = errors.New("want an ascending range")
		}
	}
	return x, low, err
}

func parseNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("%q: want a number of 0 to %d", text, math.MaxInt32)
	}
	return n, nil
}

// Size implements mpi.Library.
func (library) Size(p coll.Point) int64 { return size(p) }

// size is the measure of message size that the ranges compare: bytes of the buffer, or
// of one rank for allgather, alltoall and scatter, and of all ranks for
// allgatherv. Sizes are C ints: larger ones measure as the
// largest but one, which no range begins above.
func size(p coll.Point) int64 {
	bytes := p.Count() * p.Collective.ElementBytes()
	if p.Collective == coll.Allgatherv {
		bytes *= int64(p.Ranks())
	}
	return min(bytes, math.MaxInt32-1)
}
