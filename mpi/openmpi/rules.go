package openmpi

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
)

// classicRules is the content of a rules file.
type classicRules []classicCollective

// classicCollective holds the rules of one collective. Its blocks are in ascending order.
type classicCollective struct {
	Collective coll.Collective
	Blocks     []classicBlock
}

// classicBlock applies to communicators of at least Ranks ranks, up to the next block. The first block also
// applies to smaller communicators.
type classicBlock struct {
	Ranks int
	Rules []rule
}

// rule applies to messages of at least Size bytes, up to the next rule.
type rule struct {
	Size        int64
	Algorithm   int // Open MPI's number; 0 leaves the decision to the library
	FanInOut    int
	SegSize     int64
	MaxRequests int // 0: as many as the library likes

	BasicInter, BasicIntra bool // coll/han calls coll/basic between or within the nodes
}

// sameChoice reports whether two rules differ only in the sizes to which they apply.
func sameChoice(a, b rule) bool {
	b.Size = a.Size
	return a == b
}

type numbered struct {
	collective coll.Collective
	id         int64
}

// ids lists the numbers by which Open MPI identifies collectives, from coll_tuned.h.
var ids = []numbered{
	{coll.Allgather, 0}, {coll.Allgatherv, 1}, {coll.Allreduce, 2}, {coll.Alltoall, 3}, {coll.Alltoallv, 4},
	{coll.Barrier, 6}, {coll.Bcast, 7}, {coll.Exscan, 8}, {coll.Gather, 9}, {coll.Reduce, 11},
	{coll.ReduceScatter, 12}, {coll.ReduceScatterBlock, 13}, {coll.Scan, 14}, {coll.Scatter, 15},
}

// header2 is the first line of files whose rules may have a fifth number, the maximum number of requests.
// Releases before 5.0.7 ignore such files without a message.
const header2 = "rule-file-version-2\n"

// second reports whether the rules need the second version of the format.
func (r classicRules) second() bool {
	for _, c := range r {
		for _, b := range c.Blocks {
			if slices.ContainsFunc(b.Rules, func(x rule) bool { return x.MaxRequests != 0 }) {
				return true
			}
		}
	}
	return false
}

// Bytes returns the rules as the content of a file. Equal rules give equal bytes. Bytes uses the first
// version of the format if this version can express the rules. Numbers have no leading zeros, because Open
// MPI would read them as octal.
func (r classicRules) Bytes() []byte {
	var b strings.Builder
	fifth := ""
	if r.second() {
		b.WriteString(header2)
		fifth = ", most requests"
	}
	b.WriteString("# rules of coll/tuned: size of message, algorithm (0: the library decides), fan in/out, segment size" + fifth + "\n")
	fmt.Fprintf(&b, "%d # collectives\n", len(r))
	for _, c := range r {
		fmt.Fprintf(&b, "%d # %s\n", c.id(), c.Collective)
		fmt.Fprintf(&b, "%d # communicator sizes\n", len(c.Blocks))
		for _, block := range c.Blocks {
			fmt.Fprintf(&b, " %d # processes\n %d # message sizes\n", block.Ranks, len(block.Rules))
			for _, x := range block.Rules {
				fmt.Fprintf(&b, "  %d %d %d %d", x.Size, x.Algorithm, x.FanInOut, x.SegSize)
				if x.MaxRequests != 0 {
					fmt.Fprintf(&b, " %d", x.MaxRequests)
				}
				b.WriteByte('\n')
			}
		}
	}
	return []byte(b.String())
}

func (c classicCollective) id() int64 {
	return ids[slices.IndexFunc(ids, func(x numbered) bool { return x.collective == c.Collective })].id
}

// errSyntax is the error for text that Open MPI would reject or misread. errors.Is finds it.
var errSyntax = errors.New("not a rules file")

