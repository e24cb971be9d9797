package online

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/coll"
	"tutti/internal/testutil"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestReadFolder checks that jobs are ordered by the times in their file names. If a name has no time, the
// modification time of the file must count.
func TestReadFolder(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"z-9-1000000000-0.samples", "node-1-7-2000000000-0.samples", "other.samples", "tutti.table", "empty-1-5-0.samples"} {
		text := whole
		if name == "empty-1-5-0.samples" {
			text = ""
		}
		writeFile(t, filepath.Join(folder, name), text)
	}
	jobs, err := ReadFolder(folder, "MPI 1")
	if err != nil || len(jobs) != 3 {
		t.Fatalf("%d jobs, want 3: %v", len(jobs), err)
	}
	if jobs[0].Begun != time.Unix(1, 0) || jobs[1].Begun != time.Unix(2, 0) || jobs[2].File != "other.samples" || jobs[2].Begun != jobs[2].Last || len(jobs[0].Calls) != 3 {
		t.Errorf("%+v", jobs)
	}
	if _, err := ReadFolder(folder, "MPI 2"); err == nil || !strings.Contains(err.Error(), "want those of MPI 2") {
		t.Errorf("error %v, want one that they are of another library", err)
	}
	if _, err := ReadFolder(filepath.Join(folder, "none"), ""); err == nil {
		t.Error("a missing folder is no error")
	}
}

func TestUpdates(t *testing.T) {
	folder := t.TempDir()
	if got, err := ReadUpdates(folder); err != nil || got != nil {
		t.Errorf("%v, %v of a new folder", got, err)
	}
	class := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 4, MsgBytes: 512}
	ring := coll.Algorithm{Name: "ring"}
	for k, u := range []Update{{}, {Time: time.Unix(1, 0).UTC(), Changes: []SelectionChange{{class, coll.Default, ring, "1.2 times as fast"}}}} {
		testutil.NoError(t, u.Write(folder))
		got, err := ReadUpdates(folder)
		if err != nil || len(got) != k || k == 1 && got[0].Changes[0] != u.Changes[0] {
			t.Errorf("%+v, %v: want %d updates", got, err, k)
		}
	}
	path := filepath.Join(folder, updatesName)
	line := testutil.Must(os.ReadFile(path))(t)
	writeFile(t, path, string(line)+`{"time":`)
	got, err := ReadUpdates(folder)
	if err != nil || len(got) != 1 {
		t.Errorf("%v, %v: want the updates before a line that is cut off", got, err)
	}
	if _, _, known := lastChange(got, class, time.Unix(0, 0)); known {
		t.Error("a change is known before it was made")
	}
	if change, at, known := lastChange(got, class, never); !known || change.To != ring || !at.Equal(time.Unix(1, 0)) {
		t.Errorf("%+v at %v", change, at)
	}
}
