package openmpi

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// The component coll/han handles collectives on communicators that span several nodes, with several ranks on a
// node. Its own rules can make it forward calls to the component coll/tuned. Source:
// ompi/mca/coll/han/coll_han_dynamic.c and coll_han_dynamic_file.c, 5.0.7.

// The variables with which coll/han loads a rules file.
const (
	hanSwitch   = mcaPrefix + "coll_han_use_dynamic_file_rules"
	hanVariable = mcaPrefix + "coll_han_dynamic_rules_filename"
)

// usesHan reports whether the release gives coll/han a higher priority than coll/tuned.
func (b build) usesHan() bool { return mpi.AtLeast(b.cat.Version, 5) }

func (b build) turnedOff() []component {
	return slices.DeleteFunc(slices.Clone(componentsAbove), func(r component) bool { return r.component == "han" && b.usesHan() })
}

// hanServes reports whether coll/han of the release handles a collective in jobs of a layout.
func (b build) hanServes(c coll.Collective, l coll.Layout) bool {
	switch c {
	case coll.Allgather, coll.Allreduce, coll.Barrier, coll.Bcast, coll.Gather, coll.Reduce, coll.Scatter:
		return b.usesHan() && l.Nodes > 1 && l.PPN > 1
	case coll.Alltoall, coll.Alltoallv:
		return b.newer() && l.Nodes > 1 && l.PPN > 1
	}
	return false
}

// guarded returns the rules for jobs of a layout. It leaves out the rules for two numbers of ranks: the ranks of a
// node, and the number of nodes. When coll/han serves a call, it calls coll/tuned on communicators of these two
// sizes. The library's default was measured without rules for these inner calls.
func (b build) guarded(rules classicRules, l coll.Layout) classicRules {
	out := slices.Clone(rules)
	for i, c := range out {
		if b.hanServes(c.Collective, l) {
			out[i].Blocks = leaveOut(leaveOut(c.Blocks, l.Nodes), l.PPN)
		}
	}
	return out
}

// leaveOut removes the rules for one number of ranks, so that the library decides for communicators of this size. A
// block has the rules for a range of ranks.
func leaveOut(blocks []classicBlock, ranks int) []classicBlock {
	var out []classicBlock
	for i, b := range blocks {
		end := blockEnd(blocks, i)
		if ranks < b.Ranks || ranks >= end {
			out = append(out, b)
			continue
		}
		if b.Ranks < ranks {
			out = append(out, b)
		}
		out = append(out, classicBlock{ranks, undecided()})
		if ranks+1 < end {
			out = append(out, classicBlock{ranks + 1, b.Rules})
		}
	}
	return out
}

// blockEnd returns the first number of ranks to which block i of the rules does not apply: the beginning of
// the next block.
func blockEnd(blocks []classicBlock, i int) int {
	if i+1 < len(blocks) {
		return blocks[i+1].Ranks
	}
	return math.MaxInt32
}

// hanRules converts rules of coll/tuned to rules of coll/han. For each selected algorithm, they say whether coll/han
// runs it or forwards the call to coll/tuned. They apply to jobs of the given layout, or to all jobs if it is zero.
// Message sizes are in the unit of coll/han.
func (b build) hanRules(rules classicRules, job coll.Layout) hanFile {
	var out hanFile
	for _, c := range rules.decided() {
		if b.hanServes(c.Collective, coll.Layout{Nodes: 2, PPN: 2}) {
			levels := []hanLevel{{global, hanBlocks(c, job.Ranks())}}
			if job != (coll.Layout{}) {
				levels = append(levels, partLevels(rulesFor(c.Blocks, job.Ranks()))...)
			}
			out = append(out, hanCollective{c.Collective, levels})
		}
	}
	return out
}

// partLevels returns coll/han's rules for the two parts of its algorithm "simple": between nodes and within nodes.
// The rules select the component that runs a part. A part is omitted if coll/tuned runs it at all sizes.
func partLevels(rules []rule) []hanLevel {
	var out []hanLevel
	for _, level := range []string{between, within} {
		parts := []rule{{}}
		for _, r := range rules {
			x := rule{Size: r.Size, Algorithm: componentTuned}
			if r.Algorithm == hanSimpleID {
				x.Algorithm = r.part(level)
			}
			if parts[len(parts)-1].Algorithm != x.Algorithm {
				parts = append(parts, x)
			}
		}
		if len(parts) > 2 || parts[1].Algorithm != componentTuned {
			out = append(out, hanLevel{level, []classicBlock{{1, parts[1:]}}})
		}
	}
	return out
}

