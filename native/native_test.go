package native_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tutti/native"
)

// compiler writes a command that stands for mpicc.
func compiler(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mpicc")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestChecksum(t *testing.T) {
	if sum := native.Checksum(); len(sum) != 64 || sum != native.Checksum() {
		t.Errorf("Checksum() = %q, then %q", sum, native.Checksum())
	}
}

func TestBuildRefused(t *testing.T) {
	out := filepath.Join(t.TempDir(), "tutti-native")
	if err := os.WriteFile(out, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, compiler, want string }{
		{"no compiler", filepath.Join(t.TempDir(), "mpicc"), "not found"},
		{"words of the compiler", compiler(t, "echo mpi.h: No such file >&2; exit 1"), "mpi.h: No such file"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := native.Build(t.Context(), tc.compiler, out)
			if !errors.Is(err, native.ErrCompiler) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Build: error %v, want one with %q", err, tc.want)
			}
			if text, err := os.ReadFile(out); err != nil || string(text) != "old" {
				t.Errorf("the old program is %q, %v: want it untouched", text, err)
			}
		})
	}
}

// TestBuildPlace: the program is replaced as a whole and nothing lies beside it.
func TestBuildPlace(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "tutti-native")
	for _, text := range []string{"one", "two"} {
		script := `[ "$1" = --version ] && echo cc 1.0 && exit; grep -q '^#define SOURCE "[0-9a-f]*"$' source.h && printf ` + text + ` > tutti-native`
		cc := compiler(t, script)
		built, err := native.Build(t.Context(), cc, out)
		if err != nil {
			t.Fatal(err)
		}
		if want := (native.Built{Path: out, Compiler: cc, Version: "cc 1.0", Checksum: native.Checksum()}); built != want {
			t.Errorf("Build = %+v, want %+v", built, want)
		}
		if got, err := os.ReadFile(out); err != nil || string(got) != text {
			t.Errorf("program is %q, %v: want %q", got, err, text)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files beside each other, %v: want 1", len(entries), err)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v: want 755", info.Mode(), err)
	}
}

func TestSourceOf(t *testing.T) {
	sum := native.Checksum()
	tests := []struct{ name, script, want string }{
		{"right", "echo tutti-native 1 " + sum, sum},
		{"another program", "echo osu_bcast 7.4", ""},
		{"no checksum", "echo tutti-native 1 abc", ""},
		{"fails", "exit 1", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := native.SourceOf(t.Context(), compiler(t, tc.script))
			if got != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("SourceOf = %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

// TestLiveCut: the slower a case is than the best, the fewer calls of it are timed;
// when nothing is hopeless all are alike.
func TestLiveCut(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	prog := filepath.Join(t.TempDir(), "cut")
	sources, err := filepath.Glob("src/*.c")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-std=c99", "-Isrc", "-o", prog, "testdata/cut.c"}
	for _, name := range sources {
		if base := filepath.Base(name); base != "main.c" && base != "measure.c" {
			args = append(args, name)
		}
	}
	if text, err := exec.Command("mpicc.mpich", append(args, "-lm")...).CombinedOutput(); err != nil {
		if os.Getenv("REQUIRE_MPI") == "1" {
			t.Fatalf("mpicc.mpich: %v: needs apt-get install mpich libmpich-dev\n%s", err, text)
		}
		t.Skipf("mpicc.mpich: %v: needs apt-get install mpich libmpich-dev", err)
	}
	for hopeless, want := range map[string]string{
		"10": "0.5 549 tight, 1 549 tight, 1.5 244 tight, 3 109 tight, 8 15 tight, 15 6 hopeless, 100 6 tight",
		"0":  "0.5 549 tight, 1 549 tight, 1.5 549 tight, 3 549 tight, 8 549 tight, 15 549 tight, 100 549 tight",
	} {
		out, err := exec.Command(prog, hopeless, "0.5", "1", "1.5", "3", "8", "15", "100").Output()
		if got := strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", ", "); err != nil || got != want {
			t.Errorf("hopeless %s: calls %s, %v; want %s", hopeless, got, err, want)
		}
	}
}

// TestLiveBuild compiles without a warning under every MPI library that is here.
func TestLiveBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	for _, tc := range []struct{ compiler, install string }{
		{"mpicc.mpich", "mpich libmpich-dev"},
		{"mpicc.openmpi", "openmpi-bin libopenmpi-dev"},
	} {
		t.Run(tc.compiler, func(t *testing.T) {
			probe := filepath.Join(t.TempDir(), "probe.c")
			if err := os.WriteFile(probe, []byte("#include <mpi.h>\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			// The wrapper alone proves nothing: the headers may be missing.
			if err := exec.Command(tc.compiler, "-fsyntax-only", probe).Run(); err != nil {
				if os.Getenv("REQUIRE_MPI") == "1" {
					t.Fatalf("%s: %v: needs apt-get install %s", tc.compiler, err, tc.install)
				}
				t.Skipf("%s: %v: needs apt-get install %s", tc.compiler, err, tc.install)
			}
			strict := compiler(t, `exec `+tc.compiler+` -Wall -Wextra -Wpedantic -Wshadow -Werror "$@"`)
			out := filepath.Join(t.TempDir(), "tutti-native")
			if _, err := native.Build(t.Context(), strict, out); err != nil {
				t.Fatal(err)
			}
			if sum, err := native.SourceOf(t.Context(), out); err != nil || sum != native.Checksum() {
				t.Errorf("SourceOf = %q, %v, want %q", sum, err, native.Checksum())
			}
		})
	}
}
