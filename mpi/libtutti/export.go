package libtutti

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

const (
	tableName   = "tutti.table"
	snippetName = "libtutti.env"
	variable    = "TUTTI_TABLE"
	preload     = "LD_PRELOAD"
)

// Build makes tables, libtutti's selection files, for one release.
type Build struct {
	*library
	cat  *mpi.Catalogue
	path string // of libtutti.so; empty: unknown
}

func (l *library) Open(cat *mpi.Catalogue, path string) (mpi.Build, error) {
	return Build{l, cat, path}, nil
}

func (b Build) Catalogue() *mpi.Catalogue { return b.cat }

func (b Build) Merge(rows []selection.Row, maxLoss float64) (selection.Selection, error) {
	var sel selection.Selection
	for _, same := range selection.ByCollective(rows) {
		tree, err := selection.Merge(same, size, selection.Options{MaxLoss: maxLoss, Between: mpi.Between})
		if err != nil {
			return selection.Selection{}, err
		}
		sel.Trees = append(sel.Trees, tree)
	}
	_, _, err := b.table(sel.Trees)
	return sel, err
}

func (b Build) Export(sel selection.Selection, dir string) (mpi.Export, error) {
	t, settings, err := b.table(sel.Trees)
	if err != nil {
		return mpi.Export{}, err
	}
	return b.export(t, settings, dir), nil
}

func (b Build) export(t Table, settings []mpi.Setting, dir string) mpi.Export {
	setup := mpi.Setup{
		Remarks:  []string{"The table of libtutti.so, which tutti build runtime makes: preload it into the application."},
		Settings: []mpi.Setting{{Name: variable, Value: filepath.Join(dir, tableName)}},
		Files:    []string{variable, preload},
	}
	setup.Settings = append(setup.Settings, settings...)
	selected := func(c coll.Collective, e mpi.Entry) bool {
		named := func(choice Choice) bool { return choice.Algorithm.Name == e.Name }
		return slices.ContainsFunc(t.Rules, func(r Rule) bool { return r.Collective == c && r.Algorithm.Name == e.Name }) ||
			slices.ContainsFunc(t.Mixes, func(m Mix) bool { return m.Collective == c && slices.ContainsFunc(m.Choices, named) })
	}
	if objects := objectsOf(b.cat, selected); objects != "" {
		setup.Settings = append(setup.Settings, mpi.Setting{Name: objectsVariable, Value: objects})
	}
	if b.path != "" {
		setup.Remarks[0] = "The table of libtutti.so, which the application preloads. Open MPI's mpirun wants -x LD_PRELOAD for other nodes."
		setup.Settings = append(setup.Settings, mpi.Setting{Name: preload, Value: b.path})
		setup.Lists = []string{preload}
	}
	return mpi.Export{Files: []mpi.File{{Name: tableName, Content: t.Bytes()}}, Setup: setup, Snippet: snippetName}
}

// table converts trees into rules. It omits rules for the default. It also returns the settings that the
// selected algorithms of the MPI library need.
func (b Build) table(trees []*selection.Tree) (Table, []mpi.Setting, error) {
	t := Table{For: b.Banner()}
	var settings []mpi.Setting
	for _, tree := range trees {
		for _, c := range tree.Comms {
			for _, p := range c.PPNs {
				low := int64(0)
				for _, band := range p.Bands {
					if !band.Algorithm.IsDefault() {
						activation, wants, err := b.activation(tree.Collective, band.Algorithm)
						if err != nil {
							return Table{}, nil, err
						}
						settings = add(settings, wants)
						bytes := Range{low, band.UpTo}
						if tree.Collective.SizesDiffer() {
							bytes = Range{0, maxBytes}
						}
						at := Scope{Collective: tree.Collective, Ranks: Range{int64(c.Low), int64(c.High)}, PPN: Range{int64(p.Low), int64(p.High)}, Bytes: bytes}
						t.Rules = append(t.Rules, Rule{at, band.Algorithm, activation})
					}
					low = band.UpTo + 1
				}
			}
		}
	}
	return t, settings, nil
}

