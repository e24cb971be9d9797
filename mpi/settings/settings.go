package settings

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

//go:embed libraries.csv
var librariesCSV string

//go:embed variables.csv
var variablesCSV string

//go:embed algorithms.csv
var algorithmsCSV string

// Libraries returns the libraries that environment variables tune, in the order of libraries.csv.
var Libraries = sync.OnceValue(func() []mpi.Library {
	all, err := readLibraries(librariesCSV, variablesCSV, mpi.Table(algorithmsCSV, mpi.Rules{})())
	if err != nil {
		panic("settings: " + err.Error()) // the tables are part of the program
	}
	out := make([]mpi.Library, len(all))
	for i, l := range all {
		out[i] = l
	}
	return out
})

type library struct {
	facts       mpi.Facts
	snippet     string // file name of the exported snippet; there are no other files
	syntax      syntax
	variables   map[coll.Collective]variable
	releases    []*mpi.Catalogue
	fileVersion *regexp.Regexp // nil if the library's file does not contain its release
	source      string
	remark      string // about its settings; empty or after a blank
}

// variable holds one row of variables.csv: an environment variable that selects algorithms of a collective.
type variable struct {
	name  string
	bytes string // message, allRanks or noSize
}

// The kinds of message size by which the value of a variable selects algorithms.
const (
	messageBytes = "message"   // bytes of the buffer, or of one rank's part of it
	allRanks     = "all-ranks" // bytes of all ranks' parts
	noSize       = "none"
)

// syntax is the notation of the values of a library's variables.
type syntax interface {
	// fit makes a selection from rows. It selects only what the syntax can express.
	fit(l *library, rows []selection.Row, maxLoss float64) (selection.Selection, error)

	// value returns the variable's value with which the library selects the same algorithms as the tree. It
	// returns "" if the tree leaves every choice to the library.
	value(l *library, cat *mpi.Catalogue, t *selection.Tree) (string, error)

	// lookup returns the number of the algorithm that a value selects for a communicator and a message
	// size. It returns false if the library decides there. The error matches errSyntax.
	lookup(value string, ranks int, bytes int64) (id int, decided bool, err error)
}

func (l *library) Facts() mpi.Facts { return l.facts }

func (l *library) Releases() []*mpi.Catalogue { return l.releases }

// Open implements mpi.Library. It ignores the path, because nothing in the library's file is needed.
func (l *library) Open(cat *mpi.Catalogue, _ string) (mpi.Build, error) { return build{l, cat}, nil }

func (b build) Catalogue() *mpi.Catalogue { return b.cat }

// Size implements mpi.Library. It returns the message size by which the collective's variable selects an
// algorithm, 0 if the variable's ranges have no message sizes.
func (l *library) Size(p coll.Point) int64 {
	v := l.variables[p.Collective]
	if v.bytes == noSize || !p.Collective.Sized() {
		return 0
	}
	bytes := p.Count() * p.Collective.ElementBytes()
	if v.bytes == allRanks {
		bytes *= int64(p.Ranks())
	}
	return min(bytes, maxInt-1) // the last range of sizes begins at the next one
}

func (l *library) Recognise(file []byte) string {
	if l.fileVersion == nil {
		return ""
	}
	m := l.fileVersion.FindSubmatch(file)
	if m == nil {
		return ""
	}
	return l.facts.Title + " " + string(m[1])
}

// readLibraries reads the tables of libraries and variables. `releases` has the catalogues of
// all libraries.
func readLibraries(libraries, variables string, releases []*mpi.Catalogue) ([]*library, error) {
	rows, err := readTable(libraries)
	if err != nil {
		return nil, fmt.Errorf("libraries.csv: %w", err)
	}
	var all []*library
	for _, row := range rows {
		l, err := parseLibrary(row)
		if err != nil {
			return nil, fmt.Errorf("libraries.csv: %s: %w", row["name"], err)
		}
		for _, cat := range releases {
			if cat.Library == l.facts.Name {
				l.releases = append(l.releases, cat)
			}
		}
		all = append(all, l)
	}
	rows, err = readTable(variables)
	if err != nil {
		return nil, fmt.Errorf("variables.csv: %w", err)
	}
	for _, row := range rows {
		if err := addVariable(all, row); err != nil {
			return nil, fmt.Errorf("variables.csv: %s: %w", row["variable"], err)
		}
	}
	return all, nil
}

func readTable(text string) ([]map[string]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		named := map[string]string{}
		for i, column := range rows[0] {
			named[column] = row[i]
		}
		out = append(out, named)
	}
	return out, nil
}

func parseLibrary(row map[string]string) (*library, error) {
	l := &library{snippet: row["snippet"], source: row["source"], remark: row["remark"], variables: map[coll.Collective]variable{}}
	maxRanges, err := strconv.Atoi(row["max_ranges"])
	if err != nil {
		return nil, err
	}
	switch row["syntax"] {
	case "ranks":
		l.syntax = ranksSyntax{}
	case "sizes":
		l.syntax = sizesSyntax{maxRanges: maxRanges}
		if maxRanges == 0 {
			l.syntax = sizesSyntax{maxRanges: math.MaxInt}
		}
	default:
		return nil, fmt.Errorf("syntax %q: want ranks or sizes", row["syntax"])
	}
	answer, err := optionalRegexp(row["launcher_version"])
	if err != nil {
		return nil, err
	}
	if l.fileVersion, err = optionalRegexp(row["file_version"]); err != nil {
		return nil, err
	}
	l.facts = mpi.Facts{
		Files: []string{l.snippet, mpi.CshName(l.snippet)},
		Name:  row["name"], Title: row["title"], Family: row["family"],
		Launcher: mpi.Launcher{
			Kind: row["launcher_kind"], Program: row["launcher"], Title: row["launcher_title"], Answer: answer, Srun: true,
		},
		Install: mpi.Install{Compilers: strings.Split(row["compilers"], ";"), Homes: strings.Split(row["homes"], ";")},
	}
	return l, nil
}

