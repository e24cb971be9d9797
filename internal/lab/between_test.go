package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

const recorded = "../../data/simgrid"

// recordedSet returns the data set in a file of data/simgrid.
func recordedSet(t *testing.T, name string) Set {
	t.Helper()
	sets, _, err := Load([]string{filepath.Join(recorded, name+".csv")})
	if err != nil || len(sets) != 1 {
		t.Fatalf("%s: %d sets, %v", name, len(sets), err)
	}
	return sets[0]
}

// defaultQuality returns the metrics of the algorithms that a library chooses by default.
func defaultQuality(t *testing.T, truth []coll.Measurement, machine, library string) metrics.Summary {
	t.Helper()
	defaults := testutil.Must(preprocess.ReadDefaults(filepath.Join(recorded, "defaults.csv")))(t)
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
	return testutil.Must(metrics.Summarize(slowdowns, metrics.Options{}))(t)
}

// joined returns the data set of a campaign with the setting grid.between: the powers of two in `grid`, and
// the points of `off` whose number of nodes is halfway between two powers of two. If `sizes` is true, it also
// has recorded times of other message sizes, which the campaign can add.
func joined(t *testing.T, grid, off Set, sizes bool) Set {
	t.Helper()
	power := func(n int64) bool { return n&(n-1) == 0 }
	halfway := slices.DeleteFunc(slices.Clone(off.recorded), func(m coll.Measurement) bool {
		nodes := power(int64(m.Nodes)) || m.Nodes%3 == 0 && power(int64(m.Nodes/3))
		return !nodes || !power(int64(m.PPN)) || !sizes && !power(m.MsgBytes)
	})
	s := testutil.Must(NewSet(grid.Data, slices.Concat(grid.recorded, halfway)))(t)
	s.Truth = slices.DeleteFunc(s.Truth, func(m coll.Measurement) bool { return !power(m.MsgBytes) })
	all := s.Space
	s.Space = coll.NewSpace(all.Points(), all.Algorithms(), func(c coll.Candidate) error {
		if !power(c.MsgBytes) || !all.Has(c) {
			return errors.New("outside the grid")
		}
		return nil
	})
	return s
}

// TestBetweenPowersOfTwo checks selections at numbers of nodes and message sizes between powers of two. It runs
// campaigns on three grids until the stopping criteria hold: powers of two alone, with numbers of nodes between
// them, and also with sizes that campaigns add. A selection must beat the defaults of both libraries. It must also
// beat forests that learn from the same number of random measurements. On the last two grids it must meet the
// criterion for mistakes. Figures are means over seeds.
func TestBetweenPowersOfTwo(t *testing.T) {
	sets := []string{"A_allreduce", "D_allreduce", "E_allreduce"}
	if testutil.AllCases() {
		sets = append(sets, "C_allgather", "C_allreduce", "C_alltoall", "C_bcast",
			"D_allgather", "D_alltoall", "E_allgather", "E_alltoall")
	}
	seeds := 2
	if testutil.AllCases() {
		seeds = 5
	}
	opt := DefaultOptions()
	opt.Launch = benchrunner.LaunchCost{Model: benchrunner.LaunchCandidate}
	text := func(s metrics.Summary) string { return fmt.Sprintf("%.3f %4.1f %%", s.Slowdown, 100*s.Mistakes) }
	var slowdowns, slowdownsForests, mistakes, mistakesForests, powersOnly, nodesOnly, seconds []float64
	for _, name := range sets {
		grid, off := recordedSet(t, name), recordedSet(t, name+"_np2")
		measured, only, nodes, regret, forests := 0, 0.0, between{}, metrics.Summary{}, metrics.Summary{}
		cost := 0.0
		with, withNodes := joined(t, grid, off, true), joined(t, grid, off, false)
		for seed := range uint64(seeds) {
			one := betweenPowers(t, with, off, seed+1, opt)
			measured += one.measured
			cost += one.seconds
			if testutil.AllCases() {
				only += betweenPowers(t, grid, off, seed+1, opt).regret.Mistakes / float64(seeds)
				without := betweenPowers(t, withNodes, off, seed+1, opt)
				nodes.regret.Mistakes += without.regret.Mistakes / float64(seeds)
				nodes.seconds += without.seconds
				nodes.measured += without.measured
			}
			regret.Slowdown += one.regret.Slowdown / float64(seeds)
			regret.Mistakes += one.regret.Mistakes / float64(seeds)
			forests.Slowdown += one.forests.Slowdown / float64(seeds)
			forests.Mistakes += one.forests.Mistakes / float64(seeds)
		}
		letter, _, _ := strings.Cut(name, "_")
		mpich, openmpi := defaultQuality(t, off.Truth, letter, "mpich"), defaultQuality(t, off.Truth, letter, "openmpi")
		t.Logf("%-12s %4d measured | between: regret %s, forests %s, MPICH's rule %s, Open MPI's %s", name,
			measured/seeds, text(regret), text(forests), text(mpich), text(openmpi))
		if testutil.AllCases() {
			t.Logf("powers of two only: mistakes %4.1f %%; without sizes: %d measured, mistakes %4.1f %%; machine time with sizes %.2f times as much",
				100*only, nodes.measured/seeds, 100*nodes.regret.Mistakes, cost/nodes.seconds)
			powersOnly, nodesOnly, seconds = append(powersOnly, only), append(nodesOnly, nodes.regret.Mistakes), append(seconds, cost/nodes.seconds)
		}
		slowdowns, slowdownsForests = append(slowdowns, regret.Slowdown), append(slowdownsForests, forests.Slowdown)
		mistakes, mistakesForests = append(mistakes, regret.Mistakes), append(mistakesForests, forests.Mistakes)
		if regret.Slowdown > mpich.Slowdown || regret.Slowdown > openmpi.Slowdown {
			t.Errorf("%s: slowdown %.3f between powers of two, no better than the libraries' defaults", name, regret.Slowdown)
		}
	}
	got, forests := stat.Mean(slowdowns, nil), stat.Mean(slowdownsForests, nil)
	t.Logf("mean %.3f, worst %.3f; forests %.3f", got, slices.Max(slowdowns), forests)
	if got, forests := stat.Mean(mistakes, nil), stat.Mean(mistakesForests, nil); got > forests || got > opt.Criteria.Mistakes {
		t.Errorf("%.1f %% of mistakes between powers of two, with forests %.1f %%", 100*got, 100*forests)
	}
	if testutil.AllCases() {
		t.Logf("mistakes: mean %.3f, worst %.3f; powers of two only %.3f, worst %.3f; without sizes %.3f, worst %.3f; machine time with sizes %.3f times as much",
			stat.Mean(mistakes, nil), slices.Max(mistakes), stat.Mean(powersOnly, nil), slices.Max(powersOnly), stat.Mean(nodesOnly, nil), slices.Max(nodesOnly), stat.GeometricMean(seconds, nil))
	}
	if got > forests {
		t.Errorf("mean slowdown %.3f between powers of two, forests %.3f: want less than theirs", got, forests)
	}
	if testutil.AllCases() && got > 1.03 { // the criterion
		t.Errorf("mean slowdown %.3f between powers of two: want 1.03 at most", got)
	}
}

