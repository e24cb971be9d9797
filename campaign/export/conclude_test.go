package export_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/activelearn"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/selection"
	"tutti/verify"
)

// runMade runs a campaign on artificial data and returns its folder.
func runMade(t testing.TB, m campaigntest.Made, set ...string) string {
	t.Helper()
	return campaigntest.Run(t, campaigntest.Load(t, m.Put(t, t.TempDir()), set...))
}

// small runs the small campaign on recorded data and returns its folder.
func small(t testing.TB, set ...string) string {
	t.Helper()
	return campaigntest.Run(t, campaigntest.Load(t, campaigntest.Small(t, t.TempDir()), set...))
}

// train reads the campaign in a folder and trains its models.
func train(t testing.TB, dir string) (*assembly.Campaign, *export.FinalModels, *journal.State) {
	t.Helper()
	c, results, contents, err := assembly.RestoreAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	models := testutil.Must(export.Train(t.Context(), c, results))(t)
	return c, models, contents.State()
}

func conclude(t testing.TB, m *export.FinalModels, state *journal.State) *export.FinalSelections {
	t.Helper()
	return testutil.Must(m.Conclude(state))(t)
}

// concluded returns the campaign of a folder and its conclusions.
func concluded(t testing.TB, dir string) (*assembly.Campaign, *export.FinalSelections) {
	t.Helper()
	c, models, state := train(t, dir)
	return c, conclude(t, models, state)
}

// addOutcome adds the records of one verification pass and its outcome to a state. A pass is one comparison
// of all files with the defaults.
func addOutcome(t *testing.T, state *journal.State, library string, v verify.PassOutcome) {
	t.Helper()
	for _, e := range []verify.Entry{{Pass: &verify.Pass{Number: 1, FirstRound: 1, Rules: verify.DefaultRules()}}, {Outcome: &v}} {
		e.Library, e.Session = library, 1
		r := testutil.Must(e.Record())(t)
		state.Add(r)
	}
}

