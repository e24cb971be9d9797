package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

const recorded = "../../data/simgrid"

// recordedSet is a file of data/simgrid.
func recordedSet(t *testing.T, name string) Set {
	t.Helper()
	sets, _, err := Load([]string{filepath.Join(recorded, name+".csv")})
	if err != nil || len(sets) != 1 {
		t.Fatalf("%s: %d sets, %v", name, len(sets), err)
	}
	return sets[0]
}

// untuned is how slow the choices of a library are at points it was never tuned for.
func untuned(t *testing.T, truth []coll.Measurement, machine, library string) metrics.Summary {
	t.Helper()
	defaults, err := preprocess.ReadDefaults(filepath.Join(recorded, "defaults.csv"))
	if err != nil {
		t.Fatal(err)
	}
	best := map[coll.Point]float64{}
	for _, m := range truth {
		if b, known := best[m.Point]; !known || m.Seconds < b {
			best[m.Point] = m.Seconds
		}
	}
	var slowdowns []float64
	for _, m := range defaults.Rows(truth, machine, library) {
		slowdowns = append(slowdowns, m.Seconds/best[m.Point])
	}
	return summary(t, slowdowns)
}

func summary(t *testing.T, slowdowns []float64) metrics.Summary {
	t.Helper()
	sum, err := metrics.Summarize(slowdowns, metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A campaign that measures powers of two alone until the criteria hold there predicts
// what lies between them: no cliff. Beside it are forests of as many random
// measurements, and what the libraries choose untuned. Figures are means of some seeds.
func TestBetweenPowersOfTwo(t *testing.T) {
	sets := []string{"A_allreduce", "D_allreduce", "E_allreduce"}
	if testutil.AllCases() {
		sets = append(sets, "C_allgather", "C_allreduce", "C_alltoall", "C_bcast",
			"D_allgather", "D_alltoall", "E_allgather", "E_alltoall")
	}
	const seeds = 5
	opt := DefaultOptions()
	opt.ToShare = 0
	opt.Launch = benchrunner.LaunchCost{Model: benchrunner.LaunchCandidate}
	said := func(s metrics.Summary) string { return fmt.Sprintf("%.3f %4.1f %%", s.Slowdown, 100*s.Mistakes) }
	var lost, byForests, mistaken, mistakenForests []float64
	for _, name := range sets {
		grid, between := recordedSet(t, name), recordedSet(t, name+"_np2")
		measured, here, forests := 0, metrics.Summary{}, metrics.Summary{}
		for seed := range uint64(seeds) {
			one := betweenPowers(t, grid, between, seed+1, opt)
			measured += one.measured
			here.Slowdown += one.regret.Slowdown / seeds
			here.Mistakes += one.regret.Mistakes / seeds
			forests.Slowdown += one.forests.Slowdown / seeds
			forests.Mistakes += one.forests.Mistakes / seeds
		}
		letter, _, _ := strings.Cut(name, "_")
		mpich, openmpi := untuned(t, between.Truth, letter, "mpich"), untuned(t, between.Truth, letter, "openmpi")
		t.Logf("%-12s %4d measured | between: regret %s, forests %s, MPICH's rule %s, Open MPI's %s", name,
			measured/seeds, said(here), said(forests), said(mpich), said(openmpi))
		lost, byForests = append(lost, here.Slowdown), append(byForests, forests.Slowdown)
		mistaken, mistakenForests = append(mistaken, here.Mistakes), append(mistakenForests, forests.Mistakes)
		if here.Slowdown > mpich.Slowdown || here.Slowdown > openmpi.Slowdown {
			t.Errorf("%s: slowdown %.3f between powers of two, no better than untuned libraries", name, here.Slowdown)
		}
	}
	got, forests := stat.Mean(lost, nil), stat.Mean(byForests, nil)
	t.Logf("mean %.3f, worst %.3f; forests %.3f", got, slices.Max(lost), forests)
	if got, forests := stat.Mean(mistaken, nil), stat.Mean(mistakenForests, nil); got > forests {
		t.Errorf("%.1f %% of mistakes between powers of two, with forests %.1f %%", 100*got, 100*forests)
	}
	if got > forests {
		t.Errorf("mean slowdown %.3f between powers of two, forests %.3f: want less than theirs", got, forests)
	}
	if testutil.AllCases() && got > 1.04 { // a limit for the mean of all sets
		t.Errorf("mean slowdown %.3f between powers of two: want 1.04 at most", got)
	}
}

// between is what choices lose between powers of two: those of a campaign that measured so many
// candidates, and of forests of as many random ones.
type between struct {
	measured        int
	regret, forests metrics.Summary
}

func betweenPowers(t *testing.T, grid, off Set, seed uint64, opt Options) between {
	t.Helper()
	res, err := (entry{grid, "regret", seed}).replayed(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	ms := res.Ledger.Measurements()
	judged := func(ms []coll.Measurement, o learner.Options) metrics.Summary {
		l, err := learner.Fit(grid.data(ms), o)
		if err != nil {
			t.Fatal(err)
		}
		held, err := l.Compare(off.Truth)
		if err != nil {
			t.Fatal(err)
		}
		return summary(t, held.Slowdowns)
	}
	machine, err := grid.machine(opt.replay(seed))
	if err != nil {
		t.Fatal(err)
	}
	random, err := drawn(context.Background(), grid, machine, seed)
	if err != nil {
		t.Fatal(err)
	}
	return between{len(ms), judged(ms, opt.of("regret", seed)), judged(random[:len(ms)], opt.learner(opt.Scaling, seed))}
}
