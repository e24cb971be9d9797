package libtutti

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// ErrTable is the error for a text that is not a valid table. errors.Is finds it.
var ErrTable = errors.New("not a table")

// MaxBytes is the largest size of a table's text. libtutti does not read larger tables.
const MaxBytes = 4 << 20

const (
	firstLine = "tutti-table 1"
	maxLines  = 1 << 14
	maxBytes  = 1 << 62 // of a message

	maxWeight  = 1_000_000 // of a choice
	maxChoices = 256       // of a mix
	maxName    = 250       // letters of an algorithm there
)

// Table selects algorithms. If several rules apply to a call, the first one counts. The same holds for mixes.
type Table struct {
	For   string `json:"library,omitempty"` // banner in the version that the MPI library reports; empty: any library
	Rules []Rule `json:"rules"`
	Mixes []Mix  `json:"mixes"`
}

// Scope says for which calls a table has an entry: calls of a collective with values in these ranges.
type Scope struct {
	Collective coll.Collective `json:"collective"`
	Ranks      Range           `json:"ranks"`           // of a communicator
	PPN        Range           `json:"ppn"`             // of its node with most ranks
	Order      coll.Order      `json:"order,omitempty"` // of its ranks over the nodes; empty: any
	Bytes      Range           `json:"bytes"`
}

// parseCollective returns the collective with the name s. libtutti serves blocking ones only. The error says what is allowed.
func parseCollective(s string) (coll.Collective, error) {
	c, err := coll.ParseCollective(s)
	if err == nil && c.Nonblocking() {
		return "", fmt.Errorf("libtutti has no algorithms for %s: want a blocking collective", c)
	}
	return c, err
}

// Everywhere returns a scope that limits only the collective: it contains every communicator and message size.
func Everywhere(c coll.Collective) Scope {
	return Scope{Collective: c, Ranks: Range{1, math.MaxInt32}, PPN: Range{1, math.MaxInt32}, Bytes: Range{0, maxBytes}}
}

// text returns the scope in the syntax of a table, such as "bcast ranks 2-4 ppn 1-1 bytes 0-8".
func (s Scope) text() string {
	var in string
	if s.Order != "" {
		in = fmt.Sprintf(" order %s", s.Order)
	}
	return fmt.Sprintf("%s ranks %d-%d ppn %d-%d%s bytes %d-%d", s.Collective, s.Ranks.Low, s.Ranks.High, s.PPN.Low, s.PPN.High, in, s.Bytes.Low, s.Bytes.High)
}

// Rule selects the algorithm for some calls. coll.Default stands for the MPI library's own choice.
type Rule struct {
	Scope
	Algorithm  coll.Algorithm `json:"algorithm"`
	Activation *Activation    `json:"-"` // nil for an algorithm of libtutti
}

// Mix lists the algorithms that libtutti may explore in the calls of a scope. The scope's field Order must be
// empty. A mix is for all sizes if ranks do not know each other's sizes (coll.Collective.SizesDiffer).
type Mix struct {
	Scope
	Budget  int      `json:"budget"`  // of a call, in thousandths of the time of the selected algorithm, besides the share of TUTTI_BUDGET; up to 1000000
	Choices []Choice `json:"choices"` // 1 to 256
}

// Choice is an algorithm of a mix. Its probability is its weight divided by the sum of the weights of all choices.
type Choice struct {
	Weight     int            `json:"weight"` // 1 to 1000000
	Most       int            `json:"most"`   // time that a call may take, in thousandths of the time of the selected algorithm, up to 1000000; 0: unknown
	Algorithm  coll.Algorithm `json:"algorithm"`
	Activation *Activation    `json:"-"`
}

// Activation describes how libtutti makes the MPI library run one of its algorithms for a single call.
type Activation struct {
	Needs    []mpi.Requirement // checked before each call
	New      bool              // switches affect only communicators created later
	Switches []mpi.Switch      // at least one
}

// String formats the activation as tables contain it after the name of the algorithm.
func (w *Activation) String() string {
	var b strings.Builder
	b.WriteString(cmp.Or(strings.Join(coll.Words(w.Needs), ","), "-"))
	b.WriteString(map[bool]string{false: " same", true: " new"}[w.New])
	for _, s := range w.Switches {
		fmt.Fprintf(&b, " %s=%d", s.Name, s.Value)
	}
	return b.String()
}

// Range is a range of integers that includes both ends.
type Range struct{ Low, High int64 }

// MarshalJSON writes both ends as a list.
func (r Range) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", r.Low, r.High), nil }

