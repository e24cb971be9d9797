package libtutti

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"tutti/coll"
	"tutti/mpi"
)

// parameterValues holds the values that campaigns measure. The unit of segsize is bytes. The value of
// "barriers" is the number of barriers in one call. The other parameters are numbers of ranks.
var parameterValues = map[string][]string{
	"segsize":  {"8192", "32768", "131072"},
	"radix":    {"3", "8"},
	"window":   {"2", "4", "16"},
	"barriers": {"1", "4"},
}

// Campaigns also try other parameter values close to those that were fast. parameterRanges limits them. With
// segments below a kilobyte, latency dominates.
var parameterRanges = []coll.Range{
	{Parameter: "segsize", Low: 1 << 10, High: 1 << 20}, {Parameter: "radix", Low: 2, High: 64},
	{Parameter: "window", Low: 1, High: 64}, {Parameter: "barriers", Low: 1, High: 1 << 10},
}

func rangesOf(_ *mpi.Catalogue, _ coll.Collective, e mpi.Entry) []coll.Range {
	return mpi.RangesOf(e, parameterRanges)
}

// segmented matches the names of algorithms that are faster if long messages are cut into segments.
var segmented = regexp.MustCompile(`pipeline|chain|binary|ring|^binomial$`)

// variants returns an algorithm without its parameter, and the algorithm with each value that should be
// measured.
func variants(_ *mpi.Catalogue, _ coll.Collective, e mpi.Entry) []coll.Algorithm {
	out := mpi.Variants(e, nil)
	if len(e.Params) > 0 && (e.Params[0] != "segsize" || e.Object != "" || segmented.MatchString(e.Name)) {
		out = append(out, mpi.Variants(e, parameterValues)...)
	}
	return out
}

// mostBytes limits the size of a message that libtutti serves, in bytes. If the message
// size of a collective is that of one rank's part, the sum over all ranks is limited. See csource/runtime/serve.c.
const mostBytes = math.MaxInt32 / 2

// mostGathered is the largest sum of the vectors of all ranks, in bytes, that the allreduce algorithm named
// allgather serves; see csource/runtime/repository.h.
const mostGathered = 64 << 20

// checkPoint returns an error if libtutti cannot serve a call: an empty or very long message, segments that are
// not shorter than the message, or a radix, window or number of barriers that is too large for the number of
// ranks.
func checkPoint(_ *mpi.Catalogue, c coll.Candidate) error {
	if c.Collective.Sized() && c.Point.Count() == 0 {
		return fmt.Errorf("%v: %w: empty messages are left to the MPI library", c, mpi.ErrInfeasible)
	}
	bytes := size(c.Point)
	if c.Collective.PerRank() {
		bytes *= int64(c.Ranks())
	}
	if bytes > mostBytes {
		return fmt.Errorf("%v: %w: messages of 1 GiB or more are left to the MPI library", c, mpi.ErrInfeasible)
	}
	if c.Collective == coll.Allreduce && c.Algorithm.Name == "allgather" && bytes*int64(c.Ranks()) > mostGathered {
		return fmt.Errorf("%v: %w: the vectors of all ranks exceed 64 MiB", c, mpi.ErrInfeasible)
	}
	for _, p := range c.Algorithm.Params() {
		n, err := strconv.ParseInt(p.Value, 10, 64)
		switch {
		case err != nil: // a word, as other libraries have
		case p.Name == "segsize" && n >= c.MsgBytes:
			return fmt.Errorf("%v: %w: one segment holds the message", c, mpi.ErrInfeasible)
		case (p.Name == "radix" || p.Name == "window") && n > int64(c.Ranks()):
			return fmt.Errorf("%v: %w: there are fewer ranks", c, mpi.ErrInfeasible)
		case p.Name == "barriers" && n > int64(c.Ranks())-2:
			return fmt.Errorf("%v: %w: there are fewer pauses between rounds", c, mpi.ErrInfeasible)
		}
	}
	return nil
}

func checkParameters(c *mpi.Catalogue, collective coll.Collective, _ mpi.Entry, alg coll.Algorithm) error {
	for _, p := range alg.Params() {
		if !isNumber(p.Value) {
			return fmt.Errorf("%s %s %s %s: %s: %w: want a number from 1 on", c.Library, c.Version, collective, alg, p.Name, mpi.ErrUnknown)
		}
	}
	return nil
}

func isNumber(value string) bool {
	n, err := strconv.ParseInt(value, 10, 32)
	return err == nil && n > 0 && strconv.FormatInt(n, 10) == value
}
