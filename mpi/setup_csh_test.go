package mpi_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/mpi"
)

// csh sources a snippet in csh and returns the values of the named variables, and what was printed to standard error.
func csh(t *testing.T, snippet []byte, env []string, names ...string) (values []string, stderr string) {
	t.Helper()
	shell, err := exec.LookPath("csh")
	if err != nil {
		testutil.NeedModules.Missing(t, "%v: needs apt-get install tcsh", err)
	}
	var print strings.Builder
	for _, name := range names {
		fmt.Fprintf(&print, "if ( $?%[1]s ) printenv %[1]s\nif ( ! $?%[1]s ) echo -\n", name)
	}
	cmd := exec.Command(shell, "-f", write(t, append(snippet, print.String()...)))
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "HOME=" + t.TempDir()}, env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("csh: %v: %s", err, &errs)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), errs.String()
}

func TestCshSurvivesHostileValues(t *testing.T) {
	var s mpi.Setup
	var names []string
	for i, v := range hostile {
		names = append(names, fmt.Sprintf("TUTTI_%d", i))
		s.Settings = append(s.Settings, mpi.Setting{Name: names[i], Value: v})
	}
	got, stderr := csh(t, testutil.Must(s.Csh())(t), nil, names...)
	if d := cmp.Diff(hostile, got); d != "" || stderr != "" {
		t.Errorf("%s%s", d, stderr)
	}
	for _, value := range []string{"no!", "two\nlines", "é"} {
		if _, err := (mpi.Setup{Settings: []mpi.Setting{{Name: "A", Value: value}}}).Csh(); !errors.Is(err, mpi.ErrSetup) {
			t.Errorf("%q: error %v", value, err)
		}
	}
}

func TestCshFindsTheLayout(t *testing.T) {
	text := testutil.Must(withLayouts().Csh())(t)
	testutil.CheckGolden(t, "layouts.csh", text)
	for _, tc := range slurm {
		got, stderr := csh(t, bytes.Clone(text), tc.env, "TUTTI_FILE", "TUTTI_ON")
		if d := cmp.Diff(tc.want, got); d != "" || stderr != "" {
			t.Errorf("%s: %s%s", tc.name, d, stderr)
		}
	}
}

// TestCshFiles checks that a snippet sets nothing and prints a warning while a file is missing, and that a list keeps its
// old value behind the new one.
func TestCshFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "it's a file")
	s := mpi.Setup{
		Settings: []mpi.Setting{{Name: "TUTTI_A", Value: file}, {Name: "TUTTI_LIST", Value: "new"}}, Files: []string{"TUTTI_A"}, Lists: []string{"TUTTI_LIST"},
		Order: "block",
	}
	text := testutil.Must(s.Csh())(t)
	got, stderr := csh(t, bytes.Clone(text), nil, "TUTTI_A", "TUTTI_LIST")
	if got[0] != "-" || got[1] != "-" || !strings.Contains(stderr, "a file is missing, empty or not readable:\n"+file+"\n") {
		t.Errorf("without the file: %q, %q", got, stderr)
	}
	testutil.NoError(t, os.WriteFile(file, []byte("rules"), 0o666))
	for env, want := range map[string]string{"": "new", "TUTTI_LIST=": "new", "TUTTI_LIST=old:older": "new:old:older"} {
		got, stderr := csh(t, bytes.Clone(text), []string{env, "SLURM_DISTRIBUTION=block:cyclic"}, "TUTTI_A", "TUTTI_LIST")
		if got[0] != file || got[1] != want || stderr != "" {
			t.Errorf("%q: %q, %q, want %q", env, got, stderr, want)
		}
	}
	if _, stderr := csh(t, bytes.Clone(text), []string{"SLURM_DISTRIBUTION=cyclic"}, "TUTTI_A"); !strings.Contains(stderr, "ranks in block order") {
		t.Errorf("another order: %q", stderr)
	}
}