func (r Range) contains(n int64) bool { return r.Low <= n && n <= r.High }

// Select returns the algorithm of a call, or coll.Default if no rule applies. `orders` lists every order in which the
// ranks are placed on the nodes. On one node both orders apply.
func (t Table) Select(c coll.Collective, ranks, ppn int, bytes int64, orders ...coll.Order) coll.Algorithm {
	if i := t.find(c, ranks, ppn, bytes, orders...); i >= 0 {
		return t.Rules[i].Algorithm
	}
	return coll.Default
}

// find returns the index of the rule that Select follows, -1 if no rule applies.
func (t Table) find(c coll.Collective, ranks, ppn int, bytes int64, orders ...coll.Order) int {
	return slices.IndexFunc(t.Rules, func(r Rule) bool {
		return r.Collective == c && (r.Order == "" || slices.Contains(orders, r.Order)) && r.Ranks.contains(int64(ranks)) && r.PPN.contains(int64(ppn)) && r.Bytes.contains(bytes)
	})
}

// Bytes returns the table in the text format that libtutti reads.
func (t Table) Bytes() []byte {
	var b strings.Builder
	b.WriteString(firstLine + "\n")
	if t.For != "" {
		fmt.Fprintf(&b, "for %s\n", t.For)
	}
	written := map[string]bool{}
	write := func(c coll.Collective, a coll.Algorithm, w *Activation) {
		if name := fmt.Sprintf("%s %s", c, a); w != nil && !written[name] {
			fmt.Fprintf(&b, "algorithm %s %s\n", name, w)
			written[name] = true
		}
	}
	for _, r := range t.Rules {
		write(r.Collective, r.Algorithm, r.Activation)
	}
	for _, m := range t.Mixes {
		for _, c := range m.Choices {
			write(m.Collective, c.Algorithm, c.Activation)
		}
	}
	for _, r := range t.Rules {
		fmt.Fprintf(&b, "%s %s\n", r.text(), r.Algorithm)
	}
	for _, m := range t.Mixes {
		fmt.Fprintf(&b, "explore %s", m.text())
		if m.Budget > 0 {
			fmt.Fprintf(&b, " budget %d", m.Budget)
		}
		for _, c := range m.Choices {
			fmt.Fprintf(&b, " %d", c.Weight)
			if c.Most > 0 {
				fmt.Fprintf(&b, "/%d", c.Most)
			}
			fmt.Fprintf(&b, " %s", c.Algorithm)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String() + lastLine(b.String()))
}

// lastLine returns the last line of a table. It holds the checksum of all lines before it.
func lastLine(text string) string {
	sum := fnv.New64a()
	sum.Write([]byte(text))
	return fmt.Sprintf("end %016x\n", sum.Sum64())
}

// OrderTable is a table together with the order of ranks for which it was tuned.
type OrderTable struct {
	Order coll.Order
	Table Table
}

// Join returns a table with the rules of all given tables. Each rule then applies only to the order of ranks of its
// table. If ranks have both orders, for example on one node, the first table that has a rule counts.
//
// The error matches ErrTable if two tables have the same order or are for different MPI libraries. It also matches
// if a table already has orders or lists of algorithms to explore, or if the result is too long.
func Join(tables ...OrderTable) (Table, error) {
	var out Table
	for i, d := range tables {
		own := func(r Rule) bool { return r.Order != "" }
		switch {
		case slices.ContainsFunc(tables[:i], func(o OrderTable) bool { return o.Order == d.Order }):
			return Table{}, fmt.Errorf("%w to be joined: two are for %s order", ErrTable, d.Order)
		case d.Table.For != tables[0].Table.For:
			return Table{}, fmt.Errorf("%w to be joined: for %s order it is for the MPI library %q, for %s order for %q", ErrTable,
				d.Order, d.Table.For, tables[0].Order, tables[0].Table.For)
		case slices.ContainsFunc(d.Table.Rules, own):
			return Table{}, fmt.Errorf("%w to be joined: that for %s order has rules for an order", ErrTable, d.Order)
		case len(d.Table.Mixes) > 0:
			return Table{}, fmt.Errorf("%w to be joined: that for %s order explores, and mixes have no order", ErrTable, d.Order)
		}
		out.For = d.Table.For
		for _, r := range d.Table.Rules {
			r.Order = d.Order
			out.Rules = append(out.Rules, r)
		}
	}
	if _, err := Parse(out.Bytes()); err != nil {
		return Table{}, fmt.Errorf("the joined table: %w", err)
	}
	return out, nil
}
