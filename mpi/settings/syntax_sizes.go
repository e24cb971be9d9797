package settings

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// sizesSyntax is the syntax "ID:LOW-HIGH,ID:LOW-+" with ranges of message sizes. The ranges contain every
// size, so the library's own table has no effect.
type sizesSyntax struct {
	numbered
	maxRanges int // that one value may have
}

func (s sizesSyntax) merge(b build, rows []selection.Row, maxLoss float64) (selection.Selection, error) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r selection.Row) bool {
		_, ok := b.variable(r.Point.Collective)
		return !ok
	})
	return mpi.MergeWhole(rows, b.lib.Size, maxLoss, s.maxRanges)
}

// settings implements syntax. The value is a list of ranges of message sizes with their algorithms. The first
// range begins at size 0. The last range contains all larger sizes, too.
func (s sizesSyntax) settings(b build, t *selection.Tree) ([]mpi.Setting, error) {
	if len(t.Comms) != 1 || len(t.Comms[0].PPNs) != 1 {
		return nil, errors.New("ranges of sizes know no ranks: fit the selection for each layout")
	}
	var out sizeRanges
	for _, band := range t.Comms[0].PPNs[0].Bands {
		if band.Algorithm.IsDefault() {
			if len(out) > 0 {
				return nil, errors.New("no range can be left to the library: fit the selection for each layout")
			}
			continue // sizes below the tuned ones
		}
		e, err := b.cat.Lookup(t.Collective, band.Algorithm)
		if err != nil {
			return nil, err
		}
		out = append(out, sizeRange{e.ID, band.UpTo})
	}
	if len(out) == 0 || len(out) > s.maxRanges {
		return nil, fmt.Errorf("%d ranges: want 1 to %d", len(out), s.maxRanges)
	}
	out[len(out)-1].upTo = maxInt
	return b.one(t.Collective, out.String())
}

func (s sizesSyntax) selects(b build, set []mpi.Setting, p coll.Point, alg coll.Algorithm) error {
	return selectsByRange(b, set, p, alg, s.lookup)
}

func (sizesSyntax) whole() bool { return true }

func (s sizesSyntax) lookup(value string, _ int, bytes int64) (int, bool, error) {
	ranges, err := parseSizeRanges(value, s.maxRanges)
	if err != nil {
		return 0, false, err
	}
	return ranges.find(bytes), true, nil
}

// sizeRange selects an algorithm for messages above the previous range, up to and including upTo bytes.
type sizeRange struct {
	id   int
	upTo int64
}

// sizeRanges is the parsed value of one environment variable. It has at least one range, in ascending order.
// The last range has no upper limit.
type sizeRanges []sizeRange

func (ranges sizeRanges) find(bytes int64) int {
	last := len(ranges) - 1
	for _, r := range ranges[:last] {
		if bytes <= r.upTo {
			return r.id
		}
	}
	return ranges[last].id
}

// String returns the value of the variable. If there is a single range, the value is only the algorithm's
// number, because MVAPICH2 ignores the rest.
func (ranges sizeRanges) String() string {
	if len(ranges) == 1 {
		return strconv.Itoa(ranges[0].id)
	}
	var parts []string
	low := int64(0)
	for i, r := range ranges {
		high := "+"
		if i < len(ranges)-1 {
			high = strconv.FormatInt(r.upTo, 10)
		}
		parts = append(parts, fmt.Sprintf("%d:%d-%s", r.id, low, high))
		low = r.upTo + 1
	}
	return strings.Join(parts, ",")
}

func parseSizeRanges(value string, maxRanges int) (sizeRanges, error) {
	var out sizeRanges
	for text := range strings.SplitSeq(value, ",") {
		r, low, end := sizeRange{upTo: maxInt}, int64(0), "+"
		_, _ = fmt.Sscanf(text, "%d:%d-%s", &r.id, &low, &end) // the comparison with value below finds errors
		if end != "+" {
			r.upTo, _ = strconv.ParseInt(end, 10, 64)
		}
		if r.id < 0 || r.id > maxInt || r.upTo < low || r.upTo > maxInt {
			return nil, fmt.Errorf("%w: %q: want numbers of 0 to %d in ascending ranges", errSyntax, value, maxInt)
		}
		out = append(out, r)
	}
	if len(out) > maxRanges || out.String() != value {
		return nil, fmt.Errorf("%w: %q: want ID:LOW-HIGH,...,ID:LOW-+ without gaps, or one ID, and at most %d ranges", errSyntax, value, maxRanges)
	}
	return out, nil
}