func optionalRegexp(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	return regexp.Compile(text)
}

func addVariable(all []*library, row map[string]string) error {
	collective, err := coll.ParseCollective(row["collective"])
	if err != nil {
		return err
	}
	v := variable{name: row["variable"], bytes: row["bytes"]}
	switch v.bytes {
	case messageBytes, allRanks, noSize:
	default:
		return fmt.Errorf("bytes %q: want %s, %s or %s", v.bytes, messageBytes, allRanks, noSize)
	}
	for _, l := range all {
		if l.facts.Name == row["library"] {
			l.variables[collective] = v
			return nil
		}
	}
	return fmt.Errorf("library %q: want one of libraries.csv", row["library"])
}

var errSyntax = errors.New("not a value of a tuning variable")

type build struct {
	lib *library
	cat *mpi.Catalogue
}

func (b build) Fit(rows []selection.Row, maxLoss float64) (selection.Selection, error) {
	sel, err := b.lib.syntax.fit(b.lib, rows, maxLoss)
	if err != nil {
		return selection.Selection{}, fmt.Errorf("%s: %w", b.lib.facts.Name, err)
	}
	return sel, nil
}

func (b build) Export(sel selection.Selection, _ string) (mpi.Export, error) {
	s := mpi.Setup{Remarks: []string{
		"Settings of " + b.lib.facts.Title + " " + b.cat.Version + "." + b.lib.remark,
		"Written from " + b.lib.source + " and replayed at every tuned point, but not tried on a real " + b.lib.facts.Title + ".",
	}}
	if len(sel.Layouts) > 0 {
		s.Remarks = append(s.Remarks, "Some layouts have settings of their own: to be read in a job, where Slurm says which it is.")
	}
	var err error
	if s.Settings, err = b.settings(sel.Trees); err != nil {
		return mpi.Export{}, err
	}
	for _, l := range sel.Layouts {
		own, err := b.settings(l.Trees)
		if err != nil {
			return mpi.Export{}, err
		}
		s.Layouts = append(s.Layouts, mpi.LayoutSettings{Layout: l.Layout, Settings: own})
	}
	return mpi.Export{Setup: s, Snippet: b.lib.snippet}, nil
}

func (b build) settings(trees []*selection.Tree) ([]mpi.Setting, error) {
	var out []mpi.Setting
	for _, t := range trees {
		value, err := b.lib.syntax.value(b.lib, b.cat, t)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", b.lib.facts.Name, t.Collective, err)
		}
		if value == "" {
			continue
		}
		v, ok := b.lib.variables[t.Collective]
		if !ok {
			return nil, fmt.Errorf("%s: no variable for %s", b.lib.facts.Name, t.Collective)
		}
		out = append(out, mpi.Setting{Name: v.name, Value: value})
	}
	return out, nil
}

func (b build) Replay(x mpi.Export, sel selection.Selection, rows []selection.Row) error {
	for _, r := range rows {
		if err := b.replay(x.Setup, sel, r.Point); err != nil {
			return fmt.Errorf("%s: %v: %w", b.lib.facts.Name, r.Point, err)
		}
	}
	return nil
}

func (b build) replay(s mpi.Setup, sel selection.Selection, p coll.Point) error {
	got, decided, err := b.lookup(s, p)
	if err != nil {
		return err
	}
	alg, _ := sel.Select(p)
	if alg.IsDefault() {
		if decided {
			return fmt.Errorf("the settings select algorithm %d: want the library's choice", got)
		}
		return nil
	}
	want, err := b.cat.Lookup(p.Collective, alg)
	if err != nil {
		return err
	}
	if !decided {
		return fmt.Errorf("the settings leave the choice to the library: want algorithm %d (%v)", want.ID, alg)
	}
	if got != want.ID {
		return fmt.Errorf("the settings select algorithm %d: want %d (%v)", got, want.ID, alg)
	}
	return nil
}

// lookup returns the number of the algorithm that the settings select at a point. It returns false if the
// library decides there.
func (b build) lookup(s mpi.Setup, p coll.Point) (id int, decided bool, err error) {
	v, ok := b.lib.variables[p.Collective]
	if !ok {
		return 0, false, nil
	}
	for _, x := range s.For(p.Layout()) {
		if x.Name != v.name {
			continue
		}
		id, decided, err = b.lib.syntax.lookup(x.Value, p.Ranks(), b.lib.Size(p))
		if err != nil {
			return 0, false, fmt.Errorf("%s: %w", x.Name, err)
		}
		return id, decided, nil
	}
	return 0, false, nil
}

// maxInt is the largest C int. Libraries store sizes, ranks and algorithm numbers in C ints.
const maxInt = math.MaxInt32
