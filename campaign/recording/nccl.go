package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/benchrunner"
	"tutti/benchrunner/suites"
	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// The lines of nccl-tests and rccl-tests that are read. Source: src/common.cu and src/util.cu of nccl-tests 2.10 to 2.19,
// src/common.cu of rccl-tests.
var (
	ncclHeader  = lazyregexp.New(`#\s+size\s+count\s+type(\s+redop)?(\s+root)?\s+(cpu)?time\s+algbw\s+busbw`)
	ncclTest    = lazyregexp.New(`# Collective test starting: (\w+)_perf`)
	ncclCommand = lazyregexp.New(`\b(all_gather|all_reduce|alltoall|broadcast|gather|hypercube|reduce|reduce_scatter|scatter|sendrecv)_perf(_mpi)?\b`)
	ncclGroups  = lazyregexp.New(`^# nThread .* agg iters: ([0-9]+)`)
	ncclRank    = lazyregexp.New(`#\s+Rank\s+[0-9]+ (?:\s*Group\s+([0-9]+) )?.*\bon\s+(\S+)\s+device`)
	ncclRow     = lazyregexp.New(`^\s*[-+]?[0-9][0-9.]*([KMGT]i?B?)?(\s+[-+]?[0-9]+\s|\s*$)`)
	ncclFailed  = lazyregexp.New(`# Out of bounds values\s+: [1-9]`)
	ncclWord    = lazyregexp.New(`^[A-Za-z]`)
	ncclPrefix  = lazyregexp.New(`^\[[^\]]*\]\s?`)
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
	hosts     []string
	perHost   []int // ranks of each host
	groups    []string
	ranksUsed bool     // rows followed the list of ranks
	calls     int      // that are measured as one group
	inPlace   bool     // the table has times in place alone
	columns   []string // of the last header; nil before it
	first     int      // index of the first sample of the table
}

// ncclSample is a time with the datatype and the reduction of its row.
type ncclSample struct {
	sample
	dataType, reduction string
}

// readNCCL reads an output of nccl-tests or rccl-tests: times out of place, in microseconds, as the mean over the
// iterations. Nodes and ranks come from the list of devices. A size is the larger of what a rank sends and receives.
func readNCCL(_ string, text []byte, known *Run, _ Options, report *Report) ([]sample, error) {
	var all []ncclSample
	var run ncclRun
	i := 0
	for line := range (benchrunner.Output{Stdout: append(slices.Clone(text), '\n')}).Lines() {
		i++
		line = ncclPrefix.ReplaceAllString(line, "")
		if ncclHeader.MatchString(line) {
			run.first = len(all)
		}
		run.describe(line)
		if ncclFailed.MatchString(line) && !slices.Contains(run.columns, "#wrong") {
			for range all[run.first:] {
				report.leave("wrong data (out of bounds values)")
			}
			all = all[:run.first]
		}
		if run.columns == nil || !ncclRow.MatchString(line) {
			continue
		}
		if run.other != "" {
			return nil, fmt.Errorf("line %d: the lines above name %s_perf and %s_perf, and the row can be of either: give each program a file of its own", i, run.program, run.other)
		}
		run.nameUsed, run.ranksUsed = true, true
		all = run.add(all, strings.Fields(line), *known, report)
	}
	return oneKind(all, report), nil
}

// add appends the sample of a row. A row without one is counted as left out.
func (r *ncclRun) add(all []ncclSample, row []string, known Run, report *Report) []ncclSample {
	s, reason := r.sample(row, known)
	if reason != "" {
		report.leave(reason)
		return all
	}
	report.note("times of nccl-tests are means over the iterations, " + r.place() +
		"; a file has no algorithm, protocol or channels: give --algorithm 'ring(channels=8,proto=ll)', or library_default")
	return append(all, s)
}

