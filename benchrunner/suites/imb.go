package suites

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// IMB is the program IMB-MPI1 of the Intel MPI Benchmarks. It implements benchrunner.Program.
type IMB struct {
	Path       string // absolute path of IMB-MPI1 on the nodes
	Iterations int    // largest number of repetitions of each size; IMB's default of 1000 when zero
}

// Name returns imb.
func (*IMB) Name() string { return "imb" }

func imbName(c coll.Collective) string { return mpiName(c, coll.Exscan, coll.Scan) }

// Group implements benchrunner.Program. A group contains all sizes of one collective and algorithm. A
// duplicate case gets its own launch.
func (*IMB) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return benchrunner.Sweeps(cases, benchrunner.Ascending)
}

// Allowance implements benchrunner.Program. IMB spends at most 10 s on each size.
func (p *IMB) Allowance(s benchrunner.Launch) time.Duration {
	const perSize = 10 * time.Second
	repetitions := cmp.Or(p.Iterations, 1000)
	return sumAllowance(s, func(c benchrunner.Case) time.Duration {
		return min(benchrunner.CallsTimeout(c, repetitions), perSize+20*benchrunner.CallTimeout(c.Point))
	})
}

const imbLengthsFile = "lengths"

// Command implements benchrunner.Program. The cases must be one of the groups that Group returns.
func (p *IMB) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	if err := checkLaunch("imb", s, checkIMB, benchrunner.Ascending); err != nil {
		return benchrunner.Command{}, err
	}
	first := s.Cases[0]
	var lengths strings.Builder
	for _, c := range s.Cases {
		fmt.Fprintln(&lengths, imbLength(c))
	}
	args := []string{p.Path, "-npmin", strconv.Itoa(s.Layout.Ranks())}
	if p.Iterations > 0 {
		args = append(args, "-iter", strconv.Itoa(p.Iterations))
	}
	cmd := benchrunner.Command{Env: first.Env}
	if first.Collective.Sized() {
		args = append(args, "-msglen", filepath.Join(s.Dir, imbLengthsFile))
		cmd.Files = map[string][]byte{imbLengthsFile: []byte(lengths.String())}
	}
	cmd.Args = append(args, imbName(first.Collective))
	return benchrunner.ReportHosts(s.Dir, cmd), nil
}

func checkIMB(c benchrunner.Case) error {
	element := c.Collective.ElementBytes()
	ranks := int64(c.Ranks())
	switch block := c.Collective == coll.ReduceScatterBlock; {
	case imbName(c.Collective) == "":
		return fmt.Errorf("IMB has no benchmark of %s", c.Collective)
	case block && (c.MsgBytes%ranks != 0 || c.MsgBytes/ranks%element != 0):
		return fmt.Errorf("IMB measures equal parts of whole elements of %d bytes: %d bytes for %d ranks", element, c.MsgBytes, ranks)
	case c.MsgBytes%element != 0:
		return fmt.Errorf("IMB measures whole elements of %d bytes", element)
	case c.MsgBytes > 1<<31-1:
		return errors.New("IMB takes lengths up to 2147483647 bytes")
	}
	return nil
}

// imbLength returns the size that IMB prints for a case. For Reduce_scatter_block it is the size of one
// rank's part.
func imbLength(c benchrunner.Case) int64 {
	if c.Collective == coll.ReduceScatterBlock {
		return c.MsgBytes / int64(c.Ranks())
	}
	return c.MsgBytes
}

// Read implements benchrunner.Program. It returns one outcome for each case.
func (p *IMB) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	l := parseIMB(out.Lines())
	want := s.Layout.Ranks()
	var rows []row
	ranks := 0
	for _, section := range l.sections {
		switch {
		case section.name != imbName(s.Cases[0].Collective):
		case section.ranks == want:
			rows = append(rows, section.rows...)
		case ranks == 0:
			ranks = section.ranks
		}
	}
	if phase, text := checkWorld(s, out, l.worlds, ranks, nil); text != "" {
		return benchrunner.Reading{Release: l.release, Outcomes: benchrunner.FailedAll(s, phase, text)}
	}
	reading := benchrunner.Reading{Release: l.release, Warnings: damagedLines("imb", l.damaged)}
	reading.Outcomes = benchrunner.Outcomes(s, out, l.worlds > 0, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		return outcomeOf("IMB", rows, imbLength(c), func(r row) benchrunner.Outcome {
			cost := r.max * float64(r.calls)
			reading.MeasureSeconds += cost
			return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: r.max, Samples: r.calls, CostSeconds: cost}
		})
	})
	return reading
}

var (
	imbBanner    = regexp.MustCompile(`^#\s+Intel ?\(R\) MPI Benchmarks ([0-9.]*).*MPI-1 part`)
	imbBenchmark = regexp.MustCompile(`^# Benchmarking (\S+)`)
	imbWorldSize = regexp.MustCompile(`^# #processes = ([0-9]+)`)
)

// parseIMB parses the output of IMB. A section begins with the name of its benchmark and a header with the
// names of the columns. Lines of libraries and launchers are skipped.
func parseIMB(lines []string) listing {
	var l listing
	var columns []string
	for _, line := range lines {
		fields := strings.Fields(line)
		if m := imbBanner.FindStringSubmatch(line); m != nil {
			l.worlds++
			l.release = m[1]
		} else if m := imbBenchmark.FindStringSubmatch(line); m != nil {
			l.sections = append(l.sections, section{name: m[1]})
			l.worlds = max(l.worlds, 1) // even without a known banner
			columns = nil
		} else if m := imbWorldSize.FindStringSubmatch(line); m != nil && len(l.sections) > 0 {
			n, err := strconv.Atoi(m[1])
			if err == nil {
				l.sections[len(l.sections)-1].ranks = n
			}
		} else if len(l.sections) > 0 && slices.Contains(fields, "#repetitions") && slices.Contains(fields, "t_max[usec]") {
			columns = fields
		} else if columns != nil && len(fields) > 0 && beginsWithDigit(fields[0]) {
			r, ok := parseIMBRow(columns, fields)
			l.add(line, r, ok)
		}
	}
	return l
}

// parseIMBRow parses a row. It returns false if the number of fields is wrong or a field is not a number.
// For a size that IMB skips, the row has a reason instead of times, such as "4194304 out-of-mem.; needed X=
// 4.003 GB".
func parseIMBRow(columns, fields []string) (row, bool) {
	if len(fields) > 1 && columns[0] == "#bytes" && strings.HasSuffix(fields[1], ".;") {
		n, err := strconv.ParseInt(fields[0], 10, 64)
		return row{bytes: n, skipped: strings.Join(fields[1:], " ")}, err == nil
	}
	var r row
	ok := parseFields(columns, fields, map[string]any{
		"#bytes": &r.bytes, "#repetitions": &r.calls, "t_min[usec]": &r.min, "t_max[usec]": &r.max, "t_avg[usec]": &r.avg,
	})
	return r, ok && r.bytes >= 0 && r.calls > 0
}
