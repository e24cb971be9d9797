package openmpi

import (
	"fmt"
	"slices"
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

// Find returns the rule that Open MPI uses for a message on a communicator, the zero rule if there is none.
func (r classicRules) Find(c coll.Collective, ranks int, size int64) rule {
	return ruleFor(r.block(c, ranks), size)
}

// ruleFor returns the last rule whose Size is at most size.
func ruleFor(rules []rule, size int64) (found rule) {
	for _, r := range rules {
		if r.Size <= size {
			found = r
		}
	}
	return found
}

// withBlock appends a block, unless it has the rules of the block before it.
func withBlock(blocks []classicBlock, b classicBlock) []classicBlock {
	if n := len(blocks); n > 0 && slices.Equal(blocks[n-1].Rules, b.Rules) {
		return blocks
	}
	return append(blocks, b)
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
		if rules.Collective == c {
			return rulesFor(rules.Blocks, ranks)
		}
	}
	return nil
}

// rulesFor returns the rules of the last block whose Ranks is at most ranks, or of the first block if there is none.
func rulesFor(blocks []classicBlock, ranks int) (rules []rule) {
	for i, b := range blocks {
		if i == 0 || b.Ranks <= ranks {
			rules = b.Rules
		}
	}
	return rules
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
