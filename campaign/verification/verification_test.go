package verification_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/campaign/verification"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/report"
	"tutti/verify"
)

// runMade runs a campaign on artificial data and returns its folder. Then it changes the machine: the
// algorithm ring takes twice as long with 15 ranks.
func runMade(t testing.TB, m campaigntest.Made) string {
	t.Helper()
	dir := t.TempDir()
	out := campaigntest.Run(t, campaigntest.Load(t, m.Put(t, dir)))
	m.Factor = func(c coll.Candidate) float64 {
		if isSlower(c.Point) && c.Algorithm.Name == m.Ring {
			return 2
		}
		return 1
	}
	m.Record(t, dir)
	return out
}

// isSlower reports whether runMade made the algorithm "ring" slower at a point.
func isSlower(p coll.Point) bool { return p.Ranks() == 15 }

// quick returns rules for a verification with many test points but few blocks.
func quick() verify.Rules {
	r := verify.DefaultRules()
	r.Points, r.Between, r.MinBlocks, r.MaxBlocks = 10, 2, 5, 8
	return r
}

// openCampaign holds a campaign with its journal, which is open for writing.
type openCampaign struct {
	campaign *assembly.Campaign
	journal  *journal.Journal
	state    *journal.State
}

func open(t testing.TB, dir string) openCampaign {
	t.Helper()
	jnl, contents, err := journal.Open(dir)
	testutil.NoError(t, err)
	t.Cleanup(func() { _ = jnl.Close() }) // an error if the test closed it
	c := testutil.Must(assembly.Restore(contents, dir))(t)
	return openCampaign{c, jnl, contents.State()}
}

func (o openCampaign) verify(ctx context.Context, opt verification.Options) (*verification.Verifier, verify.Result, error) {
	p, err := verification.New(ctx, o.campaign, o.journal, o.state, opt)
	if err != nil {
		return nil, verify.Result{}, err
	}
	result, err := p.Verify(ctx, o.campaign.Config.Libraries[0])
	return p, result, err
}

var by = export.Program{Version: "v1"}

// verifyAndWrite verifies the campaign in a folder and writes the campaign's files.
func verifyAndWrite(t testing.TB, dir string, opt verification.Options) (verify.Result, report.Facts) {
	t.Helper()
	o := open(t, dir)
	p, result, err := o.verify(t.Context(), opt)
	testutil.NoError(t, err)
	facts := testutil.Must(p.Write(t.Context(), by))(t)
	testutil.NoError(t, o.journal.Close())
	return result, facts
}

// TestSlowerIsReverted checks that the default replaces an algorithm that became slower, and no other
// algorithm. The table of selections and the report must agree.
func TestSlowerIsReverted(t *testing.T) {
	dir := runMade(t, campaigntest.MadeOpenMPI)
	result, facts := verifyAndWrite(t, dir, verification.Options{Rules: quick()})
	isControl := func(p verify.PointResult) bool { return p.Choice.IsDefault() }
	if !result.Proved() || len(result.Reverted) == 0 || !slices.ContainsFunc(result.Points, isControl) {
		t.Fatalf("proved %t, reverted %v of %v", result.Proved(), result.Reverted, result.Points)
	}
	selected := map[coll.Point]coll.Algorithm{}
	for _, r := range campaigntest.Selected(t, testutil.Must(os.ReadFile(filepath.Join(dir, export.SelectionCSV)))(t), "openmpi") {
		selected[r.Point] = r.Options[0].Algorithm
	}
	truth := map[coll.Candidate]float64{}
	for _, m := range open(t, dir).campaign.Problems[0].Truth {
		truth[m.Candidate] = m.Seconds
	}
	for _, f := range result.Reverted {
		chosen, byDefault := truth[coll.Candidate{Point: f.Point, Algorithm: f.Choice}], truth[coll.Candidate{Point: f.Point, Algorithm: coll.Default}]
		if chosen < byDefault {
			t.Errorf("%v is reverted, but %v takes %g s there and the default %g s", f.Point, f.Choice, chosen, byDefault)
		}
	}
	for _, p := range result.Points { // if both sides run the default, they still have independent noise
		if p.Choice.IsDefault() && (p.Ratio.Low == p.Ratio.High || p.Ratio.Value < 0.97 || p.Ratio.Value > 1.03) {
			t.Errorf("%v: ratio %+v of the default to itself, want the noise of 1 %%", p.Point, p.Ratio)
		}
	}
	tuned := 0
	for p, alg := range selected {
		if isSlower(p) && alg.Name == campaigntest.MadeOpenMPI.Ring {
			t.Errorf("%v still has %v", p, alg)
		}
		if !isSlower(p) && !alg.IsDefault() {
			tuned++
		}
	}
	if tuned < 20 {
		t.Errorf("%d points where nothing changed are tuned", tuned)
	}
	if len(facts.Verification) != 1 || len(facts.Verification[0].Reverted) != len(result.Reverted) || !facts.Verification[0].Ended {
		t.Errorf("the report has %+v", facts.Verification)
	}
	if page := string(testutil.Must(os.ReadFile(filepath.Join(dir, export.ReportHTML)))(t)); !strings.Contains(page, "Reverted to the default<") {
		t.Error("the page does not list the reverted points")
	}
}

