package nccl

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// names are those of the collectives in tuner files.
var names = map[coll.Collective]string{
	coll.Allgather: "allgather", coll.Allreduce: "allreduce", coll.Bcast: "broadcast", coll.Reduce: "reduce", coll.ReduceScatterBlock: "reducescatter",
}

var algorithms = []string{"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"}

var columnNames = []string{
	"collective_type", "min_bytes", "max_bytes", "algorithm", "protocol", "channels", "nNodes", "nRanks", "numPipeOps", "regBuff", "partitionMode", "localGroup",
}

// leastColumns is the number of columns that a row needs. maxLine is the longest line in bytes that the readers read.
const (
	leastColumns = 8
	maxLine      = 255
)

// rule is a row of a tuner file.
type rule struct {
	line            int
	collective      string
	low, high       int64
	algorithm       string // "-1": the library's choice
	proto           string
	channels        int  // -1: one channel with NCCL's plugin, RCCL's own choice
	nodes, ranks    int  // -1: any
	pipeOps, buffer int  // -1: any
	partition       bool // the row has conditions on the partition of the accelerator
}

// document is a tuner file as a dialect reads it.
type document struct {
	rules    []rule
	findings []mpi.Finding
}

// parse reads a tuner file. Rows that the reader ignores or takes for something else are findings of the kind error.
func (l library) parse(text []byte) document {
	d := document{findings: []mpi.Finding{}}
	for i, line := range strings.Split(strings.ReplaceAll(string(text), "\r", ""), "\n") {
		begin := line
		if l.skips {
			begin = strings.TrimLeft(line, " \t")
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(begin, "#") {
			continue
		}
		r, fault := l.parseRule(line)
		if r.line = i + 1; fault != "" {
			d.findings = append(d.findings, mpi.Finding{Line: r.line, Kind: mpi.FindingError, Text: fault})
			continue
		}
		d.rules = append(d.rules, r)
	}
	return d
}

func (l library) parseRule(line string) (r rule, fault string) {
	fields := strings.Split(line, ",")
	for i, f := range fields {
		fields[i] = strings.TrimSpace(f)
	}
	switch {
	case len(line) > maxLine:
		return r, fmt.Sprintf("%d bytes: the reader reads lines of at most %d", len(line), maxLine)
	case len(fields) < leastColumns:
		return r, fmt.Sprintf("%d columns: want at least %d, separated by commas: %s", len(fields), leastColumns, strings.Join(columnNames[:leastColumns], ","))
	case len(fields) > l.columns:
		return r, fmt.Sprintf("%d columns: %s reads at most %d: %s; a file of the other dialect?", len(fields), l.title, l.columns, strings.Join(columnNames[:l.columns], ","))
	case fields[0] == columnNames[0] || fields[0] == "colltype":
		return r, "a line of column names is no rule: make it a comment (#)"
	}
	r.collective, r.algorithm, r.proto = fields[0], fields[3], fields[4]
	others, unknown := []string{"-1"}, "the reader takes an unknown name for the first that it knows"
	if l.skips {
		others, unknown = nil, "the reader skips the row"
	}
	for _, w := range []struct {
		column string
		value  string
		known  []string
	}{{"collective", r.collective, knownNames()}, {"algorithm", r.algorithm, slices.Concat(algorithms, others)}, {"protocol", r.proto, slices.Concat(protocols, others)}} {
		if !slices.Contains(w.known, w.value) {
			return r, fmt.Sprintf("%s %q: want one of %s: %s", w.column, w.value, strings.Join(w.known, ", "), unknown)
		}
	}
	if fault := r.readPartition(fields); fault != "" {
		return r, fault
	}
	r.pipeOps, r.buffer = -1, -1
	group := 0
	numbers := []any{&r.low, &r.high, &r.channels, &r.nodes, &r.ranks, &r.pipeOps, &r.buffer, &group}
	for i, at := range []int{1, 2, 5, 6, 7, 8, 9, 11} {
		if at >= len(fields) {
			continue
		}
		n, err := parseNumber(fields[at])
		low := int64(-1)
		if at < 3 {
			low = 0
		}
		if err != nil || n < low || at > 2 && n > 1<<30 || at == 5 && (n == 0 || n > maxChannels) {
			return r, fmt.Sprintf("%s %q: want a whole number from %d%s", columnNames[at], fields[at], low, map[bool]string{true: fmt.Sprintf(", not 0, to %d", maxChannels)}[at == 5])
		}
		switch to := numbers[i].(type) {
		case *int64:
			*to = n
		case *int:
			*to = int(n)
		}
	}
	if r.low > r.high {
		return r, fmt.Sprintf("min_bytes %d is above max_bytes %d: no call fits", r.low, r.high)
	}
	return r, ""
}

// readPartition reads the last columns of RCCL.
func (r *rule) readPartition(fields []string) (fault string) {
	if len(fields) <= 10 {
		return ""
	}
	mode := strings.ToLower(fields[10])
	if !slices.Contains([]string{"-1", "any", "spx", "cpx"}, mode) {
		return fmt.Sprintf("partitionMode %q: want any, -1, spx or cpx: the reader skips the row", fields[10])
	}
	r.partition = mode == "spx" || mode == "cpx" || len(fields) > 11 && fields[11] != "-1"
	return ""
}

// parseNumber reads a whole number. Those above the largest int64, which fit a size_t, count as that.
func parseNumber(text string) (int64, error) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return int64(min(n, math.MaxInt64)), nil
	}
	return strconv.ParseInt(text, 10, 64)
}

func knownNames() []string {
	var out []string
	for _, c := range coll.Collectives() {
		if n, ok := names[c]; ok {
			out = append(out, n)
		}
	}
	return out
}

// fits reports whether a rule serves single calls of a size at a point. The libraries count pipe operations as calls of a
// group for each channel, rounded up: 1 for a single call. Source: ncclPrepareTasks in src/enqueue.cc.
func (r rule) fits(bytes int64, p coll.Point) bool {
	return r.collective == names[p.Collective] && r.low <= bytes && bytes <= r.high &&
		(r.nodes == -1 || r.nodes == p.Nodes) && (r.ranks == -1 || r.ranks == p.Ranks()) && (r.pipeOps == -1 || r.pipeOps == 1) && r.buffer <= 0
}

// choose returns the algorithm that the first fitting rule selects, and its line; coll.Default and 0 without one.
func (d document) choose(bytes int64, p coll.Point) (coll.Algorithm, int) {
	for _, r := range d.rules {
		if r.fits(bytes, p) {
			return r.selected(), r.line
		}
	}
	return coll.Default, 0
}

// selected returns the algorithm of a rule, coll.Default if it leaves the algorithm or the protocol to the library.
func (r rule) selected() coll.Algorithm {
	params := []coll.Param{{Name: "proto", Value: r.proto}}
	if r.channels > 0 {
		params = append(params, coll.Param{Name: "channels", Value: strconv.Itoa(r.channels)})
	}
	alg, err := coll.NewAlgorithm(r.algorithm, params...)
	if err != nil || r.algorithm == "-1" || r.proto == "-1" {
		return coll.Default
	}
	return alg
}
