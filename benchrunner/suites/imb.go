package suites

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// NewIMB returns the program IMB-MPI1 of the Intel MPI Benchmarks, at the given path on the nodes. The
// parameter `iterations` is the largest number of repetitions of each size; IMB's default is 1000.
func NewIMB(path string, iterations int) *Program {
	return &Program{
		name: "imb", printed: "IMB", follows: ascending, size: imbSize,
		allowance: func(c benchrunner.Case) time.Duration {
			const perSize = 10 * time.Second // IMB ends a size after this time
			return min(benchrunner.CallsTimeout(c, cmp.Or(iterations, 1000)), perSize+20*benchrunner.CallTimeout(c.Point))
		},
		command: func(s benchrunner.Launch, sizes []int64) benchrunner.Command {
			return imbCommand(path, iterations, s, sizes)
		},
		parse: func(s benchrunner.Launch, lines iter.Seq[string]) (listing, error) {
			l := parseIMB(lines)
			l.sections = slices.DeleteFunc(l.sections, func(one section) bool { return one.name != imbName(s.Cases[0].Collective) })
			return l, nil
		},
	}
}

// IMB returns the kind of program imb.
func IMB() benchrunner.ProgramKind {
	return benchrunner.ProgramKind{
		Name: "imb", Keys: []string{"iterations"}, Launches: benchrunner.LaunchOSU,
		New: func(path string, o benchrunner.ProgramOptions) (benchrunner.Program, error) {
			return NewIMB(path, o.Iterations), nil
		},
		Trial: benchrunner.ProgramOptions{Iterations: 3},
		Search: benchrunner.ProgramSearch{
			Title: "IMB", File: "IMB-MPI1", Home: "IMB_HOME", Folders: []string{"", "bin"},
			Install: "make IMB-MPI1 CC=mpicc CXX=mpicxx, put it on the PATH",
		},
	}
}

var imbCollectives = []coll.Collective{
	coll.Allgather, coll.Allgatherv, coll.Allreduce, coll.Alltoall, coll.Alltoallv, coll.Barrier, coll.Bcast, coll.Gather,
	coll.Reduce, coll.ReduceScatter, coll.ReduceScatterBlock, coll.Scatter,
}

func imbName(c coll.Collective) string { return mpiName(c, imbCollectives) }

// imbRecordedName returns the name of a section for a collective: IMB-NBC measures nonblocking ones.
func imbRecordedName(c coll.Collective) string {
	if c.Nonblocking() {
		return "I" + string(c[1:])
	}
	return imbName(c)
}

const imbLengthsFile = "lengths"

func imbCommand(path string, iterations int, s benchrunner.Launch, sizes []int64) benchrunner.Command {
	cmd := benchrunner.Command{Args: []string{path, "-npmin", strconv.Itoa(s.Layout.Ranks())}}
	if iterations > 0 {
		cmd.Args = append(cmd.Args, "-iter", strconv.Itoa(iterations))
	}
	if s.Cases[0].Collective.Sized() {
		var lengths strings.Builder
		for _, size := range sizes {
			fmt.Fprintln(&lengths, size)
		}
		cmd.Args = append(cmd.Args, "-msglen", filepath.Join(s.Dir, imbLengthsFile))
		cmd.Files = map[string][]byte{imbLengthsFile: []byte(lengths.String())}
	}
	cmd.Args = append(cmd.Args, imbName(s.Cases[0].Collective))
	return cmd
}

// imbSize returns the size that IMB prints for a case. For Reduce_scatter_block it is the size of one rank's
// part.
func imbSize(c benchrunner.Case) (int64, error) {
	element, size := c.Collective.ElementBytes(), c.MsgBytes
	if c.Collective == coll.ReduceScatterBlock {
		if ranks := int64(c.Ranks()); size%ranks != 0 || size/ranks%element != 0 {
			return 0, fmt.Errorf("IMB measures equal parts of whole elements of %d bytes: %d bytes for %d ranks", element, size, ranks)
		}
		size /= int64(c.Ranks())
	}
	switch {
	case imbName(c.Collective) == "":
		return 0, fmt.Errorf("IMB has no benchmark of %s", c.Collective)
	case c.MsgBytes%element != 0:
		return 0, fmt.Errorf("IMB measures whole elements of %d bytes", element)
	case c.MsgBytes > 1<<31-1:
		return 0, errors.New("IMB takes lengths up to 2147483647 bytes")
	}
	return size, nil
}