// parse reads a rules file. The error matches errSyntax and names the line.
//
// Like Open MPI, parse reads numbers with C's %li: a leading 0 means octal, 0x means hexadecimal. Text that
// is not a number is skipped, and # begins a comment. Unlike Open MPI, parse requires ascending sizes and
// known collectives. Each collective may occur once. Only comments may follow the last rule.
//
// If the first line is rule-file-version-2, a rule may have a fifth number, on the same line as the fourth
// one.
func parse(text []byte) (classicRules, error) {
	s := &scanner{text: string(text), line: 1}
	if rest, ok := strings.CutPrefix(s.text, header2); ok {
		s.text, s.line, s.second = rest, 2, true
	}
	n, err := s.number("number of collectives", math.MaxInt32)
	if err != nil {
		return nil, err
	}
	var rules classicRules
	for range n {
		c, err := s.collective(rules)
		if err != nil {
			return nil, err
		}
		rules = append(rules, c)
	}
	if _, ok, _ := s.next(); ok {
		return nil, s.fail("a number after the last rule: the counts do not fit")
	}
	return rules, nil
}

type scanner struct {
	text   string
	at     int
	line   int
	second bool // version of the format
}

func (s *scanner) fail(format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", errSyntax, s.line, fmt.Sprintf(format, args...))
}

// next returns the next number of the text. It returns false if there is none.
func (s *scanner) next() (int64, bool, error) {
	for s.at < len(s.text) {
		switch rest := s.text[s.at:]; {
		case rest[0] == '\n':
			s.line++
		case rest[0] == '#':
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			s.at += end
			continue
		case numberLength(rest) > 0:
			word := rest[:numberLength(rest)]
			s.at += len(word)
			n, err := strconv.ParseInt(word, 0, 64)
			if err != nil {
				return 0, true, s.fail("%s: want a number of at most %d", word, math.MaxInt64)
			}
			return n, true, nil
		}
		s.at++
	}
	return 0, false, nil
}

// numberLength returns the number of bytes that C's strtol with base 0 reads: a sign, then hexadecimal
// digits after 0x, octal digits after 0, or decimal digits.
func numberLength(text string) int {
	sign := 0
	if text[0] == '-' || text[0] == '+' {
		sign = 1
	}
	digits, start := "0123456789", sign
	switch rest := strings.ToLower(text[sign:]); {
	case strings.HasPrefix(rest, "0x") && len(rest) > 2 && strings.IndexByte("0123456789abcdef", rest[2]) >= 0:
		digits, start = "0123456789abcdefABCDEF", sign+2
	case strings.HasPrefix(rest, "0"):
		digits = "01234567"
	}
	n := start
	for n < len(text) && strings.IndexByte(digits, text[n]) >= 0 {
		n++
	}
	if n == sign {
		return 0
	}
	return n
}

// number returns the next number, which must be between 0 and limit.
func (s *scanner) number(what string, limit int64) (int64, error) {
	n, ok, err := s.next()
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, s.fail("the file ends: want %s", what)
	case n < 0 || n > limit:
		return 0, s.fail("%s %d: want 0 to %d", what, n, limit)
	}
	return n, nil
}

func (s *scanner) collective(before classicRules) (classicCollective, error) {
	id, err := s.number("collective", math.MaxInt32)
	if err != nil {
		return classicCollective{}, err
	}
	var c classicCollective
	for _, x := range ids {
		if x.id == id {
			c.Collective = x.collective
		}
	}
	if c.Collective == "" {
		return c, s.fail("collective %d: want 0 to 4, 6 to 9 or 11 to 15", id)
	}
	if slices.ContainsFunc(before, func(x classicCollective) bool { return x.Collective == c.Collective }) {
		return c, s.fail("collective %d (%s) is given twice", id, c.Collective)
	}
	n, err := s.number("number of communicator sizes", math.MaxInt32)
	for i := int64(0); err == nil && i < n; i++ {
		var b classicBlock
		b, err = s.block()
		if err == nil && i > 0 && b.Ranks <= c.Blocks[i-1].Ranks {
			err = s.fail("communicator size %d after %d: want ascending order", b.Ranks, c.Blocks[i-1].Ranks)
		}
		c.Blocks = append(c.Blocks, b)
	}
	return c, err
}

func (s *scanner) block() (classicBlock, error) {
	size, err := s.number("communicator size", math.MaxInt32)
	if err != nil {
		return classicBlock{}, err
	}
	b := classicBlock{Ranks: int(size)}
	n, err := s.number("number of message sizes", math.MaxInt32)
	for i := int64(0); err == nil && i < n; i++ {
		var r rule
		r, err = s.rule()
		switch {
		case err != nil:
		case i == 0 && r.Size != 0:
			err = s.fail("first message size %d: want 0, Open MPI ignores the file otherwise", r.Size)
		case i > 0 && r.Size <= b.Rules[i-1].Size:
			err = s.fail("message size %d after %d: want ascending order", r.Size, b.Rules[i-1].Size)
		}
		b.Rules = append(b.Rules, r)
	}
	return b, err
}

