package libtutti

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// ErrTable is matched by errors over text that is no table.
var ErrTable = errors.New("not a table")

const (
	firstLine = "tutti-table 1"
	mostText  = 16 << 20 // bytes
	mostBytes = 1 << 62  // of a message

	mostWeight  = 1_000_000 // of a choice
	mostChoices = 256       // of a mix
	mostName    = 250       // letters of an algorithm there
)

// Table selects algorithms: of the rules that hold for a call the first one counts.
type Table struct {
	For   string // what the MPI library says of itself, blanks for lines and tabs; empty: any library
	Rules []Rule
	Mixes []Mix // what is drawn where calls are explored; of those that hold for a call the first one counts
}

// Rule says what serves some calls of one collective. coll.Default leaves them to the
// MPI library.
type Rule struct {
	Collective coll.Collective
	Ranks, PPN Range      // of a communicator; of its fullest node
	Order      coll.Order // of its ranks over the nodes; empty: any
	Bytes      Range
	Algorithm  coll.Algorithm
	Way        *Way // of an algorithm of the MPI library; nil for others
}

// Mix says what some calls of one collective try beside what rules select.
type Mix struct {
	Collective coll.Collective // not coll.Alltoallv, whose ranks know sizes of their own alone
	Ranks, PPN Range
	Bytes      Range
	Budget     int      // of a call, in thousandths of the time of the selected algorithm, besides the share of TUTTI_BUDGET; up to 1000000
	Choices    []Choice // 1 to 256
}

// Choice is drawn as often as its weight says, of those of all choices together.
type Choice struct {
	Weight    int // 1 to 1000000
	Most      int // thousandths of the time of what is selected that a call may take, up to 1000000; 0: not said
	Algorithm coll.Algorithm
	Way       *Way
}

// Way says how the MPI library is made to run an algorithm of its own for one call.
type Way struct {
	Needs    []mpi.Requirement // that the library looks at before
	New      bool              // switches act on communicators that are made afterwards
	Switches []mpi.Switch      // one at least
}

// String is what stands behind the name of the algorithm.
func (w *Way) String() string {
	var b strings.Builder
	for i, r := range w.Needs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(r))
	}
	if len(w.Needs) == 0 {
		b.WriteByte('-')
	}
	b.WriteString(map[bool]string{false: " same", true: " new"}[w.New])
	for _, s := range w.Switches {
		fmt.Fprintf(&b, " %s=%d", s.Name, s.Value)
	}
	return b.String()
}

// Range is of whole numbers, both ends included.
type Range struct{ Low, High int64 }

func (r Range) holds(n int64) bool { return r.Low <= n && n <= r.High }

// Select returns what a table selects for a call, coll.Default where no rule holds. The
// orders are all that the ranks have: both where they are the same, as on one node.
func (t Table) Select(c coll.Collective, ranks, ppn int, bytes int64, orders ...coll.Order) coll.Algorithm {
	for _, r := range t.Rules {
		if r.Collective == c && (r.Order == "" || slices.Contains(orders, r.Order)) && r.Ranks.holds(int64(ranks)) && r.PPN.holds(int64(ppn)) && r.Bytes.holds(bytes) {
			return r.Algorithm
		}
	}
	return coll.Default
}

// Bytes returns the table as text, remarks behind the first line.
func (t Table) Bytes(remarks ...string) []byte {
	var b strings.Builder
	b.WriteString(firstLine + "\n")
	for _, text := range remarks {
		fmt.Fprintf(&b, "# %s\n", text)
	}
	if t.For != "" {
		fmt.Fprintf(&b, "for %s\n", t.For)
	}
	told := map[string]bool{}
	tell := func(c coll.Collective, a coll.Algorithm, w *Way) {
		if name := fmt.Sprintf("%s %s", c, a); w != nil && !told[name] {
			fmt.Fprintf(&b, "algorithm %s %s\n", name, w)
			told[name] = true
		}
	}
	for _, r := range t.Rules {
		tell(r.Collective, r.Algorithm, r.Way)
	}
	for _, m := range t.Mixes {
		for _, c := range m.Choices {
			tell(m.Collective, c.Algorithm, c.Way)
		}
	}
	for _, r := range t.Rules {
		fmt.Fprintf(&b, "%s %s\n", placed(r.Collective, r.Ranks, r.PPN, r.Order, r.Bytes), r.Algorithm)
	}
	for _, m := range t.Mixes {
		fmt.Fprintf(&b, "explore %s", placed(m.Collective, m.Ranks, m.PPN, "", m.Bytes))
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

func placed(c coll.Collective, ranks, ppn Range, order coll.Order, bytes Range) string {
	var in string
	if order != "" {
		in = fmt.Sprintf(" order %s", order)
	}
	return fmt.Sprintf("%s ranks %d-%d ppn %d-%d%s bytes %d-%d", c, ranks.Low, ranks.High, ppn.Low, ppn.High, in, bytes.Low, bytes.High)
}

// lastLine has the checksum of all lines before it.
func lastLine(text string) string {
	sum := fnv.New64a()
	sum.Write([]byte(text))
	return fmt.Sprintf("end %016x\n", sum.Sum64())
}
