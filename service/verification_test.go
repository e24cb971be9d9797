package service_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/report"
	"tutti/service"
)

// TestVerify checks how a verification of a campaign's files ends, whether the service file, a request in advance or a
// request afterwards asks for it.
func TestVerify(t *testing.T) {
	tests := []struct {
		name     string
		exit     int // of the verification
		evidence report.Evidence
		err      string
	}{
		{"proved", 0, report.Verified, ""},
		{"not proved", 9, report.Measured, ""},
		{"broken", 8, report.Predicted, "the compiler is missing"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			state := t.TempDir()
			b := base(t, "b", fakeFile{Trials: 3, Verify: tc.exit})
			b.Verify = tc.name == "proved"
			s, _ := running(t, options(t, state, b))
			id := create(t, s, service.Request{Base: "b"})
			if !b.Verify {
				awaitState(t, s, id, service.Done)
				testutil.Must(s.Verify(id, service.Verification{}))(t)
			}
			c := await(t, s, id, func(c service.Campaign) bool { return c.State == service.Done && !c.Verified.IsZero() })
			if c.Exit != service.ExitCode(tc.exit) || !c.Converged || c.Verifying || !strings.Contains(c.Error, tc.err) || c.Verified.Before(c.Ended) {
				t.Errorf("campaign is %+v, want exit code %d and the error %q", c, tc.exit, tc.err)
			}
			if c.Progress.Trials != 3 || c.Progress.NodeSeconds != 3 || c.Progress.Verification != 3 {
				t.Errorf("progress is %+v, want three trials, and as many node-seconds of the verification", c.Progress)
			}
			if len(c.Verdicts) != 1 || c.Verdicts[0].Evidence != tc.evidence || len(c.Verdicts[0].Riskiest) != 1 || !strings.Contains(c.Verdicts[0].GainText, "10 %") ||
				c.Verdicts[0].Command != "tutti verify "+filepath.Join(state, "campaigns", id, "results") {
				t.Errorf("verdicts are %+v, want one: %s", c.Verdicts, tc.evidence)
			}
			if listed := s.Campaigns()[0]; listed.Verdicts[0].Riskiest != nil || listed.Verdicts[0].Evidence != tc.evidence {
				t.Errorf("listed as %+v, want it without points", listed)
			}
			if shown := c.Redacted(); shown.Verdicts[0].Command != "" || c.Verdicts[0].Command == "" {
				t.Errorf("readers see %+v, want no path", shown)
			}
			if got := calls(t, state, id); !slices.Equal(got, []string{"tune", "verify"}) {
				t.Errorf("calls %v, want tune and verify", got)
			}
		})
	}
}

// TestVerifiedByHand checks that a campaign that is done gets the verdict of a verification that the service did not run,
// and no event for a report that says the same.
func TestVerifiedByHand(t *testing.T) {
	state := t.TempDir()
	s, _ := running(t, options(t, state, base(t, "b", fakeFile{Trials: 1})))
	id := runToEnd(t, s, service.Request{Base: "b"})
	results := filepath.Join(state, "campaigns", id, "results")
	written := func(e report.Evidence) {
		time.Sleep(10 * time.Millisecond) // another modification time
		if writeReport(results, 0, e) != 0 {
			t.Fatal("no report")
		}
	}
	written(report.Predicted)
	written(report.Measured)
	await(t, s, id, func(c service.Campaign) bool { return c.Verdicts[0].Evidence == report.Measured })
	events, _ := s.Events().After(0, 0)
	written(report.Measured)
	written(report.Verified)
	await(t, s, id, func(c service.Campaign) bool {
		return c.State == service.Done && c.Verdicts[0].Evidence == report.Verified
	})
	if after, _ := s.Events().After(0, 0); len(after) != len(events)+1 {
		t.Errorf("%d events, want one more than %d", len(after), len(events))
	}
}

// TestVerifyWaits checks that a verification waits for its machine, and that it can be paused, resumed and cancelled.
func TestVerifyWaits(t *testing.T) {
	state := t.TempDir()
	slow := fakeFile{Trials: slowTrials, Every: 10 * time.Millisecond}
	s, _ := running(t, options(t, state, base(t, "quick", fakeFile{Trials: 1}), base(t, "slow", slow)))
	quick := runToEnd(t, s, service.Request{Base: "quick"})
	other := create(t, s, service.Request{Base: "slow"})
	awaitTrial(t, s, other)
	if c := testutil.Must(s.Verify(quick, service.Verification{}))(t); c.State != service.Queued || !c.Verifying {
		t.Errorf("it is %+v, want it to wait", c)
	}
	pause(t, s, other)
	await(t, s, quick, func(c service.Campaign) bool { return c.State == service.Done && !c.Verified.IsZero() })

	testutil.Must(s.Resume(other))(t)
	awaitState(t, s, other, service.Running)
	if c := testutil.Must(s.Verify(other, service.Verification{}))(t); c.State != service.Running || !c.Verify || c.Verifying {
		t.Errorf("it is %+v, want it to be verified later", c)
	}
	verifying := func(c service.Campaign) bool { return c.Verifying && c.Progress.Verification > 0 }
	await(t, s, other, verifying)
	pause(t, s, other)
	testutil.Must(s.Resume(other))(t)
	await(t, s, other, func(c service.Campaign) bool { return c.State == service.Running })
	if _, err := s.Cancel(other); err != nil {
		t.Fatal(err)
	}
	c := awaitState(t, s, other, service.Done)
	if !c.Converged || c.Error != "" || c.Verdicts[0].Evidence != report.Predicted {
		t.Errorf("it is %+v, want it done and not verified", c)
	}
	if got := calls(t, state, other); got[len(got)-1] != "cancel" {
		t.Errorf("calls %v, want the jobs cancelled", got)
	}
}

