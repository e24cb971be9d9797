package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDamagedJournal damages one byte of a journal, so that its line is not valid JSON. Each command must
// report this line and leave the journal unchanged.
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
