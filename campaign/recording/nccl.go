package recording

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tutti/benchrunner/suites"
	"tutti/coll"
)

// The lines of nccl-tests and rccl-tests that are read. A launcher may put a prefix before each. Source: src/common.cu of
// nccl-tests 2.10 to 2.19; rccl-tests prints the same.
var (
	ncclHeader  = regexp.MustCompile(`#\s+size\s+count\s+type\s+redop(\s+root)?\s+time\s+algbw\s+busbw`)
	ncclTest    = regexp.MustCompile(`# Collective test starting: (\w+)_perf`)
	ncclCommand = regexp.MustCompile(`\b(all_gather|all_reduce|alltoall|broadcast|reduce|reduce_scatter)_perf\b`)
	ncclRank    = regexp.MustCompile(`#\s+Rank\s+([0-9]+) .*\bon\s+(\S+)\s+device`)
	ncclRow     = regexp.MustCompile(`^\s*([0-9]+)\s+([0-9]+)\s+\w+\s+\w+\s+(?:-?[0-9]+\s+)?([0-9.]+)\s+[0-9.]+\s+[0-9.]+\s+(\S+)`)
	ncclPrefix  = regexp.MustCompile(`^\[[^\]]*\](<std(out|err)>:)?\s?`)
)

// ncclNames are the collectives by the names of the programs.
var ncclNames = map[string]coll.Collective{
	"all_gather": coll.Allgather, "all_reduce": coll.Allreduce, "alltoall": coll.Alltoall, "broadcast": coll.Bcast, "reduce": coll.Reduce,
	"reduce_scatter": coll.ReduceScatterBlock,
}

func isNCCL(_ string, text []byte) bool { return ncclHeader.Match(text) }

// readNCCL reads an output of nccl-tests or rccl-tests: times out of place, in microseconds, as the mean over the
// iterations. Nodes and ranks come from the list of devices. A size is the larger of what a rank sends and receives.
func readNCCL(_ string, text []byte, known *Run, _ Options, report *Report) ([]sample, error) {
	var out []sample
	var hosts []string
	ranks, header := 0, false
	report.note("times of nccl-tests are means over the iterations, out of place; a file has no algorithm, protocol or channels: give --algorithm 'ring(channels=8,proto=ll)', or library_default")
	for i, line := range strings.Split(string(text), "\n") {
		line = ncclPrefix.ReplaceAllString(strings.TrimRight(line, "\r"), "")
		if m := ncclTest.FindStringSubmatch(line); m != nil && known.Collective == "" {
			known.Collective = ncclNames[m[1]]
		} else if m := ncclCommand.FindStringSubmatch(line); m != nil && known.Collective == "" && !strings.HasPrefix(line, "#") {
			known.Collective = ncclNames[m[1]]
		}
		if m := ncclRank.FindStringSubmatch(line); m != nil {
			if ranks++; !slices.Contains(hosts, m[2]) {
				hosts = append(hosts, m[2])
			}
		}
		header = header || ncclHeader.MatchString(line)
		m := ncclRow.FindStringSubmatch(line)
		if !header || m == nil {
			continue
		}
		s, reason, err := ncclSample(m, cmp.Or(ranks, known.ranks()), known.Collective)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if reason != "" {
			report.leave(reason)
			continue
		}
		if s.nodes = len(hosts); s.nodes > 0 && ranks%s.nodes == 0 {
			s.ppn = ranks / s.nodes
		}
		out = append(out, s)
	}
	return out, nil
}

// ncclSample returns the time of a row. The reason says why it cannot be used.
func ncclSample(m []string, ranks int, c coll.Collective) (s sample, reason string, err error) {
	size, err := strconv.ParseInt(m[1], 10, 64)
	us, timeErr := coll.ParseNumber(m[3])
	switch {
	case err != nil || timeErr != nil:
		return s, "", fmt.Errorf("%q: want bytes and a time in microseconds", m[0])
	case size == 0:
		return s, "an empty message", nil
	case m[4] != "0" && m[4] != "N/A" && m[4] != "0e+00":
		return s, "wrong data (#wrong)", nil
	case c.PerRank() && ranks == 0:
		return s, "the size is of all ranks, and their number is unknown", nil
	case c.PerRank() && size%int64(ranks) != 0:
		return s, "a size that the ranks do not divide", nil
	}
	if c.PerRank() {
		size /= int64(ranks)
	}
	s.Recorded = suites.Recorded{Bytes: size, Ranks: ranks, Seconds: us / 1e6}
	if err := coll.CheckCall(s.Seconds); err != nil {
		return s, err.Error(), nil
	}
	return s, "", nil
}
