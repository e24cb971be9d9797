package suites

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/metrics"
)

// Recorded is a time that an earlier run of a benchmark printed.
type Recorded struct {
	Collective coll.Collective // "" if the output does not name it
	Bytes      int64           // message size as tutti counts it
	Ranks      int             // 0: the output does not have it
	Part       bool            // other ranks of the run waited
	Seconds    float64
	Low, High  float64 // interval of the median; 0 without single times
	Samples    int
	Overall    float64 // of a nonblocking call, as in coll.Measurement; 0 if not measured
	Mean       bool    // the mean over the ranks: the output has no maximum
	Memory     string  // kind of accelerator whose memory has the buffers, such as CUDA; empty: the host's
	Fault      string  // why the time is unusable; empty if it is right
}

// ErrNoSuite is the error for a text that no suite printed. Compare with errors.Is.
var ErrNoSuite = errors.New("no output of OSU, IMB or ReproMPI")

// ReadRecorded reads what OSU, IMB or ReproMPI printed in earlier runs, one after another. `ranks` is the
// number of ranks of the run, 0 if it is unknown; outputs that name their ranks count more. It also returns the name of
// the suite with its release. The error matches ErrNoSuite, or says why the output as a whole is unusable.
func ReadRecorded(text []byte, ranks int) (suite string, out []Recorded, err error) {
	lines := benchrunner.Output{Stdout: append(slices.Clone(text), '\n')}.Lines()
	for line := range lines {
		switch {
		case osuHeader.MatchString(line):
			suite, out = readOSU(slices.Collect(lines), ranks)
			return suite, out, nil
		case imbBanner.MatchString(line), imbBenchmark.MatchString(line):
			l := parseIMB(lines)
			return strings.TrimSpace("IMB " + l.release), recordedRows(l, imbRecordedName, "IMB", ranks, func(c coll.Collective) bool { return c == coll.ReduceScatterBlock }), nil
		case strings.HasPrefix(line, "#@"):
			l, err := parseReproMPI(lines)
			if err != nil {
				return "ReproMPI", nil, err
			}
			perRank := func(c coll.Collective) bool { return c == coll.ReduceScatter || c == coll.ReduceScatterBlock }
			return "ReproMPI", recordedRows(l, reproName, "ReproMPI", ranks, perRank), nil
		}
	}
	return "", nil, ErrNoSuite
}

// readOSU reads the outputs of several programs of OSU, which begin with their titles.
func readOSU(lines []string, ranks int) (suite string, out []Recorded) {
	suite = "OSU"
	for begin := 0; begin < len(lines); {
		end := begin + 1
		for end < len(lines) && !osuHeader.MatchString(lines[end]) {
			end++
		}
		l, err := parseOSU(slices.Values(lines[begin:end]))
		if l.release != "" {
			suite = "OSU " + l.release
		}
		m := osuHeader.FindStringSubmatch(lines[begin])
		switch {
		case m == nil: // text before the first title
		case err != nil:
			out = append(out, Recorded{Fault: fmt.Sprintf("%s: %v", osuTitleOf(m), err)})
		default:
			out = append(out, recordedOSU(l, ranks)...)
		}
		begin = end
	}
	return suite, out
}

// recordedOSU returns the rows of one program. Of several datatypes it takes that which tutti measures.
func recordedOSU(l listing, ranks int) []Recorded {
	var c coll.Collective
	for _, known := range coll.Collectives() {
		if strings.EqualFold(osuTitle(known), l.title) {
			c = known
		}
	}
	if c == "" {
		return []Recorded{{Fault: fmt.Sprintf("%s: no collective that tutti tunes", l.title)}}
	}
	want := "MPI_CHAR"
	if c.Reduces() {
		want = "MPI_FLOAT"
	}
	if slices.ContainsFunc(l.sections, func(s section) bool { return s.name == want }) {
		l.sections = slices.DeleteFunc(l.sections, func(s section) bool { return s.name != want })
	}
	var out []Recorded
	for _, s := range l.sections {
		for _, r := range s.rows {
			x := recorded(c, ranks, r, "OSU")
			x.Memory = l.memory
			out = append(out, x)
		}
	}
	return append(out, l.unreadRows()...)
}

// unreadRows returns a fault for each line of a table that is no row.
func (l listing) unreadRows() []Recorded {
	var out []Recorded
	for _, reason := range l.unread {
		out = append(out, Recorded{Fault: reason})
	}
	return out
}

// recordedRows returns the rows of all sections whose name is that of a collective. For collectives of which the
// function perRank is true, the suite counts the bytes of one rank.
func recordedRows(l listing, name func(coll.Collective) string, printed string, ranks int, perRank func(coll.Collective) bool) []Recorded {
	var out []Recorded
	for _, s := range l.sections {
		own := strings.TrimSuffix(s.name, "_pure") // of IMB-NBC, without computation
		i := slices.IndexFunc(coll.Collectives(), func(c coll.Collective) bool { return name(c) == own })
		if s.multi {
			out = append(out, Recorded{Fault: fmt.Sprintf("%s: several groups of ranks measured at the same time", s.name)})
			continue
		}
		if i < 0 {
			out = append(out, Recorded{Fault: fmt.Sprintf("%s: no collective that tutti tunes", s.name)})
			continue
		}
		c, n := coll.Collectives()[i], cmp.Or(s.ranks, ranks)
		for _, r := range s.rows {
			x := recorded(c, n, r, printed)
			if perRank(c) {
				x.Bytes *= int64(n)
				if n == 0 {
					x.Fault = fmt.Sprintf("%s counts the bytes of one rank, and the number of ranks is unknown", c)
				}
			}
			if c.Sized() && x.Bytes == 0 && x.Fault == "" {
				x.Fault = "an empty message"
			}
			x.Memory, x.Part = l.memory, s.part
			out = append(out, x)
		}
	}
	return append(out, l.unreadRows()...)
}

// recorded returns the time of a row: the median of single times, or the mean of the slowest rank, or else of all ranks.
func recorded(c coll.Collective, ranks int, r row, printed string) Recorded {
	out := Recorded{Collective: c, Bytes: r.bytes, Ranks: ranks, Seconds: r.max, Samples: r.calls}
	if !c.Sized() {
		out.Bytes = 0
	}
	if (r.max == 0 || r.overall > 0) && r.calls == 0 && r.avg > 0 && r.bad == "" && r.skipped == "" && !r.wrong {
		out.Seconds, out.Mean = cmp.Or(r.max, r.avg), r.max == 0
	} else if _, fault := r.fault(printed); fault != "" {
		out.Fault = fault
		return out
	}
	if len(r.samples) > 0 {
		median, interval, err := metrics.MedianInterval(r.samples, medianConfidence)
		if err != nil {
			out.Fault = err.Error()
			return out
		}
		out.Seconds, out.Low, out.High, out.Samples = median, interval.Low, interval.High, len(r.samples)
	}
	out.Overall = r.overallOf(out.Seconds)
	if err := coll.CheckCall(out.Seconds); err != nil {
		out.Fault = err.Error()
	}
	return out
}

// ReadPattern reads the lines that a pattern of a user's program matches, see NewOwn. Lines of one size and number of
// ranks are times of single calls: their median counts. Besides the groups of NewOwn, the group `collective` may name the
// collective.
func ReadPattern(text []byte, pattern string) ([]Recorded, error) {
	named, unit, err := parsePattern(pattern, "collective")
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	return recordedLines(benchrunner.Output{Stdout: append(slices.Clone(text), '\n')}.Lines(), named, unit)
}