var (
	imbBanner    = lazyregexp.New(`^#\s+Intel ?\(R\) MPI Benchmarks ([0-9.]*).*MPI-(?:1|NBC) part`)
	imbBenchmark = lazyregexp.New(`^# Benchmarking (\S+)`)
	imbWorldSize = lazyregexp.New(`^# (?:\( )?#processes = ([0-9]+)`)              // in parentheses up to release 2
	imbIdle      = lazyregexp.New(`^# \( *[0-9]+ additional process(es)? waiting`) // with option -npmin
	imbGroups    = lazyregexp.New(`^# \( *[0-9]+ groups of [0-9]+ processes`)      // with option -multi
	// IMB-MPI1-GPU has its buffers in the memory of devices, unless it is asked for that of the host.
	imbDevice = lazyregexp.New(`IMB-MPI1-(GPU|CUDA)\b`)
	imbOnHost = lazyregexp.New(`-mem_alloc_type (cpu|host)\b`)
)

// parseIMB parses the output of IMB. A section begins with the name of its benchmark and a header with the
// names of the columns. Lines of libraries and launchers are skipped.
func parseIMB(lines iter.Seq[string]) listing {
	var l listing
	var columns []string
	for line := range lines {
		fields := strings.Fields(line)
		if m := imbBanner.FindStringSubmatch(line); m != nil {
			l.worlds++
			l.release = m[1]
		} else if m := imbBenchmark.FindStringSubmatch(line); m != nil {
			l.sections = append(l.sections, section{name: m[1]})
			l.begin()
			columns = nil
		} else if len(l.sections) == 0 {
			l.memory = imbMemory(line, l.memory)
		} else if imbGroups.MatchString(line) {
			l.sections[len(l.sections)-1].multi = true
		} else if imbIdle.MatchString(line) {
			l.sections[len(l.sections)-1].part = true
		} else if m := imbWorldSize.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[1])
			if err == nil {
				l.sections[len(l.sections)-1].ranks = n
			}
		} else if slices.Contains(fields, "#repetitions") && (slices.Contains(fields, "t_max[usec]") || slices.Contains(fields, "t_pure[usec]")) {
			columns = fields
		} else if columns != nil && len(fields) > 0 && likeNumber.MatchString(fields[0]) {
			l.add(parseIMBRow(columns, fields))
		}
	}
	return l
}

// imbMemory returns the kind of accelerator whose memory has the buffers, given a line of the preamble and what the lines
// before it say.
func imbMemory(line, before string) string {
	switch m := imbDevice.FindStringSubmatch(line); {
	case imbOnHost.MatchString(line):
		return ""
	case m != nil:
		return m[1]
	}
	return before
}

// parseIMBRow parses a row; see parseFields. For a size that IMB skips, the row has a reason instead of times, such as
// "4194304 out-of-mem.; needed X= 4.003 GB".
func parseIMBRow(columns, fields []string) (row, error) {
	if len(fields) > 1 && columns[0] == "#bytes" && strings.HasSuffix(fields[1], ".;") {
		n, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return row{}, errFields
		}
		return row{bytes: n, skipped: strings.Join(fields[1:], " ")}, nil
	}
	var r row
	var defects, pure float64
	err := parseFields(columns, fields, map[string]any{
		"#bytes": &r.bytes, "#repetitions": &r.calls, "t_min[usec]": &r.min, "t_max[usec]": &r.max, "t_avg[usec]": &r.avg, "defects": &defects,
		"t_ovrl[usec]": &r.overall, "t_pure[usec]": &pure, "t_CPU[usec]": &r.compute, // of IMB-NBC
	})
	if pure > 0 {
		r.min, r.avg, r.max = pure, pure, pure
	}
	r.wrong = defects > 0
	return r, err
}
