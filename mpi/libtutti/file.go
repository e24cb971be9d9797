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

// ReadRules implements mpi.RuleReader.
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
		for k, before := range t.Rules[:i] {
			if before.Scope.covers(r.Scope) {
				f.Add(lines.rules[i], mpi.FindingUnreachable, fmt.Sprintf("the rule at line %d serves all calls of this one", lines.rules[k]))
				break
			}
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
				chosen.Rule = append(chosen.Rule, fmt.Sprintf("%s needs %s: the library decides", chosen.Algorithm, need))
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
		odd := r.Ranks.Low == r.Ranks.High && r.Ranks.Low%2 == 1
		powerOfTwo := int64(mpi.FloorPowerOfTwo(int(r.Ranks.High))) >= r.Ranks.Low
		if need == mpi.Even && odd || need == mpi.PowerOfTwo && !powerOfTwo {
			return fmt.Sprintf("%s needs %s, so the library decides for all calls of this rule", r.Algorithm, map[mpi.Requirement]string{mpi.Even: "an even number of ranks", mpi.PowerOfTwo: "a number of ranks that is a power of two"}[need])
		}
	}
	return ""
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

func (s Scope) covers(o Scope) bool {
	return s.Collective == o.Collective && (s.Order == "" || s.Order == o.Order) &&
		s.Ranks.covers(o.Ranks) && s.PPN.covers(o.PPN) && s.Bytes.covers(o.Bytes)
}

func (r Range) covers(o Range) bool { return r.Low <= o.Low && o.High <= r.High }
