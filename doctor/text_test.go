package doctor

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tutti/internal/testutil"
)

func someReport() *Report {
	return &Report{
		Sets: []Set{
			{"MPICH 4.0.2", "mpiexec.hydra", "native", "local"},
			{"Open MPI 4.1.4", "mpirun.openmpi", "osu", "slurm"},
		},
		Checks: []Check{
			{Host, "processors", OK, []string{"2 cores usable", "Linux 6.1"}, ""},
			{Libraries, "MPICH 4.0.2", OK, []string{"compiles with /usr/bin/mpicc.mpich", "64 of 64 algorithms of catalogue 4.0.2", "/usr/lib/x86_64-linux-gnu/libmpich.so.12.2.2"}, ""},
			{Libraries, "/opt/somewhere/far/away/bin/mpicc", Missing, []string{"the wrapper exists, but the headers (mpi.h) are missing"}, "install the development files of this MPI, or load the module that has them, whichever is easier"},
			{Launchers, "mpiexec.hydra", Found, []string{"MPICH 4.0.2: not tried, and this goes on for longer than a line of a terminal"}, ""},
			{Slurm, "settings", Warning, nil, "none"},
		},
	}
}

func TestText(t *testing.T) {
	var b strings.Builder
	testutil.NoError(t, someReport().Text(&b, 80))
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 || strings.HasSuffix(line, " \n") {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	testutil.CheckGolden(t, "report.txt", []byte(b.String()))
}

func TestTextNotReady(t *testing.T) {
	var b strings.Builder
	r := &Report{MissingParts: []MissingPart{
		{"a launcher that starts two processes of one world", ""},
		{"a benchmark program built with the library", "tutti build benchmark --mpicc mpicc -o tutti-native-mpich"},
	}}
	testutil.NoError(t, r.Text(&b, 80))
	testutil.CheckGolden(t, "lacks.txt", []byte(b.String()))
}

func TestWrapLosesNothing(t *testing.T) {
	const text = "one two  three four-five six/seven/eight/nine/ten eleven"
	for width := 1; width < 60; width++ {
		if got, want := strings.Join(wrap(text, width), " "), strings.Join(strings.Fields(text), " "); got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
}
