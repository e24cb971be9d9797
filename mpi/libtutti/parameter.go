package libtutti

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"tutti/coll"
	"tutti/mpi"
)

// tried are the values of parameters that are measured: segments in bytes, the others in
// ranks.
var tried = map[string][]string{
	"segsize": {"8192", "32768", "131072"},
	"radix":   {"3", "8"},
	"window":  {"2", "4", "16"},
}

// ranges are where other values are tried beside those that are fast. A segment below a
// kilobyte is mostly startup.
var ranges = []coll.Range{{Parameter: "segsize", Low: 1 << 10, High: 1 << 20}, {Parameter: "radix", Low: 2, High: 64}, {Parameter: "window", Low: 1, High: 64}}

func rangesOf(_ *mpi.Catalogue, _ coll.Collective, e mpi.Entry) []coll.Range {
	return mpi.RangesOf(e, ranges)
}

// segmented are the algorithms that long messages are worth dividing for.
var segmented = regexp.MustCompile(`pipeline|binary|ring|^binomial$`)

// variants lists an algorithm with the values of its parameter that are tried, and
// without it.
func variants(_ *mpi.Catalogue, _ coll.Collective, e mpi.Entry) []coll.Algorithm {
	out := mpi.Variants(e, nil)
	if len(e.Params) > 0 && (e.Params[0] != "segsize" || segmented.MatchString(e.Name)) {
		out = append(out, mpi.Variants(e, tried)...)
	}
	return out
}

// checkPoint refuses messages without a byte: they are left to the MPI library. A segment
// as long as the message is none, and a tree or window of more than all ranks is one of all.
func checkPoint(_ *mpi.Catalogue, c coll.Candidate) error {
	if c.Collective.Sized() && c.Point.Count() == 0 {
		return fmt.Errorf("%v: %w: empty messages are left to the MPI library", c, mpi.ErrInfeasible)
	}
	for _, p := range c.Algorithm.Params() {
		n, err := strconv.ParseInt(p.Value, 10, 64)
		switch {
		case err != nil: // of another library, which has words
		case p.Name == "segsize" && n >= c.MsgBytes:
			return fmt.Errorf("%v: %w: one segment holds the message", c, mpi.ErrInfeasible)
		case (p.Name == "radix" || p.Name == "window") && n > int64(c.Ranks()):
			return fmt.Errorf("%v: %w: there are fewer ranks", c, mpi.ErrInfeasible)
		}
	}
	return nil
}

// checkParameters refuses a parameter that is not a number.
func checkParameters(c *mpi.Catalogue, collective coll.Collective, _ mpi.Entry, alg coll.Algorithm) error {
	for _, p := range alg.Params() {
		n, err := strconv.ParseInt(p.Value, 10, 32)
		if err != nil || n < 1 || n > math.MaxInt32 || strconv.FormatInt(n, 10) != p.Value {
			return fmt.Errorf("%s %s %s %s: %s: %w: want a number from 1 on", c.Library, c.Version, collective, alg, p.Name, mpi.ErrUnknown)
		}
	}
	return nil
}
