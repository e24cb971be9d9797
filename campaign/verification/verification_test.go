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
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/report"
	"tutti/verify"
)

// made is the folder of a campaign on a machine that has changed since it ended: at 15
// ranks, which rules can tell from others, large messages take twice as long in a ring.
func made(t testing.TB, m campaigntest.Made) string {
	t.Helper()
	dir := t.TempDir()
	out := campaigntest.Run(t, campaigntest.Load(t, m.Put(t, dir)))
	m.Factor = func(c coll.Candidate) float64 {
		if planted(c.Point) && c.Algorithm.Name == m.Ring {
			return 2
		}
		return 1
	}
	m.Record(t, dir)
	return out
}

func planted(p coll.Point) bool { return p.Ranks() == 15 }

// quick are rules that look at many points for a short time.
func quick() verify.Rules {
	r := verify.DefaultRules()
	r.Points, r.Between, r.MinBlocks, r.MaxBlocks = 10, 2, 5, 8
	return r
}

// open is a campaign at work: whoever opens it closes it.
type open struct {
	campaign *assembly.Campaign
	journal  *journal.Journal
	state    *journal.State
}

func opened(t testing.TB, dir string) open {
	t.Helper()
	jnl, contents, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = jnl.Close() }) // a second time does no harm
	c, err := assembly.Restore(contents, dir)
	if err != nil {
		t.Fatal(err)
	}
	return open{c, jnl, contents.State()}
}

func (o open) prove(ctx context.Context, opt verification.Options) (*verification.Verifier, verify.Result, error) {
	p, err := verification.New(ctx, o.campaign, o.journal, o.state, opt)
	if err != nil {
		return nil, verify.Result{}, err
	}
	result, err := p.Verify(ctx, o.campaign.Config.Libraries[0])
	return p, result, err
}

var by = export.Program{Version: "v1"}

