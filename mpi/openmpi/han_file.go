package openmpi

import (
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
)

type hanFile []hanCollective

type hanCollective struct {
	Collective coll.Collective
	Levels     []hanLevel
}

type hanLevel struct {
	Name   string
	Blocks []classicBlock
}

// The levels: whole communicators, one rank of each node, and the ranks of a node.
const (
	global  = "global_communicator"
	between = "inter_node"
	within  = "intra_node"
)

// hanWords lists the words for components in a file. The last one means coll/han's algorithm "simple". The
// first four numbers are those of the MPI_T variables for levels. Source: coll_han_component.c, 5.0.7 and 6.0.
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

func parseHan(text []byte) (f hanFile, err error) {
	s := newScanner(string(text))
	for range s.count() {
		c := hanCollective{Collective: coll.Collective(s.word())}
		for range s.count() {
			c.Levels = append(c.Levels, hanLevel{s.word(), s.blocks(func(r *rule) { r.Algorithm = s.component() })})
		}
		f = append(f, c)
	}
	if err := s.end(); err != nil {
		return nil, fmt.Errorf("coll/han: %w", err)
	}
	return f, nil
}

func (s *scanner) component() int {
	w := s.word()
	if s.lineContinues() {
		w += " " + s.word()
	}
	i := slices.Index(hanWords, w)
	if i < 0 {
		s.fail("component %q: want one of %s", w, strings.Join(hanWords, ", "))
	}
	return max(i, 0)
}

// Find returns the number of the component that serves a message on a communicator of a level. It returns false
// if there are no rules.
func (f hanFile) Find(c coll.Collective, level string, ranks int, size int64) (int, bool) {
	for _, x := range f {
		for _, l := range x.Levels {
			if x.Collective == c && l.Name == level {
				r, ok := classicRules{{c, l.Blocks}}.Find(c, ranks, size)
				return r.Algorithm, ok
			}
		}
	}
	return 0, false
}
