package service_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/campaign"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/service"
)

// runCampaign runs a small campaign to its end and returns its folder.
func runCampaign(t testing.TB, set ...string) string {
	t.Helper()
	return campaigntest.Run(t, campaigntest.Load(t, campaigntest.Small(t, t.TempDir()), set...))
}

// TestLearn checks that the selection and the predictions equal those of package export at every point.
func TestLearn(t *testing.T) {
	testutil.SkipShort(t)
	dir := runCampaign(t, "runner.defaults=data/defaults.csv", "runner.recorded=C")
	for _, p := range campaigntest.Conclude(t, dir, nil).Problems {
		learned := testutil.Must(service.Learn(t.Context(), dir, p.Problem.Problem))(t)
		if diff := cmp.Diff(testutil.Must(export.Cells(p))(t), learned.Selection.Cells); diff != "" {
			t.Errorf("%s: cells (-want +got):\n%s", p.Problem.Problem, diff)
		}
		options := 0
		for _, row := range p.Rows {
			options += len(row.Options)
		}
		checkPredictions(t, p, learned.Predictions, options)
	}
}

// checkPredictions checks the number and the order of predictions. It also checks that the fastest
// algorithm at each point has the slowdown 1.
func checkPredictions(t *testing.T, p campaign.FinalSelection, all []service.Prediction, want int) {
	t.Helper()
	if len(all) != want {
		t.Errorf("%s: %d predictions, want %d", p.Problem.Problem, len(all), want)
	}
	least := map[[3]int64]float64{}
	for i, q := range all {
		at := [3]int64{int64(q.Nodes), int64(q.PPN), q.MsgBytes}
		if s, known := least[at]; !known || q.Slowdown < s {
			least[at] = q.Slowdown
		}
		if q.Measured && q.Seconds == 0 {
			t.Errorf("%+v was measured and has no time", q)
		}
		if i > 0 && slices.Compare(append(at[:], 0), []int64{int64(all[i-1].Nodes), int64(all[i-1].PPN), all[i-1].MsgBytes}) < 0 {
			t.Errorf("%+v comes after %+v", q, all[i-1])
		}
	}
	for at, s := range least {
		if math.Abs(s-1) > 1e-12 {
			t.Errorf("%v: the fastest has slowdown %g", at, s)
		}
	}
}

// TestLearnUncertainty checks that a model with a posterior gives mistake probabilities.
func TestLearnUncertainty(t *testing.T) {
	dir := campaigntest.Run(t, campaigntest.Load(t, campaigntest.MadeOpenMPI.Put(t, t.TempDir()), "method=regret"))
	learned := testutil.Must(service.Learn(t.Context(), dir, journal.Problem{Library: "openmpi", Collective: coll.Bcast}))(t)
	for _, c := range learned.Selection.Cells {
		if c.Rival == "" || c.PMistake == nil || *c.PMistake < 0 || *c.PMistake > 1 {
			t.Errorf("%+v, want a rival and a probability", c)
		}
	}
}

// TestLearnFaults checks that problems without measurements, unknown problems, and folders without a campaign
// lead to errors.
func TestLearnFaults(t *testing.T) {
	testutil.SkipShort(t)
	dir := runCampaign(t)
	begun := t.TempDir()
	jnl := testutil.Must(os.ReadFile(filepath.Join(dir, journal.FileName)))(t)
	header, _, _ := strings.Cut(string(jnl), "\n")
	testutil.NoError(t, os.WriteFile(filepath.Join(begun, journal.FileName), []byte(header+"\n"), 0o666))
	moved := t.TempDir()
	testutil.NoError(t, os.WriteFile(filepath.Join(moved, journal.FileName), []byte(strings.Replace(string(jnl), "names.csv", "gone.csv", 1)), 0o666))
	known := journal.Problem{Library: "mpich", Collective: coll.Allreduce}
	for _, tc := range []struct {
		name, dir string
		problem   journal.Problem
		want      error
		text      string
	}{
		{"nothing measured", begun, known, service.ErrNotYet, "mpich allreduce has no measurement"},
		{"another library", dir, journal.Problem{Library: "intel", Collective: coll.Allreduce}, service.ErrNoProblem, "intel allreduce"},
		{"another collective", dir, journal.Problem{Library: "mpich", Collective: coll.Bcast}, service.ErrNoProblem, "mpich bcast"},
		{"no campaign", t.TempDir(), known, os.ErrNotExist, "no journal in "},
		{"names that are gone", moved, known, os.ErrNotExist, "journal of " + moved + ": "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := service.Learn(t.Context(), tc.dir, tc.problem)
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("Learn: %v, want %v with %q", err, tc.want, tc.text)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := service.Learn(ctx, dir, known); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want %v", err, context.Canceled)
	}
}

// BenchmarkLearn measures the time to train the models of one collective with 72 points.
func BenchmarkLearn(b *testing.B) {
	dir := runCampaign(b)
	for b.Loop() {
		if _, err := service.Learn(b.Context(), dir, journal.Problem{Library: "mpich", Collective: coll.Allreduce}); err != nil {
			b.Fatal(err)
		}
	}
}
