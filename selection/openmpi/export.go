package openmpi

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/selection"
)

// The files that Write makes; a layout's are called 2x4.rules and 2x4.env.
const (
	FileName  = "openmpi.rules"
	EnvName   = "openmpi.env"
	LayoutDir = "layouts"
)

// ErrVersion reports a release that reads rules in another way.
var ErrVersion = errors.New("no rules for this release")

// Bundle is the rules for everybody and for some layouts.
type Bundle struct {
	Version string
	Rules   Rules
	Layouts []LayoutRules
}

// LayoutRules are the rules for jobs of one layout.
type LayoutRules struct {
	Layout coll.Layout
	Rules  Rules
}

// For returns the rules for jobs of a layout.
func (b Bundle) For(l coll.Layout) Rules {
	for _, own := range b.Layouts {
		if own.Layout == l {
			return own.Rules
		}
	}
	return b.Rules
}

// Env returns the settings that make Open MPI follow the rules in a file with an
// absolute path. From 5.0 on, the component han stands before tuned on
// communicators of several nodes and has to leave.
func (b Bundle) Env(path string) ([]selection.Setting, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("openmpi: rules file %s: want an absolute path, every process opens it from its own directory", path)
	}
	out := []selection.Setting{
		{Name: "OMPI_MCA_coll_tuned_use_dynamic_rules", Value: "1"},
		{Name: "OMPI_MCA_coll_tuned_dynamic_rules_filename", Value: path},
	}
	release, err := major(b.Version)
	if err != nil {
		return nil, err
	}
	if release >= 5 {
		out = append(out, selection.Setting{Name: "OMPI_MCA_coll", Value: "^han"})
	}
	return out, nil
}

func major(version string) (int, error) {
	text, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("openmpi %q: want a release like 4.1.4", version)
	}
	return n, nil
}

// Write puts FileName and EnvName into a folder that exists, and the files of
// layouts into LayoutDir below it.
func (b Bundle) Write(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("openmpi: %w", err)
	}
	if err := b.write(b.Rules, filepath.Join(abs, FileName), filepath.Join(abs, EnvName)); err != nil {
		return err
	}
	if len(b.Layouts) == 0 {
		return nil
	}
	below := filepath.Join(abs, LayoutDir)
	if err := os.MkdirAll(below, 0o755); err != nil {
		return fmt.Errorf("openmpi: %w", err)
	}
	for _, l := range b.Layouts {
		base := filepath.Join(below, l.Layout.String())
		if err := b.write(l.Rules, base+".rules", base+".env"); err != nil {
			return err
		}
	}
	return nil
}

func (b Bundle) write(rules Rules, path, envPath string) error {
	env, err := b.Env(path)
	if err != nil {
		return err
	}
	if err := selection.WriteFile(path, rules.Bytes()); err != nil {
		return err
	}
	return selection.WriteFile(envPath, selection.EnvFile(env))
}

// Export writes a plan for the release of the catalogue. The error matches
// ErrVersion from 6.0 on, where a block of the classic format covers other
// communicator sizes, and catalogue.ErrUnknown when the release has not an
// algorithm.
func Export(plan Plan, cat *catalogue.Catalogue) (Bundle, error) {
	if cat.Library != catalogue.OpenMPI {
		return Bundle{}, fmt.Errorf("openmpi: the catalogue of %s %s is not one of Open MPI", cat.Library, cat.Version)
	}
	release, err := major(cat.Version)
	if err != nil {
		return Bundle{}, err
	}
	if release >= 6 {
		return Bundle{}, fmt.Errorf("openmpi %s: %w: want 4.x or 5.x, from 6.0 on a classic block covers other communicator sizes",
			cat.Version, ErrVersion)
	}
	b := Bundle{Version: cat.Version}
	if b.Rules, err = exportAll(plan.Trees, cat); err != nil {
		return Bundle{}, err
	}
	for _, l := range plan.Layouts {
		rules, err := exportAll(l.Trees, cat)
		if err != nil {
			return Bundle{}, err
		}
		b.Layouts = append(b.Layouts, LayoutRules{l.Layout, rules})
	}
	return b, nil
}

func exportAll(trees []*selection.Tree, cat *catalogue.Catalogue) (Rules, error) {
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
func exportTree(t *selection.Tree, cat *catalogue.Catalogue) ([]Block, error) {
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
func exportBands(c coll.Collective, bands []selection.Band, processes int, cat *catalogue.Catalogue) ([]Rule, error) {
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
func ruleOf(c coll.Collective, alg coll.Algorithm, processes int, cat *catalogue.Catalogue) (Rule, error) {
	if alg.IsDefault() {
		return Rule{}, nil
	}
	entry, err := cat.Lookup(c, alg)
	if err != nil {
		return Rule{}, err
	}
	if entry.Has(catalogue.TwoProcesses) && processes != 2 {
		return Rule{}, nil
	}
	r := Rule{Algorithm: entry.ID}
	for _, p := range alg.Params() {
		n, err := strconv.ParseInt(p.Value, 10, 64)
		if err != nil || n < 0 || p.Name == "faninout" && n > math.MaxInt32 {
			return Rule{}, fmt.Errorf("openmpi %s %v: parameter %s: want a whole number, zero or more", c, alg, p.Name)
		}
		switch p.Name {
		case "segsize":
			r.SegSize = n
		case "faninout":
			r.FanInOut = int(n)
		default:
			return Rule{}, fmt.Errorf("openmpi %s %v: parameter %s: rules have segsize and faninout alone", c, alg, p.Name)
		}
	}
	return r, nil
}

// Verify reads every file back and replays it: at every row, the rule reached
// must be the one of the algorithm that the plan chose for the layout.
func Verify(b Bundle, plan Plan, rows []selection.Row, cat *catalogue.Catalogue) error {
	read := func(rules Rules, name string) (Rules, error) {
		back, err := Parse(rules.Bytes())
		if err != nil {
			return nil, fmt.Errorf("openmpi: %s: %w", name, err)
		}
		return back, nil
	}
	common, err := read(b.Rules, FileName)
	if err != nil {
		return err
	}
	own := map[coll.Layout]Rules{}
	for _, l := range b.Layouts {
		if own[l.Layout], err = read(l.Rules, filepath.Join(LayoutDir, l.Layout.String()+".rules")); err != nil {
			return err
		}
	}
	for _, r := range rows {
		p, alg := r.Point, coll.Default
		if t := treeOf(plan.For(p.Layout()), p.Collective); t != nil {
			alg, _ = t.Select(p)
		}
		want, err := ruleOf(p.Collective, alg, p.Processes(), cat)
		if err != nil {
			return fmt.Errorf("openmpi: %v: %w", p, err)
		}
		rules, ok := own[p.Layout()]
		if !ok {
			rules = common
		}
		got, _ := rules.Find(p.Collective, p.Processes(), compared(p))
		if got.Size = 0; got != want {
			return fmt.Errorf("openmpi: %v: the file reaches %+v: want %+v for %v", p, got, want, alg)
		}
	}
	return nil
}
