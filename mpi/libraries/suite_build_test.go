package libraries_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

// family describes random rows (points with predicted times) that have a property in common.
type family struct {
	name    string
	layouts []coll.Layout
	sizes   []int64
	change  func(r *selection.Row, rng *rand.Rand) // nil: every algorithm has a random time
}

func families() []family {
	all := allFamilies()
	if testutil.AllCases() {
		return all
	}
	return slices.DeleteFunc(all, func(f family) bool {
		return !slices.Contains([]string{"one layout", "holes", "nothing"}, f.name)
	})
}

func allFamilies() []family {
	layouts, sizes := mpilibrarytest.Layouts(), mpilibrarytest.Sizes
	without := func(r *selection.Row, drop func(selection.Option) bool) {
		var kept []selection.Option
		for _, o := range r.Options {
			if !drop(o) {
				kept = append(kept, o)
			}
		}
		r.Options = kept
	}
	return []family{
		{name: "layouts disagree", layouts: layouts, sizes: sizes},
		{name: "one size", layouts: layouts, sizes: []int64{4096}},
		{name: "one layout", layouts: layouts[3:4], sizes: sizes},
		{name: "many sizes", layouts: layouts[2:5], sizes: []int64{1, 2, 3, 8, 17, 100, 333, 1 << 10, 1<<12 + 1, 1 << 16, 1 << 20, 1 << 24, 1 << 33}},
		{name: "the default is best", layouts: layouts, sizes: sizes, change: func(r *selection.Row, _ *rand.Rand) {
			for i, o := range r.Options {
				if o.Algorithm.IsDefault() {
					r.Options[i].Seconds = 0.5
				}
			}
		}},
		{name: "the default is not predicted", layouts: layouts, sizes: sizes, change: func(r *selection.Row, _ *rand.Rand) {
			without(r, func(o selection.Option) bool { return o.Algorithm.IsDefault() })
		}},
		{name: "holes", layouts: layouts, sizes: sizes, change: func(r *selection.Row, rng *rand.Rand) {
			none := rng.IntN(8) == 0
			without(r, func(selection.Option) bool { return none || rng.IntN(3) == 0 })
		}},
		{name: "nothing"},
	}
}

// rows returns random rows (points with predicted times) for a release. If the family has a function `change`, it
// changes each row, and a tenth of the rows is removed.
func (f family) rows(cat *mpi.Catalogue, seed uint64) []selection.Row {
	rng := rand.New(rand.NewPCG(seed, 0))
	rows := mpilibrarytest.RandomRows(cat, f.layouts, f.sizes, rng)
	if f.change == nil {
		return rows
	}
	for i := range rows {
		f.change(&rows[i], rng)
	}
	return slices.DeleteFunc(rows, func(selection.Row) bool { return rng.IntN(10) == 0 })
}

// opened is a release of a library for which this machine can make selection files.
type opened struct {
	cat   *mpi.Catalogue
	build mpi.Build
}

func open(t *testing.T, lib mpi.Library) []opened {
	t.Helper()
	var out []opened
	for _, cat := range lib.Releases() {
		b, err := lib.Open(cat, "")
		switch f := lib.Facts(); {
		case err == nil:
			out = append(out, opened{cat, b})
		case !f.FromFile || cat.Version == f.TestedRelease:
			t.Errorf("Open(%s): %v", cat.Version, err)
		}
	}
	return out
}

// testBuilds fits selections to random rows (points with predicted times). It checks that the exported files select
// the same algorithms as the selection. No selected algorithm may be slower than the default by more than MaxLoss.
func testBuilds(t *testing.T, lib mpi.Library) {
	for _, b := range open(t, lib) {
		for i, f := range families() {
			t.Run(b.cat.Version+" "+f.name, func(t *testing.T) {
				rows := f.rows(b.cat, uint64(i))
				sel, _ := mpilibrarytest.FitAndExport(t, b.build, rows, mpi.MergeOptions{})
				testPromises(t, sel, rows, 0)
				opt := mpi.MergeOptions{MaxLoss: 0.1, OpSafe: true}
				sel, x := mpilibrarytest.FitAndExport(t, b.build, rows, opt)
				testPromises(t, sel, safe(b.cat, rows), opt.MaxLoss)
				testSame(t, b.build, x, rows, opt)
			})
		}
	}
}

// testPromises checks that each selected algorithm has a time in its row, and is predicted to be as fast as the default or
// faster. If the library cannot select its default for a single size, the algorithm may lose at most maxLoss.
func testPromises(t *testing.T, sel selection.Selection, rows []selection.Row, maxLoss float64) {
	t.Helper()
	for _, r := range rows {
		alg, _ := sel.Select(r.Point)
		if alg.IsDefault() {
			continue
		}
		loss, ok := r.Loss(alg)
		own, predicted := r.Loss(coll.Default)
		if !ok || predicted && loss > max(own, maxLoss) {
			t.Errorf("%v: %v loses %g (predicted %t), the default %g", r.Point, alg, loss, ok, own)
		}
	}
}

// safe returns the rows without the algorithms that are wrong if the operation of a reduction does not commute.
func safe(cat *mpi.Catalogue, rows []selection.Row) []selection.Row {
	out := slices.Clone(rows)
	for i, r := range rows {
		out[i].Options = slices.DeleteFunc(slices.Clone(r.Options), func(o selection.Option) bool {
			e, err := cat.Lookup(r.Point.Collective, o.Algorithm)
			return err == nil && e.Unsafe(o.Algorithm) != ""
		})
	}
	return out
}

// testSame checks that rows in another order give the same export.
func testSame(t *testing.T, b mpi.Build, x mpi.Export, rows []selection.Row, opt mpi.MergeOptions) {
	t.Helper()
	shuffled := slices.Clone(rows)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
	_, again := mpilibrarytest.FitAndExport(t, b, shuffled, opt)
	if d := cmp.Diff(x, again); d != "" {
		t.Errorf("of the same rows in another order (-first +second):\n%s", d)
	}
}