// oneKind returns the samples of one datatype and reduction for each collective: float and sum, the defaults of
// nccl-tests, else those of the first row.
func oneKind(all []ncclSample, report *Report) []sample {
	kinds := map[coll.Collective][2]string{}
	for _, s := range all {
		_, given := kinds[s.Collective]
		if isDefault := s.dataType == "float" && slices.Contains([]string{"sum", "none", ""}, s.reduction); isDefault || !given {
			kinds[s.Collective] = [2]string{s.dataType, s.reduction}
		}
	}
	var out []sample
	for _, s := range all {
		if kind := kinds[s.Collective]; kind != [2]string{s.dataType, s.reduction} {
			report.leave(strings.TrimSpace("another datatype or reduction than " + kind[0] + " " + kind[1]))
			continue
		}
		out = append(out, s.sample)
	}
	return out
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
	if m := ncclGroups.FindStringSubmatch(line); m != nil {
		r.calls, _ = strconv.Atoi(m[1])
	}
	if m := ncclRank.FindStringSubmatch(line); m != nil {
		r.describeRank(m[1], m[2])
	}
	switch {
	case ncclHeader.MatchString(line):
		r.columns = strings.Fields(strings.Replace(line, "#", "", 1))
	case strings.HasPrefix(line, "#") && strings.Contains(line, "in-place"):
		r.inPlace = !strings.Contains(line, "out-of-place")
	}
}

func (r *ncclRun) describeRank(group, host string) {
	if r.ranksUsed {
		r.hosts, r.perHost, r.groups, r.ranksUsed = nil, nil, nil, false
		if r.nameUsed {
			r.program, r.nameUsed = "", false
		}
	}
	i := slices.Index(r.hosts, host)
	if i < 0 {
		i, r.hosts, r.perHost = len(r.hosts), append(r.hosts, host), append(r.perHost, 0)
	}
	r.perHost[i]++
	if !slices.Contains(r.groups, group) {
		r.groups = append(r.groups, group)
	}
}

// ranks returns the number of ranks in the list of devices, 0 without one.
func (r *ncclRun) ranks() (n int) {
	for _, of := range r.perHost {
		n += of
	}
	return n
}

// place says which of its times a row is read for.
func (r *ncclRun) place() string {
	if r.inPlace {
		return "in place"
	}
	return "out of place"
}

// sample returns the time of a row. The reason says why it cannot be used.
func (r *ncclRun) sample(row []string, known Run) (s ncclSample, reason string) {
	c, ranks := cmp.Or(ncclNames[r.program], known.Collective), cmp.Or(r.ranks(), known.ranks())
	// Releases that name no reduction leave its column blank.
	reduction := slices.Index(r.columns, "redop")
	if reduction >= 0 && reduction < len(row) && !ncclWord.MatchString(row[reduction]) {
		row = slices.Insert(row, reduction, "")
	}
	if n := len(r.columns); r.columns[n-1] == "timestamp" && len(row) == n+1 {
		row = row[:n] // date and time
	}
	if len(row) != len(r.columns) {
		return s, "a row without the columns of its header"
	}
	at := slices.Index(r.columns, "time")
	if at < 0 {
		return s, "the time of the host's processor (-C)"
	}
	size, sizeErr := strconv.ParseInt(row[0], 10, 64)
	us, timeErr := coll.ParseNumber(row[at])
	switch {
	case r.program != "" && ncclNames[r.program] == "":
		return s, r.program + "_perf measures no collective that is known here"
	case sizeErr != nil || timeErr != nil || size < 0:
		return s, "a row without bytes and a time in microseconds"
	case len(r.groups) > 1:
		return s, "several groups of ranks measured at the same time"
	case r.calls > 1:
		return s, fmt.Sprintf("%d calls in one group (agg iters), not one call", r.calls)
	case len(r.perHost) > 0 && slices.Min(r.perHost) != slices.Max(r.perHost):
		return s, fmt.Sprintf("the nodes have between %d and %d ranks each", slices.Min(r.perHost), slices.Max(r.perHost))
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
	if s.nodes = len(r.hosts); s.nodes > 0 {
		s.ppn = r.perHost[0]
	}
	if s.dataType = row[slices.Index(r.columns, "type")]; reduction >= 0 {
		s.reduction = row[reduction]
	}
	if err := coll.CheckCall(s.Seconds); err != nil {
		return s, err.Error()
	}
	return s, ""
}

// ncclWrong reports whether a row counts wrong values, out of place or in place. Releases before 2.12 print the largest
// error instead, which is above 0 for right results, too.
func ncclWrong(columns, row []string) bool {
	for i, column := range columns {
		if column != "#wrong" || row[i] == "N/A" {
			continue
		}
		if n, err := coll.ParseNumber(row[i]); err != nil || n != 0 {
			return true
		}
	}
	return false
}
