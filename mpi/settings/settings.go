package settings

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
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
	all, err := Read(librariesCSV, variablesCSV, algorithmsCSV)
	if err != nil {
		panic("settings: " + err.Error()) // the tables are part of the program
	}
	return all
})

// Read returns the libraries that three tables describe. Their columns are those of libraries.csv, variables.csv and
// algorithms.csv. Errors begin with the name of the table and the line.
func Read(libraries, variables, algorithms string) ([]mpi.Library, error) {
	all, err := readLibraries(libraries)
	if err != nil {
		return nil, err
	}
	out, named := make([]mpi.Library, len(all)), map[string]*library{}
	for i, l := range all {
		out[i], named[l.facts.Name] = l, l
	}
	releases, err := mpi.ReadTable(algorithms, mpi.Rules{
		Lookup: func(cat *mpi.Catalogue, c coll.Collective, e mpi.Entry, alg coll.Algorithm) error {
			return named[cat.Library].checkParams(cat, c, e, alg)
		},
		Check: func(cat *mpi.Catalogue, c coll.Candidate) error { return named[cat.Library].checkVariable(cat, c) },
	})
	if err != nil {
		return nil, fmt.Errorf("algorithms.csv:%w", err)
	}
	for _, cat := range releases {
		l := named[cat.Library]
		if l == nil {
			return nil, fmt.Errorf("algorithms.csv: library %q: want one of libraries.csv", cat.Library)
		}
		l.releases = append(l.releases, cat)
	}
	return out, readVariables(all, variables)
}

type library struct {
	facts       mpi.Facts
	snippet     string // file name of the exported snippet; there are no other files
	syntax      syntax
	prefixes    []string // of the names of its environment variables
	variables   map[coll.Collective][]variable
	releases    []*mpi.Catalogue
	fileVersion *regexp.Regexp // nil if the library's file does not contain its release
	source      string
	remark      string // about its settings; empty or after a blank
	tried       string // where they were tried; empty: nowhere
}

// syntax is the notation of the values of a library's variables.
type syntax interface {
	// merge makes a selection from rows. It selects only what the syntax can express.
	merge(b build, rows []selection.Row, maxLoss float64) (selection.Selection, error)

	// settings returns the variables with which the library selects the same algorithms as the tree. There are none
	// if the tree leaves every choice to the library.
	settings(b build, t *selection.Tree) ([]mpi.Setting, error)

	// forced returns the variables with which the library runs an algorithm for all calls of a collective.
	forced(b build, collective coll.Collective, e mpi.Entry, alg coll.Algorithm) []mpi.Setting

	// selects returns nil if the settings select the algorithm at a point; for coll.Default, if they leave the choice
	// to the library. The error matches errSyntax for a value that the library cannot read.
	selects(b build, set []mpi.Setting, p coll.Point, alg coll.Algorithm) error

	// separator joins the values of several collectives that have one variable. It is "" if a variable has one value.
	separator() string

	// whole reports whether a value says what runs for every call, so that a value of the site has no effect.
	whole() bool
}

func (l *library) Facts() mpi.Facts { return l.facts }

func (l *library) Releases() []*mpi.Catalogue { return l.releases }

// Open implements mpi.Library. It ignores the path, because nothing in the library's file is needed.
func (l *library) Open(cat *mpi.Catalogue, _ string) (mpi.Build, error) { return build{l, cat}, nil }

func (b build) Catalogue() *mpi.Catalogue { return b.cat }

