package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lab"
	"tutti/internal/testutil"
)

// twoStrategies returns outcomes of two strategies on the data sets easy and hard, with two seeds each. No strategy
// converges on hard.
func twoStrategies() []lab.Outcome {
	var out []lab.Outcome
	shares := map[string][2]float64{"regret": {0.01, 0.03}, "random": {0.2, 0.4}}
	for _, data := range []string{"easy", "hard"} {
		for _, strategy := range []string{"random", "regret"} {
			for i, share := range shares[strategy] {
				out = append(out, lab.Outcome{
					Replay:    lab.Replay{Data: data, Collective: "bcast", Strategy: strategy, Launch: "none", Seed: uint64(i + 1)},
					Converged: data == "easy" && (strategy != "random" || i == 0), MachineShare: share,
				})
			}
		}
	}
	return out
}

func TestVersus(t *testing.T) {
	v := testutil.Must(lab.NewVersus("regret", twoStrategies()))(t)
	near := func(name string, got, want float64) {
		t.Helper()
		if got < want*0.999999 || got > want*1.000001 {
			t.Errorf("%s = %g, want %g", name, got, want)
		}
	}
	easy, hard, all := v.Rows[0], v.Rows[1], v.Means[len(v.Means)-1]
	near("median", easy.Share["regret"], 0.02)
	near("a seed that never converges is the whole", easy.Share["random"], 0.6)
	near("ratio", easy.Ratio["random"], 0.02/0.6)
	near("best of the others", easy.Best, 0.02/0.6)
	if easy.Never["random"] != 1 || easy.Never["regret"] != 0 || !easy.Converges || hard.Converges || all.Rows != 1 {
		t.Errorf("rows %+v, %+v; mean %+v", easy, hard, all)
	}
	near("mean of what converges", all.Best, 0.02/0.6)
	near("lower end: the second seed alone", all.Interval["random"].Low, 0.03)
	near("upper end: the first seed alone", all.Interval["random"].High, 0.01/0.2)
	var text bytes.Buffer
	testutil.NoError(t, v.WriteText(&text))
	testutil.CheckGolden(t, "versus.golden", text.Bytes())
	if _, err := json.Marshal(v); err != nil {
		t.Error(err)
	}
}

func TestVersusRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct {
		name     string
		outcomes []lab.Outcome
	}{
		{"one strategy", twoStrategies()[2:4]},
		{"a missing seed", twoStrategies()[1:]},
		{"a strategy is missing on a set", slices.Concat(twoStrategies()[:4], twoStrategies()[6:])},
	} {
		_, err := lab.NewVersus("regret", tc.outcomes)
		golden(tc.name, err)
	}
}

// TestRepricedReplays checks outcomes that were computed from a replay with another cost of launches. They
// must equal those of a replay with the right cost.
func TestRepricedReplays(t *testing.T) {
	launches := testutil.Must(lab.ParseLaunches("none, candidate,osu,native", 0.5))(t)
	s := set(t, "one", coll.Bcast)
	opt := options()
	strategies := []string{"random", "uncertainty", "trees", "regret"}
	all := testutil.Must(lab.Compare(context.Background(), lab.Design{Sets: []lab.Set{s}, Strategies: strategies, Seeds: lab.Seeds(1, 1)}, launches, opt, nil, nil))(t)
	var alone []lab.Outcome
	for _, strategy := range strategies {
		for _, launch := range launches {
			opt.Launch = launch
			o := replay(t, s, strategy, 1, opt)
			if o.Launch != lab.LaunchName(launch) {
				t.Errorf("launch %q, want %q", o.Launch, lab.LaunchName(launch))
			}
			alone = append(alone, o)
		}
	}
	if diff := cmp.Diff(lines(t, alone), lines(t, all)); diff != "" {
		t.Error(diff)
	}
	if all[0].MachineSeconds >= all[1].MachineSeconds || all[3].MachineSeconds > all[1].MachineSeconds {
		t.Errorf("machine seconds %g free, %g with a launch for each candidate, %g for each layout",
			all[0].MachineSeconds, all[1].MachineSeconds, all[3].MachineSeconds)
	}
}

func TestParseLaunches(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct {
		list    string
		seconds float64
	}{
		{"", 1},
		{"mpirun", 1},
		{"osu,osu", 1},
		{"native", 0},
	} {
		_, err := lab.ParseLaunches(tc.list, tc.seconds)
		golden(fmt.Sprintf("%q of %g s", tc.list, tc.seconds), err)
	}
}

// withoutOptions replaces the options in the message of err.
func withoutOptions(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(regexp.MustCompile(`\{.*\}`).ReplaceAllString(err.Error(), "{...}"))
}

