package openmpi

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// ruleFile is a rules file with the places of its rules, as a release of Open MPI reads it.
type ruleFile struct {
	build
	*mpi.RuleFile
	rules []placedRule // in the order of the file
	han   bool
}

// placedRule is a rule with the calls that it serves.
type placedRule struct {
	rule
	Collective   coll.Collective // "": not one for which Open MPI has rules
	Line         int
	BlockLine    int
	Block        int // number of its block in the collective
	Level        string
	Ranks, Sizes span
	Distribution distribution
	Unreachable  string // why no call reaches the rule
}

// span is a range of whole numbers that includes both ends.
type span struct{ Low, High int64 }

func (s span) has(n int64) bool { return s.Low <= n && n <= s.High }

func (s span) empty() bool { return s.Low > s.High }

func (s span) text(unit string) string {
	switch {
	case s.High >= math.MaxInt32 && s.Low <= 0 && unit == "B":
		return "any size"
	case s.Low == s.High:
		return fmt.Sprintf("%d %s", s.Low, unit)
	case s.High >= math.MaxInt32 && s.Low <= 0:
		return "any number of " + unit
	case s.High >= math.MaxInt32:
		return fmt.Sprintf("%d %s or more", s.Low, unit)
	}
	return fmt.Sprintf("%d to %d %s", s.Low, s.High, unit)
}

var _ mpi.RuleReader = library{}

// ReadRules implements mpi.RuleReader.
func (library) ReadRules(cat *mpi.Catalogue, _ string, text []byte) (*mpi.RuleFile, bool) {
	f := &ruleFile{build: build{cat}, RuleFile: &mpi.RuleFile{Library: cat.Library, Version: cat.Version, ZeroUnset: true, Findings: []mpi.Finding{}, Collectives: []coll.Collective{}}}
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	switch {
	case bytes.HasPrefix(trimmed, []byte("{")):
		if !bytes.Contains(text, []byte(`"collectives"`)) && !bytes.Contains(text, []byte(`"rule_file_version"`)) {
			return nil, false
		}
		f.readJSON(text)
	case looksLikeHan(text):
		f.readHan(text)
	case looksLikeClassic(trimmed):
		f.readClassic(text)
	default:
		return nil, false
	}
	f.conclude()
	return f.RuleFile, true
}

// looksLikeClassic reports whether a text outside comments has numbers alone, or begins with the words of version 2.
func looksLikeClassic(text []byte) bool {
	if bytes.HasPrefix(text, []byte(versionWord)) {
		return true
	}
	numbers, others := 0, 0
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		for _, w := range strings.Fields(line) {
			if _, err := strconv.ParseInt(w, 0, 64); err == nil {
				numbers++
			} else {
				others++
			}
		}
	}
	return numbers > 0 && numbers >= others
}

// conclude judges the rules and fills in what users see.
func (f *ruleFile) conclude() {
	f.Loaded = len(f.Of(mpi.FindingError)) == 0
	last := map[coll.Collective]bool{}
	for _, r := range f.rules {
		if r.Collective != "" && !last[r.Collective] {
			last[r.Collective] = true
			f.Collectives = append(f.Collectives, r.Collective)
		}
	}
	f.Load = []mpi.Setting{{Name: dynamicRules.Name, Value: "1"}, {Name: fileVariable, Value: mpi.RulePath}}
	if f.han {
		f.Load = []mpi.Setting{{Name: hanSwitch, Value: "1"}, {Name: hanVariable, Value: mpi.RulePath}}
	}
	f.Activation = f.LoadText() + "; without the first, Open MPI ignores the file silently"
	f.RuleFile.Rules = len(f.rules)
	if !f.Loaded {
		f.Effect = fmt.Sprintf("Open MPI %s ignores the whole file, prints nothing, and selects as shipped", f.cat.Version)
	} else {
		f.Effect = fmt.Sprintf("Open MPI %s loads the file; number of rules: %d, of collectives: %d", f.cat.Version, len(f.rules), len(f.Collectives))
		f.Choose = f.choose
		f.addFindings()
	}
	for _, r := range f.rules {
		f.Listing = append(f.Listing, mpi.ListedRule{Collective: string(r.Collective), RuleChoice: mpi.RuleChoice{Algorithm: f.algorithm(r), Line: r.Line, Rule: r.path()[1:]}})
	}
	f.Sort()
}

// choose returns what the file selects for the benchmark's call at a point.
func (f *ruleFile) choose(p coll.Point) mpi.RuleChoice {
	size := compared(p)
	if f.han {
		size = p.Count() * p.Collective.ElementBytes()
	}
	block := -1
	for _, r := range f.rules {
		if r.Collective != p.Collective || r.Unreachable != "" || r.Level != "" && r.Level != global ||
			!r.Ranks.has(int64(p.Ranks())) || !r.Distribution.holds(p.Layout()) || block >= 0 && r.Block != block {
			continue
		}
		block = r.Block // the first block that applies decides, even if none of its rules does
		if !r.Sizes.has(size) {
			continue
		}
		return mpi.RuleChoice{Algorithm: f.algorithm(r), Line: r.Line, Rule: r.path()}
	}
	return mpi.RuleChoice{Algorithm: coll.Default, Rule: []string{"no rule applies: the library decides"}}
}

// path returns the conditions of a rule, outermost first.
func (r placedRule) path() []string {
	out := []string{string(r.Collective)}
	if r.Level != "" {
		out = append(out, r.Level)
	}
	ranks := "communicators of " + r.Ranks.text("ranks")
	if r.Distribution != "" && r.Distribution != anyDistribution {
		ranks += ", " + string(r.Distribution)
	}
	if r.BlockLine > 0 {
		ranks += fmt.Sprintf(" (line %d)", r.BlockLine)
	}
	return append(out, ranks, fmt.Sprintf("messages of %s (line %d)", r.Sizes.text("B"), r.Line))
}

// algorithm returns the algorithm of a rule, with the parameters that it takes.
func (f *ruleFile) algorithm(r placedRule) coll.Algorithm {
	if f.han {
		return hanAlgorithm(r.rule)
	}
	if r.Algorithm == 0 {
		return coll.Default
	}
	e, ok := f.entryOf(r)
	if !ok {
		return coll.Algorithm{Name: "unknown_" + strconv.Itoa(r.Algorithm)}
	}
	var params []coll.Param
	for _, p := range e.Params {
		switch p {
		case "segsize":
			params = append(params, coll.Param{Name: p, Value: strconv.FormatInt(r.SegSize, 10)})
		case "faninout":
			params = append(params, coll.Param{Name: p, Value: strconv.Itoa(r.FanInOut)})
		}
	}
	alg, err := coll.NewAlgorithm(e.Name, params...)
	if err != nil {
		return coll.Algorithm{Name: e.Name}
	}
	return alg
}

func (f *ruleFile) entryOf(r placedRule) (mpi.Entry, bool) {
	for _, e := range f.cat.Entries(r.Collective) {
		if !isHan(e.ID) && e.ID == r.Algorithm {
			return e, true
		}
	}
	return mpi.Entry{}, false
}