// TestFilesOfPasses checks that New trains all models, and that each pass (comparison with the default) writes
// the library's file of rules once. In the end the settings must be marked as verified.
func TestFilesOfPasses(t *testing.T) {
	dir := runMade(t, campaigntest.MadeOpenMPI)
	rules := filepath.Join(dir, "openmpi.rules")
	var inodes []uint64 // inodes of the file of rules; each write creates a new file
	recordInode := func() {
		info := testutil.Must(os.Stat(rules))(t)
		if inode := info.Sys().(*syscall.Stat_t).Ino; len(inodes) == 0 || inodes[len(inodes)-1] != inode {
			inodes = append(inodes, inode)
		}
	}
	o := open(t, dir)
	p := testutil.Must(verification.New(t.Context(), o.campaign, o.journal, o.state, verification.Options{Rules: quick(), Observe: func(verify.Event) { recordInode() }}))(t)
	o.campaign.Spec.Learner.Scaling = "none" // with an unknown scaling, no further model can be trained
	result := testutil.Must(p.Verify(t.Context(), o.campaign.Config.Libraries[0]))(t)
	if result.Passes < 2 || len(inodes) != result.Passes {
		t.Errorf("the rules were written %d times in %d passes", len(inodes), result.Passes)
	}
	settings := filepath.Join(dir, "openmpi.env")
	before := testutil.Must(os.ReadFile(settings))(t)
	facts := testutil.Must(p.Write(t.Context(), by))(t)
	after := testutil.Must(os.ReadFile(settings))(t)
	unverified := slices.ContainsFunc(facts.Libraries, func(l report.LibraryFacts) bool { return !l.Verified })
	if !bytes.Contains(before, []byte("# Not verified:")) || bytes.Contains(after, []byte("# Not verified:")) || unverified {
		t.Errorf("the settings do not go from unverified to verified: %s\n%s\nreport unverified: %t", before, after, unverified)
	}
}

// TestResume checks that a verification whose journal was truncated can be resumed, and then writes the same
// files.
func TestResume(t *testing.T) {
	dir := runMade(t, campaigntest.MadeOpenMPI)
	before := bytes.Count(testutil.Must(os.ReadFile(filepath.Join(dir, journal.FileName)))(t), []byte("\n"))
	verifyAndWrite(t, dir, verification.Options{Rules: quick()})
	lines := bytes.SplitAfter(testutil.Must(os.ReadFile(filepath.Join(dir, journal.FileName)))(t), []byte("\n"))
	files := []string{export.SelectionCSV, export.ReportJSON, "openmpi.rules"}
	cuts := 8
	if testing.Short() {
		cuts = 2
	}
	for i := range cuts {
		at := before + 1 + i*(len(lines)-before-2)/cuts
		cut := slices.Concat(bytes.Join(lines[:at], nil), lines[at][:len(lines[at])/2])
		again := t.TempDir()
		testutil.NoError(t, os.WriteFile(filepath.Join(again, journal.FileName), cut, 0o666))
		verifyAndWrite(t, again, verification.Options{Rules: quick()})
		for _, name := range files {
			if !bytes.Equal(testutil.Must(os.ReadFile(filepath.Join(dir, name)))(t), testutil.Must(os.ReadFile(filepath.Join(again, name)))(t)) {
				t.Errorf("cut after %d of %d lines: %s differs", at, len(lines), name)
			}
		}
	}
}

