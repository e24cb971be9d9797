package main

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// onlineArgs returns the arguments of a replay of allreduce calls, most of which have 64 KiB.
func onlineArgs(t *testing.T, more ...string) []string {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "app.csv")
	text := "collective,nodes,ppn,msg_bytes,calls,seconds\nallreduce,16,1,65536,200,1.5\nallreduce,16,1,8,100,0.1\n"
	testutil.NoError(t, os.WriteFile(trace, []byte(text), 0o600))
	data := campaigntest.Recorded(t)
	return append([]string{
		"online", "--trace", trace, "--data", filepath.Join(data, "C_allreduce.csv"),
		"--defaults", filepath.Join(data, "defaults.csv"), "--recorded", "C", "--runs", "2", "--iterations", "50",
	}, more...)
}

func TestOnline(t *testing.T) {
	dir := t.TempDir()
	picture, trend, bestMap, file := filepath.Join(dir, "o.png"), filepath.Join(dir, "trend.png"), filepath.Join(dir, "map.png"), filepath.Join(dir, "kept.csv")
	stdout, _ := mustRun(t, exitDone, onlineArgs(t, "--picture", picture, "--policy", "learn,oracle,tutti", "--keep", file, "--trend", trend, "--map", bestMap)...)
	for _, want := range []string{"application", "app          learn", "app          tutti "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for _, path := range []string{picture, trend, bestMap} {
		if _, err := png.Decode(bytes.NewReader(readFile(t, path))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	again, _ := mustRun(t, exitDone, onlineArgs(t, "--policy", "iota,tutti", "--from", file, "--format", "json")...)
	lines := strings.Split(strings.TrimSpace(again), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want one for each policy:\n%s", len(lines), again)
	}
	var o struct {
		Policy string
		Runs   []struct{ Seconds, Best_seconds, Tuned_over_best float64 }
	}
	testutil.NoError(t, json.Unmarshal([]byte(lines[1]), &o))
	if o.Policy != "tutti" || len(o.Runs) != 2 || o.Runs[0].Seconds < o.Runs[0].Best_seconds || o.Runs[1].Tuned_over_best > 1.02 {
		t.Errorf("earlier measurements did not help: %+v", o)
	}
}

func TestOnlineRefuses(t *testing.T) {
	tests := []struct {
		name string
		more []string
		code int
		want string
	}{
		{"no such policy", []string{"--policy", "best"}, exitUsage, `policy "best": want one of iota, share`},
		{"slow without a span", []string{"--slow", "lr*2"}, exitUsage, "want ALGORITHM@[RUN:]FROM-TO*FACTOR"},
		{"slow in an empty range", []string{"--slow", "lr@5-5*2"}, exitUsage, "iterations 5 to 5"},
		{"noise", []string{"--noise", "-1"}, exitUsage, "noise -1: want a number from 0 to 1"},
		{"another machine", []string{"--recorded", "Z"}, exitFailed, `no row for machine "Z" and library "mpich": it has A, C`},
		{"no such file", []string{"--from", "none.csv"}, exitFailed, "none.csv"},
		{"everything excluded", []string{"--exclude", "library_default"}, exitFailed, "no call has a recorded point"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if _, stderr := mustRun(t, tc.code, onlineArgs(t, tc.more...)...); !strings.Contains(stderr, tc.want) {
				t.Errorf("%s\nwant %s", stderr, tc.want)
			}
		})
	}
}