// between contains the metrics of two selections at points between powers of two. Both learn from the same
// number of measurements.
type between struct {
	measured        int     // candidates
	seconds         float64 // machine time
	regret, forests metrics.Summary
}

func betweenPowers(t *testing.T, grid, off Set, seed uint64, opt Options) between {
	t.Helper()
	res, _, err := entry{grid, "regret", seed}.replayed(context.Background(), opt)
	testutil.NoError(t, err)
	ms := res.Ledger.Measurements()
	quality := func(ms []coll.Measurement, o learner.Options) metrics.Summary {
		l := testutil.Must(learner.Fit(grid.data(ms), o))(t)
		compared := testutil.Must(l.Compare(off.Truth))(t)
		return summary(t, compared.Slowdowns)
	}
	machine := testutil.Must(grid.machine(opt.replay(seed)))(t)
	random := testutil.Must(randomOrder(context.Background(), grid, machine, seed))(t)
	return between{len(ms), res.Ledger.CostSeconds(), quality(ms, opt.learnerFor("regret", seed)), quality(random[:len(ms)], opt.learner(opt.Scaling, seed))}
}

// TestStopsLikeTheCampaign checks that a replay of the contender "own-stop" ends where a campaign would. A
// campaign ends only after the outliers of its last round have been measured again.
func TestStopsLikeTheCampaign(t *testing.T) {
	opt := DefaultOptions()
	opt.Trees, opt.Tail = 10, 0.1
	const seed = 6 // the round before the last has outliers
	e := entry{recordedSet(t, "D_allgather"), "regret", seed}
	c := testutil.Must(e.calibrate(context.Background(), opt, true))(t)
	res := testutil.Must(e.predictedCampaign(context.Background(), opt, nil))(t)
	last := res.Evaluations[len(res.Evaluations)-1]
	if !c.Stopped || res.Stop != activelearn.Converged || c.StopSeconds != last.MachineSeconds || last.Outliers != 0 {
		t.Errorf("seed %d: the replay stopped after %g s, the campaign (%s) after %g s with %d outliers", seed, c.StopSeconds, res.Stop, last.MachineSeconds, last.Outliers)
	}
}