// TestAgain checks that a complete verification measures nothing in a second run, unless Options.Again is
// set.
func TestAgain(t *testing.T) {
	dir := runMade(t, campaigntest.MadeOpenMPI)
	first, _ := verifyAndWrite(t, dir, verification.Options{Rules: quick()})
	size := len(testutil.Must(os.ReadFile(filepath.Join(dir, journal.FileName)))(t))
	same, _ := verifyAndWrite(t, dir, verification.Options{Rules: quick()})
	if same.Sessions != 1 || same.Trials != first.Trials || len(testutil.Must(os.ReadFile(filepath.Join(dir, journal.FileName)))(t)) != size {
		t.Errorf("without Again: session %d, %d trials after %d", same.Sessions, same.Trials, first.Trials)
	}
	if again, _ := verifyAndWrite(t, dir, verification.Options{Rules: quick(), Again: true}); again.Sessions != 2 || !again.Proved() {
		t.Errorf("with Again: session %d, proved %t", again.Sessions, again.Proved())
	}
}

// TestBudget checks that a verification that has used up its budget can be resumed.
func TestBudget(t *testing.T) {
	dir := runMade(t, campaigntest.MadeOpenMPI)
	o := open(t, dir)
	_, result, err := o.verify(t.Context(), verification.Options{Rules: quick(), MachineTime: 1})
	if err != nil || result.Proved() || result.Exhausted == "" {
		t.Fatalf("after %d trials, proved %t (%s): %v", result.Trials, result.Proved(), result.Exhausted, err)
	}
	testutil.NoError(t, o.journal.Close())
	if more, _ := verifyAndWrite(t, dir, verification.Options{Rules: quick()}); !more.Proved() || more.Sessions != 1 || more.Trials <= result.Trials {
		t.Errorf("resumed: proved %t, session %d, %d trials after %d", more.Proved(), more.Sessions, more.Trials, result.Trials)
	}
}

// TestCancelled checks that a cancelled verification returns its result so far.
func TestCancelled(t *testing.T) {
	o := open(t, runMade(t, campaigntest.MadeOpenMPI))
	ctx, cancel := context.WithCancel(t.Context())
	_, result, err := o.verify(ctx, verification.Options{Rules: quick(), Observe: func(e verify.Event) {
		if e.Block == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || result.Trials == 0 || result.Ended {
		t.Errorf("after %d trials, ended %t: %v, want %v", result.Trials, result.Ended, err, context.Canceled)
	}
}

// TestCannotBeVerified checks that libraries that cannot be compared with their default lead to errors.
func TestCannotBeVerified(t *testing.T) {
	made := campaigntest.Made{Library: "nccl", Version: "2.30", Tree: `"ring(channels=8,proto=ll)"`, Ring: `"ring(channels=8,proto=simple)"`}
	for _, tc := range []struct {
		name, dir string
		want      error
		text      string
	}{
		{"never measured", runMade(t, made), verification.ErrRecordedOnly, "nccl: "},
		{"no default", campaigntest.Run(t, campaigntest.Load(t, campaigntest.Small(t, t.TempDir()))), verification.ErrNoDefault, "mpich allreduce: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, result, err := open(t, tc.dir).verify(t.Context(), verification.Options{Rules: quick()})
			if !errors.Is(err, tc.want) || !strings.HasPrefix(err.Error(), tc.text) || result.Ended {
				t.Errorf("ended %t: %v, want %s%v", result.Ended, err, tc.text, tc.want)
			}
		})
	}
}

// TestVerificationFaults checks that a verification without measurements, without rules, or with impossible
// journal entries is an error.
func TestVerificationFaults(t *testing.T) {
	dir := runMade(t, campaigntest.MadeOpenMPI)
	o := open(t, dir)
	if _, err := verification.New(t.Context(), o.campaign, o.journal, &journal.State{}, verification.Options{Rules: quick()}); !errors.Is(err, export.ErrNothing) {
		t.Errorf("before a measurement: %v, want %v", err, export.ErrNothing)
	}
	if _, _, err := o.verify(t.Context(), verification.Options{}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("without rules: %v, want an error that names %s", err, dir)
	}
	pass := []byte(`{"number":"x"}`)
	o.state.Add(journal.Record{Kind: journal.KindVerify, Verify: &journal.VerifyStep{Library: "openmpi", Session: 1, Pass: pass}})
	if _, _, err := o.verify(t.Context(), verification.Options{Rules: quick()}); !errors.Is(err, verify.ErrEntry) || !strings.Contains(err.Error(), "journal of "+dir) {
		t.Errorf("after impossible entries: %v, want %v", err, verify.ErrEntry)
	}
}
