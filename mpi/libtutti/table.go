package libtutti

import (
	"errors"
	"fmt"
	"hash/fnv"
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
)

// Table selects algorithms: of the rules that hold for a call the first one counts.
type Table struct {
	For   string // what the MPI library says of itself, blanks for lines and tabs; empty: any library
	Rules []Rule
}

// Rule says what serves some calls of one collective. coll.Default leaves them to the
// MPI library.
type Rule struct {
	Collective coll.Collective
	Ranks, PPN Range // of a communicator; of its fullest node
	Bytes      Range
	Algorithm  coll.Algorithm
	Way        *Way // of an algorithm of the MPI library; nil for others
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

// Select returns what a table selects for a call, coll.Default where no rule holds.
func (t Table) Select(c coll.Collective, ranks, ppn int, bytes int64) coll.Algorithm {
	for _, r := range t.Rules {
		if r.Collective == c && r.Ranks.holds(int64(ranks)) && r.PPN.holds(int64(ppn)) && r.Bytes.holds(bytes) {
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
	for _, r := range t.Rules {
		if name := fmt.Sprintf("%s %s", r.Collective, r.Algorithm); r.Way != nil && !told[name] {
			fmt.Fprintf(&b, "algorithm %s %s\n", name, r.Way)
			told[name] = true
		}
	}
	for _, r := range t.Rules {
		fmt.Fprintf(&b, "%s ranks %d-%d ppn %d-%d bytes %d-%d %s\n",
			r.Collective, r.Ranks.Low, r.Ranks.High, r.PPN.Low, r.PPN.High, r.Bytes.Low, r.Bytes.High, r.Algorithm)
	}
	return []byte(b.String() + lastLine(b.String()))
}

// lastLine has the checksum of all lines before it.
func lastLine(text string) string {
	sum := fnv.New64a()
	sum.Write([]byte(text))
	return fmt.Sprintf("end %016x\n", sum.Sum64())
}