// TestKeepContinues checks that a run continues from a file whose last line is incomplete. Its outcomes
// must equal those of an uninterrupted run.
func TestKeepContinues(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	path := filepath.Join(t.TempDir(), "kept.jsonl")
	p := lab.Design{Sets: []lab.Set{set(t, "one", coll.Bcast)}, Strategies: []string{"random", "uncertainty"}, Seeds: lab.Seeds(1, 2)}
	opt := options()
	launches := []benchrunner.LaunchCost{opt.Launch, {Model: benchrunner.LaunchOSU, Seconds: 1}}
	compare := func() (all []lab.Outcome, fresh int) {
		t.Helper()
		file := testutil.Must(lab.OpenOutcomes(path, opt, 1))(t)
		all = testutil.Must(lab.Compare(context.Background(), p, launches, opt, file, func(lab.Outcome) { fresh++ }))(t)
		return all, fresh
	}
	first, fresh := compare()
	if fresh != 8 || len(first) != 8 {
		t.Fatalf("%d of %d are fresh, want 8", fresh, len(first))
	}
	whole := testutil.Must(os.ReadFile(path))(t)
	cut := bytes.Split(whole, []byte("\n"))
	interrupted := append(bytes.Join(cut[:6], []byte("\n")), "\n{\"data\":"...) // five outcomes and a part
	testutil.NoError(t, os.WriteFile(path, interrupted, 0o666))
	second, fresh := compare()
	if diff := cmp.Diff(lines(t, first), lines(t, second)); fresh != 3 || diff != "" {
		t.Errorf("%d fresh, want 3; %s", fresh, diff)
	}
	opt.Noise = 0.1
	_, err := lab.OpenOutcomes(path, opt, 1)
	golden("with other noise", withoutOptions(err))
	testutil.NoError(t, os.WriteFile(path, append(whole, "{]\n"...), 0o666))
	opt.Noise = options().Noise
	_, err = lab.OpenOutcomes(path, opt, 1)
	golden("a line that is no outcome", err)
}

// TestKeepRefuses checks that a file with other content or from other options leads to an error and is not
// changed.
func TestKeepRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	opt := options()
	dir := t.TempDir()
	own := filepath.Join(dir, "own.jsonl")
	testutil.Must(lab.OpenOutcomes(own, opt, 1))(t)
	outcomes := testutil.Must(os.ReadFile(own))(t)
	selected := opt
	selected.Selected = true
	for _, tc := range []struct {
		name, content string
		opt           lab.Options
	}{
		{"one line without its end", "notes of mine", opt},
		{"lines of something else", "a,b\n1,2\n", opt},
		{"an object of something else", "{\"noise\":0.02}\n", opt},
		{"outcomes", string(outcomes), opt},
		{"other options", strings.Replace(string(outcomes), `"outcomes"`, `"calibrations"`, 1), selected},
	} {
		path := filepath.Join(dir, "other.jsonl")
		testutil.NoError(t, os.WriteFile(path, []byte(tc.content), 0o666))
		_, err := lab.OpenCalibrations(path, tc.opt, 1)
		golden(tc.name, withoutOptions(err))
		content := testutil.Must(os.ReadFile(path))(t)
		if string(content) != tc.content {
			t.Errorf("%s: the file holds %q afterwards, %q before", tc.name, content, tc.content)
		}
	}
	// This file is from a run that was interrupted while it wrote the header.
	testutil.NoError(t, os.WriteFile(own, outcomes[:20], 0o666))
	testutil.Must(lab.OpenOutcomes(own, opt, 1))(t)
	if again, err := os.ReadFile(own); err != nil || !bytes.Equal(again, outcomes) {
		t.Errorf("after an incomplete header the file holds %q, %v", again, err)
	}
}

// TestVersusOfOwnStop checks the comparison of "own-stop", which is the strategy "regret" that stops by its own
// predictions. It must be compared with a published strategy and not with "regret".
func TestVersusOfOwnStop(t *testing.T) {
	var all []lab.Outcome
	for strategy, share := range map[string]float64{"own-stop": 0.06, "regret": 0.05, "fact": 0.5} {
		for _, data := range []string{"lab", "model"} {
			all = append(all, lab.Outcome{
				Replay: lab.Replay{Data: data, Collective: "bcast", Strategy: strategy, Launch: "none", Seed: 1}, Real: data == "lab", Converged: true, MachineShare: share,
			})
		}
	}
	v := testutil.Must(lab.NewVersus("own-stop", all))(t)
	if got := v.Rows[0].Best; got < 0.1199 || got > 0.1201 {
		t.Errorf("own-stop takes %g of the best other strategy, want 0.12", got)
	}
	var names []string
	for _, m := range v.Means {
		names = append(names, m.Launch)
		if m.Launch != "all" && m.Launch != "none" && m.Rows != 1 {
			t.Errorf("%s: %d rows, want 1", m.Launch, m.Rows)
		}
	}
	if want := "none real simulated all"; strings.Join(names, " ") != want {
		t.Errorf("means of %v, want %s", names, want)
	}
}
