package export_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/campaign/export"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/report"
)

var by = export.Program{Version: "v1", Versions: []report.Version{{Name: "go", Version: "go1"}}}

// contents returns the files of a folder by name, without the journal.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "journal.jsonl" {
			out[strings.TrimPrefix(path, dir+"/")] = strings.ReplaceAll(string(testutil.Must(os.ReadFile(path))(t)), dir, "DIR")
		}
		return err
	})
	testutil.NoError(t, err)
	return out
}

func written(t *testing.T, dir, to string) report.Facts {
	t.Helper()
	_, conclusions := concluded(t, dir)
	return testutil.Must(conclusions.Write(t.Context(), to, by))(t)
}

// TestWriteSame checks that the files depend only on the journal. The folder and the number of workers must
// not matter.
func TestWriteSame(t *testing.T) {
	one, many := small(t, "workers=1"), small(t, "workers=4")
	facts := written(t, one, one)
	want := contents(t, one)
	for _, name := range []string{export.ReportHTML, export.ReportJSON, export.CurveCSV, export.SelectionCSV, "mpich.json", "mpich.env", "openmpi.rules", "openmpi.env"} {
		if want[name] == "" {
			t.Errorf("%s is not written", name)
		}
	}
	to := filepath.Join(t.TempDir(), "new", "folder")
	written(t, many, to)
	if diff := cmp.Diff(want, contents(t, to)); diff != "" {
		t.Errorf("with four workers (-first +second):\n%s", diff)
	}
	if facts.Tutti != "v1" || facts.Versions[0].Name != "go" || len(facts.Problems) != 2 || !slices.ContainsFunc(facts.Warnings, func(w string) bool { return strings.Contains(w, "has no allreduce algorithm ring") }) {
		t.Errorf("facts %+v", facts)
	}
}

// TestWriteSelection checks that the table of selections has the selected algorithm at every point.
func TestWriteSelection(t *testing.T) {
	dir := runMade(t, campaigntest.MadeOpenMPI)
	_, conclusions := concluded(t, dir)
	rows := campaigntest.Selected(t, csvOf(t, conclusions.Targets), "openmpi")
	if len(rows) != len(conclusions.Problems[0].Rows) {
		t.Fatalf("%d rows, want %d", len(rows), len(conclusions.Problems[0].Rows))
	}
	for i, r := range rows {
		if p := conclusions.Problems[0].Rows[i].Point; r.Point != p || r.Options[0].Algorithm != conclusions.Problems[0].Selection.Choose(p) {
			t.Errorf("row %d has %v at %v, want the selection at %v", i, r.Options[0].Algorithm, r.Point, p)
		}
	}
}

// TestWriteFile checks that no incomplete file remains after an error, and that errors name the file.
func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	broken := errors.New("no figures")
	err := export.WriteFile(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, "incomplete")
		return broken
	})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("WriteFile: %v, want %v with the name of the file", err, broken)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an incomplete file exists: %v", err)
	}
	whole := func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }
	if err := export.WriteFile(path, whole); err != nil || string(testutil.Must(os.ReadFile(path))(t)) != "whole" {
		t.Errorf("WriteFile: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none", "x.csv")
	if err := export.WriteFile(none, whole); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), none) {
		t.Errorf("WriteFile: %v, want one that names %s", err, none)
	}
}

// TestWriteToInvalidFolder checks that the error names a folder that cannot be created.
func TestWriteToInvalidFolder(t *testing.T) {
	dir := runMade(t, campaigntest.MadeOpenMPI)
	_, conclusions := concluded(t, dir)
	below := filepath.Join(dir, "journal.jsonl", "below")
	if _, err := conclusions.Write(t.Context(), below, by); !errors.Is(err, syscall.ENOTDIR) || !strings.Contains(err.Error(), "journal.jsonl") {
		t.Errorf("Write: %v, want one that names %s", err, below)
	}
}