func (s *scanner) rule() (rule, error) {
	var v [4]int64
	for i, what := range []string{"message size", "algorithm", "fan in/out", "segment size"} {
		limit := int64(math.MaxInt64)
		if i == 1 || i == 2 {
			limit = math.MaxInt32
		}
		n, err := s.number(what, limit)
		if err != nil {
			return rule{}, err
		}
		v[i] = n
	}
	r := rule{Size: v[0], Algorithm: int(v[1]), FanInOut: int(v[2]), SegSize: v[3]}
	if s.second && s.digitFollows() {
		n, err := s.number("most requests", math.MaxInt32)
		if err != nil {
			return rule{}, err
		}
		r.MaxRequests = int(n)
	}
	return r, nil
}

// digitFollows skips spaces and tabs and reports whether a digit is next. Open MPI finds a fifth number in
// the same way.
func (s *scanner) digitFollows() bool {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.at++
	}
	return s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9'
}

// Find returns the rule that Open MPI uses for a message on a communicator. Find takes the last block whose
// Ranks is at most ranks, or the first block if there is none. In this block, it takes the last rule whose
// Size is at most size. It returns false if there is no such rule.
func (r classicRules) Find(c coll.Collective, ranks int, size int64) (rule, bool) {
	found, ok := rule{}, false
	for _, x := range r.block(c, ranks) {
		if x.Size <= size {
			found, ok = x, true
		}
	}
	return found, ok
}

// decided returns the collectives for which a rule selects an algorithm.
func (r classicRules) decided() classicRules {
	return slices.DeleteFunc(slices.Clone(r), func(c classicCollective) bool {
		return !slices.ContainsFunc(c.Blocks, func(b classicBlock) bool {
			return slices.ContainsFunc(b.Rules, func(x rule) bool { return x.Algorithm != 0 })
		})
	})
}

// block returns the rules of the block that applies to a communicator. It returns nil if the collective has
// no rules.
func (r classicRules) block(c coll.Collective, ranks int) []rule {
	for _, rules := range r {
		if rules.Collective != c || len(rules.Blocks) == 0 {
			continue
		}
		block := rules.Blocks[0]
		for _, b := range rules.Blocks {
			if b.Ranks <= ranks {
				block = b
			}
		}
		return block.Rules
	}
	return nil
}

// compared returns the message size of a point as coll/tuned computes it for the comparison with rules.
func compared(p coll.Point) int64 {
	bytes := p.Count() * p.Collective.ElementBytes()
	switch p.Collective {
	case coll.Allgather, coll.Alltoall, coll.Gather, coll.Scatter:
		return bytes * int64(p.Ranks())
	case coll.Scan, coll.Exscan: // coll/tuned leaves the count out
		return p.Collective.ElementBytes() * int64(p.Ranks())
	case coll.Alltoallv, coll.Barrier:
		return 0
	}
	return bytes // allgatherv: the mean over ranks; reductions: the whole buffer
}

// sized reports whether the rules of a collective may depend on the message size. Otherwise there is one
// rule for each communicator size, for one of these reasons:
//
//   - barrier and alltoallv compare no size. scan and exscan compare a size that does not depend
//     on the message.
//   - gather and scatter compute the size from the send count and type on every rank. The standard
//     ignores both at the root of a gather in place, and at all ranks of a scatter except the root.
//   - allgatherv multiplies the receive counts by the size of the send type. The send type may differ
//     between ranks and is ignored in place.
//
// If ranks computed different sizes, they would follow different rules, and the program would hang.
func sized(c coll.Collective) bool {
	switch c {
	case coll.Alltoallv, coll.Barrier, coll.Scan, coll.Exscan, coll.Gather, coll.Scatter, coll.Allgatherv:
		return false
	}
	return true
}

// Size implements mpi.Library.
func (library) Size(p coll.Point) int64 { return size(p) }

// size returns the message size on which rules may depend. It is the bytes of all ranks for allgather and
// alltoall, and the bytes of the buffer for bcast and reductions. It is 0 for collectives for which sized
// is false.
func size(p coll.Point) int64 {
	if !sized(p.Collective) {
		return 0
	}
	return compared(p)
}
