package openmpi

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// The files that Write makes; a layout's is called 2x4.rules or 2x4.json. From 6.0
// on the rules are in JSONName.
const (
	FileName  = "openmpi.rules"
	JSONName  = "openmpi.json"
	EnvName   = "openmpi.env"
	LayoutDir = "layouts"
)

// tried is the release that the tests run.
const tried = "4.1.4"

// ErrVersion reports a release that reads the rules in another way.
var ErrVersion = errors.New("no such rules for this release")

// Bundle is the rules for everybody and for some layouts.
type Bundle struct {
	Version string
	Rules   Rules
	Layouts []LayoutRules // in a file each, to be chosen when a job starts
	Spread  []LayoutRules // from 6.0 on: layouts that the rules of one file tell apart

	names func(coll.Collective, int) string // of algorithms, by number
}

// LayoutRules are the rules for jobs of one layout.
type LayoutRules struct {
	Layout coll.Layout
	Rules  Rules
}

// For returns the rules for jobs of a layout.
func (b Bundle) For(l coll.Layout) Rules {
	for _, own := range slices.Concat(b.Layouts, b.Spread) {
		if own.Layout == l {
			return own.Rules
		}
	}
	return b.Rules
}

// newer reports whether the release reads JSON.
func (b Bundle) newer() bool { return atLeast(b.Version, 6) }

// Bytes returns the file of rules that the release reads: those for everybody, or
// of one of Layouts.
func (b Bundle) Bytes(rules Rules) []byte {
	if b.newer() {
		return toJSON(rules, b.Spread, b.names).Bytes()
	}
	return rules.Bytes()
}

// fileName is the file for everybody.
func (b Bundle) fileName() string {
	if b.newer() {
		return JSONName
	}
	return FileName
}

func (b Bundle) layoutName(l coll.Layout) string {
	return filepath.Join(LayoutDir, l.String()+filepath.Ext(b.fileName()))
}

// Files returns what Write makes, relative to the folder.
func (b Bundle) Files() []string {
	out := []string{b.fileName(), EnvName}
	for _, l := range b.Layouts {
		out = append(out, b.layoutName(l.Layout))
	}
	return out
}

// Env returns the settings that make Open MPI follow the rules in a file with an
// absolute path. Components that stand before tuned have to step back, as when
// algorithms are measured: hcoll where it is installed and, from 5.0 on, han. The
// list of components itself (OMPI_MCA_coll) is the user's.
func (b Bundle) Env(path string) ([]selection.Setting, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("openmpi: rules file %s: want an absolute path, every process opens it from its own directory", path)
	}
	out := []selection.Setting{
		{Name: "OMPI_MCA_coll_tuned_use_dynamic_rules", Value: "1"},
		{Name: "OMPI_MCA_coll_tuned_dynamic_rules_filename", Value: path},
		{Name: "OMPI_MCA_coll_hcoll_enable", Value: "0"},
	}
	if _, err := parseVersion(b.Version); err != nil {
		return nil, err
	}
	if atLeast(b.Version, 5) {
		out = append(out, selection.Setting{Name: "OMPI_MCA_coll_han_priority", Value: "0"})
	}
	return out, nil
}

// Setup returns the settings for files that Write has put into a folder with an
// absolute path.
func (b Bundle) Setup(dir string) (selection.Setup, error) {
	s := selection.Setup{Remarks: []string{"Settings that make Open MPI " + b.Version + " follow " + b.fileName() + "."}}
	if len(b.Layouts) > 0 {
		s.Remarks = append(s.Remarks, "Some layouts have rules of their own: to be read in a job, where Slurm says which it is.")
	}
	if b.Version != tried {
		s.Remarks = append(s.Remarks, "Replayed at every tuned point, but not tried on a real Open MPI "+b.Version+".")
	}
	var err error
	if s.Settings, err = b.Env(filepath.Join(dir, b.fileName())); err != nil {
		return selection.Setup{}, err
	}
	for _, l := range b.Layouts {
		env, err := b.Env(filepath.Join(dir, b.layoutName(l.Layout)))
		if err != nil {
			return selection.Setup{}, err
		}
		s.Layouts = append(s.Layouts, selection.LayoutSettings{Layout: l.Layout, Settings: env})
	}
	return s, nil
}

// parseVersion returns the leading numbers of a release: 6, 0 of 6.0.x.
func parseVersion(version string) ([]int, error) {
	var out []int
	for _, word := range strings.Split(version, ".") {
		n, err := strconv.Atoi(word)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("openmpi %q: want a release like 4.1.4", version)
	}
	return out, nil
}

// atLeast compares releases; numbers that are not given count as 0.
func atLeast(version string, want ...int) bool {
	have, err := parseVersion(version)
	if err != nil {
		return false
	}
	for len(have) < len(want) {
		have = append(have, 0)
	}
	return slices.Compare(have, want) >= 0
}

