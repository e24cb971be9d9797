package assembly_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// outcome is what a run makes of one problem.
type outcome struct {
	Stop         activelearn.StopReason
	Rounds       int
	Evaluations  []activelearn.Evaluation
	Measurements []coll.Measurement
}

func outcomes(results []campaign.Result) []outcome {
	var out []outcome
	for _, r := range results {
		out = append(out, outcome{r.Stop, r.Rounds, r.Evaluations, r.Ledger.Measurements()})
	}
	return out
}

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// The number of problems side by side changes nothing.
func TestWorkersDoNotChangeResults(t *testing.T) {
	var want []outcome
	for _, workers := range []string{"1", "2", "7"} {
		_, results := campaigntest.Reread(t, ran(t, "workers="+workers))
		if want == nil {
			want = outcomes(results)
		}
		if diff := cmp.Diff(want, outcomes(results), equalAlgorithms); diff != "" {
			t.Errorf("%s workers (-1 worker +%[1]s workers):\n%s", workers, diff)
		}
	}
}

func TestWorkers(t *testing.T) {
	recorded := campaigntest.Small(t, t.TempDir())
	local := campaigntest.Fake(t, t.TempDir(), "local")
	slurm := campaigntest.Fake(t, t.TempDir(), "slurm")
	for _, tc := range []struct {
		file string
		set  []string
		want int
	}{
		{recorded, nil, runtime.GOMAXPROCS(0)},
		{recorded, []string{"workers=7"}, 7},
		{slurm, []string{"workers=7"}, 7},
		{local, []string{"workers=7"}, 1}, // tutti would compute where it measures
		{local, []string{"workers=7", "runner.kind=allocation"}, 1},
	} {
		if got := campaigntest.New(t, tc.file, tc.set...).Workers(); got != tc.want {
			t.Errorf("%s %v: %d workers, want %d", filepath.Base(tc.file), tc.set, got, tc.want)
		}
	}
}

// Side by side the largest space begins first; one after another the order of the libraries stays.
func TestStarts(t *testing.T) {
	for _, tc := range []struct {
		workers string
		want    []int
	}{{"1", []int{0, 1}}, {"2", []int{1, 0}}} {
		c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()), "workers="+tc.workers)
		if one, other := c.Problems[0].Space.Size(), c.Problems[1].Space.Size(); one >= other {
			t.Fatalf("%d and %d candidates: want the second space to be larger", one, other)
		}
		if got := c.Starts(); !slices.Equal(got, tc.want) {
			t.Errorf("%s workers: order %v, want %v", tc.workers, got, tc.want)
		}
	}
}

// A folder that was moved is the campaign's folder where it is now.
func TestRecallMoved(t *testing.T) {
	dir := ran(t)
	_, want := campaigntest.Reread(t, dir)
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	c, got := campaigntest.Reread(t, moved)
	if c.Config.Output != moved {
		t.Errorf("the folder is %s, want %s", c.Config.Output, moved)
	}
	if diff := cmp.Diff(outcomes(want), outcomes(got), equalAlgorithms); diff != "" {
		t.Errorf("results (-before +after):\n%s", diff)
	}
}

// What a journal describes and nobody can make is told with its folder.
func TestRecallFaults(t *testing.T) {
	dir := ran(t)
	for _, tc := range []struct{ name, old, new, want string }{
		{"a key of a newer tutti", `"workers":`, `"weavers":`, "journal of " + dir + `: .*unknown field "weavers"`},
		{"data that are gone", "C_allreduce.csv", "C_gone.csv", "journal of " + dir + ": .*C_gone.csv"},
		{"a release that is gone", "4.1.4", "9.9.9", "campaign of " + dir + ": .*9.9.9"},
		{"no such criterion", `"criterion":"`, `"criterion":"x`, "campaign of " + dir + ": model.criterion: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			contents, err := journal.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			contents.Header.Spec = json.RawMessage(strings.Replace(string(contents.Header.Spec), tc.old, tc.new, 1))
			_, err = assembly.Restore(contents, dir)
			if !errors.Is(err, assembly.ErrInput) || !matches(tc.want, err.Error()) {
				t.Errorf("Recall: %v, want bad input like %q", err, tc.want)
			}
		})
	}
	none := filepath.Join(dir, "none")
	if _, _, _, err := assembly.Reread(none); !errors.Is(err, assembly.ErrInput) || !strings.Contains(err.Error(), "no journal in "+none) {
		t.Errorf("Reread: %v, want no journal in %s", err, none)
	}
}