// TestVerifyAfterKill checks that the next service learns from the report that a verification has ended which it did not
// observe, and that it runs one that was killed again.
func TestVerifyAfterKill(t *testing.T) {
	for _, ended := range []bool{true, false} {
		state := t.TempDir()
		b := base(t, "b", fakeFile{Trials: 2})
		s, stop := running(t, options(t, state, b))
		id := runToEnd(t, s, service.Request{Base: "b"})
		stop()
		dir := filepath.Join(state, "campaigns", id)
		path := filepath.Join(dir, "campaign.json")
		text := string(testutil.Must(os.ReadFile(path))(t))
		about := testutil.Must(os.Stat(filepath.Join(dir, "results", "report.json")))(t)
		text = strings.Replace(text, `"state": "done"`, `"state": "running", "verifying": true, "report": "`+about.ModTime().UTC().Format(time.RFC3339Nano)+`"`, 1)
		testutil.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if ended {
			if code := writeReport(filepath.Join(dir, "results"), 0, report.Measured); code != 0 {
				t.Fatal("no report")
			}
		}
		s, _ = running(t, options(t, state, b))
		c := await(t, s, id, func(c service.Campaign) bool { return c.State == service.Done && !c.Verified.IsZero() })
		want, verbs := report.Measured, []string{"tune"}
		if !ended {
			want, verbs = report.Verified, []string{"tune", "verify"}
		}
		if c.Verdicts[0].Evidence != want || !slices.Equal(calls(t, state, id), verbs) {
			t.Errorf("ended %t: %+v after %v, want %s after %v", ended, c.Verdicts, calls(t, state, id), want, verbs)
		}
	}
}

// tuned runs a campaign on a machine that takes three node-hours, by a service that allows `most` of them. It returns the
// service, its folder and the ID of the campaign.
func tuned(t *testing.T, most float64) (s *service.Service, state, id string) {
	t.Helper()
	state = t.TempDir()
	opt := options(t, state, base(t, "b", fakeFile{Trials: 3, Cost: 3600}))
	opt.Quota = config.Quota{Campaign: most, Day: 100}
	opt.Check = func(config.Base, map[string]string) (config.Demand, error) {
		return config.Demand{Measures: true, NodeHours: 3}, nil
	}
	s, _ = running(t, opt)
	return s, state, runToEnd(t, s, service.Request{Base: "b"})
}

// TestVerifyQuota checks that a verification has a budget as large as that of its campaign, and that its node-hours
// count for the day.
func TestVerifyQuota(t *testing.T) {
	s, state, id := tuned(t, 3)
	for _, spent := range []float64{6, 9} {
		before := testutil.Must(s.Campaign(id))(t).Verified
		testutil.Must(s.Verify(id, service.Verification{}))(t)
		c := await(t, s, id, func(c service.Campaign) bool { return c.State == service.Done && c.Verified.After(before) })
		if h := s.NodeHours(); c.Error != "" || h.Spent != spent || h.Reserved != 0 {
			t.Errorf("%+v after %+v, want %g node-hours spent", h, c, spent)
		}
	}
	records := campaigntest.Records(t, filepath.Join(state, "campaigns", id, "results"))
	if n := len(slices.DeleteFunc(records, func(r journal.Record) bool { return r.Kind != journal.KindVerify })); n != 6 {
		t.Errorf("%d trials of verifications, want 6", n)
	}
}

// TestVerifyLimit checks that a request may give a verification a larger limit than that of its campaign: as long as the
// service allows it, and in node-hours for the day.
func TestVerifyLimit(t *testing.T) {
	s, state, id := tuned(t, 5)
	for _, tc := range []struct{ limit, want string }{
		{"soon", `machine_time: "soon": want a duration above 0 such as 2h or 90m`},
		{"-1h", `machine_time: "-1h": want a duration above 0`},
		{"3h", "machine_time: 3h: it may take 6 node-hours, and the service allows a verification at most 5 (node_hours.campaign)"},
	} {
		if _, err := s.Verify(id, service.Verification{MachineTime: tc.limit}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %s", tc.limit, err, tc.want)
		}
	}
	testutil.Must(s.Verify(id, service.Verification{MachineTime: "2h30m"}))(t)
	c := await(t, s, id, func(c service.Campaign) bool { return c.State == service.Done && !c.Verified.IsZero() })
	log := string(testutil.Must(os.ReadFile(filepath.Join(state, "campaigns", id, "calls.txt")))(t))
	if c.Error != "" || !strings.Contains(log, "--machine-time 2h30m0s") {
		t.Errorf("%+v after %s, want a limit of 2.5 h", c, log)
	}
}