// activation returns the control variables with which the MPI library runs an algorithm. For an algorithm
// of libtutti it returns nil.
func (b Build) activation(c coll.Collective, alg coll.Algorithm) (*Activation, []mpi.Var, error) {
	if below, ok := b.base(b.cat.Version); ok {
		if a, wants, err := below.activationOf(b.cat, c, alg); a != nil || err != nil {
			return a, wants, err
		}
	}
	if isUsers(alg) {
		return nil, nil, nil
	}
	_, err := b.cat.Lookup(c, alg)
	return nil, nil, err
}

func add(settings []mpi.Setting, wants []mpi.Var) []mpi.Setting {
	for _, v := range wants {
		if s := (mpi.Setting{Name: v.Name, Value: v.Value}); !slices.Contains(settings, s) {
			settings = append(settings, s)
		}
	}
	return settings
}

func (b Build) Replay(x mpi.Export, sel selection.Selection, rows []selection.Row) error {
	t, err := Parse(x.Loaded(coll.Layout{}, variable)) // one table for all layouts
	if err != nil {
		return fmt.Errorf("libtutti: %w", err)
	}
	for _, r := range rows {
		p := r.Point
		want, _ := sel.Select(p)
		if got := t.Select(p.Collective, p.Ranks(), p.PPN, size(p)); got != want {
			return fmt.Errorf("libtutti: %v: the table selects %v: want %v", p, got, want)
		}
	}
	return nil
}

// Banner returns a text that the version reported by the MPI library must contain. It returns "" if any library is
// allowed.
func (b Build) Banner() string {
	below, _ := b.base(b.cat.Version)
	return below.banner
}

// ExportLearned exports a table with the given rules first, then the rules of the table `base`, then the mixes. It adds
// the control variables of the MPI library's algorithms. It returns an error if `base` is for another MPI library.
func (b Build) ExportLearned(base Table, rules []Rule, mixes []Mix, dir string) (mpi.Export, error) {
	if base.For != "" && base.For != b.Banner() {
		return mpi.Export{}, fmt.Errorf("%w for %s: it is for %s", ErrTable, b.cat.Version, base.For)
	}
	t := Table{For: b.Banner(), Rules: slices.Concat(rules, base.Rules), Mixes: mixes}
	var settings []mpi.Setting
	fill := func(c coll.Collective, alg coll.Algorithm, to **Activation) error {
		if alg.IsDefault() {
			return nil
		}
		a, wants, err := b.activation(c, alg)
		*to, settings = a, add(settings, wants)
		return err
	}
	for i := range t.Rules {
		if err := fill(t.Rules[i].Collective, t.Rules[i].Algorithm, &t.Rules[i].Activation); err != nil {
			return mpi.Export{}, err
		}
	}
	for _, m := range t.Mixes {
		for i := range m.Choices {
			if err := fill(m.Collective, m.Choices[i].Algorithm, &m.Choices[i].Activation); err != nil {
				return mpi.Export{}, err
			}
		}
	}
	return b.export(t, settings, dir), nil
}

// Thousandths returns a share in thousandths, which is the unit of tables. It returns the largest possible
// number if the share is larger.
func Thousandths(share float64) int { return int(math.Round(min(maxWeight, 1000*share))) }

// NewChoices returns the algorithms as choices of a mix. It scales the weights so that the largest is maxWeight, and
// omits choices whose weight rounds to 0. The slice `most` holds the time that a call of each algorithm may take, as a
// multiple of the selected algorithm's time. It may be nil.
func NewChoices(algorithms []coll.Algorithm, weights, most []float64) []Choice {
	var out []Choice
	largest := slices.Max(weights)
	for i, w := range weights {
		if n := int(math.Round(w / largest * maxWeight)); n > 0 && len(out) < maxChoices {
			c := Choice{Weight: n, Algorithm: algorithms[i]}
			if most != nil {
				c.Most = max(1, Thousandths(most[i]))
			}
			out = append(out, c)
		}
	}
	return out
}
