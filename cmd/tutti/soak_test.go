package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// soakKills returns how often the soak test kills tutti. The environment variable SOAK overrides the
// number, for example SOAK=300.
func soakKills(t *testing.T) int {
	t.Helper()
	switch s := os.Getenv("SOAK"); {
	case s != "":
		n, err := strconv.Atoi(s)
		if err != nil || n < 2 {
			t.Fatalf("SOAK=%q: want a number of kills, 2 or more", s)
		}
		return n
	case testing.Short() || !testutil.AllCases():
		return 4
	}
	return 20
}

// TestSoak kills tutti repeatedly at random times, in campaigns on recorded data and with local jobs. It
// checks that the resumed campaigns write the same results as undisturbed ones.
func TestSoak(t *testing.T) {
	testutil.NeedAllCases(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	kills := soakKills(t)
	t.Run("replay", func(t *testing.T) { soakReplay(t, rng, kills/2) })
	t.Run("local", func(t *testing.T) { soakLocal(t, rng, kills-kills/2) })
}

func soakReplay(t *testing.T, rng *rand.Rand, kills int) {
	want := reference(t)
	facts := trialsOf(t, want)
	total := journalLines(t, want)
	killed, campaigns := 0, 0
	for ; killed < kills; campaigns++ {
		dir := t.TempDir()
		campaigntest.Small(t, dir)
		const lives = 10
		for life := 0; life < lives && killed < kills; life++ {
			// tutti is killed when the journal has reached one of several evenly spaced lengths. The last
			// kills happen while results are written.
			delay := time.Duration(rng.IntN(40_000)) * time.Microsecond
			if endsKilled(t, dir, total*life/(lives-3), delay) {
				killed++
			}
		}
		last, output := process(t, dir, startOrResume(t, dir)...)
		if code := codeOfProcess(t, last.Wait()); code != codeDone {
			t.Fatalf("exit code %d after the kills\n%s", code, output)
		}
		compareFinal(t, want, filepath.Join(dir, "out"))
		if _, err := os.Stat(filepath.Join(dir, "out", "journal.lock")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the lock is still there: %v", err)
		}
		if diff := cmp.Diff(facts, trialsOf(t, filepath.Join(dir, "out"))); diff != "" {
			t.Fatalf("campaign %d, after %d kills (-undisturbed +killed):\n%s", campaigns+1, killed, diff)
		}
	}
	fmt.Printf("soak: replay: %d kills in %d campaigns of %d trials: nothing lost, nothing doubled, same files\n", killed, campaigns, len(facts))
}

// trialsOf returns the trials of a journal, each with its problem and round. They are sorted, because
// problems run in parallel.
func trialsOf(t *testing.T, out string) []string {
	t.Helper()
	var trials []string
	for _, r := range recordsOf(t, out) {
		if r.Kind == journal.KindTrial {
			trials = append(trials, fmt.Sprintf("%s: %+v", roundOf(r), *r.Trial))
		}
	}
	slices.Sort(trials)
	return trials
}

func soakLocal(t *testing.T, rng *rand.Rand, kills int) {
	want := soakedCampaign(t, nil, new(int))
	killed, campaigns := 0, 0
	for left := kills; left > 0; campaigns++ {
		got := soakedCampaign(t, rng, &left)
		killed = kills - left
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("campaign %d, after %d kills (-undisturbed +killed):\n%s", campaigns+1, killed, diff)
		}
	}
	fmt.Printf("soak: local: %d kills in %d campaigns of %d trials: nothing lost, nothing doubled, same facts\n", killed, campaigns, len(want))
}

// soakedCampaign runs a campaign with fake benchmarks, kills it repeatedly, and resumes it until it is
// complete. It decreases *kills by the number of times that it killed tutti. It returns the sorted trials of
// the campaign.
func soakedCampaign(t *testing.T, rng *rand.Rand, kills *int) []string {
	t.Helper()
	dir := t.TempDir()
	campaigntest.Fake(t, dir, "local")
	out := filepath.Join(dir, "out")
	for {
		life := time.Hour
		if *kills > 0 {
			// Most processes run for as long as a few jobs need, some for a much shorter time.
			life = time.Duration(5+rng.ExpFloat64()*400) * time.Millisecond
		}
		cmd, output := process(t, dir, startOrResume(t, dir)...)
		began := time.Now()
		switch code := endWhen(t, cmd, syscall.SIGKILL, func() bool { return time.Since(began) >= life }); code {
		case -1:
			*kills--
			continue
		case codeDone: // all measurements are done
		default:
			t.Fatalf("exit code %d\n%s", code, output)
		}
		l := checkJournal(t, out)
		l.checkLedger(t, dir, false)
		waitUntilIdle(t, dir)
		to := filepath.Join(dir, "tables")
		mustTutti(t, codeDone, "export", out, "--only", "measurements", "--out", to)
		if rows := strings.Count(string(readFile(t, filepath.Join(to, "measurements-openmpi.csv"))), "\n") - 1; rows != l.measured() {
			t.Errorf("%d measurements exported, want %d", rows, l.measured())
		}
		return l.facts()
	}
}
