package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/benchrunner/suites"
	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// The lines of nccl-tests and rccl-tests that are read. A launcher may put a prefix before each. Source: src/common.cu of
// nccl-tests 2.10 to 2.19; rccl-tests prints the same.
var (
	ncclHeader  = lazyregexp.New(`#\s+size\s+count\s+type(\s+redop)?(\s+root)?\s+time\s+algbw\s+busbw`)
	ncclTest    = lazyregexp.New(`# Collective test starting: (\w+)_perf`)
	ncclCommand = lazyregexp.New(`\b(all_gather|all_reduce|alltoall|broadcast|gather|hypercube|reduce|reduce_scatter|scatter|sendrecv)_perf(_mpi)?\b`)
	ncclRank    = lazyregexp.New(`#\s+Rank\s+([0-9]+) .*\bon\s+(\S+)\s+device`)
	ncclRow     = lazyregexp.New(`^\s*[-+]?[0-9]+(\s+[-+]?[0-9]+\s|\s*$)`)
	ncclWord    = lazyregexp.New(`^[A-Za-z]`)
	ncclPrefix  = lazyregexp.New(`^\[[^\]]*\](<std(out|err)>:)?\s?`)
)

// ncclNames are the collectives by the names of the programs.
var ncclNames = map[string]coll.Collective{
	"all_gather": coll.Allgather, "all_reduce": coll.Allreduce, "alltoall": coll.Alltoall, "broadcast": coll.Bcast, "reduce": coll.Reduce,
	"reduce_scatter": coll.ReduceScatterBlock,
}

func isNCCL(_ string, text []byte) bool { return ncclHeader.Match(text) }

// ncclRun is what the lines of a run say before its rows. A file may have several runs.
type ncclRun struct {
	program   string // without _perf; "": unknown
	started   bool   // the program itself printed its name
	other     string // another program that was named, too
	nameUsed  bool   // rows followed the name
	ranks     int
	hosts     []string
	ranksUsed bool     // rows followed the list of ranks
	columns   []string // of the last header; nil before it
}

// readNCCL reads an output of nccl-tests or rccl-tests: times out of place, in microseconds, as the mean over the
// iterations. Nodes and ranks come from the list of devices. A size is the larger of what a rank sends and receives.
func readNCCL(_ string, text []byte, known *Run, _ Options, report *Report) ([]sample, error) {
	var out []sample
	var run ncclRun
	report.note("times of nccl-tests are means over the iterations, out of place; a file has no algorithm, protocol or channels: give --algorithm 'ring(channels=8,proto=ll)', or library_default")
	for i, line := range strings.Split(string(text), "\n") {
		line = ncclPrefix.ReplaceAllString(strings.TrimRight(line, "\r"), "")
		run.describe(line)
		if run.columns == nil || !ncclRow.MatchString(line) {
			continue
		}
		if run.other != "" {
			return nil, fmt.Errorf("line %d: the lines above name %s_perf and %s_perf, and the row can be of either: give each program a file of its own", i+1, run.program, run.other)
		}
		run.nameUsed, run.ranksUsed = true, true
		s, reason := run.sample(strings.Fields(line), *known)
		if reason != "" {
			report.leave(reason)
			continue
		}
		out = append(out, s)
	}
	return out, nil
}

// describe takes what a line says about the rows below it. Rows have the last name; a list of ranks after rows is of
// another run, whose name is unknown unless a line between says it.
func (r *ncclRun) describe(line string) {
	if m := ncclTest.FindStringSubmatch(line); m != nil {
		r.program, r.started, r.other, r.nameUsed = m[1], true, "", false
	} else if m := ncclCommand.FindStringSubmatch(line); m != nil && !strings.HasPrefix(line, "#") {
		switch {
		case r.program == "" || r.nameUsed:
			r.program, r.started, r.other, r.nameUsed = m[1], false, "", false
		case !r.started && r.program != m[1]:
			r.other = m[1]
		}
	}
	if m := ncclRank.FindStringSubmatch(line); m != nil {
		if r.ranksUsed {
			r.ranks, r.hosts, r.ranksUsed = 0, nil, false
			if r.nameUsed {
				r.program, r.nameUsed = "", false
			}
		}
		if r.ranks++; !slices.Contains(r.hosts, m[2]) {
			r.hosts = append(r.hosts, m[2])
		}
	}
	if ncclHeader.MatchString(line) {
		r.columns = strings.Fields(strings.Replace(line, "#", "", 1))
	}
}

// sample returns the time of a row. The reason says why it cannot be used.
func (r *ncclRun) sample(row []string, known Run) (s sample, reason string) {
	c, ranks := cmp.Or(ncclNames[r.program], known.Collective), cmp.Or(r.ranks, known.ranks())
	// Releases that name no reduction leave its column blank.
	if i := slices.Index(r.columns, "redop"); i >= 0 && i < len(row) && !ncclWord.MatchString(row[i]) {
		row = slices.Insert(row, i, "")
	}
	if len(row) != len(r.columns) {
		return s, "a row without the columns of its header"
	}
	size, sizeErr := strconv.ParseInt(row[0], 10, 64)
	at := slices.Index(r.columns, "time")
	us, timeErr := coll.ParseNumber(row[at])
	switch {
	case r.program != "" && ncclNames[r.program] == "":
		return s, r.program + "_perf measures no collective that is known here"
	case sizeErr != nil || timeErr != nil || size < 0:
		return s, "a row without bytes and a time in microseconds"
	case size == 0:
		return s, "an empty message"
	case ncclWrong(r.columns[at:], row[at:]):
		return s, "wrong data (#wrong)"
	case c.PerRank() && ranks == 0:
		return s, "the size is of all ranks, and their number is unknown"
	case c.PerRank() && size%int64(ranks) != 0:
		return s, "a size that the ranks do not divide"
	}
	if c.PerRank() {
		size /= int64(ranks)
	}
	s.Recorded = suites.Recorded{Collective: c, Bytes: size, Ranks: ranks, Seconds: us / 1e6}
	if s.nodes = len(r.hosts); s.nodes > 0 && ranks%s.nodes == 0 {
		s.ppn = ranks / s.nodes
	}
	if err := coll.CheckCall(s.Seconds); err != nil {
		return s, err.Error()
	}
	return s, ""
}

// ncclWrong reports whether a row counts wrong values. Releases before 2.12 print the largest error instead, which is
// above 0 for right results, too.
func ncclWrong(columns, row []string) bool {
	i := slices.Index(columns, "#wrong")
	if i < 0 || row[i] == "N/A" {
		return false
	}
	n, err := coll.ParseNumber(row[i])
	return err != nil || n != 0
}
