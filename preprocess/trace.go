package preprocess

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"tutti/coll"
)

// Calls holds how often an application makes calls at one point, and how long they take.
type Calls struct {
	coll.Point
	Calls   float64 `json:"calls"`
	Seconds float64 `json:"seconds,omitzero"` // sum over all calls of the mean time of their ranks; 0 without this column

	Shortest, Longest float64 `json:"-"` // seconds of one call of a rank; 0 without these columns
}

// Trace holds the calls of an application, and how long it ran.
type Trace struct {
	Calls []Calls // by point
	Ranks float64 // of the application; 0 if the file does not have them

	// Means of all ranks, in seconds; 0 if the file does not have them.
	Run         float64 // from MPI_Init to MPI_Finalize
	Collectives float64 // in blocking collectives
}

// CollectiveShare returns the share of its time that the application spends in blocking collectives. It returns 0 if
// the run time is unknown. Several threads of a rank may be in collectives at once; the share is 1 at most.
func (t Trace) CollectiveShare() float64 {
	if t.Run == 0 {
		return 0
	}
	return min(1, t.Collectives/t.Run)
}

// KnownRanks returns the number of ranks of the application. If the file does not have it, or too small a number, this is the
// number of ranks of the largest communicator.
func (t Trace) KnownRanks() float64 {
	ranks := t.Ranks
	for _, c := range t.Calls {
		ranks = max(ranks, float64(c.Ranks()))
	}
	return ranks
}

// maxCalls is the largest number of distinct points in a trace. It is limited because every journal
// contains the points.
const maxCalls = 100_000

// The columns of a trace. The layout is given by ppn together with one of traceLayouts.
var (
	traceLayouts = []string{"nodes", processesColumn}
	traceColumns = append(slices.DeleteFunc(slices.Clone(pointColumns), func(name string) bool { return name == traceLayouts[0] }), "calls")
)

// ReadTrace reads the calls of an application from a CSV file. Its columns are collective, nodes or
// processes (of the communicator), ppn, msg_bytes and calls. msg_bytes is the size of the whole message, or
// of one process's part for collectives for which coll.Collective.PerRank is true. The optional column
// seconds is the sum over these calls of the mean time of their ranks. The optional columns shortest and longest
// are times of a single call of a rank. Rows for the same point are added up. A comment in the first line, such as
//
//	# ranks=64,run_seconds=120.5,collective_seconds=31.2
//
// has the ranks and times of Trace.
//
// A row may also be of a nonblocking collective, such as iallreduce, or of a persistent one, such as
// allreduce_init.
//
// Every row must be valid. Errors name the file, the line and the allowed values. Unknown columns
// are errors, because a misspelled name would change the weights.
func ReadTrace(path string) (Trace, error) {
	return readFile("trace", path, readTrace)
}

func readTrace(r io.Reader, path string) (t Trace, err error) {
	s, err := newSheet(r, path)
	if err == nil {
		err = s.requireTrace()
	}
	if err == nil {
		if err = t.setTimes(s.comment); err != nil {
			err = fmt.Errorf("%s:1: %w", path, err)
		}
	}
	if err == nil {
		t.Calls, err = s.allCalls()
	}
	return t, err
}

