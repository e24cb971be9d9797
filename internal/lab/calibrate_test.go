package lab_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/lab"
	"tutti/internal/testutil"
)

// setOf returns a set of measurements of the synthetic machine: broadcasts at 20 points, changed by the
// function `change`. A measurement costs as much as 100 calls.
func setOf(t *testing.T, change func([]coll.Measurement) []coll.Measurement) lab.Set {
	t.Helper()
	var points []coll.Point
	for _, nodes := range []int{2, 4, 8, 16} {
		for size := int64(8); size <= 1<<17; size *= 8 {
			points = append(points, coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 4, MsgBytes: size})
		}
	}
	ms := testutil.SyntheticMeasurements(points)
	for i := range ms {
		ms[i].CostSeconds = 100 * ms[i].Seconds
	}
	return testutil.Must(lab.NewSet("synthetic", change(ms)))(t)
}

// calibrate returns the calibration of a replay of a data set with the strategy "regret".
func calibrate(t *testing.T, s lab.Set, seed uint64, opt lab.Options) lab.Calibration {
	t.Helper()
	d := lab.Design{Sets: []lab.Set{s}, Strategies: []string{"regret"}, Seeds: []uint64{seed}}
	return testutil.Must(lab.Calibrations(context.Background(), d, []float64{opt.Noise}, []float64{opt.Tail}, opt, nil, nil))(t)[0]
}

// TestCalibrateUniqueAlgorithms checks that a campaign stops correctly if the algorithms of one point exist at
// no other point. No model can predict these algorithms before they are measured.
func TestCalibrateUniqueAlgorithms(t *testing.T) {
	set := setOf(t, func(ms []coll.Measurement) []coll.Measurement {
		last := ms[len(ms)-1].Point
		var out []coll.Measurement
		for _, m := range ms {
			if m.Point == last {
				m.Algorithm.Name += "_alone"
			}
			out = append(out, m)
		}
		return out
	})
	opt := lab.DefaultOptions()
	opt.Trees = 10
	c := calibrate(t, set, 1, opt)
	if !c.Stopped || c.Mistakes >= 0.05 || c.Evaluations < 2 {
		t.Errorf("%+v", c)
	}
}

// TestDisturbedJobs checks that campaigns stop correctly even if a random factor changes all times of a
// round.
func TestDisturbedJobs(t *testing.T) {
	testutil.NeedAllCases(t)
	sets, _, err := lab.Load([]string{"../../data/simgrid/D_allgather.csv"})
	testutil.NoError(t, err)
	opt := lab.DefaultOptions()
	opt.JobNoise = 0.1
	stopped, right := 0, 0
	for _, seed := range lab.Seeds(1, 6) {
		c := calibrate(t, sets[0], seed, opt)
		if c.Stopped {
			stopped++
		}
		if c.Stopped && c.Good {
			right++
		}
	}
	if stopped < 4 || right < stopped-1 {
		t.Errorf("%d of 6 stopped, %d of them right: want 4, and all but one", stopped, right)
	}
}

// TestCalibrations checks that calibrations do not depend on the number of workers, and that known
// calibrations are not repeated.
func TestCalibrations(t *testing.T) {
	set := setOf(t, func(ms []coll.Measurement) []coll.Measurement { return ms })
	opt := lab.DefaultOptions()
	opt.Trees, opt.Batch.Candidates = 10, 20
	design := lab.Design{Sets: []lab.Set{set}, Strategies: []string{"random"}, Seeds: lab.Seeds(1, 2)}
	first := testutil.Must(lab.Calibrations(context.Background(), design, []float64{0.01}, []float64{0}, opt, nil, nil))(t)
	for _, c := range first {
		if c.Evaluations == 0 || c.Covered > c.Evaluations || !c.Stopped || c.StopShare <= 0 || c.StopShare > 1 || c.FirstSeconds == 0 {
			t.Errorf("calibration %+v", c)
		}
	}
	opt.Workers = 2
	keep := testutil.Must(lab.OpenCalibrations(filepath.Join(t.TempDir(), "c.jsonl"), opt, 0))(t)
	testutil.NoError(t, keep.Add(first[0]))
	fresh := 0
	again, err := lab.Calibrations(context.Background(), design, []float64{0.01}, []float64{0}, opt, keep, func(lab.Calibration) { fresh++ })
	if err != nil || fresh != 1 {
		t.Fatalf("%d replayed, %v, want the one that is not known", fresh, err)
	}
	for i := range again {
		again[i].WallSeconds, first[i].WallSeconds = 0, 0
		if again[i] != first[i] {
			t.Errorf("again %+v, first %+v", again[i], first[i])
		}
	}
}

func TestWriteCalibration(t *testing.T) {
	all := []lab.Calibration{
		{Replay: lab.Replay{Data: "a", Noise: 0.01}, FirstSeconds: 1, ConvergedSeconds: 2, Stopped: true, Good: true, StopSeconds: 4, Slowdown: 1.01, Mistakes: 0.02, Evaluations: 10, Covered: 9},
		{Replay: lab.Replay{Data: "a", Noise: 0.01}, FirstSeconds: 1, ConvergedSeconds: 2, Stopped: true, StopSeconds: 2, Slowdown: 1.03, Mistakes: 0.06, Evaluations: 10, Covered: 5},
		{Replay: lab.Replay{Data: "b", Noise: 0.02, Tail: 0.02}, FirstSeconds: 1, ConvergedSeconds: 2, StopSeconds: 8, Evaluations: 5, Covered: 5},
	}
	var b strings.Builder
	testutil.NoError(t, lab.WriteCalibration(&b, all))
	rows := map[string][]string{}
	for _, line := range strings.Split(b.String(), "\n") {
		fields := strings.Split(strings.ReplaceAll(line, " %", "%"), "  ")
		var file []string
		for _, f := range fields {
			if f = strings.TrimSpace(f); f != "" {
				file = append(file, f)
			}
		}
		if len(file) > 0 {
			rows[file[0]] = file[1:]
		}
	}
	for name, want := range map[string]string{
		"a":                        "2 2 50.0% (6 to 94) 70.0% 3.00 (2.00 to 4.00) 2.83 (2.00 to 4.00) 1.50 (1.00 to 2.00) 1.41 (1.00 to 2.00) 4.0% 6.0% 2.0% 3.0%",
		"noise 2% and outliers 2%": "1 0 – 100.0% 8.00 (8.00 to 8.00) 8.00 (8.00 to 8.00) 4.00 (4.00 to 4.00) 4.00 (4.00 to 4.00) – – – –",
		"all":                      "3 2 50.0% (6 to 94) 76.0% 4.00 (2.00 to 8.00) 4.00 (2.00 to 8.00) 2.00 (1.00 to 4.00) 2.00 (1.00 to 4.00) 4.0% 6.0% 2.0% 3.0%",
	} {
		if got := strings.Join(rows[name], " "); got != want {
			t.Errorf("row %q: %q, want %q\n%s", name, got, want, b.String())
		}
	}
}
