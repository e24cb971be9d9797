package suites

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// NewReproMPI returns the program mpibenchmark of ReproMPI, at the given path on the nodes.
// `repetitions` is the number of timed calls of each size; 100 when zero.
func NewReproMPI(path string, repetitions int) *Program {
	repetitions = cmp.Or(repetitions, 100)
	return &Program{
		name: "reprompi", printed: "ReproMPI", follows: ascending, size: reproSize, samples: repetitions,
		allowance: func(c benchrunner.Case) time.Duration { return benchrunner.CallsTimeout(c, repetitions) },
		command: func(s benchrunner.Launch, sizes []int64) benchrunner.Command {
			c := s.Cases[0].Collective
			list := strings.ReplaceAll(strings.Trim(fmt.Sprint(sizes), "[]"), " ", ",")
			args := []string{path, "--calls-list=" + reproName(c), "--msizes-list=" + list, "--nrep=" + strconv.Itoa(repetitions)}
			if c.Reduces() {
				args = append(args, "--datatype=MPI_FLOAT", "--operation=MPI_SUM")
			}
			return benchrunner.Command{Args: args}
		},
		parse: func(s benchrunner.Launch, lines iter.Seq[string]) (listing, error) {
			l, err := parseReproMPI(lines)
			l.sections = slices.DeleteFunc(l.sections, func(one section) bool { return one.name != reproName(s.Cases[0].Collective) })
			return l, err
		},
	}
}

// ReproMPI returns the kind of program reprompi.
func ReproMPI() benchrunner.ProgramKind {
	return benchrunner.ProgramKind{
		Name: "reprompi", Keys: []string{"iterations"}, Launches: benchrunner.LaunchOSU,
		New: func(path string, o benchrunner.ProgramOptions) (benchrunner.Program, error) {
			return NewReproMPI(path, o.Iterations), nil
		},
		Trial: benchrunner.ProgramOptions{Iterations: 10},
		Search: benchrunner.ProgramSearch{
			Title: "ReproMPI", File: "mpibenchmark", Home: "REPROMPI_HOME", Folders: []string{"", "bin"},
			Install: "build mpibenchmark with mpicc and put it on the PATH",
		},
	}
}

var reproCollectives = []coll.Collective{
	coll.Allgather, coll.Allreduce, coll.Alltoall, coll.Barrier, coll.Bcast, coll.Exscan, coll.Gather, coll.Reduce, coll.ReduceScatter,
	coll.ReduceScatterBlock, coll.Scan, coll.Scatter,
}

func reproName(c coll.Collective) string {
	if name := mpiName(c, reproCollectives); name != "" {
		return "MPI_" + name
	}
	return ""
}

// reproSize returns the size of a case in ReproMPI's terms. An error says why ReproMPI cannot measure it.
func reproSize(c benchrunner.Case) (int64, error) {
	element, size := c.Collective.ElementBytes(), c.MsgBytes
	switch {
	case reproName(c.Collective) == "":
		return 0, fmt.Errorf("ReproMPI has no call for %s", c.Collective)
	case !c.Collective.Sized():
		return 1, nil // the list of sizes must not be empty
	case c.Collective == coll.ReduceScatter || c.Collective == coll.ReduceScatterBlock:
		if size%int64(c.Ranks()) != 0 {
			return 0, fmt.Errorf("ReproMPI measures equal parts: %d bytes for %d ranks", size, c.Ranks())
		}
		size /= int64(c.Ranks())
	}
	switch {
	case size < element:
		return 0, fmt.Errorf("ReproMPI begins at %d bytes", element)
	case size%element != 0:
		return 0, fmt.Errorf("ReproMPI measures whole elements of %d bytes", element)
	}
	return size, nil
}

// reproListing is a listing under construction. Each collective has a section.
type reproListing struct {
	listing
	ranks     int
	typeBytes int64    // factor that converts counts to bytes; 0: unknown
	dataType  string   // such as MPI_BYTE
	columns   []string // of the header of results; nil before it
	time      string   // the column of timeColumns that the rows have
}

// typeBytes are the bytes of the datatypes that releases without @datatype_size_bytes name.
var typeBytes = map[string]int64{"MPI_BYTE": 1, "MPI_CHAR": 1, "MPI_SHORT": 2, "MPI_INT": 4, "MPI_FLOAT": 4, "MPI_LONG": 8, "MPI_DOUBLE": 8}

// timeColumns are the columns with a time, best first: of each call, or with --summary of all calls of a size.
var timeColumns = []string{"runtime_sec", "median_sec", "mean_sec"}

