package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tutti/coll"
	"tutti/csource"
	"tutti/csource/test"
	"tutti/internal/test/mpitest"
	"tutti/mpi/libtutti"
)

// updated returns the table that an update makes of a folder, and what it says.
func updated(t *testing.T, folder string, more ...string) (table libtutti.Table, stdout, stderr string) {
	t.Helper()
	stdout, stderr = mustTutti(t, codeDone, append([]string{"online", "update", folder}, more...)...)
	table, err := libtutti.Parse(readFile(t, tableOf(folder)))
	if err != nil {
		t.Fatal(err)
	}
	return table, stdout, stderr
}

// leave writes the samples of a job: of a broadcast by which binomial is the fastest.
func leave(t *testing.T, folder, name, library string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# tutti-samples 1 %s\ncollective,nodes,ppn,msg_bytes,algorithm,longest,shortest\n", library)
	for i := range 30 {
		for k, algorithm := range []string{"binomial", "library_default", "pipeline(segsize=8192)"} {
			fmt.Fprintf(&b, "bcast,2,4,1000,%s,%g,1e-6\n", algorithm, float64(k+1)*1e-5*(1+0.01*float64(i%5)))
		}
	}
	path := filepath.Join(folder, name+".samples")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOnlineUpdate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "learned[1]")
	table, stdout, _ := updated(t, folder)
	if stdout != "0 calls\n" || len(table.Rules) != 0 || len(table.Mixes) != len(coll.Collectives())-1 {
		t.Errorf("of nothing: %d rules, %d mixes, want none and one for each collective but alltoallv: %s", len(table.Rules), len(table.Mixes), stdout)
	}

	leave(t, folder, "a", "MPICH Version: 4.0.2 and so on")
	table, stdout, stderr := updated(t, folder)
	if !strings.HasPrefix(stdout, "90 calls\n") || stderr != "" {
		t.Errorf("%s%s", stdout, stderr)
	}
	if got := table.Select(coll.Bcast, 8, 4, 600).String(); got != "binomial" {
		t.Errorf("selected: %s", got)
	}
	m := table.Mixes[0]
	if m.Collective != coll.Bcast || m.Ranks != (libtutti.Range{Low: 8, High: 8}) || m.Bytes != (libtutti.Range{Low: 512, High: 1023}) {
		t.Errorf("explored first: %+v", m)
	}
	if again, _, _ := updated(t, folder); string(again.Bytes()) != string(table.Bytes()) {
		t.Error("another table of the same samples")
	}
	if without, _, _ := updated(t, folder, "--exclude", "binomial"); strings.Contains(string(without.Bytes()), " binomial ") || without.Select(coll.Bcast, 8, 4, 600).Name == "binomial" {
		t.Errorf("binomial is excluded:\n%s", without.Bytes())
	}

	// A job that was killed leaves a line that is cut off.
	torn := leave(t, folder, "b", "MPICH Version: 4.0.2 and so on")
	if err := os.Truncate(torn, int64(len(readFile(t, torn))-3)); err != nil {
		t.Fatal(err)
	}
	_, stdout, stderr = updated(t, folder, "--release", "1+mpich-4.0.2")
	if !strings.HasPrefix(stdout, "179 calls\n") || !strings.Contains(stderr, "b.samples: line 92 is cut off: dropped") {
		t.Errorf("%s%s", stdout, stderr)
	}

	// The rules of another table hold elsewhere, and where nothing is faster beyond doubt.
	base := filepath.Join(t.TempDir(), "base")
	text := libtutti.Table{Rules: []libtutti.Rule{{Collective: coll.Bcast, Ranks: libtutti.Range{Low: 1, High: 99}, PPN: libtutti.Range{Low: 1, High: 9},
		Bytes: libtutti.Range{High: 1 << 20}, Algorithm: coll.Algorithm{Name: "basic_linear"}}}}.Bytes()
	if err := os.WriteFile(base, text, 0o600); err != nil {
		t.Fatal(err)
	}
	table, _, _ = updated(t, folder, "--base", base)
	if far, near := table.Select(coll.Bcast, 16, 4, 600).String(), table.Select(coll.Bcast, 8, 4, 1000).String(); far != "basic_linear" || near != "binomial" {
		t.Errorf("selected elsewhere %s, here %s", far, near)
	}
}