// hanBlocks converts the rules of coll/tuned for a collective to rules of coll/han.
//
// For allgather and alltoall, the rules of coll/tuned are about the bytes of all ranks, and those of coll/han about
// the bytes of one rank. A bound can be converted exactly only for a single number of ranks: here for `exact`
// ranks. Blocks for other numbers of ranks are split until the largest number is less than twice the smallest. In
// such a block, coll/han passes a size to coll/tuned only if coll/tuned has a rule for it at each number of ranks.
func hanBlocks(c classicCollective, exact int) []classicBlock {
	total := c.Collective == coll.Allgather || c.Collective == coll.Alltoall
	var out []classicBlock
	for i, b := range c.Blocks {
		end := blockEnd(c.Blocks, i)
		for low, next := b.Ranks, 0; low < end; low = next {
			next = end
			rules := hanBounds(b.Rules, 1, 1)
			if total {
				next = min(end, 2*low)
				if low == exact {
					next = low + 1
				} else if low < exact {
					next = min(next, exact)
				}
				rules = hanBounds(b.Rules, int64(low), int64(next-1))
			}
			out = withBlock(out, classicBlock{low, rules})
		}
	}
	return out
}

// hanBounds converts the bounds of rules from bytes of all ranks to bytes of one rank, for communicators of `low`
// to `high` ranks. Rules must not begin too early, and the library's default must not begin too late. It therefore
// divides by the lowest number of ranks where a rule begins, and by the highest number where the default begins.
func hanBounds(rules []rule, low, high int64) []rule {
	var out []rule
	for _, r := range rules {
		x := rule{Size: (r.Size + high - 1) / high, Algorithm: componentHan}
		switch {
		case r.Algorithm == hanSimpleID:
			x.Algorithm = simple
		case r.Algorithm != 0 && !isHan(r.Algorithm):
			x = rule{Size: (r.Size + low - 1) / low, Algorithm: componentTuned}
		}
		for len(out) > 0 && out[len(out)-1].Size >= x.Size {
			out = out[:len(out)-1]
		}
		if len(out) == 0 || out[len(out)-1].Algorithm != x.Algorithm {
			out = append(out, x)
		}
	}
	return out
}

type hanFile []hanCollective

type hanCollective struct {
	Collective coll.Collective
	Levels     []hanLevel
}

type hanLevel struct {
	Name   string
	Blocks []classicBlock
}

// The levels of communicators for which coll/han has rules: whole communicators, one rank of each node, and the
// ranks of a node.
const (
	global  = "global_communicator"
	between = "inter_node"
	within  = "intra_node"
)

// hanWords lists the names of components in a rules file of coll/han. The last name selects coll/han's algorithm
// "simple". The indices of the first four are also their numbers in the MPI_T variables for levels. Source:
// coll_han_component.c, 5.0.7 and 6.0.
var hanWords = []string{"self", "basic", "libnbc", "tuned", "sm", "adapt", "han", "han @simple"}

const (
	componentBasic = 1
	componentTuned = 3
	componentHan   = 6
	simple         = 7
)

func (f hanFile) Bytes() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# rules of coll/han: size of message, component that serves it\n%d # collectives\n", len(f))
	for _, c := range f {
		fmt.Fprintf(&b, "%s\n%d # levels\n", c.Collective, len(c.Levels))
		for _, l := range c.Levels {
			fmt.Fprintf(&b, "%s\n%d # communicator sizes\n", l.Name, len(l.Blocks))
			for _, block := range l.Blocks {
				fmt.Fprintf(&b, " %d # processes\n %d # message sizes\n", block.Ranks, len(block.Rules))
				for _, x := range block.Rules {
					fmt.Fprintf(&b, "  %d %s\n", x.Size, hanWords[x.Algorithm])
				}
			}
		}
	}
	return []byte(b.String())
}

// hanFile returns the rules of a file of coll/han, without collectives that coll/han does not serve.
func (f *ruleFile) hanFile() hanFile {
	var out hanFile
	for _, c := range coll.Collectives() {
		own := hanCollective{Collective: c}
		for _, level := range []string{global, between, within} {
			if blocks := f.blocks(c, level); len(blocks) > 0 {
				own.Levels = append(own.Levels, hanLevel{level, blocks})
			}
		}
		if len(own.Levels) > 0 {
			out = append(out, own)
		}
	}
	return out
}
