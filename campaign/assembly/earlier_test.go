package assembly_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/hpo"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// finished runs a small campaign and returns its folder.
func finished(t testing.TB, set ...string) string {
	t.Helper()
	return campaigntest.Run(t, campaigntest.Load(t, campaigntest.Small(t, t.TempDir()), set...))
}

// TestEarlier checks that every problem gets the measurements of two earlier campaigns, and the best forest
// hyperparameters of the later one.
func TestEarlier(t *testing.T) {
	first, second := finished(t), finished(t, "seed=9", "name=second", "model.trees=37")
	from := testutil.Must(assembly.Earlier([]string{first, second}))(t)
	cfg := small(t, nil)
	cfg.From = from
	c := assemble(t, cfg)
	contents, later := testutil.Must(journal.Read(first))(t), testutil.Must(journal.Read(second))(t)
	for _, p := range c.Problems {
		if !slices.Equal(p.EarlierNames, []string{"small", "second"}) || len(p.Earlier) != 2 {
			t.Fatalf("%s has %d campaigns, %q", p.Problem, len(p.Earlier), p.EarlierNames)
		}
		if want := testutil.Must(contents.State().Problem(p.Problem).Measurements(1))(t); !slices.Equal(p.Earlier[0], want) {
			t.Errorf("%s has %d measurements of the first, want its %d", p.Problem, len(p.Earlier[0]), len(want))
		}
		best, _ := hpo.Best(later.State().Problem(p.Problem).Study.Trials)
		if p.Forest == nil || p.Forest.Trees != best.Params.Trees {
			t.Errorf("%s starts from the forest %+v, want %+v", p.Problem, p.Forest, best.Params)
		}
	}
}

// TestEarlierDifferences checks that differences from an earlier campaign lead to warnings. Measurements of
// an algorithm that is not in the space must be left out.
func TestEarlierDifferences(t *testing.T) {
	from := testutil.Must(assembly.Earlier([]string{finished(t)}))(t)
	removed := coll.Algorithm{Name: "removed"}
	ms := from[0].Problems[1].Measurements
	ms[0].Algorithm = removed
	cfg := small(t, nil, "machine=hilltop",
		"collectives=allreduce,alltoall", "runner.data=data/C_allreduce.csv,data/C_alltoall.csv")
	cfg.From, cfg.Libraries[1].Version = from, "5.0.9"
	c := assemble(t, cfg)
	const counts = "new measurements decide how much its times count"
	for _, want := range []string{
		`the earlier campaign small was on another machine, "" instead of "hilltop": ` + counts,
		"the earlier campaign small was with openmpi 4.1.4 instead of 5.0.9: " + counts,
		"the earlier campaign small has no measurement of mpich alltoall, which starts without it",
		"the earlier campaign small has no measurement of openmpi alltoall, which starts without it",
	} {
		if !slices.Contains(c.Warnings, want) {
			t.Errorf("warnings %q: want %q", c.Warnings, want)
		}
	}
	for _, p := range c.Problems {
		if earlier := len(p.Earlier) > 0; earlier != (p.Collective == coll.Allreduce) {
			t.Errorf("%s has earlier measurements: %t", p.Problem, earlier)
		}
	}
	if got := c.Problems[2].Earlier[0]; len(got) != len(ms)-1 || slices.ContainsFunc(got, func(m coll.Measurement) bool { return m.Algorithm == removed }) {
		t.Errorf("%s has %d measurements, want %d without those of %s", c.Problems[2].Problem, len(got), len(ms)-1, removed)
	}
}

// TestEarlierFaults checks that each folder without a usable campaign leads to an error that names the
// folder.
func TestEarlierFaults(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	first := finished(t)
	jnl := string(testutil.Must(os.ReadFile(filepath.Join(first, journal.FileName)))(t))
	header, _, _ := strings.Cut(jnl, "\n")
	folder := func(jnl string) string {
		dir := t.TempDir()
		write(t, dir, map[string]string{journal.FileName: jnl})
		return dir
	}
	empty, broken := folder(header+"\n"), folder(strings.Replace(jnl, `"machine":""`, `"machine":7`, 1))
	for _, tc := range []struct {
		name string
		from []string
	}{
		{"no folder", []string{filepath.Join(first, "none")}},
		{"nothing measured", []string{empty}},
		{"twice", []string{first, first}},
		{"not a campaign", []string{broken}},
	} {
		_, err := assembly.Earlier(tc.from)
		golden(tc.name, err, assembly.ErrInput)
	}
}

// TestEarlierIsInTheJournal checks that a campaign can be resumed after the folder of an earlier campaign that
// it uses was removed. It must still have the earlier measurements. Its hyperparameter study must start from
// the earlier best values.
func TestEarlierIsInTheJournal(t *testing.T) {
	first := finished(t, "model.trees=37")
	from := testutil.Must(assembly.Earlier([]string{first}))(t)
	cfg := small(t, nil, "seed=5")
	cfg.From = from
	dir := campaigntest.Run(t, cfg)
	testutil.NoError(t, os.RemoveAll(first))
	c, results, _, err := assembly.RestoreAll(dir)
	testutil.NoError(t, err)
	if want := from[0].Problems[0].Measurements; !slices.Equal(c.Problems[0].Earlier[0], want) {
		t.Errorf("%d measurements of the earlier campaign, want its %d", len(c.Problems[0].Earlier[0]), len(want))
	}
	if got, want := results[0].Study.Trials[0].Params, *from[0].Problems[0].Forest; got != want || got.Trees == 20 {
		t.Errorf("the study starts from %+v, want %+v", got, want)
	}
}
