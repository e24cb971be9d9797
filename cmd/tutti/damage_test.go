package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// TestDamagedJournal replaces one byte of the journal by a byte that is invalid in JSON. It checks that
// each command reports the line with that byte and leaves the journal unchanged.
func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	journal := readFile(t, filepath.Join(reference(t), "journal.jsonl"))
	rng := rand.New(rand.NewPCG(1, 4))
	for range cases(30, 150) {
		at := rng.IntN(len(journal) - 1) // without the last line end, whose loss is not damage
		bad := slices.Clone(journal)
		bad[at] = 0
		line := 1 + bytes.Count(journal[:at], []byte("\n"))
		out := newJournalFolder(t, bad)
		for _, verb := range []string{"status", "report", "resume", "export", "verify"} {
			_, stderr := mustTutti(t, codeInput, verb, out)
			if place := fmt.Sprintf("journal.jsonl:%d: ", line); !strings.Contains(stderr, place) {
				t.Fatalf("tutti %s with byte %d damaged: stderr lacks %q: %s", verb, at, place, stderr)
			}
		}
		if !bytes.Equal(bad, readFile(t, filepath.Join(out, "journal.jsonl"))) {
			t.Fatalf("byte %d damaged: the journal has been changed", at)
		}
	}
}

// TestUnreadableJournal checks that every command refuses a journal that the system cannot open. Here it is a
// link to itself.
func TestUnreadableJournal(t *testing.T) {
	out := t.TempDir()
	testutil.NoError(t, os.Symlink("journal.jsonl", filepath.Join(out, "journal.jsonl")))
	for _, verb := range []string{"status", "report", "resume", "export", "verify", "cancel"} {
		_, stderr := mustTutti(t, codeInput, verb, out)
		if !strings.Contains(stderr, "the journal cannot be read: open "+out) {
			t.Errorf("tutti %s: %s", verb, stderr)
		}
	}
}

// TestChangedJournal changes bits, bytes, words and lines of the journal at random; the journal may then
// still be valid. It checks that each command accepts or refuses the journal, and never crashes.
func TestChangedJournal(t *testing.T) {
	t.Parallel()
	journal := readFile(t, filepath.Join(reference(t), "journal.jsonl"))
	refused := 0
	rounds := cases(10, 25)
	for seed := range rounds {
		changed, how := campaigntest.Change(journal, rand.New(rand.NewPCG(uint64(seed), 11)))
		out := newJournalFolder(t, changed)
		for _, verb := range []string{"status", "report", "resume"} {
			code, _, stderr := tutti(verb, out)
			if !slices.Contains([]exitCode{codeDone, codeInput, codeNotConverged}, code) {
				t.Errorf("seed %d, %s: tutti %s: exit code %d\n%s", seed, how, verb, code, stderr)
			}
			if code == codeInput {
				refused++
				if !strings.Contains(stderr, out) {
					t.Errorf("seed %d, %s: tutti %s: stderr does not name the campaign: %s", seed, how, verb, stderr)
				}
				break
			}
		}
	}
	if refused < rounds/2 {
		t.Errorf("%d of %d changed journals were refused, want at least half", refused, rounds)
	}
}
