package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/internal/testutil"
)

// mpicc writes a shell script that takes the place of the MPI compiler, and returns its path.
func mpicc(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mpicc")
	testutil.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755))
	return path
}

func TestNativeBuild(t *testing.T) {
	good := mpicc(t, `[ "$1" = --version ] && echo cc 1.0 && exit; echo program > tutti-native`)
	bad := mpicc(t, "echo mpi.h: No such file >&2; exit 1")
	file := filepath.Join(t.TempDir(), "prog")
	tests := []struct {
		name string
		args []string
		code exitCode
		want string // on standard output of success, else on standard error
	}{
		{"built", []string{"--mpicc", good, "-o", file}, codeDone, "by " + good + " (cc 1.0) from source " + csource.Bench.Checksum()[:12]},
		{"compiler refuses", []string{"--mpicc", bad, "-o", file}, codeFailed, "mpi.h: No such file"},
		{"no compiler", []string{"--mpicc", bad + "2", "-o", file}, codeFailed, "not found"},
		{"no folder", []string{"--mpicc", good, "-o", filepath.Join(file, "prog")}, codeOutput, "not a directory"},
		{"JSON", []string{"--mpicc", good, "-o", file, "--format", "json"}, codeDone, csource.Bench.Checksum()},
		{"two programs", []string{"now"}, codeUsage, "want one of benchmark, runtime"},
		{"output", []string{"--format", "yaml"}, codeUsage, "want one of table, json"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := runInside(t, nil, append([]string{"build", "benchmark"}, tc.args...)...)
			output := stdout
			if tc.code != codeDone {
				output = stderr
			}
			if code != tc.code || !strings.Contains(output, tc.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", code, tc.code, tc.want, stdout, stderr)
			}
		})
	}
}