// failing is a log that takes so many records.
type failing struct{ left int }

var errFull = errors.New("log is full")

func (l *failing) Append(recs ...journal.Record) error {
	if l.left -= len(recs); l.left < 0 {
		return errFull
	}
	return nil
}

// The first error ends the other problems, too, and a cancelled run says that it is.
func TestRunEnds(t *testing.T) {
	c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()), "workers=1")
	if results, err := c.Run(t.Context(), &journal.State{}, &failing{left: 5}, nil); !errors.Is(err, errFull) || results[1].Rounds > 0 {
		t.Errorf("Run: %v after %d rounds of the second problem, want %v before it", err, results[1].Rounds, errFull)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Run(ctx, &journal.State{}, nil, func(campaign.Event) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v, want %v", err, context.Canceled)
	}
}

// Records that the campaign cannot have written are told with the folder of the journal.
func TestResultsOfForeignRecords(t *testing.T) {
	c, _ := campaigntest.Reread(t, ran(t))
	contents, err := journal.Read(c.Config.Output)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(contents.Records, func(r journal.Record) bool { return r.Kind == journal.KindTrial })
	contents.Records[at].Trial.Nodes = 31
	_, err = c.Results(contents.State())
	if !errors.Is(err, assembly.ErrInput) || !errors.Is(err, campaign.ErrLog) || !strings.Contains(err.Error(), "journal of "+c.Config.Output) {
		t.Errorf("Results: %v, want bad input that names the journal", err)
	}
}

// A problem finds its library, whichever stands first.
func TestLibraryOf(t *testing.T) {
	c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()))
	for i, want := range []config.Library{c.Config.Libraries[0], c.Config.Libraries[1]} {
		if got := c.LibraryOf(c.Problems[i]); got.Name != want.Name || got.Version != want.Version {
			t.Errorf("%s is for %s %s, want %s %s", c.Problems[i].Problem, got.Name, got.Version, want.Name, want.Version)
		}
	}
}

// TestChangedJournal changes a journal at random, which may leave it readable. It is
// refused by its folder, or taken for what it says: then the campaign goes on from it
// to an end of its own.
func TestChangedJournal(t *testing.T) {
	jnl := campaigntest.Read(t, filepath.Join(ran(t), journal.FileName))
	refused, rounds := 0, 100
	if testing.Short() {
		rounds = 10
	}
	for seed := range rounds {
		changed, how := campaigntest.Change(jnl, rand.New(rand.NewPCG(uint64(seed), 11)))
		dir := t.TempDir()
		write(t, dir, map[string]string{journal.FileName: string(changed)})
		err := goOn(t.Context(), dir)
		if err == nil {
			continue
		}
		refused++
		if !errors.Is(err, assembly.ErrInput) && !errors.Is(err, campaign.ErrLog) {
			t.Errorf("seed %d, %s: %v", seed, how, err)
		}
		if errors.Is(err, assembly.ErrInput) && !strings.Contains(err.Error(), dir) {
			t.Errorf("seed %d, %s: the error does not name the campaign: %v", seed, how, err)
		}
	}
	if refused < rounds/2 {
		t.Errorf("%d of %d changed journals were refused, want at least half", refused, rounds)
	}
}

// goOn goes on with the campaign of a folder and keeps nothing of it.
func goOn(ctx context.Context, dir string) error {
	c, _, contents, err := assembly.Reread(dir)
	if err != nil {
		return err
	}
	_, err = c.Run(ctx, contents.State(), nil, nil)
	return err
}