// Write puts the files into a folder that exists. Each appears whole or not at
// all, the settings last.
func (b Bundle) Write(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("openmpi: %w", err)
	}
	setup, err := b.Setup(abs)
	if err != nil {
		return err
	}
	env, err := setup.Shell()
	if err != nil {
		return fmt.Errorf("openmpi: %w", err)
	}
	if len(b.Layouts) > 0 {
		if err := os.Mkdir(filepath.Join(abs, LayoutDir), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("openmpi: %w", err)
		}
	}
	for _, l := range b.Layouts {
		if err := selection.WriteFile(filepath.Join(abs, b.layoutName(l.Layout)), b.Bytes(l.Rules)); err != nil {
			return err
		}
	}
	if err := selection.WriteFile(filepath.Join(abs, b.fileName()), b.Bytes(b.Rules)); err != nil {
		return err
	}
	return selection.WriteFile(filepath.Join(abs, EnvName), env)
}

// Export writes a plan for the release of the catalogue: in the classic format
// before 6.0, in JSON from there on, where a classic block covers other
// communicator sizes. The error matches ErrVersion when a rule limits requests and
// the release cannot, and mpi.ErrUnknown when it has not an algorithm.
func Export(plan Plan, cat *mpi.Catalogue) (Bundle, error) {
	if _, err := parseVersion(cat.Version); err != nil {
		return Bundle{}, err
	}
	b := Bundle{Version: cat.Version, names: namesOf(cat)}
	var err error
	if b.Rules, err = exportAll(plan.Trees, cat); err != nil {
		return Bundle{}, err
	}
	for _, l := range plan.Layouts {
		rules, err := exportAll(l.Trees, cat)
		if err != nil {
			return Bundle{}, err
		}
		own := LayoutRules{l.Layout, rules}
		if b.newer() && (l.Layout.PPN == 1 || l.Layout.Nodes == 1) {
			b.Spread = append(b.Spread, own)
		} else {
			b.Layouts = append(b.Layouts, own)
		}
	}
	for _, l := range append(slices.Clone(b.Layouts), LayoutRules{Rules: b.Rules}) {
		if l.Rules.second() && !atLeast(b.Version, 5, 0, 7) {
			return Bundle{}, fmt.Errorf("openmpi %s: max_requests: %w: want 5.0.7 or later", b.Version, ErrVersion)
		}
	}
	return b, nil
}

// namesOf returns the names that the release has for its numbers.
func namesOf(cat *mpi.Catalogue) func(coll.Collective, int) string {
	return func(c coll.Collective, id int) string {
		for _, e := range cat.Entries(c) {
			if e.ID == id {
				return e.Name
			}
		}
		return strconv.Itoa(id)
	}
}

func exportAll(trees []*selection.Tree, cat *mpi.Catalogue) (Rules, error) {
	var out Rules
	for _, t := range trees {
		if len(t.Comms) == 0 {
			continue
		}
		if _, err := coll.ParseCollective(string(t.Collective)); err != nil {
			return nil, fmt.Errorf("openmpi: %w", err)
		}
		blocks, err := exportTree(t, cat)
		if err != nil {
			return nil, err
		}
		out = append(out, CollectiveRules{t.Collective, blocks})
	}
	return out, nil
}

// undecided is the rule that leaves everything to the library.
func undecided() []Rule { return []Rule{{}} }

// exportTree returns ascending blocks that leave everything outside the tuned
// range to the library: a first one, since Open MPI uses that for smaller
// communicators as well, and a last one.
func exportTree(t *selection.Tree, cat *mpi.Catalogue) ([]Block, error) {
	var blocks []Block
	if t.Comms[0].Low > 1 {
		blocks = append(blocks, Block{1, undecided()})
	}
	for _, c := range t.Comms {
		if len(c.PPNs) != 1 {
			return nil, fmt.Errorf("openmpi %s: rules know no processes per node: fit the tree with openmpi.Fit", t.Collective)
		}
		for _, low := range starts(c) {
			rules, err := exportBands(t.Collective, c.PPNs[0].Bands, low, cat)
			if err != nil {
				return nil, err
			}
			if len(blocks) == 0 || !slices.Equal(blocks[len(blocks)-1].Rules, rules) {
				blocks = append(blocks, Block{low, rules})
			}
		}
	}
	if high := t.Comms[len(t.Comms)-1].High; high < math.MaxInt32 {
		blocks = append(blocks, Block{high + 1, undecided()})
	}
	return blocks, nil
}

