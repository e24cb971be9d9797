package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"tutti/internal/infile"
	"tutti/journal"
)

// TestDigest checks that the digest depends on what was recorded, and not on times, resumes and the order of records.
func TestDigest(t *testing.T) {
	stop := func(collective, reason string, at time.Time) journal.Record {
		r := journal.Record{Kind: journal.KindStop, Time: at, Stop: reason}
		r.Problem.Library, r.Problem.Collective = "mpich", "bcast"
		if collective == "reduce" {
			r.Problem.Collective = "reduce"
		}
		return r
	}
	early, late := time.Unix(1, 0), time.Unix(2, 5)
	digest := func(records ...journal.Record) string {
		dir := t.TempDir()
		j, err := journal.Create(dir, journal.Header{Campaign: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Append(records...); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, journal.FileName))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, journal.FileName), append(text, "torn"...), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := journal.Digest(dir)
		if err != nil || len(got) != 64 {
			t.Fatalf("digest %q, error %v", got, err)
		}
		return got
	}
	first := digest(stop("bcast", "budget", early), stop("reduce", "converged", early))
	if got := digest(stop("reduce", "converged", late), journal.Record{Kind: journal.KindResume, Time: late}, stop("bcast", "budget", late)); got != first {
		t.Errorf("other times and order: %s, want %s", got, first)
	}
	if got := digest(stop("reduce", "converged", early), stop("bcast", "converged", early)); got == first {
		t.Errorf("another stop reason: the same digest")
	}
	if got := digest(stop("bcast", "budget", early), stop("reduce", "converged", early), stop("reduce", "converged", early)); got == first {
		t.Errorf("a repeated record: the same digest")
	}
}

// TestDigestOfPipe checks that a named pipe instead of a journal is an error. Opening it would wait for a writer.
func TestDigestOfPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, journal.FileName), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Digest(dir); !errors.Is(err, infile.ErrKind) {
		t.Errorf("error %v, want %v", err, infile.ErrKind)
	}
}
