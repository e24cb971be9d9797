package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lab"
	"tutti/internal/testutil"
	"tutti/preprocess"
)

// small returns measurements of the synthetic machine at 72 points. Their times are the same for all
// collectives.
func small(t testing.TB, c coll.Collective) []coll.Measurement {
	t.Helper()
	g := coll.Grid{Nodes: []int{2, 4, 8, 16, 32, 64}, PPN: []int{1, 8}}
	for size := int64(64); size <= 1<<21; size *= 8 {
		g.Sizes = append(g.Sizes, size)
	}
	points := testutil.Must(g.Points(c))(t)
	return testutil.SyntheticMeasurements(points)
}

func set(t testing.TB, data string, c coll.Collective) lab.Set {
	t.Helper()
	return testutil.Must(lab.NewSet(data, small(t, c)))(t)
}

func options() lab.Options {
	o := lab.DefaultOptions()
	o.Trees = 10
	return o
}

// compare runs all replays of a design and returns their outcomes. The launches cost what the options say.
func compare(t testing.TB, d lab.Design, opt lab.Options) []lab.Outcome {
	t.Helper()
	return testutil.Must(lab.Compare(context.Background(), d, []benchrunner.LaunchCost{opt.Launch}, opt, nil, nil))(t)
}

// lines returns outcomes as lines of JSON. It leaves out the field WallSeconds.
func lines(t *testing.T, outcomes []lab.Outcome) string {
	t.Helper()
	var b bytes.Buffer
	for _, o := range outcomes {
		o.WallSeconds = 0
		testutil.NoError(t, json.NewEncoder(&b).Encode(o))
	}
	return b.String()
}

// replay runs one campaign on the recorded data set and returns its outcome.
func replay(t testing.TB, s lab.Set, strategy string, seed uint64, opt lab.Options) lab.Outcome {
	t.Helper()
	return compare(t, lab.Design{Sets: []lab.Set{s}, Strategies: []string{strategy}, Seeds: []uint64{seed}}, opt)[0]
}