// parseReproMPI parses ReproMPI's raw and summary formats: lines "#@key=value", a header, and rows whose columns are
// separated by white space. Errors name the line.
func parseReproMPI(lines iter.Seq[string]) (listing, error) {
	l := reproListing{typeBytes: 1}
	number := 0
	for line := range lines {
		number++
		if err := l.line(line); err != nil {
			return listing{}, fmt.Errorf("line %d: %w", number, err)
		}
	}
	for i := range l.sections {
		l.sections[i].ranks = l.ranks
	}
	return l.listing, nil
}

func (l *reproListing) line(text string) error {
	fields := strings.Fields(text)
	switch {
	case len(fields) == 0:
	case strings.HasPrefix(text, "#@"):
		return l.setting(strings.TrimPrefix(text, "#@"))
	case strings.HasPrefix(text, "#"):
	case slices.Contains(fields, "test") && (slices.Contains(fields, "count") || slices.Contains(fields, "msize_bytes")):
		return l.header(fields)
	case l.columns != nil && hasCallName(fields):
		l.row(fields)
	case l.columns != nil && len(fields) == len(l.columns):
		l.unread = append(l.unread, "a row without the name of a call")
	}
	return nil
}

func (l *reproListing) header(columns []string) error {
	at := slices.IndexFunc(timeColumns, func(name string) bool { return slices.Contains(columns, name) })
	if at < 0 {
		return fmt.Errorf("columns %s: want one of %s among them, as mpibenchmark prints without --verbose", strings.Join(columns, ", "), strings.Join(timeColumns, ", "))
	}
	if l.typeBytes == 0 && slices.Contains(columns, "count") {
		return fmt.Errorf("@datatype=%s without @datatype_size_bytes: the bytes of the counts are unknown", l.dataType)
	}
	l.columns, l.time = columns, timeColumns[at]
	l.begin()
	return nil
}

func hasCallName(fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, "MPI_") })
}

func (l *reproListing) setting(text string) error {
	name, value, _ := strings.Cut(strings.TrimSpace(text), "=")
	switch name {
	case "nprocs":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("@nprocs=%s: want a number", value)
		}
		l.worlds++
		l.ranks = n
	case "datatype":
		l.dataType, l.typeBytes = value, typeBytes[value]
	case "datatype_size_bytes":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 || n > 1<<20 {
			return fmt.Errorf("@datatype_size_bytes=%s: want a number", value)
		}
		l.typeBytes = n
	}
	return nil
}

// row adds the time of one call, or of a summary. It notes a line that is no row.
func (l *reproListing) row(fields []string) {
	if len(fields) != len(l.columns) {
		l.unread = append(l.unread, errFields.Error())
		return
	}
	var call, time string
	var bytes int64
	var errorCode float64
	calls, invalid := 1, 1 // that the line stands for
	for i, name := range l.columns {
		var err error
		switch name {
		case "test":
			call = fields[i]
		case "msize_bytes":
			bytes, err = strconv.ParseInt(fields[i], 10, 64)
		case "count":
			bytes, err = strconv.ParseInt(fields[i], 10, 64)
			bytes *= l.typeBytes
		case l.time:
			time = fields[i]
		case "total_nrep":
			invalid, err = strconv.Atoi(fields[i])
		case "valid_nrep":
			calls, err = strconv.Atoi(fields[i])
		case "errorcode":
			errorCode, err = coll.ParseNumber(fields[i])
		}
		if err != nil || bytes < 0 {
			l.unread = append(l.unread, fmt.Sprintf("%s %.40q: want a number from 0", name, fields[i]))
			return
		}
	}
	r := l.rowOf(call, bytes)
	if errorCode != 0 || calls < 1 {
		r.invalid += max(1, invalid)
		return
	}
	seconds, err := callTime(time)
	switch {
	case err != nil:
		r.bad = cmp.Or(r.bad, err.Error())
	case l.time == timeColumns[0]:
		r.samples = append(r.samples, seconds)
	default:
		r.min, r.avg, r.max, r.calls = seconds, seconds, seconds, calls
	}
}

// callTime parses the time of one call, which is positive.
func callTime(text string) (float64, error) {
	t, err := coll.ParseNumber(text)
	if err == nil && !(t > 0) {
		err = fmt.Errorf("%q: want a time above 0", text)
	}
	return t, err
}

// rowOf returns the row of a call and a size. It adds one if there is none.
func (l *reproListing) rowOf(call string, bytes int64) *row {
	i := slices.IndexFunc(l.sections, func(s section) bool { return s.name == call })
	if i < 0 {
		i, l.sections = len(l.sections), append(l.sections, section{name: call})
	}
	rows := &l.sections[i].rows
	k := slices.IndexFunc(*rows, func(r row) bool { return r.bytes == bytes })
	if k < 0 {
		k, *rows = len(*rows), append(*rows, row{bytes: bytes})
	}
	return &(*rows)[k]
}