// Size implements mpi.Library. It returns the message size by which the collective's variable selects an
// algorithm, 0 if the variable's ranges have no message sizes.
func (l *library) Size(p coll.Point) int64 {
	list := l.variables[p.Collective]
	if len(list) == 0 || list[0].bytes == noSize || !p.Collective.Sized() {
		return 0
	}
	bytes := p.Count() * p.Collective.ElementBytes()
	if list[0].bytes == allRanks {
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

// The columns of the tables. Of libraries.csv only the first neededLibraryColumns are required.
var (
	libraryColumns = []string{
		"name", "snippet", "syntax", "max_ranges", "title", "family", "prefixes", "component", "launcher_kind", "launcher", "launcher_title", "launcher_version",
		"compilers", "homes", "file_version", "source", "remark", "tried",
	}
	variableColumns = []string{"library", "from", "before", "collective", "algorithm", "variable", "value", "range", "bytes"}
)

const neededLibraryColumns = 4

func readLibraries(text string) ([]*library, error) {
	rows, err := readTable(text, libraryColumns, neededLibraryColumns)
	if err != nil {
		return nil, fmt.Errorf("libraries.csv: %w", err)
	}
	var all []*library
	for _, row := range rows {
		l, err := parseLibrary(row)
		if err == nil && slices.ContainsFunc(all, func(o *library) bool { return o.facts.Name == l.facts.Name }) {
			err = errors.New("a row above has this library")
		}
		if err != nil {
			return nil, fmt.Errorf("libraries.csv:%s: %s: %w", row[lineColumn], row["name"], err)
		}
		all = append(all, l)
	}
	return all, nil
}

// readVariables reads the variables of libraries whose algorithms are known.
func readVariables(all []*library, text string) error {
	rows, err := readTable(text, variableColumns, len(variableColumns))
	if err != nil {
		return fmt.Errorf("variables.csv: %w", err)
	}
	for _, row := range rows {
		if err := addVariable(all, row); err != nil {
			return fmt.Errorf("variables.csv:%s: %s: %w", row[lineColumn], row["variable"], err)
		}
	}
	return nil
}

// lineColumn is the key of a row's line number.
const lineColumn = "line"

// readTable returns the rows of a table by the names of its columns, with the number of each line. The first `needed` columns
// must be there, in any order.
func readTable(text string, columns []string, needed int) ([]map[string]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment = '#'
	header, err := r.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for i, name := range header {
		if !slices.Contains(columns, name) || slices.Contains(header[:i], name) {
			return nil, fmt.Errorf("column %q: want each of %s once, separated by commas", name, strings.Join(columns, ", "))
		}
	}
	for _, name := range columns[:needed] {
		if !slices.Contains(header, name) {
			return nil, fmt.Errorf("column %s is missing: the first row without # names the columns", name)
		}
	}
	var out []map[string]string
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		named := map[string]string{lineColumn: strconv.Itoa(line)}
		for i, column := range header {
			named[column] = row[i]
		}
		out = append(out, named)
	}
}

func parseLibrary(row map[string]string) (*library, error) {
	l := &library{snippet: row["snippet"], source: row["source"], remark: row["remark"], tried: row["tried"], prefixes: fields(row["prefixes"]), variables: map[coll.Collective][]variable{}}
	maxRanges, err := strconv.Atoi(row["max_ranges"])
	if err != nil || maxRanges < 0 {
		return nil, fmt.Errorf("max_ranges %q: want a whole number from 0", row["max_ranges"])
	}
	bands := 0
	switch row["syntax"] {
	case "ranks":
		l.syntax = ranksSyntax{}
	case "sizes":
		bands = cmp.Or(maxRanges, math.MaxInt)
		l.syntax = sizesSyntax{maxRanges: bands}
	case "scores":
		l.syntax = scoresSyntax{}
	case "job":
		bands = 1
		l.syntax = jobSyntax{sizesSyntax{maxRanges: bands}}
	default:
		return nil, fmt.Errorf("syntax %q: want ranks, sizes, scores or job", row["syntax"])
	}
	answer, err := optionalRegexp(row["launcher_version"])
	if err != nil {
		return nil, err
	}
	if l.fileVersion, err = optionalRegexp(row["file_version"]); err != nil {
		return nil, err
	}
	l.facts = mpi.Facts{
		Files: []string{l.snippet, mpi.CshName(l.snippet)}, Bands: bands,
		Name: row["name"], Title: row["title"], Family: row["family"], Component: row["component"],
		Prevents: "the exported value replaces that of the site, also for calls that it leaves to the library",
		Launcher: mpi.Launcher{
			Kind: row["launcher_kind"], Program: row["launcher"], Title: row["launcher_title"], Answer: answer, Srun: true,
		},
		Install: mpi.Install{Compilers: fields(row["compilers"]), Homes: fields(row["homes"])},
	}
	if l.facts.Component != "" {
		l.facts.Lister = mpi.ComponentLister
		l.facts.Prevents = "Open MPI passes no calls to " + l.facts.Title
	}
	return l, nil
}

func optionalRegexp(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	return regexp.Compile(text)
}

// fields returns the texts between semicolons.
func fields(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ';' })
}