// starts returns where blocks of a range begin. Two processes stand alone: some
// algorithms abort on any other number.
func starts(c selection.CommRange) []int {
	out := []int{c.Low}
	for _, n := range []int{2, 3} {
		if n > c.Low && n <= c.High {
			out = append(out, n)
		}
	}
	return out
}

// exportBands returns the rules for communicators of at least the given number of
// processes, 2 meaning exactly 2.
func exportBands(c coll.Collective, bands []selection.Band, processes int, cat *mpi.Catalogue) ([]Rule, error) {
	var out []Rule
	from := int64(0)
	for _, b := range bands {
		r, err := ruleOf(c, b.Algorithm, processes, cat)
		if err != nil {
			return nil, err
		}
		r.Size = from
		out = append(out, r)
		from = b.UpTo + 1
	}
	if !sized(c) {
		if len(out) != 1 {
			return nil, fmt.Errorf("openmpi %s: rules know no message size: fit the tree with openmpi.Size", c)
		}
		return out, nil
	}
	out = append(out, Rule{Size: from})
	return slices.CompactFunc(out, func(a, b Rule) bool { b.Size = a.Size; return a == b }), nil
}

// ruleOf returns the rule for an algorithm, without a size.
func ruleOf(c coll.Collective, alg coll.Algorithm, processes int, cat *mpi.Catalogue) (Rule, error) {
	if alg.IsDefault() {
		return Rule{}, nil
	}
	entry, err := cat.Lookup(c, alg)
	if err != nil {
		return Rule{}, err
	}
	if entry.Has(mpi.TwoProcesses) && processes != 2 {
		return Rule{}, nil
	}
	r := Rule{Algorithm: entry.ID}
	for _, p := range alg.Params() {
		n, err := strconv.ParseInt(p.Value, 10, 64)
		if err != nil || n < 0 || p.Name != "segsize" && n > math.MaxInt32 {
			return Rule{}, fmt.Errorf("openmpi %s %v: parameter %s: want a whole number, zero or more", c, alg, p.Name)
		}
		switch p.Name {
		case "segsize":
			r.SegSize = n
		case "faninout":
			r.FanInOut = int(n)
		case "max_requests":
			r.MaxRequests = int(n)
		default:
			return Rule{}, fmt.Errorf("openmpi %s %v: parameter %s: rules have segsize, faninout and max_requests alone", c, alg, p.Name)
		}
	}
	return r, nil
}

// Verify reads every file back and replays it: at every row, the rule reached
// must be the one of the algorithm that the plan chose for the layout.
func Verify(b Bundle, plan Plan, rows []selection.Row, cat *mpi.Catalogue) error {
	common, err := b.reader(b.Rules, b.fileName())
	if err != nil {
		return err
	}
	own := map[coll.Layout]reader{}
	for _, l := range b.Layouts {
		if own[l.Layout], err = b.reader(l.Rules, b.layoutName(l.Layout)); err != nil {
			return err
		}
	}
	for _, r := range rows {
		p := r.Point
		alg, _ := plan.Select(p)
		want, err := ruleOf(p.Collective, alg, p.Processes(), cat)
		if err != nil {
			return fmt.Errorf("openmpi: %v: %w", p, err)
		}
		find, ok := own[p.Layout()]
		if !ok {
			find = common
		}
		if got := find(p); got != want {
			return fmt.Errorf("openmpi: %v: the file reaches %+v: want %+v for %v", p, got, want, alg)
		}
	}
	return nil
}

// reader replays a file: the rule that a benchmark at a point follows, without its
// size, the zero Rule where the library decides.
type reader func(p coll.Point) Rule

// reader reads the file of some rules back.
func (b Bundle) reader(rules Rules, name string) (reader, error) {
	text := b.Bytes(rules)
	if b.newer() {
		back, err := ParseJSON(text)
		if err != nil {
			return nil, fmt.Errorf("openmpi: %s: %w", name, err)
		}
		return func(p coll.Point) Rule { return b.numbered(back, p) }, nil
	}
	back, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("openmpi: %s: %w", name, err)
	}
	return func(p coll.Point) Rule {
		r, _ := back.Find(p.Collective, p.Processes(), compared(p))
		r.Size = 0
		return r
	}, nil
}

// numbered is the rule that JSON reaches, with the number of its algorithm: -1 for
// one that the release does not have.
func (b Bundle) numbered(rules JSONRules, p coll.Point) Rule {
	x, ok := rules.Find(p.Collective, p.Layout(), compared(p))
	if !ok {
		return Rule{}
	}
	r := Rule{Algorithm: -1, FanInOut: x.FanInOut, SegSize: x.SegSize, MaxRequests: x.MaxRequests}
	for id := range 100 { // no collective has that many
		if b.names(p.Collective, id) == x.Algorithm {
			r.Algorithm = id
		}
	}
	return r
}
