package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/csource"
)

// mpicc writes a command that stands for the site's compiler.
func mpicc(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mpicc")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
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
		{"argument", []string{"now"}, codeUsage, "want one of benchmark, runtime"},
		{"output", []string{"--format", "yaml"}, codeUsage, "want one of table, json"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := Main(t.Context(), append([]string{"build", "benchmark"}, tc.args...), os.Environ(), &stdout, &stderr)
			said := stdout.String()
			if tc.code != codeDone {
				said = stderr.String()
			}
			if exitCode(code) != tc.code || !strings.Contains(said, tc.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", code, tc.code, tc.want, stdout.String(), stderr.String())
			}
		})
	}
}

func TestNativeBuildJSON(t *testing.T) {
	good := mpicc(t, `[ "$1" = --version ] && echo cc 1.0 && exit; echo program > tutti-native`)
	file := filepath.Join(t.TempDir(), "prog")
	var stdout, stderr bytes.Buffer
	if code := Main(t.Context(), []string{"build", "benchmark", "--mpicc", good, "-o", file, "--format", "json"}, os.Environ(), &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	var got csource.Built
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || got.Path != file || got.Checksum != csource.Bench.Checksum() {
		t.Errorf("%s: %v, want the program's path and checksum", stdout.String(), err)
	}
}

func TestBuildUnknown(t *testing.T) {
	_, stderr := mustTutti(t, codeUsage, "build", "runtimes")
	if !strings.Contains(stderr, "did you mean runtime?") {
		t.Error(stderr)
	}
	mustTutti(t, codeUsage, "build")
}