// proved proves the campaign of a folder and writes its files.
func proved(t testing.TB, dir string, opt verification.Options) (verify.Result, report.Facts) {
	t.Helper()
	o := opened(t, dir)
	p, result, err := o.prove(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := p.Write(by)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.journal.Close(); err != nil {
		t.Fatal(err)
	}
	return result, facts
}

// An algorithm that has become slower is put back, and nothing that is faster is; the
// files, the table and the report say so.
func TestPlantedIsPutBack(t *testing.T) {
	dir := made(t, campaigntest.MadeOpenMPI)
	result, facts := proved(t, dir, verification.Options{Rules: quick()})
	if !result.Proved() || len(result.Reverted) == 0 {
		t.Fatalf("proved %t, put back %v", result.Proved(), result.Reverted)
	}
	selected := map[coll.Point]coll.Algorithm{}
	for _, r := range campaigntest.Selected(t, campaigntest.Read(t, filepath.Join(dir, export.SelectionCSV)), "openmpi") {
		selected[r.Point] = r.Options[0].Algorithm
	}
	truth := map[coll.Candidate]float64{}
	for _, m := range opened(t, dir).campaign.Problems[0].Truth {
		truth[m.Candidate] = m.Seconds
	}
	for _, f := range result.Reverted {
		chosen, byDefault := truth[coll.Candidate{Point: f.Point, Algorithm: f.Choice}], truth[coll.Candidate{Point: f.Point, Algorithm: coll.Default}]
		if chosen < byDefault {
			t.Errorf("%v is put back, but %v takes %g s there and the default %g s", f.Point, f.Choice, chosen, byDefault)
		}
	}
	tuned := 0
	for p, alg := range selected {
		if planted(p) && alg.Name == campaigntest.MadeOpenMPI.Ring {
			t.Errorf("%v still has %v", p, alg)
		}
		if !planted(p) && !alg.IsDefault() {
			tuned++
		}
	}
	if tuned < 20 {
		t.Errorf("%d points where nothing changed are tuned", tuned)
	}
	if len(facts.Verification) != 1 || len(facts.Verification[0].Reverted) != len(result.Reverted) || !facts.Verification[0].Ended {
		t.Errorf("the report has %+v", facts.Verification)
	}
	if page := string(campaigntest.Read(t, filepath.Join(dir, export.ReportHTML))); !strings.Contains(page, "Reverted to the default<") {
		t.Error("the page does not say what was put back")
	}
}

// Models are trained when a proof is made and not again, the files of a library are
// written once for each pass, and say at the end that they are verified.
func TestWork(t *testing.T) {
	dir := made(t, campaigntest.MadeOpenMPI)
	rules := filepath.Join(dir, "openmpi.rules")
	var seen []uint64 // inodes of the rules, one after another; a file that is written is another one
	look := func() {
		info, err := os.Stat(rules)
		if err != nil {
			t.Fatal(err)
		}
		if inode := info.Sys().(*syscall.Stat_t).Ino; len(seen) == 0 || seen[len(seen)-1] != inode {
			seen = append(seen, inode)
		}
	}
	o := opened(t, dir)
	p, err := verification.New(t.Context(), o.campaign, o.journal, o.state, verification.Options{Rules: quick(), Observe: func(verify.Event) { look() }})
	if err != nil {
		t.Fatal(err)
	}
	o.campaign.Spec.Learner.Scaling = "none" // no model can be trained from now on
	result, err := p.Verify(t.Context(), o.campaign.Config.Libraries[0])
	if err != nil {
		t.Fatal(err)
	}
	if result.Passes < 2 || len(seen) != result.Passes {
		t.Errorf("the rules were written %d times in %d passes", len(seen), result.Passes)
	}
	settings := filepath.Join(dir, "openmpi.env")
	before := campaigntest.Read(t, settings)
	facts, err := p.Write(by)
	if err != nil {
		t.Fatal(err)
	}
	after := campaigntest.Read(t, settings)
	if !bytes.Contains(before, []byte("# Not verified:")) || bytes.Contains(after, []byte("# Not verified:")) || facts.Unverified() != "" {
		t.Errorf("the settings do not go from unverified to verified: %s\n%s\nreport: %q", before, after, facts.Unverified())
	}
}

// Where both ways of a point are the same algorithm they have noise of their own.
func TestNoiseOfBothWays(t *testing.T) {
	result, _ := proved(t, made(t, campaigntest.MadeOpenMPI), verification.Options{Rules: quick()})
	controls := 0
	for _, p := range result.Points {
		if !p.Choice.IsDefault() {
			continue
		}
		controls++
		if p.Ratio.Low == p.Ratio.High || p.Ratio.Value < 0.97 || p.Ratio.Value > 1.03 {
			t.Errorf("%v: ratio %+v of the default to itself, want the noise of 1 %%", p.Point, p.Ratio)
		}
	}
	if controls == 0 {
		t.Error("no point is left to the default")
	}
}

// TestGoesOn: cut anywhere, the journal of a proof leads to the same files.
func TestGoesOn(t *testing.T) {
	dir := made(t, campaigntest.MadeOpenMPI)
	before := bytes.Count(campaigntest.Read(t, filepath.Join(dir, journal.FileName)), []byte("\n"))
	proved(t, dir, verification.Options{Rules: quick()})
	lines := bytes.SplitAfter(campaigntest.Read(t, filepath.Join(dir, journal.FileName)), []byte("\n"))
	files := []string{export.SelectionCSV, export.ReportJSON, "openmpi.rules"}
	cuts := 8
	if testing.Short() {
		cuts = 2
	}
	for i := range cuts {
		at := before + 1 + i*(len(lines)-before-2)/cuts
		torn := slices.Concat(bytes.Join(lines[:at], nil), lines[at][:len(lines[at])/2])
		again := t.TempDir()
		if err := os.WriteFile(filepath.Join(again, journal.FileName), torn, 0o666); err != nil {
			t.Fatal(err)
		}
		proved(t, again, verification.Options{Rules: quick()})
		for _, name := range files {
			if !bytes.Equal(campaigntest.Read(t, filepath.Join(dir, name)), campaigntest.Read(t, filepath.Join(again, name))) {
				t.Errorf("cut after %d of %d lines: %s differs", at, len(lines), name)
			}
		}
	}
}

// A proof that has ended is told again and measures nothing, unless a new one is asked
// for.
func TestAgain(t *testing.T) {
	dir := made(t, campaigntest.MadeOpenMPI)
	first, _ := proved(t, dir, verification.Options{Rules: quick()})
	size := len(campaigntest.Read(t, filepath.Join(dir, journal.FileName)))
	told, _ := proved(t, dir, verification.Options{Rules: quick()})
	if told.Sessions != 1 || told.Trials != first.Trials || len(campaigntest.Read(t, filepath.Join(dir, journal.FileName))) != size {
		t.Errorf("told again: session %d, %d trials after %d", told.Sessions, told.Trials, first.Trials)
	}
	if anew, _ := proved(t, dir, verification.Options{Rules: quick(), Again: true}); anew.Sessions != 2 || !anew.Proved() {
		t.Errorf("asked for: session %d, proved %t", anew.Sessions, anew.Proved())
	}
}

// A budget that ends first leaves a proof that goes on.
func TestBudget(t *testing.T) {
	dir := made(t, campaigntest.MadeOpenMPI)
	o := opened(t, dir)
	_, result, err := o.prove(t.Context(), verification.Options{Rules: quick(), MachineTime: 1})
	if !errors.Is(err, verify.ErrBudget) || result.Ended || result.Trials == 0 {
		t.Fatalf("after %d trials, ended %t: %v, want %v", result.Trials, result.Ended, err, verify.ErrBudget)
	}
	if err := o.journal.Close(); err != nil {
		t.Fatal(err)
	}
	if more, _ := proved(t, dir, verification.Options{Rules: quick()}); !more.Proved() || more.Sessions != 1 || more.Trials <= result.Trials {
		t.Errorf("gone on with: proved %t, session %d, %d trials after %d", more.Proved(), more.Sessions, more.Trials, result.Trials)
	}
}

// A cancelled proof says so, with what it has.
func TestCancelled(t *testing.T) {
	o := opened(t, made(t, campaigntest.MadeOpenMPI))
	ctx, cancel := context.WithCancel(t.Context())
	_, result, err := o.prove(ctx, verification.Options{Rules: quick(), Observe: func(e verify.Event) {
		if e.Block == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || result.Trials == 0 || result.Ended {
		t.Errorf("after %d trials, ended %t: %v, want %v", result.Trials, result.Ended, err, context.Canceled)
	}
}

// What cannot be compared is told by its name.
func TestCannotBeProved(t *testing.T) {
	for _, tc := range []struct {
		name, dir string
		want      error
		text      string
	}{
		{"never measured", made(t, campaigntest.MadeIntel), verification.ErrRecordedOnly, "intel: "},
		{"no default", campaigntest.Run(t, campaigntest.Load(t, campaigntest.Small(t, t.TempDir()))), verification.ErrNoDefault, "mpich allreduce: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, result, err := opened(t, tc.dir).prove(t.Context(), verification.Options{Rules: quick()})
			if !errors.Is(err, tc.want) || !strings.HasPrefix(err.Error(), tc.text) || result.Ended {
				t.Errorf("ended %t: %v, want %s%v", result.Ended, err, tc.text, tc.want)
			}
		})
	}
}

// Without a measurement, with rules that cannot be and after entries of nobody nothing is
// measured.
func TestProofFaults(t *testing.T) {
	dir := made(t, campaigntest.MadeOpenMPI)
	o := opened(t, dir)
	if _, err := verification.New(t.Context(), o.campaign, o.journal, &journal.State{}, verification.Options{Rules: quick()}); !errors.Is(err, export.ErrNothing) {
		t.Errorf("before a measurement: %v, want %v", err, export.ErrNothing)
	}
	if _, _, err := o.prove(t.Context(), verification.Options{}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("without rules: %v, want an error that names %s", err, dir)
	}
	pass := []byte(`{"number":"x"}`)
	o.state.Add(journal.Record{Kind: journal.KindVerify, Verify: &journal.VerifyStep{Library: "openmpi", Session: 1, Pass: pass}})
	if _, _, err := o.prove(t.Context(), verification.Options{Rules: quick()}); !errors.Is(err, verify.ErrEntry) || !strings.Contains(err.Error(), "journal of "+dir) {
		t.Errorf("after entries of nobody: %v, want %v", err, verify.ErrEntry)
	}
}