func TestCompareIsIndependentOfWorkers(t *testing.T) {
	sets := []lab.Set{set(t, "one", coll.Bcast), set(t, "two", coll.Reduce)}
	var want string
	for _, workers := range []int{1, 2, 5} {
		opt := options()
		opt.Workers = workers
		got := lines(t, compare(t, lab.Design{Sets: sets, Strategies: activelearn.Names(), Seeds: lab.Seeds(3, 1)}, opt))
		if want == "" {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
	}
}

func TestCompareOrder(t *testing.T) {
	sets := []lab.Set{set(t, "b", coll.Bcast), set(t, "a", coll.Bcast)}
	outcomes := compare(t, lab.Design{Sets: sets, Strategies: []string{"uncertainty", "random"}, Seeds: lab.Seeds(7, 2)}, options())
	var got []string
	for _, o := range outcomes {
		got = append(got, strings.Join([]string{o.Data, o.Strategy, string(rune('0' + o.Seed))}, " "))
	}
	want := []string{
		"b uncertainty 7", "b uncertainty 8", "b random 7", "b random 8",
		"a uncertainty 7", "a uncertainty 8", "a random 7", "a random 8",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFieldNames checks that the field names in the JSON output stay the same, because scripts depend on them.
func TestFieldNames(t *testing.T) {
	o := replay(t, set(t, "one", coll.Bcast), "random", 1, options())
	text := testutil.Must(json.Marshal(o))(t)
	fields := map[string]any{}
	testutil.NoError(t, json.Unmarshal(text, &fields))
	want := "accuracy candidates collective converged data launch machine_seconds machine_share mistakes noise point_share points rounds seed slowdown stop strategy wall_seconds"
	if got := strings.Join(slices.Sorted(maps.Keys(fields)), " "); got != want {
		t.Errorf("an outcome has fields %s, want %s", got, want)
	}
}

// TestConvergence checks that a replay ends at the earliest in the third round, with a selection that meets the stopping
// criteria.
func TestConvergence(t *testing.T) {
	for _, strategy := range activelearn.Names() {
		o := replay(t, set(t, "one", coll.Bcast), strategy, 1, options())
		if !o.Converged || o.Stop != string(activelearn.Converged) || o.Rounds < 3 || o.Slowdown >= 1.03 || o.Mistakes >= 0.05 {
			t.Errorf("%s: %+v, want that it converged", strategy, o)
		}
		if o.PointShare == 1 || o.MachineShare <= 0 || o.MachineShare > 1 {
			t.Errorf("%s: %g of the candidates, machine share %g, want less than 1, and (0, 1]", strategy, o.PointShare, o.MachineShare)
		}
	}
}

func TestNeverConverges(t *testing.T) {
	opt := options()
	opt.Criteria.Slowdown = 1.000001
	o := replay(t, set(t, "one", coll.Bcast), "random", 1, opt)
	if o.Converged || o.Stop != string(activelearn.SpaceExhausted) || o.PointShare != 1 {
		t.Errorf("converged %v, stop %q, share %g, want the end of an exhausted space", o.Converged, o.Stop, o.PointShare)
	}
}

// TestLaunchPrice checks the machine time of measuring everything. If launches cost time, it must increase by the
// cost of one launch for each candidate.
func TestLaunchPrice(t *testing.T) {
	s := set(t, "one", coll.Bcast)
	free := testutil.Must(s.Exhaustive(options().Launch))(t)
	opt := options()
	opt.Launch.Seconds = 2
	paid := testutil.Must(s.Exhaustive(opt.Launch))(t)
	if want := free + 2*float64(s.Space.Size()); paid < want*0.999999 || paid > want*1.000001 {
		t.Errorf("measuring everything takes %g s, want %g", paid, want)
	}
}

func TestNewSetRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	ms := small(t, coll.Bcast)
	free := slices.Clone(ms)
	for i := range free {
		free[i].CostSeconds = 0
	}
	var single []coll.Measurement
	for _, m := range ms {
		if m.Algorithm == ms[0].Algorithm {
			single = append(single, m)
		}
	}
	tests := []struct {
		name string
		ms   []coll.Measurement
	}{
		{name: "nothing"},
		{name: "two collectives", ms: slices.Concat(ms, small(t, coll.Reduce))},
		{name: "one algorithm", ms: single},
		{name: "no costs", ms: free},
		{name: "twice", ms: slices.Concat(ms, ms[:1])},
	}
	for _, tc := range tests {
		_, err := lab.NewSet("x", tc.ms)
		golden(tc.name, err)
	}
}

// TestSetOfRepetitions checks that the true time of a candidate is the median of its repetitions, and that
// the seed determines which repetition a replay returns.
func TestSetOfRepetitions(t *testing.T) {
	var runs []coll.Measurement
	for _, m := range small(t, coll.Bcast) {
		for rep, factor := range []float64{1, 1.5, 0.9} {
			r := m
			r.Rep, r.Seconds = rep+1, m.Seconds*factor
			runs = append(runs, r)
		}
	}
	s := testutil.Must(lab.NewSet("runs", runs))(t)
	once := testutil.Must(lab.NewSet("once", small(t, coll.Bcast)))(t)
	if !slices.Equal(s.Truth, once.Truth) {
		t.Error("the truth is not that of the repetitions of factor 1, the medians")
	}
	opt := options()
	opt.Noise = 0
	at := func(seed uint64) lab.Outcome {
		o := replay(t, s, "random", seed, opt)
		o.WallSeconds = 0
		return o
	}
	if diff := cmp.Diff(at(1), at(1)); diff != "" {
		t.Errorf("the same seed twice:\n%s", diff)
	}
	if at(1).Slowdown == 1 {
		t.Error("choices by single repetitions are as good as by medians: want random repetitions")
	}
}

// TestJobNoise checks that noise that all times of a job share changes a replay. A run with such noise must refuse
// a file of outcomes without it.
func TestJobNoise(t *testing.T) {
	s := set(t, "one", coll.Bcast)
	opt := options()
	quiet := replay(t, s, "regret", 1, opt)
	path := filepath.Join(t.TempDir(), "kept.jsonl")
	testutil.Must(lab.OpenOutcomes(path, opt, 0))(t)
	opt.JobNoise = 0.5
	disturbed := replay(t, s, "regret", 1, opt)
	if lines(t, []lab.Outcome{quiet}) == lines(t, []lab.Outcome{disturbed}) {
		t.Error("job noise of 50 % changes nothing")
	}
	if _, err := lab.OpenOutcomes(path, opt, 0); err == nil {
		t.Error("outcomes of quiet jobs are taken for those of disturbed ones")
	}
	opt.JobNoise = 2
	if err := opt.Validate(); err == nil {
		t.Error("job noise 2: no error")
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mixed.csv")
	f := testutil.Must(os.Create(path))(t)
	testutil.NoError(t, preprocess.WriteTable(f, slices.Concat(small(t, coll.Reduce), small(t, coll.Bcast))))
	testutil.NoError(t, f.Close())
	sets, warnings, err := lab.Load([]string{path})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Load = %v, warnings %v", err, warnings)
	}
	if len(sets) != 2 || sets[0].Data != "mixed" || sets[0].Collective != coll.Bcast || sets[1].Collective != coll.Reduce {
		t.Errorf("Load gave %d sets, want bcast and reduce of mixed", len(sets))
	}
	golden := testutil.GoldenErrors(t)
	_, _, err = lab.Load([]string{path, path})
	golden("the same file twice", err)
	_, _, err = lab.Load([]string{filepath.Join(dir, "none.csv")})
	golden("a missing file", err)
}

func TestValidate(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct {
		name string
		set  func(o *lab.Options)
	}{
		{name: "slowdown", set: func(o *lab.Options) { o.Criteria.Slowdown = 1 }},
		{name: "mistakes", set: func(o *lab.Options) { o.Criteria.Mistakes = 0 }},
		{name: "patience", set: func(o *lab.Options) { o.Criteria.Patience = 0 }},
		{name: "batch", set: func(o *lab.Options) { o.Batch.Candidates = 0 }},
		{name: "growth", set: func(o *lab.Options) { o.Batch.Growth = -1 }},
		{name: "trees", set: func(o *lab.Options) { o.Trees = 0 }},
		{name: "workers", set: func(o *lab.Options) { o.Workers = 0 }},
		{name: "noise", set: func(o *lab.Options) { o.Noise = -0.1 }},
		{name: "launch seconds", set: func(o *lab.Options) { o.Launch.Seconds = -1 }},
		{name: "launch model", set: func(o *lab.Options) { o.Launch.Model = "mpirun" }},
		{name: "scaling", set: func(o *lab.Options) { o.Scaling = "log" }},
	}
	for _, tc := range tests {
		o := lab.DefaultOptions()
		testutil.NoError(t, o.Validate())
		tc.set(&o)
		golden(tc.name, o.Validate())
	}
}

func TestParseStrategies(t *testing.T) {
	got, err := lab.ParseStrategies("trees, random")
	if diff := cmp.Diff([]string{"trees", "random"}, got); err != nil || diff != "" {
		t.Errorf("ParseStrategies = %v, %s", err, diff)
	}
	for _, bad := range []string{"", "random,", "lucky", "random,random"} {
		if _, err := lab.ParseStrategies(bad); err == nil {
			t.Errorf("ParseStrategies(%q) is no error", bad)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d := lab.Design{Sets: []lab.Set{set(t, "one", coll.Bcast)}, Strategies: activelearn.Names(), Seeds: lab.Seeds(1, 2)}
	if _, err := lab.Compare(ctx, d, []benchrunner.LaunchCost{options().Launch}, options(), nil, nil); err == nil {
		t.Error("Compare continues after it was cancelled")
	}
}

// BenchmarkCampaignRecorded replays the largest recorded data set, with 831 points and 11 algorithms. The replay
// ends when it has converged.
func BenchmarkCampaignRecorded(b *testing.B) {
	sets, _, err := lab.Load([]string{"../../data/simgrid/A_bcast.csv"})
	testutil.NoError(b, err)
	for _, strategy := range activelearn.Names() {
		b.Run(strategy, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o := replay(b, sets[0], strategy, 1, lab.DefaultOptions())
				b.ReportMetric(float64(o.Rounds), "rounds")
				b.ReportMetric(o.PointShare, "share")
				b.ReportMetric(o.MachineShare, "machine")
			}
		})
	}
}