func TestOnlineUpdateRefuses(t *testing.T) {
	folder := t.TempDir()
	leave(t, folder, "a", "MPICH Version: 4.0.2")
	two := t.TempDir()
	leave(t, two, "a", "MPICH Version: 4.0.2")
	leave(t, two, "b", "Open MPI v4.1.4")
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "x.samples"), []byte("a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		code exitCode
		want string
	}{
		{"no folder", nil, codeUsage, "want the folder of --learn"},
		{"policy", []string{folder, "--policy", "star"}, codeUsage, "--policy star: want tutti or iota"},
		{"release", []string{folder, "--release", "9"}, codeInput, "libtutti 9"},
		{"samples of another library", []string{folder, "--release", "1+openmpi-4.1.4"}, codeInput, "want those of Open MPI v4.1.4"},
		{"two libraries", []string{two}, codeInput, "each MPI library wants a folder of its own"},
		{"no samples", []string{foreign}, codeInput, "x.samples: line 1: want # tutti-samples 1"},
		{"no base", []string{folder, "--base", "none"}, codeInput, "none"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if _, stderr := mustTutti(t, tc.code, append([]string{"online", "update"}, tc.args...)...); !strings.Contains(stderr, tc.want) {
				t.Errorf("%s\nwant %s", stderr, tc.want)
			}
		})
	}
}

// TestLiveLearn: jobs leave what the next table is made of, 50 at once, too.
func TestLiveLearn(t *testing.T) {
	tc := mpitest.Toolchain{Compiler: "mpicc.mpich", Launcher: "mpiexec.hydra", Install: "mpich libmpich-dev"}
	loop := mpitest.BuildProgram(t, tc, test.Loop)
	library := mpitest.BuildProgram(t, tc, csource.Runtime)
	folder := filepath.Join(t.TempDir(), "learned")
	updated(t, folder)

	t.Setenv("LD_PRELOAD", mpitest.BuildProgram(t, tc, test.Yield))
	code, stdout, stderr := runInside(t, "run", "--library", library, "--learn", folder, "--", tc.Launcher, "-n", "2", loop, "300")
	if code != codeDone || !strings.Contains(stdout, "right 1500") || stderr != "" {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	table, stdout, _ := updated(t, folder)
	for _, want := range []string{"allreduce 1x2 16B", "allgather 1x2 8KiB", "bcast 1x2 8KiB", "reduce 1x2 4B", "barrier 1x2 0B"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %s in\n%s", want, stdout)
		}
	}
	if len(table.Rules) != 8 || len(table.Mixes) != 8+len(coll.Collectives())-1 {
		t.Errorf("%d rules, %d mixes", len(table.Rules), len(table.Mixes))
	}

	const jobs = 50
	env := append(os.Environ(), "LD_PRELOAD="+library, "TUTTI_LEARN="+folder, "TUTTI_TABLE="+tableOf(folder), "TUTTI_SEED=1", "TUTTI_EXPLORE=1", "TUTTI_OVER=1e6")
	var running sync.WaitGroup
	for range jobs {
		running.Go(func() {
			cmd := exec.CommandContext(t.Context(), loop, "100")
			cmd.Env = env
			if said, err := cmd.CombinedOutput(); err != nil || string(said) != "right 500\n" {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
	running.Wait()
	_, stdout, stderr = updated(t, folder)
	if !strings.Contains(stdout, "allreduce 1x1 16B") || stderr != "" {
		t.Errorf("%s%s", stdout, stderr)
	}
	found := map[string]int{}
	paths, err := filepath.Glob(filepath.Join(folder, "*.samples"))
	if err != nil || len(paths) != jobs+1 {
		t.Fatalf("%d files, want one for each of %d jobs: %v", len(paths), jobs+1, err)
	}
	for _, path := range paths {
		var b strings.Builder // without times
		for line := range strings.Lines(string(readFile(t, path))) {
			cells := strings.Split(line, ",")
			b.WriteString(strings.Join(cells[:min(5, len(cells))], ",") + "\n")
		}
		found[b.String()]++
	}
	for _, n := range found {
		if n != 1 && n != jobs {
			t.Errorf("%d jobs have left the same, want all %d", n, jobs)
		}
	}
}
