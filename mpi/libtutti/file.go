package libtutti

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

var _ mpi.RuleReader = (*library)(nil)

func (*library) ReadRules(cat *mpi.Catalogue, _ string, text []byte) (*mpi.RuleFile, bool) {
	if !bytes.HasPrefix(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("tutti-table")) {
		return nil, false
	}
	f := &mpi.RuleFile{
		Format: "table of libtutti", Library: cat.Library, Version: cat.Version, Findings: []mpi.Finding{}, Collectives: []coll.Collective{},
		Load: []mpi.Setting{{Name: "TUTTI_TABLE", Value: mpi.RulePath}}, Activation: "TUTTI_TABLE=" + mpi.RulePath + " and libtutti.so in LD_PRELOAD",
	}
	t, lines, err := parse(text)
	if err != nil {
		line, message := 1, strings.TrimPrefix(err.Error(), ErrTable.Error()+": ")
		at := (*lineError)(nil)
		switch {
		case errors.As(err, &at):
			line, message = at.line, at.err.Error()
		case errors.Is(err, errChecksum):
			line, message = damage(text)
		}
		f.Add(line, mpi.FindingError, message)
		f.Effect = "libtutti prints one line, ignores the table, and leaves all calls to the MPI library"
		return f, true
	}
	f.Loaded, f.Rules = true, len(t.Rules)
	f.Effect = fmt.Sprintf("libtutti follows %d rules", len(t.Rules))
	if len(t.Rules) == 1 {
		f.Effect = "libtutti follows 1 rule"
	}
	if t.For != "" {
		f.Effect += ", only with an MPI library whose version contains " + strconv.Quote(t.For)
	}
	for i, r := range t.Rules {
		if !slices.Contains(f.Collectives, r.Collective) {
			f.Collectives = append(f.Collectives, r.Collective)
		}
		f.Listing = append(f.Listing, mpi.ListedRule{Collective: string(r.Collective), RuleChoice: mpi.RuleChoice{Algorithm: r.Algorithm, Line: lines.rules[i], Rule: r.Scope.conditions()}})
		if first, last, covered := coveredBy(t.Rules[:i], r.Scope); covered && first == last {
			f.Add(lines.rules[i], mpi.FindingUnreachable, fmt.Sprintf("the rule at line %d serves all calls of this one", lines.rules[first]))
		} else if covered {
			f.Add(lines.rules[i], mpi.FindingUnreachable, fmt.Sprintf("rules from line %d to line %d together serve all calls of this one", lines.rules[first], lines.rules[last]))
		}
		if reason := r.unreachable(cat); reason != "" {
			f.Add(lines.rules[i], mpi.FindingUnreachable, reason)
		}
	}
	for i, m := range t.Mixes {
		where := append(m.Scope.conditions(), fmt.Sprintf("explores %d algorithms", len(m.Choices)))
		f.Listing = append(f.Listing, mpi.ListedRule{Collective: string(m.Collective), RuleChoice: mpi.RuleChoice{Algorithm: coll.Default, Line: lines.mixes[i], Rule: where}})
	}
	f.Choose = func(p coll.Point) mpi.RuleChoice {
		i := t.find(p.Collective, p.Ranks(), p.PPN, size(p), coll.Block)
		if i < 0 {
			return mpi.RuleChoice{Algorithm: coll.Default, Rule: []string{"no rule applies: the library decides"}}
		}
		chosen := mpi.RuleChoice{Algorithm: t.Rules[i].Algorithm, Line: lines.rules[i], Rule: t.Rules[i].Scope.conditions()}
		for _, need := range t.Rules[i].needs(cat) {
			if !need.Holds(p) {
				chosen.Rule = append(chosen.Rule, fmt.Sprintf("%s needs %s: the library decides", chosen.Algorithm, need.Text()))
				chosen.Algorithm = coll.Default
				break
			}
		}
		return chosen
	}
	f.Sort()
	return f, true
}

// damage says where and how a table differs from what tutti wrote.
func damage(text []byte) (line int, message string) {
	lineAt := func(i int) int { return 1 + bytes.Count(text[:i], []byte("\n")) }
	body := bytes.TrimRight(text, "\n")
	last := body[bytes.LastIndexByte(body, '\n')+1:]
	switch {
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return 1, "a byte order mark, which libtutti does not know: want " + firstLine + " at the start of the file"
	case bytes.IndexByte(text, 0) >= 0:
		return lineAt(bytes.IndexByte(text, 0)), "a byte of value 0: want text"
	case bytes.IndexByte(text, '\r') >= 0:
		return lineAt(bytes.IndexByte(text, '\r')), "a carriage return, as editors of Windows write it: want lines that end with a line feed alone"
	case len(last) != len(strings.TrimSpace(lastLine(""))) || !bytes.HasPrefix(last, []byte("end ")):
		return lineAt(len(body)), "the table is cut off: want a last line with the word end and a checksum; copy the file again"
	case len(text) != len(body)+1:
		return lineAt(len(body)), "the line with the checksum must be the last one and end with one line feed"
	}
	return lineAt(len(body)), "the table was changed after tutti wrote it: the checksum is of another text; copy or export the file again"
}