// TestTrainWithoutMeasurements checks that training without measurements returns ErrNothing, with the
// number of failed trials.
func TestTrainWithoutMeasurements(t *testing.T) {
	c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()))
	results := testutil.Must(c.Results(&journal.State{}))(t)
	if _, err := export.Train(t.Context(), c, results); err != export.ErrNothing {
		t.Errorf("before a measurement: %v, want %v", err, export.ErrNothing)
	}

	results[0].Stop = activelearn.TimeUp
	if _, err := export.Train(t.Context(), c, results); !errors.Is(err, export.ErrNothing) || !strings.Contains(err.Error(), "stop.wall_time ended learning") {
		t.Errorf("after the wall time: %v, want %v and the limit", err, export.ErrNothing)
	}

	c, results, _, err := assembly.RestoreAll(small(t, "runner.failures=1"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = export.Train(t.Context(), c, results)
	if !errors.Is(err, export.ErrNothing) || !strings.Contains(err.Error(), " trials failed; allreduce ") || !strings.HasSuffix(err.Error(), "simulated failure") {
		t.Errorf("all trials failed: %v, want %v, the number of failed trials and a cause", err, export.ErrNothing)
	}
}

// TestConcludeWithoutMeasurements checks that conclusions leave out a library without measurements.
func TestConcludeWithoutMeasurements(t *testing.T) {
	c, results, contents, err := assembly.RestoreAll(small(t))
	if err != nil {
		t.Fatal(err)
	}
	none := testutil.Must(c.Results(&journal.State{}))(t)
	results[0] = none[0]
	models := testutil.Must(export.Train(t.Context(), c, results))(t)
	conclusions := conclude(t, models, contents.State())
	if len(conclusions.Problems) != 1 || conclusions.Problems[0].Library != "openmpi" {
		t.Errorf("concluded %d problems, want only that of openmpi", len(conclusions.Problems))
	}
	facts := testutil.Must(conclusions.Write(t.Context(), t.TempDir(), export.Program{}))(t)
	if want := "mpich allreduce: nothing was measured, so the library decides"; !slices.Contains(facts.Warnings, want) {
		t.Errorf("warnings %q, want %q", facts.Warnings, want)
	}
}

func TestTrainCancelled(t *testing.T) {
	c, results, _, err := assembly.RestoreAll(small(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := export.Train(ctx, c, results); !errors.Is(err, context.Canceled) {
		t.Errorf("Train: %v, want %v", err, context.Canceled)
	}
}

// TestConcludeReverted checks that a point at which a verification found the selection slower gets the
// library's default. Nearly all other points must keep their algorithms.
func TestConcludeReverted(t *testing.T) {
	_, models, state := train(t, runMade(t, campaigntest.MadeOpenMPI))
	before := conclude(t, models, state).Problems[0]
	at := slices.IndexFunc(before.Rows, func(r selection.Row) bool { return !before.Selection.Choose(r.Point).IsDefault() })
	spot := verify.TestPoint{Point: before.Rows[at].Point, Choice: before.Selection.Choose(before.Rows[at].Point), Kind: verify.OnGrid}
	addOutcome(t, state, "openmpi", verify.PassOutcome{Number: 1, Reverted: []verify.Finding{{TestPoint: spot, Reason: verify.Slower}}})

	choose := conclude(t, models, state).Targets[0].Problems()[0].Selection.Choose
	changed := 0
	for _, r := range before.Rows {
		was, is := before.Selection.Choose(r.Point), choose(r.Point)
		if r.Point == spot.Point && !is.IsDefault() {
			t.Errorf("%v was reverted and has %v", r.Point, is)
		}
		if was != is {
			changed++
		}
	}
	if changed == 0 || changed > 3 { // a rule may also apply to neighboring points
		t.Errorf("%d points changed, want the reverted point and few others", changed)
	}
}

// TestConcludeRevertedCollective checks that a collective that was reverted as a whole has no rules.
func TestConcludeRevertedCollective(t *testing.T) {
	_, models, state := train(t, runMade(t, campaigntest.MadeOpenMPI))
	addOutcome(t, state, "openmpi", verify.PassOutcome{Number: 1, RevertedCollectives: []coll.Collective{coll.Bcast}, End: true})
	conclusions := conclude(t, models, state)
	for _, r := range conclusions.Problems[0].Rows {
		if alg := conclusions.Problems[0].Selection.Choose(r.Point); !alg.IsDefault() {
			t.Errorf("%v has %v", r.Point, alg)
		}
	}
	x := testutil.Must(conclusions.Targets[0].Write(t.Context(), t.TempDir()))(t)
	for _, f := range x.Files {
		if filepath.Ext(f.Name) == ".rules" && strings.Contains(string(f.Content), "bcast") {
			t.Errorf("%s:\n%s", f.Name, f.Content)
		}
	}
}

// TestConcludeFault checks a campaign for reduce and bcast whose selection for reduce cannot be expressed by the library's
// files. Reduce must keep the default, with a warning that states the reason. The selection for bcast must be exported, also for
// another release.
func TestConcludeFault(t *testing.T) {
	dir := t.TempDir()
	file, path := campaigntest.MadeOpenMPI.Put(t, dir), filepath.Join(dir, "in.csv")
	text := string(testutil.Must(os.ReadFile(path))(t))
	_, rows, _ := strings.Cut(text, "\n")
	text += strings.NewReplacer("bcast,", "reduce,", "binomial", "chain(segsize=many)").Replace(rows)
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	conclusions, others := targets(t, campaigntest.Run(t, campaigntest.Load(t, file, "collectives=bcast,reduce", "export.op_safe=false")), "openmpi=5.0.8")
	facts := testutil.Must(conclusions.Write(t.Context(), dir, by))(t)
	const reason = "openmpi reduce: the default remains, because the selection cannot be exported: openmpi reduce chain(segsize=many): parameter segsize: want a whole number, zero or more"
	if !slices.Contains(facts.Warnings, reason) {
		t.Errorf("warnings %q, want %q", facts.Warnings, reason)
	}
	rules := string(testutil.Must(os.ReadFile(filepath.Join(dir, "openmpi.rules")))(t))
	other := testutil.Must(others[0].Write(t.Context(), t.TempDir()))(t)
	if got := string(other.Loaded(coll.Layout{}, "OMPI_MCA_coll_tuned_dynamic_rules_filename")); !strings.HasSuffix(rules, got) || !slices.Equal(others[0].Warnings, []string{reason}) {
		t.Errorf("openmpi 5.0.8: warnings %q, want %q; rules:\n%s\nwant\n%s", others[0].Warnings, reason, got, rules)
	}
	for _, p := range conclusions.Problems {
		exported := slices.ContainsFunc(p.Rows, func(r selection.Row) bool { return !p.Selection.Choose(r.Point).IsDefault() })
		if want := p.Problem.Collective == coll.Bcast; exported != want || strings.Contains(rules, string(p.Problem.Collective)) != want {
			t.Errorf("%s has algorithms: %t, want %t; rules:\n%s", p.Problem, exported, want, rules)
		}
	}
}

// TestConcludeForeignEntries checks that Conclude returns an error for journal entries that no verification
// can have written.
func TestConcludeForeignEntries(t *testing.T) {
	_, models, state := train(t, runMade(t, campaigntest.MadeOpenMPI))
	addOutcome(t, state, "openmpi", verify.PassOutcome{})
	state.Add(journal.Record{Verify: &journal.VerifyStep{Library: "openmpi", Outcome: []byte(`{"number":"x"}`)}})
	if _, err := models.Conclude(state); !errors.Is(err, verify.ErrEntry) {
		t.Errorf("Conclude: %v, want %v", err, verify.ErrEntry)
	}
}

// TestAlgorithmGone checks a journal with an algorithm that is missing in the catalogue. The cost of its
// trials must count, and the algorithm must not be selected.
func TestAlgorithmGone(t *testing.T) {
	dir := runMade(t, campaigntest.MadeMPICH)
	path := filepath.Join(dir, "journal.jsonl")
	text := strings.ReplaceAll(string(testutil.Must(os.ReadFile(path))(t)), `"binomial"`, `"tree(k=2)"`)
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	_, conclusions := concluded(t, dir)
	p := conclusions.Problems[0]
	if !slices.ContainsFunc(p.Result.Ledger.Measurements(), func(m coll.Measurement) bool { return m.Algorithm.Name == "tree" }) {
		t.Error("the journal has no trial of tree")
	}
	for _, r := range p.Rows {
		if alg := p.Selection.Choose(r.Point); alg.Name == "tree" {
			t.Errorf("%v: %v is selected", r.Point, alg)
		}
	}
	if _, err := conclusions.Write(t.Context(), dir, by); err != nil {
		t.Error(err)
	}
}
