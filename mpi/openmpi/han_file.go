package openmpi

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
)

// hanFile is the content of a rules file of coll/han. The algorithm of a rule is an index of hanWords.
type hanFile []hanCollective

// hanCollective holds the rules of one collective.
type hanCollective struct {
	Collective coll.Collective
	Levels     []hanLevel
}

// hanLevel holds the rules for communicators of one level.
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

// hanWords are the components, and coll/han with its algorithm simple. The first four numbers are those of the
// MPI_T variables for levels. Source: coll_han_component.c, 5.0.7 and 6.0.
var hanWords = []string{"self", "basic", "libnbc", "tuned", "sm", "adapt", "han", "han @simple"}

const (
	componentBasic = 1
	componentTuned = 3
	componentHan   = 6
	simple         = 7
)

// Bytes returns the content of the file.
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

// parseHan reads a file of coll/han. The error matches errSyntax.
func parseHan(text []byte) (f hanFile, err error) {
	s := hanScanner{err: &err}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		s.words = append(s.words, strings.Fields(line)...)
	}
	for range s.number(0) {
		c := hanCollective{Collective: coll.Collective(s.word())}
		for range s.number(0) {
			l := hanLevel{Name: s.word()}
			for i := range s.number(0) {
				b := classicBlock{Ranks: s.first(i, 1)}
				for k := range s.number(0) {
					b.Rules = append(b.Rules, rule{Size: int64(s.first(k, 0)), Algorithm: s.component()})
				}
				l.Blocks = append(l.Blocks, b)
			}
			c.Levels = append(c.Levels, l)
		}
		f = append(f, c)
	}
	if len(s.words) > 0 {
		s.fail("%s after the last rule", s.words[0])
	}
	return f, err
}

// hanScanner reads the words of a file. After an error, all numbers are 0.
type hanScanner struct {
	words []string
	err   *error
}

func (s *hanScanner) fail(format string, args ...any) {
	if *s.err == nil {
		*s.err = fmt.Errorf("coll/han: %w: "+format, append([]any{errSyntax}, args...)...)
	}
	s.words = nil
}

func (s *hanScanner) word() string {
	if len(s.words) == 0 {
		s.fail("the file ends")
		return ""
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// number returns the next number, which must not be below the given one.
func (s *hanScanner) number(least int) int {
	w := s.word()
	n, err := strconv.Atoi(w)
	if *s.err == nil && (err != nil || n < least || n > math.MaxInt32) {
		s.fail("%q: want a number of at least %d", w, least)
		return 0
	}
	return n
}

// first returns the next number. In the first place it must be the given one.
func (s *hanScanner) first(place, want int) int {
	n := s.number(0)
	if place == 0 && n != want {
		s.fail("first size %d: want %d", n, want)
	}
	return n
}

func (s *hanScanner) component() int {
	w := s.word()
	if len(s.words) > 0 && strings.HasPrefix(s.words[0], "@") {
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
