package mpi

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"tutti/coll"
)

// ErrRuleFile is matched by errors about a file that is no selection file of any library.
var ErrRuleFile = errors.New("not a selection file")

// RuleReader is a library that loads selection files.
type RuleReader interface {
	Library

	// ReadRules reads a selection file as a release of the library reads it. It returns false if the text is not in a
	// format of the library. A file that the release refuses is a RuleFile, too: its findings say why.
	// `path` is the path of the library's file, as for Open; it may be empty.
	ReadRules(cat *Catalogue, path string, file []byte) (*RuleFile, bool)
}

// RuleFile is a selection file as one release of a library reads it.
type RuleFile struct {
	Format      string            `json:"format"` // such as "rules of coll/tuned, version 1"
	Library     string            `json:"library"`
	Version     string            `json:"version"`
	Loaded      bool              `json:"loaded"` // the release loads the file
	OtherSeries bool              `json:"-"`      // the format is of later releases
	Effect      string            `json:"effect"` // what the release does with the file
	Activation  string            `json:"activation"`
	Collectives []coll.Collective `json:"collectives"` // with rules, in the order of the file
	Rules       int               `json:"rules"`
	Findings    []Finding         `json:"findings"` // by line
	Listing     []ListedRule      `json:"-"`        // all rules, in the order of the file

	// ZeroUnset says that a parameter of 0 in a rule leaves its value to the library.
	ZeroUnset bool `json:"-"`

	// Load lists the variables that make the release load the file. RulePath stands for the absolute path of the file.
	Load []Setting `json:"-"`

	// Choose returns what the file selects for the benchmark's call at a point. It is nil if the file is not loaded.
	Choose func(coll.Point) RuleChoice `json:"-"`
}

// RulePath stands for the path of a selection file in the settings that load it.
const RulePath = "/ABSOLUTE/PATH"

// LoadText returns the settings that load the file, such as "A=1 and B=/ABSOLUTE/PATH".
func (f *RuleFile) LoadText() string {
	var out []string
	for _, s := range f.Load {
		out = append(out, s.Name+"="+s.Value)
	}
	return strings.Join(out, " and ")
}

// Setup returns the environment in which the release loads the file from an absolute path.
func (f *RuleFile) Setup(path string) Setup {
	var out Setup
	for _, s := range f.Load {
		if s.Value == RulePath {
			s.Value = path
			out.Files = append(out.Files, s.Name)
		}
		out.Settings = append(out.Settings, s)
	}
	return out
}

// RuleChoice is what a selection file selects at a point.
type RuleChoice struct {
	Algorithm coll.Algorithm `json:"algorithm"` // coll.Default: the library decides
	Line      int            `json:"line,omitempty"`
	Rule      []string       `json:"rule"` // conditions that led to the algorithm, outermost first
}

// ListedRule is a rule of a file.
type ListedRule struct {
	Collective string `json:"collective"`
	RuleChoice
}

// Finding is a property of a selection file that its author probably did not intend.
type Finding struct {
	Line int         `json:"line"` // 0: of the whole file
	Kind FindingKind `json:"kind"`
	Text string      `json:"text"`
}

// FindingKind says how bad a finding is.
type FindingKind string

// The kinds of findings, the worst first.
const (
	FindingError       FindingKind = "error"       // the release ignores the file, or aborts with it
	FindingHarm        FindingKind = "harm"        // some valid programs abort, hang or get wrong results
	FindingUnreachable FindingKind = "unreachable" // no call reaches the rule
	FindingNote        FindingKind = "note"
)

// FindingKinds returns all kinds, the worst first.
func FindingKinds() []FindingKind {
	return []FindingKind{FindingError, FindingHarm, FindingUnreachable, FindingNote}
}

// Add adds a finding.
func (f *RuleFile) Add(line int, kind FindingKind, text string) {
	f.Findings = append(f.Findings, Finding{line, kind, text})
}

// Sort sorts the findings by line and removes duplicates.
func (f *RuleFile) Sort() {
	slices.SortStableFunc(f.Findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	f.Findings = slices.Compact(f.Findings)
}

// Of returns the findings of one kind.
func (f *RuleFile) Of(kind FindingKind) []Finding {
	return slices.DeleteFunc(slices.Clone(f.Findings), func(x Finding) bool { return x.Kind != kind })
}
