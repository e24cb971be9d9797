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
		if at := (*lineError)(nil); errors.As(err, &at) {
			line, message = at.line, at.err.Error()
		}
		f.Add(line, mpi.FindingError, message)
		f.Effect = "libtutti prints one line, ignores the table, and leaves all calls to the MPI library"
		return f, true
	}
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
