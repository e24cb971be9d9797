package openmpi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// looksLikeHan reports whether a text has the names of components, which rules of coll/tuned do not have.
func looksLikeHan(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		for _, w := range strings.Fields(line) {
			if slices.Contains(hanWords, w) || w == global || w == between || w == within {
				return true
			}
		}
	}
	return false
}

// hanLevels lists the names of levels by their numbers.
var hanLevels = []string{within, between, global}

// word reads the next word, which begins a comment if it begins with #.
func (n *numberReader) word(what string) (string, int) {
	for !n.stopped {
		for n.at < len(n.text) && strings.IndexByte(" \t\r\n\v\f", n.text[n.at]) >= 0 {
			if n.text[n.at] == '\n' {
				n.line++
			}
			n.at++
		}
		if n.at >= len(n.text) {
			n.fail(n.line, "the file ends, want %s: it is cut off, or a count before is too large", what)
			break
		}
		end := n.at
		for end < len(n.text) && strings.IndexByte(" \t\r\n\v\f", n.text[end]) < 0 {
			end++
		}
		w := n.text[n.at:end]
		if !strings.HasPrefix(w, "#") {
			n.at = end
			return w, n.line
		}
		newline := strings.IndexByte(n.text[n.at:], '\n')
		if newline < 0 {
			newline = len(n.text) - n.at
		}
		n.at += newline
	}
	return "", n.line
}

// readHan reads rules of coll/han. An error makes Open MPI drop the whole file. Source:
// ompi/mca/coll/han/coll_han_dynamic_file.c, 4.1 and main.
func (f *ruleFile) readHan(text []byte) {
	f.Format, f.han = "rules of coll/han", true
	n := newNumberReader(f, string(text))
	collectives, line := n.number("the number of collectives")
	if collectives == 0 {
		n.fail(line, "0 collectives: want 1 or more")
	}
	for i := int64(0); i < collectives && !n.stopped; i++ {
		name, line := n.word("a collective")
		c, err := coll.ParseCollective(name)
		if id, numberErr := strconv.Atoi(name); numberErr == nil && id >= 0 && id < len(numbers) {
			c, err = numbers[id], nil
		}
		if err != nil && !slices.Contains(otherCollectives, name) {
			n.fail(line, "collective %q: want a name like bcast, or its number", name)
		}
		if !n.stopped && !(build{f.cat.As("6.0")}).hanServes(c, coll.Layout{Nodes: 2, PPN: 2}) {
			f.Add(line, mpi.FindingUnreachable, fmt.Sprintf("%s: coll/han does not serve this collective", name))
			c = ""
		}
		levels, _ := n.number("the number of levels")
		for range levels {
			if n.stopped {
				return
			}
			f.readHanLevel(n, c)
		}
	}
	if !n.stopped && n.skip() {
		f.Add(n.line, mpi.FindingUnreachable, "what follows is not read: the counts before say that the last rule is above")
	}
	if !f.usesHan() {
		f.Add(0, mpi.FindingNote, fmt.Sprintf("coll/han of Open MPI %s has the priority 0: without %scoll_han_priority=100 the file serves no call", f.cat.Version, mcaPrefix))
	}
}

func (f *ruleFile) readHanLevel(n *numberReader, c coll.Collective) {
	word, line := n.word("a level")
	if id, err := strconv.Atoi(word); err == nil && id >= 0 && id < len(hanLevels) {
		word = hanLevels[id]
	} else if !mpi.AtLeast(f.cat.Version, 5) {
		n.fail(line, "level %q: Open MPI %s wants its number: 0 within nodes, 1 between nodes, 2 whole communicator", word, f.cat.Version)
	}
	if !slices.Contains(hanLevels, word) {
		n.fail(line, "level %q: want one of %s", word, strings.Join(hanLevels, ", "))
	}
	blocks, _ := n.number("the number of communicator sizes")
	var ranks []int64
	first := len(f.rules)
	for i := int64(0); i < blocks && !n.stopped; i++ {
		size, at := n.number("a communicator size")
		if !n.stopped && (size < 1 || i == 0 && size > 1) {
			n.fail(at, "communicator size %d: want 1 for the first one, then larger ones", size)
		}
		ranks = append(ranks, size)
		f.readHanBlock(n, placedRule{Collective: c, Block: int(i), BlockLine: at, Level: word})
	}
	if n.stopped {
		return
	}
	setRanks(f.rules[first:], ranks, reachedSpans(ranks))
}

func (f *ruleFile) readHanBlock(n *numberReader, r placedRule) {
	count, _ := n.number("the number of rules")
	first := len(f.rules)
	var sizes []int64
	for k := int64(0); k < count && !n.stopped; k++ {
		r.Size, r.Line = n.number("a message size")
		if !n.stopped && k == 0 && r.Size > 1 {
			n.fail(r.Line, "message size %d: want 0 for the first rule of a communicator size", r.Size)
		}
		name, line := n.word("a component")
		if rest := strings.TrimLeft(n.text[n.at:], " \t"); strings.HasPrefix(rest, "@") && mpi.AtLeast(f.cat.Version, 5) {
			algorithm, _ := n.word("an algorithm")
			name += " " + algorithm
		}
		f.readHanSegments(n)
		r.Algorithm = slices.Index(hanWords, name)
		if r.Algorithm < 0 && !n.stopped {
			n.fail(line, "component %q: want one of %s", name, strings.Join(hanWords, ", "))
		}
		if n.stopped {
			return
		}
		sizes = append(sizes, r.Size)
		f.rules = append(f.rules, r)
	}
	placeSizes(f.rules[first:], sizes)
}

// readHanSegments reads the list of segment lengths that may follow a component, as [ 1024 2048 ].
func (f *ruleFile) readHanSegments(n *numberReader) {
	if !n.take('[') {
		return
	}
	f.Add(n.line, mpi.FindingNote, "Open MPI reads the segment lengths in brackets, and they have no effect")
	for !n.stopped && !n.take(']') {
		n.number("a segment length or ]")
	}
}

// take moves behind a character, if it is the next one after blanks.
func (n *numberReader) take(c byte) bool {
	rest := strings.TrimLeft(n.text[n.at:], " \t")
	if rest == "" || rest[0] != c {
		return false
	}
	n.at = len(n.text) - len(rest) + 1
	return true
}

// hanAlgorithm returns the algorithm that stands for a component of coll/han's rules.
func hanAlgorithm(r rule) coll.Algorithm {
	switch r.Algorithm {
	case componentHan:
		return coll.Algorithm{Name: "han"}
	case simple:
		return coll.Algorithm{Name: "han_simple"}
	}
	return coll.Algorithm{Name: "coll_" + hanWords[r.Algorithm]}
}