// needs returns what a rule's algorithm needs of a call.
func (r Rule) needs(cat *mpi.Catalogue) []mpi.Requirement {
	if r.Activation != nil {
		return r.Activation.Needs
	}
	e, err := cat.Lookup(r.Collective, r.Algorithm)
	if err != nil { // library_default, or an algorithm of a user
		return nil
	}
	return e.Requires
}

// unreachable returns why no call follows a rule: no communicator has its ranks, or its algorithm cannot serve them.
func (r Rule) unreachable(cat *mpi.Catalogue) string {
	if r.PPN.Low > r.Ranks.High {
		return "no communicator has more processes per node than ranks"
	}
	for _, need := range r.needs(cat) {
		if r.Scope.excludes(need) {
			return fmt.Sprintf("%s needs %s, so the library decides for all calls of this rule", r.Algorithm, need.Text())
		}
	}
	return ""
}

// excludes reports whether no call of a scope meets a requirement.
func (s Scope) excludes(need mpi.Requirement) bool {
	switch need {
	case mpi.Even:
		return s.Ranks.Low == s.Ranks.High && s.Ranks.Low%2 == 1
	case mpi.PowerOfTwo:
		return coll.FloorPowerOfTwo(s.Ranks.High) < s.Ranks.Low
	case mpi.TwoRanks:
		return !s.Ranks.contains(2)
	case mpi.Parent:
		return s.PPN.High < 2
	case mpi.OneNode:
		return s.PPN.High < max(2, s.Ranks.Low)
	}
	return false
}

// conditions returns the conditions of a scope besides the collective. A range without limits is "any".
func (s Scope) conditions() []string {
	all := Everywhere(s.Collective)
	text := func(r, any Range, unit string) string {
		if r == any {
			return "any " + unit
		}
		if r.Low == r.High {
			return fmt.Sprintf("%d %s", r.Low, unit)
		}
		return fmt.Sprintf("%d to %d %s", r.Low, r.High, unit)
	}
	out := []string{text(s.Ranks, all.Ranks, "ranks"), text(s.PPN, all.PPN, "per node"), text(s.Bytes, all.Bytes, "B")}
	if s.Order != "" {
		out = append(out, "order "+string(s.Order))
	}
	return out
}

// coveredBy reports whether rules serve all calls of a scope, and the first and the last rule of those that do: the same
// one if it serves all calls alone.
func coveredBy(rules []Rule, s Scope) (first, last int, covered bool) {
	const mostParts = 1000 // a scope in more parts counts as not covered
	all := s.box()
	parts := []box{all}
	first = -1
	for i, r := range rules {
		if r.Scope.Collective != s.Collective {
			continue
		}
		before := r.Scope.box()
		if len(all.minus(before)) == 0 {
			return i, i, true
		}
		var left []box
		for _, p := range parts {
			left = append(left, p.minus(before)...)
		}
		if first < 0 && !slices.Equal(left, parts) {
			first = i
		}
		if parts = left; len(parts) == 0 {
			return first, i, true
		}
		if len(parts) > mostParts {
			break
		}
	}
	return 0, 0, false
}

// box is the calls of a scope: ranks, processes per node, bytes, and order: its index in coll.Orders, or their number for
// another order.
type box [4]Range

func (s Scope) box() box {
	order := Range{0, int64(len(coll.Orders()))}
	if i := slices.Index(coll.Orders(), s.Order); i >= 0 {
		order = Range{int64(i), int64(i)}
	}
	return box{s.Ranks, s.PPN, s.Bytes, order}
}

// minus returns what b has outside of o, as disjoint boxes.
func (b box) minus(o box) []box {
	for i := range b {
		if o[i].High < b[i].Low || b[i].High < o[i].Low {
			return []box{b}
		}
	}
	var out []box
	for i := range b {
		if below := b; b[i].Low < o[i].Low {
			below[i].High, b[i].Low = o[i].Low-1, o[i].Low
			out = append(out, below)
		}
		if above := b; o[i].High < b[i].High {
			above[i].Low, b[i].High = o[i].High+1, o[i].High
			out = append(out, above)
		}
	}
	return out
}
