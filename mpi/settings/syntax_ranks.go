package settings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// ranksSyntax is the syntax "ID:BYTES@RANKS,BYTES@RANKS;ID:...". BYTES and RANKS are ranges LOW-HIGH that
// include both bounds. For a call outside all ranges, the library decides.
type ranksSyntax struct{ numbered }

// numbered is a syntax in which the number of an algorithm alone selects it for all calls.
type numbered struct{}

func (numbered) forced(b build, collective coll.Collective, e mpi.Entry, _ coll.Algorithm) []mpi.Setting {
	v, _ := b.variable(collective)
	return []mpi.Setting{{Name: v.name, Value: strconv.Itoa(e.ID)}}
}

func (numbered) separator() string { return "" }

func (ranksSyntax) merge(b build, rows []selection.Row, maxLoss float64) (selection.Selection, error) {
	return selection.MergeAll(rows, b.lib.Size, selection.Options{MaxLoss: maxLoss, Between: mpi.Between})
}

func (ranksSyntax) settings(b build, t *selection.Tree) ([]mpi.Setting, error) {
	rules, err := rulesOf(b, t)
	if err != nil {
		return nil, err
	}
	return b.one(t.Collective, rules.String())
}

// rulesOf returns the rules of a tree. They never overlap.
func rulesOf(b build, t *selection.Tree) (rankRules, error) {
	var rules rankRules
	v, _ := b.variable(t.Collective)
	for _, c := range t.Comms {
		if len(c.PPNs) != 1 {
			return nil, errors.New("ranges of ranks know no processes per node: fit the selection by ranks")
		}
		next := int64(0)
		for _, band := range c.PPNs[0].Bands {
			low := next
			next = band.UpTo + 1
			if band.Algorithm.IsDefault() || low > maxInt {
				continue
			}
			e, err := b.cat.Lookup(t.Collective, band.Algorithm)
			if err != nil {
				return nil, err
			}
			r := rankRule{id: e.ID, lowBytes: low, highBytes: min(band.UpTo, maxInt), lowRanks: c.Low, highRanks: c.High}
			if v.bytes == noSize {
				r.highBytes = maxInt
			}
			rules = append(rules, r)
		}
	}
	return rules, nil
}

func (s ranksSyntax) selects(b build, set []mpi.Setting, p coll.Point, alg coll.Algorithm) error {
	return selectsByRange(b, set, p, alg, s.lookup)
}

func (ranksSyntax) whole() bool { return false }

// lookup returns the number of the algorithm that a value selects for a communicator and a message size. It returns
// false if the library decides there. The error matches errSyntax.
func (ranksSyntax) lookup(value string, ranks int, bytes int64) (int, bool, error) {
	rules, err := parseRankRules(value)
	if err != nil {
		return 0, false, err
	}
	id := rules.find(ranks, bytes)
	return id, id != 0, nil
}

// rankRule selects an algorithm for a range of message sizes and a range of ranks. Both ranges include
// their bounds.
type rankRule struct {
	id                  int // 0: the library decides
	lowBytes, highBytes int64
	lowRanks, highRanks int
}

// rankRules is the value of one variable. If a call is in the ranges of several rules, the first one decides.
type rankRules []rankRule

// find returns the number of the algorithm for a communicator and a message size. It returns 0 if the
// library decides.
func (rules rankRules) find(ranks int, bytes int64) int {
	for _, r := range rules {
		if bytes >= r.lowBytes && bytes <= r.highBytes && ranks >= r.lowRanks && ranks <= r.highRanks {
			return r.id
		}
	}
	return 0
}

// String returns the value of the variable. It groups the rules by algorithm, in the order in which the
// algorithms first occur.
func (rules rankRules) String() string {
	var order []int
	ranges := map[int][]string{}
	for _, r := range rules {
		if ranges[r.id] == nil {
			order = append(order, r.id)
		}
		ranges[r.id] = append(ranges[r.id], fmt.Sprintf("%d-%d@%d-%d", r.lowBytes, r.highBytes, r.lowRanks, r.highRanks))
	}
	var parts []string
	for _, id := range order {
		parts = append(parts, strconv.Itoa(id)+":"+strings.Join(ranges[id], ","))
	}
	return strings.Join(parts, ";")
}

func parseRankRules(value string) (rankRules, error) {
	var out rankRules
	for part := range strings.SplitSeq(value, ";") {
		number, ranges, _ := strings.Cut(part, ":")
		id, _ := strconv.Atoi(number) // the comparison with value below finds errors
		for text := range strings.SplitSeq(ranges, ",") {
			r := rankRule{id: id}
			_, _ = fmt.Sscanf(text, "%d-%d@%d-%d", &r.lowBytes, &r.highBytes, &r.lowRanks, &r.highRanks)
			if r.id < 0 || r.lowBytes > r.highBytes || r.highBytes > maxInt || r.lowRanks > r.highRanks {
				return nil, fmt.Errorf("%w: %q: want numbers of 0 to %d in ascending ranges", errSyntax, value, maxInt)
			}
			out = append(out, r)
		}
	}
	if out.String() != value {
		return nil, fmt.Errorf("%w: %q: want ID:BYTES-BYTES@RANKS-RANKS, more ranges after a comma, more IDs after a semicolon", errSyntax, value)
	}
	return out, nil
}
