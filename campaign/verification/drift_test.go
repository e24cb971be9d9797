package verification_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/verification"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// changed runs a campaign on artificial data and returns its folder. Afterwards it multiplies all times of
// the machine by a factor, so that they differ from the campaign's times.
func changed(t testing.TB, factor float64) string {
	t.Helper()
	dir, m := t.TempDir(), campaigntest.MadeOpenMPI
	out := campaigntest.Run(t, campaigntest.Load(t, m.Put(t, dir)))
	m.Factor = func(coll.Candidate) float64 { return factor }
	m.Record(t, dir)
	return out
}

// TestMeasureDrift multiplies all times by a factor and adds 1 % noise. MeasureDrift must return nearly this
// factor, and the journal must not change.
func TestMeasureDrift(t *testing.T) {
	for _, factor := range []float64{1, 1.5, 0.5} {
		dir := changed(t, factor)
		jnl := filepath.Join(dir, journal.FileName)
		before := testutil.Must(os.ReadFile(jnl))(t)
		c, results := campaigntest.RestoreAll(t, dir)
		p := testutil.Must(verification.MeasureDrift(t.Context(), c, results, 20, nil))(t)
		if p.Candidates != 20 || p.Failed != 0 {
			t.Errorf("factor %g: %d measured again, %d failed, want 20", factor, p.Candidates, p.Failed)
		}
		if math.Abs(p.Ratio/factor-1) > 0.02 || math.Abs(p.Change-math.Abs(factor-1)) > 0.03 || p.Change == 0 {
			t.Errorf("factor %g: %+v", factor, p)
		}
		if after, err := os.ReadFile(jnl); err != nil || !bytes.Equal(before, after) {
			t.Errorf("factor %g: the journal has changed: %v", factor, err)
		}
	}
}

// TestDriftEveryProblem checks that at least one candidate of every measured problem (a collective of a
// library) is measured again. Problems without measurements must be skipped.
func TestDriftEveryProblem(t *testing.T) {
	c, results := campaigntest.RestoreAll(t, campaigntest.Run(t, campaigntest.Load(t, campaigntest.Small(t, t.TempDir()))))
	if p, err := verification.MeasureDrift(t.Context(), c, results, 1, nil); err != nil || p.Candidates != 2 {
		t.Errorf("of two problems: %+v, %v, want one candidate of each", p, err)
	}
	none := testutil.Must(c.Results(&journal.State{}))(t)
	results[0] = none[0]
	if p, err := verification.MeasureDrift(t.Context(), c, results, 6, nil); err != nil || p.Candidates != 3 {
		t.Errorf("of one problem: %+v, %v, want half of the candidates", p, err)
	}
	if _, err := verification.MeasureDrift(t.Context(), c, none, 6, nil); err == nil || !strings.Contains(err.Error(), "nothing could be measured again: 0 failed") {
		t.Errorf("without measurements: %v", err)
	}
}

// runner is a runner whose trials fail after a given number of successes.
type runner struct {
	benchrunner.Runner
	keep int   // number of trials that succeed
	err  error // error of Run, if not nil
}

func (r runner) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	if r.err != nil {
		return r.err
	}
	n := 0
	return r.Runner.Run(ctx, b, benchrunner.TrialLog(func(t coll.Trial) error {
		if n++; n > r.keep {
			t.State, t.Seconds, t.Error = coll.TrialFailed, 0, "crashed"
		}
		return log.Trial(t)
	}))
}

// TestDriftFails checks that the number of failed trials is reported. If all trials fail, the error must
// contain the first cause.
func TestDriftFails(t *testing.T) {
	dir := changed(t, 1)
	with := func(keep int, fails error) (*assembly.Campaign, []campaign.Result) {
		c, results := campaigntest.RestoreAll(t, dir)
		c.Problems[0].Runner = runner{c.Problems[0].Runner, keep, fails}
		return c, results
	}
	c, results := with(3, nil)
	if p, err := verification.MeasureDrift(t.Context(), c, results, 10, nil); err != nil || p.Candidates != 3 || p.Failed != 7 {
		t.Errorf("seven of ten fail: %+v, %v", p, err)
	}
	c, results = with(0, nil)
	if _, err := verification.MeasureDrift(t.Context(), c, results, 10, nil); err == nil || err.Error() != "nothing could be measured again: 10 failed: crashed" {
		t.Errorf("all fail: %v", err)
	}
	c, results = with(0, benchrunner.ErrUnavailable)
	if _, err := verification.MeasureDrift(t.Context(), c, results, 10, nil); !errors.Is(err, benchrunner.ErrUnavailable) {
		t.Errorf("no machine: %v, want %v", err, benchrunner.ErrUnavailable)
	}
}

// TestDriftLive checks that the folder for new jobs is removed after success and after failure.
func TestDriftLive(t *testing.T) {
	testutil.NeedAllCases(t)
	dir := t.TempDir()
	out := campaigntest.Run(t, campaigntest.Load(t, campaigntest.Fake(t, dir, "local"), "collectives=allreduce"))
	checkRemoved := func() {
		t.Helper()
		if folders, err := filepath.Glob(filepath.Join(out, "drift-*")); err != nil || len(folders) > 0 {
			t.Errorf("folders that were not removed: %q, %v", folders, err)
		}
	}
	c, results := campaigntest.RestoreAll(t, out)
	if p, err := verification.MeasureDrift(t.Context(), c, results, 4, os.Environ()); err != nil || p.Candidates != 4 || p.Change != 0 || p.Ratio != 1 {
		t.Errorf("a machine whose times never change: %+v, %v", p, err)
	}
	checkRemoved()
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "mpirun"), []byte("#!/bin/sh\necho broken >&2\nexit 1\n"), 0o777))
	c, results = campaigntest.RestoreAll(t, out)
	if _, err := verification.MeasureDrift(t.Context(), c, results, 2, os.Environ()); err == nil || !strings.Contains(err.Error(), "nothing could be measured again: 2 failed: ") {
		t.Errorf("a broken launcher: %v", err)
	}
	checkRemoved()
}