// testWriting writes one export after another into the same folder. It checks that no file of an earlier export
// remains and that settings name only existing files. The snippet must set the settings in a shell, inside jobs of
// every layout and outside of jobs. The file patterns in the library's facts must match all written files. Each
// pattern must match a written file, unless the files of its folder can only be made from an installed library.
func testWriting(t *testing.T, lib mpi.Library) {
	written := map[string]bool{}
	dir := filepath.Join(t.TempDir(), filepath.Base(mpilibrarytest.Dir))
	testutil.NoError(t, os.Mkdir(dir, 0o755))
	for _, b := range open(t, lib) {
		for i, f := range families() {
			sel := testutil.Must(b.build.Merge(f.rows(b.cat, uint64(i)), 0.1))(t)
			x := testutil.Must(b.build.Export(sel, dir))(t)
			testutil.NoError(t, x.Write(dir))
			want := slices.Clone(x.Names())
			slices.Sort(want)
			if d := cmp.Diff(want, filesIn(t, dir)); d != "" {
				t.Errorf("%s %s (-names +files):\n%s", b.cat.Version, f.name, d)
			}
			for _, name := range want {
				written[name] = true
			}
			testNamed(t, x, dir)
			testSourcing(t, x, filepath.Join(dir, x.Snippet))
		}
	}
	patterns := lib.Facts().Files
	if lib.Facts().FromFile {
		patterns = slices.DeleteFunc(patterns, func(pattern string) bool { return strings.Contains(pattern, "/") })
	}
	testPatterns(t, patterns, slices.Sorted(maps.Keys(written)))
}

// testPatterns checks that each name matches a pattern, and that each pattern matches a name.
func testPatterns(t *testing.T, patterns, names []string) {
	t.Helper()
	idle := slices.Clone(patterns)
	for _, name := range names {
		matches := func(pattern string) bool {
			return testutil.Must(path.Match(pattern, name))(t)
		}
		if !slices.ContainsFunc(patterns, matches) {
			t.Errorf("%s is written, but no file of %q", name, patterns)
		}
		idle = slices.DeleteFunc(idle, matches)
	}
	if len(idle) > 0 {
		t.Errorf("no file of %q is written", idle)
	}
}

// testNamed checks that a setting names each file, and that a file exists for each path in a setting. The snippet
// must check that it can read the file.
func testNamed(t *testing.T, x mpi.Export, dir string) {
	t.Helper()
	var named []string
	for _, l := range append([]mpi.LayoutSettings{{Settings: x.Setup.Settings}}, x.Setup.Layouts...) {
		for _, s := range l.Settings {
			if path, ok := strings.CutPrefix(s.Value, dir+"/"); ok {
				named = append(named, path)
				if !slices.Contains(x.Setup.Files, s.Name) {
					t.Errorf("the snippet does not check that it can read the file of %s", s.Name)
				}
			}
		}
	}
	var files []string
	for _, f := range x.Files {
		files = append(files, f.Name)
	}
	slices.Sort(named)
	named = slices.Compact(named) // several layouts may share a file
	slices.Sort(files)
	if d := cmp.Diff(files, named); d != "" {
		t.Errorf("(-files +settings):\n%s", d)
	}
}

// filesIn returns all files and empty folders below a folder, sorted by path.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		entries := []fs.DirEntry{d}
		if d.IsDir() {
			if entries, err = os.ReadDir(filepath.Join(dir, path)); err != nil {
				return err
			}
		}
		if !d.IsDir() || len(entries) == 0 {
			out = append(out, path)
		}
		return nil
	})
	testutil.NoError(t, err)
	slices.Sort(out)
	return out
}

func testSourcing(t *testing.T, x mpi.Export, path string) {
	t.Helper()
	same := func(l coll.Layout, env ...string) {
		t.Helper()
		var want []string
		for _, s := range x.Setup.For(l) {
			want = append(want, s.Name+"="+s.Value)
		}
		got := mpilibrarytest.Source(t, path, env...)
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s, %v (-settings +shell):\n%s", l, env, d)
		}
	}
	same(coll.Layout{})
	for _, l := range mpilibrarytest.Layouts() {
		tasks := fmt.Sprint(l.PPN)
		if l.Nodes > 1 {
			tasks += fmt.Sprintf("(x%d)", l.Nodes)
		}
		same(l, fmt.Sprintf("SLURM_JOB_NUM_NODES=%d", l.Nodes), "SLURM_TASKS_PER_NODE="+tasks)
	}
}

// testPorting exports rows of one release for another release, which may lack some of their algorithms. The export
// must then have the default or an algorithm that both releases have.
func testPorting(t *testing.T, lib mpi.Library) {
	for _, to := range open(t, lib) {
		for _, from := range lib.Releases() {
			rows := mpilibrarytest.Rows(from, 1, 0)
			both, left := to.cat.Portable(rows, from.Version, 0.1)
			if len(both) != len(rows) || from == to.cat && left > 0 {
				t.Errorf("%s for %s: %d of %d rows, %d left", from.Version, to.cat.Version, len(both), len(rows), left)
			}
			sel, _ := mpilibrarytest.FitAndExport(t, to.build, both, mpi.MergeOptions{MaxLoss: 0.1})
			for _, r := range rows {
				c := coll.Candidate{Point: r.Point}
				c.Algorithm, _ = sel.Select(r.Point)
				if !to.cat.ValidFrom(c, from.Version) {
					t.Errorf("%s for %s: %v is selected, which that release has not", from.Version, to.cat.Version, c)
				}
			}
		}
	}
}
