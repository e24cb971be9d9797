package openmpi

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
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

func (library) ReadRules(cat *mpi.Catalogue, _ string, text []byte) (*mpi.RuleFile, bool) {
	f, ok := build{cat}.read(text)
	if !ok {
		return nil, false
	}
	f.conclude()
	return f.RuleFile, true
}

// read reads the rules of a file in any of the formats. It returns false if the text is in none of them.
func (b build) read(text []byte) (*ruleFile, bool) {
	f := &ruleFile{build: b, RuleFile: &mpi.RuleFile{Library: b.cat.Library, Version: b.cat.Version, ZeroUnset: true, Findings: []mpi.Finding{}, Collectives: []coll.Collective{}}}
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
	return f, true
}

var errSyntax = errors.New("not a rules file")

// load reads a file that the release loads. The error matches errSyntax.
func (b build) load(text []byte) (*ruleFile, error) {
	f, ok := b.read(text)
	if !ok {
		return nil, fmt.Errorf("%w: %.40q", errSyntax, text)
	}
	for _, fault := range f.Of(mpi.FindingError) {
		return nil, fmt.Errorf("%w: line %d: %s", errSyntax, fault.Line, fault.Text)
	}
	return f, nil
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
	for _, r := range f.rules {
		if r.Collective != "" && !slices.Contains(f.Collectives, r.Collective) {
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
	level, size := "", compared(p)
	if f.han {
		level, size = global, p.Count()*p.Collective.ElementBytes()
	}
	r, ok := f.find(p.Collective, p.Layout(), level, size)
	if !ok {
		return mpi.RuleChoice{Algorithm: coll.Default, Rule: []string{"no rule applies: the library decides"}}
	}
	return mpi.RuleChoice{Algorithm: f.algorithm(r), Line: r.Line, Rule: r.path()}
}

// find returns the rule that serves a message on a communicator with the given layout. Rules of coll/tuned have the level
// "". It returns false if no rule applies, so that the library decides.
func (f *ruleFile) find(c coll.Collective, l coll.Layout, level string, size int64) (placedRule, bool) {
	block := -1
	for _, r := range f.rules {
		if r.Collective != c || r.Level != level || r.Unreachable != "" ||
			!r.Ranks.has(int64(l.Ranks())) || !r.Distribution.holds(l) || block >= 0 && r.Block != block {
			continue
		}
		block = r.Block // the first block that applies decides, even if none of its rules does
		if r.Sizes.has(size) {
			return r, true
		}
	}
	return placedRule{}, false
}

// choice returns the rule that find returns, with the size 0. It is the zero rule if the library decides.
func (f *ruleFile) choice(c coll.Collective, l coll.Layout, level string, size int64) rule {
	r, _ := f.find(c, l, level, size)
	r.Size = 0
	return r.rule
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
	return f.cat.Find(r.Collective, func(e mpi.Entry) bool { return !isHan(e.ID) && e.ID == r.Algorithm })
}