// allCalls returns the sums of the rows by point, sorted.
func (s *sheet) allCalls() ([]Calls, error) {
	sum := map[coll.Point]Calls{}
	err := s.eachRow(func(row []string, _ int) error {
		c, err := s.calls(row)
		if err != nil {
			return err
		}
		all, known := sum[c.Point]
		if !known || c.Shortest < all.Shortest {
			all.Shortest = c.Shortest
		}
		all.Longest = max(all.Longest, c.Longest)
		all.Point = c.Point
		all.Calls += c.Calls
		all.Seconds += c.Seconds
		if math.IsInf(all.Calls, 0) || math.IsInf(all.Seconds, 0) {
			return fmt.Errorf("calls of %v: the sum overflows", c.Point)
		}
		sum[c.Point] = all
		if len(sum) > maxCalls {
			return fmt.Errorf("more than %d different points: want a shorter trace", maxCalls)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(sum), func(a, b Calls) int { return coll.ComparePoints(a.Point, b.Point) }), nil
}

// setTimes reads the number of ranks and the times of a program from a comment. Other comments have no effect.
func (t *Trace) setTimes(comment string) (err error) {
	const ranks, run, collectives = "ranks", "run_seconds", "collective_seconds"
	for field := range strings.SplitSeq(strings.TrimPrefix(comment, "#"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch name {
		case ranks:
			t.Ranks, err = amount(ranks, value)
		case run:
			t.Run, err = amount(run, value)
		case collectives:
			t.Collectives, err = amount(collectives, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sheet) requireTrace() error {
	if err := s.require(traceColumns); err != nil {
		return err
	}
	var layouts []string
	for _, name := range traceLayouts {
		if _, ok := s.column[name]; ok {
			layouts = append(layouts, name)
		}
	}
	if len(layouts) != 1 {
		return fmt.Errorf("%s: header row %s: want one of the columns %s", s.path, shorten(strings.Join(s.header, ",")), strings.Join(traceLayouts, ", "))
	}
	known := slices.Concat(traceColumns, traceLayouts, []string{"seconds", "shortest", "longest"})
	if more := s.others(known...); len(more) > 0 {
		return fmt.Errorf("%s: header row: unknown column %s: want %s", s.path, shorten(s.header[more[0]]), strings.Join(known, ", "))
	}
	return nil
}

func (s *sheet) calls(row []string) (c Calls, err error) {
	if c.Point, err = s.point(row, parseTraced); err != nil {
		return c, err
	}
	if c.Calls, err = amount("calls", s.cell(row, "calls")); err != nil {
		return c, err
	}
	for _, to := range []struct {
		name string
		at   *float64
	}{{"seconds", &c.Seconds}, {"shortest", &c.Shortest}, {"longest", &c.Longest}} {
		if _, ok := s.column[to.name]; ok && err == nil {
			*to.at, err = amount(to.name, s.cell(row, to.name))
		}
	}
	return c, err
}

// parseTraced parses the name of a collective, which may be that of a nonblocking or persistent form.
func parseTraced(name string) (coll.Collective, error) {
	_, err := coll.ParseCollective(name)
	for _, blocking := range []string{strings.TrimPrefix(name, "i"), strings.TrimSuffix(name, "_init")} {
		if _, none := coll.ParseCollective(blocking); none == nil {
			err = nil
		}
	}
	return coll.Collective(name), err
}

// Tunable removes the calls of collectives that are not in coll.Collectives, such as persistent ones.
func Tunable(calls []Calls) []Calls {
	return slices.DeleteFunc(calls, func(c Calls) bool { return !slices.Contains(coll.Collectives(), c.Collective) })
}

func amount(column, cell string) (float64, error) {
	v, err := coll.ParseNumber(cell)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%w: %s %s: want a number, zero or more, without a unit", errNumber, column, shorten(cell))
	}
	return v, nil
}

// Timed reports whether a trace says how long any of its calls took.
func Timed(trace []Calls) bool {
	return slices.ContainsFunc(trace, func(c Calls) bool { return c.Seconds > 0 })
}

// weight returns the weight of calls in a trace: the time of all their ranks, or their number if the trace has no times.
func (c Calls) weight(timed bool) float64 {
	if timed {
		return c.Seconds * float64(c.Ranks())
	}
	return c.Calls
}

// CallWeight returns the time of all ranks in the calls of a collective, or the number of calls if the trace has no times.
func CallWeight(collective coll.Collective, trace []Calls) (sum float64) {
	timed := Timed(trace)
	for _, c := range trace {
		if c.Collective == collective {
			sum += c.weight(timed)
		}
	}
	return sum
}

// CallWeights distributes a trace over points of one collective. Each call is assigned to the nearest point;
// distances are in doublings of nodes, ppn and bytes. If several points are equally near, the first one gets
// the call. The weight of a call is the time of all its ranks, or 1 if the trace has no times. The weights are scaled to the
// mean 1. The result `far` is the fraction of the total weight that comes from calls at a distance of Far or
// more.
//
// ok is false if the trace has no calls, or no time, for the collective. It takes O(points · calls) time.
func CallWeights(points []coll.Point, trace []Calls) (weights []float64, far float64, ok bool) {
	timed := Timed(trace)
	weights = make([]float64, len(points))
	rows := Rows(points)
	total := 0.0
	for _, c := range trace {
		w := c.weight(timed)
		if w == 0 || len(points) == 0 || c.Collective != points[0].Collective {
			continue
		}
		at, distance := Nearest(rows, c.Point)
		weights[at] += w
		total += w
		if distance >= Far {
			far += w
		}
	}
	if total == 0 || math.IsInf(total, 0) {
		return nil, 0, false
	}
	for i := range weights {
		weights[i] *= float64(len(weights)) / total
	}
	return weights, far / total, true
}

// Nearest returns the index of the row that is nearest to a point, and the distance in doublings. The rows
// must be results of Rows. If several rows are equally near, it returns the first one.
func Nearest(rows [][]float64, to coll.Point) (at int, distance float64) {
	features, least := Features(to), math.Inf(1)
	for i, row := range rows {
		d := 0.0
		for k, v := range row {
			d += (v - features[k]) * (v - features[k])
		}
		if d < least {
			at, least = i, d
		}
	}
	return at, math.Sqrt(least)
}
