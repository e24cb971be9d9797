package csource_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/csource"
	"tutti/internal/testutil"
)

// compiler writes a script in place of mpicc and returns the script's path.
func compiler(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mpicc")
	testutil.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755))
	return path
}

// TestUnpack checks that Unpack writes everything that the compiler needs.
func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	args := testutil.Must(csource.Bench.Unpack(dir, "prog"))(t)
	line := strings.Join(args, " ")
	if !strings.HasPrefix(line, "-o prog -std=c99 -O2 bound.c clocks.c ") || !strings.HasSuffix(line, " cvar.c -lm -ldl") || strings.Contains(line, ".h") {
		t.Errorf("arguments %s", line)
	}
	header, err := os.ReadFile(filepath.Join(dir, "source.h"))
	if want := "#define SOURCE \"" + csource.Bench.Checksum() + "\"\n"; err != nil || string(header) != want {
		t.Errorf("source.h is %q, %v, want %q", header, err, want)
	}
	for _, name := range append(args[4:len(args)-2], "native.h") {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := csource.Pair.Unpack(filepath.Join(dir, "none"), "prog"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that of a folder that is not there", err)
	}
}

func TestBuildRefused(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	out := filepath.Join(t.TempDir(), "tutti-native")
	testutil.NoError(t, os.WriteFile(out, []byte("old"), 0o755))
	tests := []struct{ name, compiler string }{
		{"no compiler", filepath.Join(t.TempDir(), "mpicc")},
		{"words of the compiler", compiler(t, "echo mpi.h: No such file >&2; exit 1")},
	}
	for _, tc := range tests {
		_, err := csource.Build(t.Context(), csource.Bench, tc.compiler, out)
		golden(tc.name, err, csource.ErrCompiler)
		if text, err := os.ReadFile(out); err != nil || string(text) != "old" {
			t.Errorf("%s: the old program is %q, %v: want it untouched", tc.name, text, err)
		}
	}
}

// TestBuildPlace checks that Build replaces the program atomically and leaves no other files.
func TestBuildPlace(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "tutti-native")
	for _, text := range []string{"one", "two"} {
		script := `[ "$1" = --version ] && echo cc 1.0 && exit; grep -q '^#define SOURCE "[0-9a-f]*"$' source.h && printf ` + text + ` > tutti-native`
		cc := compiler(t, script)
		built := testutil.Must(csource.Build(t.Context(), csource.Bench, cc, out))(t)
		if want := (csource.Built{Path: out, Compiler: cc, Version: "cc 1.0", Checksum: csource.Bench.Checksum()}); built != want {
			t.Errorf("Build = %+v, want %+v", built, want)
		}
		if got, err := os.ReadFile(out); err != nil || string(got) != text {
			t.Errorf("program is %q, %v: want %q", got, err, text)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files, %v: want 1", len(entries), err)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v: want 755", info.Mode(), err)
	}
}

// TestLiveCut checks that the benchmark times a slow case with fewer calls: the larger the ratio of the
// case's time to the best time, the fewer calls. Without an abort factor, all cases get the same number of
// calls.
func TestLiveCut(t *testing.T) {
	testutil.SkipShort(t)
	prog := filepath.Join(t.TempDir(), "cut")
	sources := testutil.Must(filepath.Glob("bench/*.c"))(t)
	calls := slices.Concat(testutil.Must(filepath.Glob("workload/*.c"))(t), testutil.Must(filepath.Glob("collectives/*.c"))(t))
	variables := testutil.Must(filepath.Glob("cvar/*.c"))(t)
	args := []string{"-std=c99", "-Ibench", "-Iworkload", "-Icollectives", "-Icvar", "-o", prog, "testdata/cut.c"}
	for _, name := range slices.Concat(sources, calls, variables) {
		if base := filepath.Base(name); base != "main.c" && base != "measure.c" {
			args = append(args, name)
		}
	}
	if text, err := exec.Command("mpicc.mpich", append(args, "-lm", "-ldl")...).CombinedOutput(); err != nil {
		testutil.NeedMPI.Missing(t, "mpicc.mpich: %v: needs apt-get install mpich libmpich-dev\n%s", err, text)
	}
	for factor, want := range map[string]string{
		"10": "0.5 549 tight, 1 549 tight, 1.5 244 tight, 3 109 tight, 8 15 tight, 15 6 abort_factor, 100 6 tight",
		"0":  "0.5 549 tight, 1 549 tight, 1.5 549 tight, 3 549 tight, 8 549 tight, 15 549 tight, 100 549 tight",
	} {
		out, err := exec.Command(prog, factor, "0.5", "1", "1.5", "3", "8", "15", "100").Output()
		if got := strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", ", "); err != nil || got != want {
			t.Errorf("abort factor %s: calls %s, %v; want %s", factor, got, err, want)
		}
	}
}

