package openmpi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
)

type classicRules []classicCollective

// classicCollective holds the rules of one collective. Its blocks are in ascending order of their ranks.
type classicCollective struct {
	Collective coll.Collective
	Blocks     []classicBlock
}

// classicBlock holds the rules for communicators of at least Ranks ranks, up to the next block. The first
// block also applies to smaller communicators.
type classicBlock struct {
	Ranks int
	Rules []rule
}

// rule applies to messages of at least Size bytes, up to the next rule.
type rule struct {
	Size      int64
	Algorithm int // Open MPI's number; 0 leaves the decision to the library
	FanInOut  int
	SegSize   int64

	BasicInter, BasicIntra bool // coll/han calls coll/basic between or within the nodes
}

func sameChoice(a, b rule) bool {
	b.Size = a.Size
	return a == b
}

var numbers = []coll.Collective{
	coll.Allgather, coll.Allgatherv, coll.Allreduce, coll.Alltoall, coll.Alltoallv, "", coll.Barrier, coll.Bcast, coll.Exscan, coll.Gather, "",
	coll.Reduce, coll.ReduceScatter, coll.ReduceScatterBlock, coll.Scan, coll.Scatter,
}

// Bytes returns the rules as the content of a file in the first version of the format. Equal rules give equal bytes.
// Numbers have no leading zeros, because Open MPI would read them as octal.
func (r classicRules) Bytes() []byte {
	var b strings.Builder
	b.WriteString("# rules of coll/tuned: size of message, algorithm (0: the library decides), fan in/out, segment size\n")
	fmt.Fprintf(&b, "%d # collectives\n", len(r))
	for _, c := range r {
		fmt.Fprintf(&b, "%d # %s\n", slices.Index(numbers, c.Collective), c.Collective)
		fmt.Fprintf(&b, "%d # communicator sizes\n", len(c.Blocks))
		for _, block := range c.Blocks {
			fmt.Fprintf(&b, " %d # processes\n %d # message sizes\n", block.Ranks, len(block.Rules))
			for _, x := range block.Rules {
				fmt.Fprintf(&b, "  %d %d %d %d\n", x.Size, x.Algorithm, x.FanInOut, x.SegSize)
			}
		}
	}
	return []byte(b.String())
}

var errSyntax = errors.New("not a rules file")

func parse(text []byte) (classicRules, error) {
	s := newScanner(string(text))
	var rules classicRules
	for range s.count() {
		c := classicCollective{Collective: s.collective()}
		c.Blocks = s.blocks(func(r *rule) {
			r.Algorithm, r.FanInOut, r.SegSize = s.number(), s.number(), int64(s.number())
		})
		rules = append(rules, c)
	}
	return rules, s.end()
}

// scanner reads the words of a rules file of coll/tuned or coll/han. After an error, all numbers are 0.
type scanner struct {
	words []string // "" ends each line
	err   error
}

func newScanner(text string) *scanner {
	var s scanner
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		s.words = append(append(s.words, strings.Fields(line)...), "")
	}
	return &s
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: "+format, append([]any{errSyntax}, args...)...)
	}
	s.words = nil
}

func (s *scanner) lineContinues() bool { return len(s.words) > 0 && s.words[0] != "" }

func (s *scanner) word() string {
	for len(s.words) > 0 {
		w := s.words[0]
		s.words = s.words[1:]
		if w != "" {
			return w
		}
	}
	s.fail("the file ends")
	return ""
}

func (s *scanner) number() int {
	w := s.word()
	n, err := strconv.Atoi(w)
	if s.err == nil && (err != nil || n < 0) {
		s.fail("%q: want a number of at least 0", w)
		return 0
	}
	return n
}

// count reads a number that says how many items follow. It fails if fewer words than items remain.
func (s *scanner) count() int {
	n := s.number()
	if n > len(s.words) {
		s.fail("the file ends: want %d more", n)
		return 0
	}
	return n
}

func (s *scanner) collective() coll.Collective {
	id := s.number()
	if id >= len(numbers) || numbers[id] == "" {
		s.fail("collective %d: want 0 to 4, 6 to 9 or 11 to 15", id)
		return ""
	}
	return numbers[id]
}

// blocks returns the blocks (rules for a range of ranks) of a collective. For each rule, it reads the size and
// then calls `read` for the rest. Numbers of ranks and sizes must be in ascending order, and the first size
// must be 0. Open MPI ignores the file otherwise.
func (s *scanner) blocks(read func(*rule)) []classicBlock {
	var out []classicBlock
	for i := range s.count() {
		b := classicBlock{Ranks: s.number()}
		if i > 0 && b.Ranks <= out[i-1].Ranks {
			s.fail("communicator size %d after %d: want ascending order", b.Ranks, out[i-1].Ranks)
		}
		for k := range s.count() {
			r := rule{Size: int64(s.number())}
			read(&r)
			if k == 0 && r.Size != 0 || k > 0 && r.Size <= b.Rules[k-1].Size {
				s.fail("message size %d: want 0 first, then ascending order", r.Size)
			}
			b.Rules = append(b.Rules, r)
		}
		out = append(out, b)
	}
	return out
}

// end returns the first error. Words after the last rule are an error, too.
func (s *scanner) end() error {
	if more := strings.Join(s.words, ""); more != "" {
		s.fail("%q after the last rule: the counts do not fit", more)
	}
	return s.err
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

// size returns the message size that rules may compare. It is the bytes of all ranks for allgather and
// alltoall, and the bytes of the buffer for bcast and reductions. It is 0 for collectives for which `sized`
// returns false.
func size(p coll.Point) int64 {
	if !sized(p.Collective) {
		return 0
	}
	return compared(p)
}