var errSyntax = errors.New("not a value of a tuning variable")

type build struct {
	lib *library
	cat *mpi.Catalogue
}

func (b build) Merge(rows []selection.Row, maxLoss float64) (selection.Selection, error) {
	sel, err := b.lib.syntax.merge(b, rows, maxLoss)
	if err != nil {
		return selection.Selection{}, fmt.Errorf("%s: %w", b.lib.facts.Name, err)
	}
	return sel, nil
}

func (b build) Export(sel selection.Selection, _ string) (mpi.Export, error) {
	s := mpi.Setup{Remarks: []string{
		"Settings of " + b.lib.facts.Title + " " + b.cat.Version + "." + b.lib.remark,
		"Written from " + b.lib.source + " and replayed at every tuned point, " + cmp.Or(b.lib.tried, "but not tried on a real "+b.lib.facts.Title) + ".",
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
	b.keepSite(&s)
	return mpi.Export{Setup: s, Snippet: b.lib.snippet}, nil
}

// keepSite gives jobs of layouts without a tuned variable the site's value of it. The snippet would unset it otherwise.
func (b build) keepSite(s *mpi.Setup) {
	sets := []*[]mpi.Setting{&s.Settings}
	for i := range s.Layouts {
		sets = append(sets, &s.Layouts[i].Settings)
	}
	for _, of := range b.cat.Site.On(mpi.ShapesDefault) {
		isOf := func(x mpi.Setting) bool { return x.Name == of.Name }
		if !slices.ContainsFunc(sets, func(set *[]mpi.Setting) bool { return slices.ContainsFunc(*set, isOf) }) {
			continue
		}
		for _, set := range sets {
			if !slices.ContainsFunc(*set, isOf) {
				*set = append(*set, mpi.Setting{Name: of.Name, Value: of.Value})
			}
		}
	}
}

// settings returns the variables for all trees. A variable that several collectives share is set once, with the tokens of
// all of them.
func (b build) settings(trees []*selection.Tree) ([]mpi.Setting, error) {
	var out []mpi.Setting
	for _, t := range trees {
		set, err := b.lib.syntax.settings(b, t)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", b.lib.facts.Name, t.Collective, err)
		}
		for _, x := range set {
			i := slices.IndexFunc(out, func(o mpi.Setting) bool { return o.Name == x.Name })
			switch separator := b.lib.syntax.separator(); {
			case i < 0:
				out = append(out, x)
			case separator != "":
				out[i].Value += separator + x.Value
			case out[i].Value != x.Value:
				return nil, fmt.Errorf("%s %s: %s has two values, %s and %s", b.lib.facts.Name, t.Collective, x.Name, out[i].Value, x.Value)
			}
		}
	}
	return out, nil
}

func (b build) Replay(x mpi.Export, sel selection.Selection, rows []selection.Row) error {
	for _, r := range rows {
		alg, _ := sel.Select(r.Point)
		if err := b.lib.syntax.selects(b, x.Setup.For(r.Point.Layout()), r.Point, alg); err != nil {
			return fmt.Errorf("%s: %v: %w", b.lib.facts.Name, r.Point, err)
		}
	}
	return nil
}

// maxInt is the largest C int. Libraries store sizes, ranks and algorithm numbers in C ints.
const maxInt = math.MaxInt32