// TestLiveBuild checks that the programs compile without a warning.
func TestLiveBuild(t *testing.T) {
	for _, m := range someMPIs() {
		t.Run(m.Compiler, func(t *testing.T) {
			testutil.BuildProgram(t, m.Toolchain, csource.Pair) // skips where the library is missing
			dir := t.TempDir()
			programs, level := []csource.Program{csource.Bench, csource.Pair, csource.Probe, csource.Runtime}, ""
			if !testutil.AllCases() {
				runtimeObjects(t, m)
				programs, level = programs[:3], " -O0"
			}
			strict := compiler(t, "exec "+m.Compiler+" "+strings.Join(strictFlags, " ")+` "$@"`+level)
			for _, p := range programs {
				if _, err := csource.Build(t.Context(), p, strict, filepath.Join(dir, p.Name)); err != nil {
					t.Fatal(err)
				}
			}
			said, err := exec.Command(filepath.Join(dir, csource.Bench.Name), "--version").Output()
			if want := fmt.Sprintf("tutti-native %d %s\n", csource.BenchFormat, csource.Bench.Checksum()); err != nil || string(said) != want {
				t.Errorf("--version: %q, %v, want %q", said, err, want)
			}
		})
	}
}

// TestBuildPolicy checks that Policy, the program that simulates libtutti's decisions, compiles without MPI and
// without a warning.
func TestBuildPolicy(t *testing.T) {
	testutil.SkipShort(t)
	if _, err := exec.LookPath("cc"); err != nil {
		testutil.NeedMPI.Missing(t, "%v: needs apt-get install gcc", err)
	}
	strict := compiler(t, "exec cc "+strings.Join(strictFlags, " ")+` "$@" -O0`)
	if _, err := csource.Build(t.Context(), csource.Policy, strict, filepath.Join(t.TempDir(), csource.Policy.Name)); err != nil {
		t.Error(err)
	}
}

// buildTool compiles the profiling tool of testdata as a shared library.
func buildTool(t *testing.T, m mpiOf, flags ...string) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "tool.so")
	args := append(flags, "-O1", "-fPIC", "-shared", "-o", tool, "testdata/tool.c")
	if said, err := exec.Command(m.Compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return tool
}

// TestLiveTools checks that libtutti and a profiling tool work together, whichever is loaded first. libtutti
// must report a tool that hides it, and a program of another MPI library.
func TestLiveTools(t *testing.T) {
	testutil.NeedAllCases(t)
	all := mpis()
	for i, m := range all {
		t.Run(m.Compiler, func(t *testing.T) {
			library := runtimeLibrary(t, m)
			program := testutil.BuildProgram(t, m.Toolchain, testutil.CallsProgram)
			whole, hides := buildTool(t, m), buildTool(t, m, "-DHIDE")
			for _, tc := range []struct {
				name, preloaded, want string
				bcasts                bool // whether broadcasts are traced
			}{
				{"behind", library + ":" + hides, "tool: 8\n", true},
				{"before", whole + ":" + library, "tool: 0\n", true},
				{"hides", hides + ":" + library, hides + " hides bcast from libtutti", false},
				{"other MPI", runtimeLibrary(t, all[1-i]), "the program runs without libtutti", false},
			} {
				trace := filepath.Join(t.TempDir(), "trace.csv")
				said := testutil.RunProgram(t, []string{"LD_PRELOAD=" + tc.preloaded, "TUTTI_TRACE=" + trace}, m.Launcher, "-n", "4", program)
				text, _ := os.ReadFile(trace) // is missing with another MPI
				if strings.Count(said, tc.want) != 1 || strings.Contains(string(text), "bcast,1,4,400,") != tc.bcasts {
					t.Errorf("%s: want one %q, broadcasts traced %t:\n%s%s", tc.name, tc.want, tc.bcasts, said, text)
				}
			}
		})
	}
}

// TestLiveWaiting checks that an application reports if one of its ranks has not loaded libtutti.
func TestLiveWaiting(t *testing.T) {
	testutil.NeedAllCases(t)
	m := mpis()[0]
	library := buildChanged(t, m, "state.c", "PATIENCE = 10", "PATIENCE = 1")
	program := testutil.BuildProgram(t, m.Toolchain, testutil.CallsProgram)
	with, without := []string{"-n", "1", "env", "LD_PRELOAD=" + library, program}, []string{"-n", "1", program}
	for _, args := range [][]string{slices.Concat(with, []string{":"}, without), slices.Concat(without, []string{":"}, with)} {
		ctx, cancel := context.WithTimeout(t.Context(), testutil.HangTimeout)
		cmd := exec.CommandContext(ctx, m.Launcher, args...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 5 * time.Second
		output := testutil.Must(os.Create(filepath.Join(t.TempDir(), "output")))(t)
		cmd.Stdout, cmd.Stderr = output, output
		testutil.NoError(t, cmd.Start())
		said := ""
		for began := time.Now(); !strings.Contains(said, "MPI_Init has waited 1 s") && time.Since(began) < testutil.HangTimeout; time.Sleep(50 * time.Millisecond) {
			said = string(testutil.Must(os.ReadFile(output.Name()))(t))
		}
		cancel()
		err := cmd.Wait()
		said = string(testutil.Must(os.ReadFile(output.Name()))(t))
		if err == nil || strings.Count(said, "MPI_Init has waited 1 s") != 1 {
			t.Errorf("%v: %v, want one line about waiting:\n%s", args, err, said)
		}
	}
}
