package libtutti

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

var _ mpi.RuleReader = (*library)(nil)

var lineForm = regexp.MustCompile(`line ([0-9]+): `)

// ReadRules implements mpi.RuleReader.
func (*library) ReadRules(cat *mpi.Catalogue, _ string, text []byte) (*mpi.RuleFile, bool) {
	if !bytes.HasPrefix(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("tutti-table")) {
		return nil, false
	}
	f := &mpi.RuleFile{
		Format: "table of libtutti", Library: cat.Library, Version: cat.Version, Findings: []mpi.Finding{}, Collectives: []coll.Collective{},
		Activation: "TUTTI_TABLE=/ABSOLUTE/PATH and libtutti.so in LD_PRELOAD",
	}
	t, err := Parse(text)
	if err != nil {
		line, message := 1, strings.TrimPrefix(err.Error(), ErrTable.Error()+": ")
		if m := lineForm.FindStringSubmatch(message); m != nil {
			line, _ = strconv.Atoi(m[1]) // digits
			message = strings.Replace(message, m[0], "", 1)
		}
		f.Add(line, mpi.FindingError, message)
		f.Effect = "libtutti prints one line, ignores the table, and leaves all calls to the MPI library"
		return f, true
	}
	lines := statementLines(text)
	f.Loaded, f.Rules = true, len(t.Rules)
	f.Effect = fmt.Sprintf("libtutti follows %d rules", len(t.Rules))
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
		return mpi.RuleChoice{Algorithm: t.Rules[i].Algorithm, Line: lines.rules[i], Rule: t.Rules[i].Scope.conditions()}
	}
	f.Sort()
	return f, true
}

// statementLines returns the lines of the rules and mixes of a table.
func statementLines(text []byte) (lines struct{ rules, mixes []int }) {
	for i, line := range strings.Split(string(text), "\n") {
		word, _, _ := strings.Cut(line, " ")
		switch {
		case i == 0 || word == "" || word[0] == '#' || word == "for" || word == "algorithm" || word == "end":
		case word == "explore":
			lines.mixes = append(lines.mixes, i+1)
		default:
			lines.rules = append(lines.rules, i+1)
		}
	}
	return lines
}

// conditions returns the conditions of a scope besides the collective. A range without limits is "any".
func (s Scope) conditions() []string {
	all := Everywhere(s.Collective)
	text := func(r, any Range, unit string) string {
		if r == any {
			return "any " + unit
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
