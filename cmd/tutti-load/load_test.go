package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A small load on the real program: everybody sees every line of every journal.
func TestLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tutti and runs it for some seconds")
	}
	program := filepath.Join(t.TempDir(), "tutti")
	if out, err := exec.Command("go", "build", "-o", program, "../tutti").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	dir := t.TempDir()
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{
		"--tutti", program, "--campaign", "../../configs/service-demo-campaign.yaml", "--dir", dir,
		"--clients", "7", "--rate", "20", "--time", "8s", "--drop", "300ms", "--p99", "1m", "--growth", "50",
	}, &out, &errs)
	if code != 0 || !strings.Contains(out.String(), "all targets met") || !strings.Contains(out.String(), " 0 streams not equal to the journal") {
		t.Errorf("exit code %d\n%s%s", code, &out, &errs)
	}
	if strings.Contains(out.String(), " 0 reconnections") {
		t.Errorf("nobody dropped a connection\n%s", &out)
	}
	if _, err := os.Stat(filepath.Join(dir, "serve.log")); err != nil {
		t.Errorf("a folder that was asked for is gone: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, args := range []string{"--clients 0", "--rate 0", "--time 1ms", "--bogus", "word", "--drop 0s"} {
		if code := run(t.Context(), strings.Fields(args), new(bytes.Buffer), new(bytes.Buffer)); code != 2 {
			t.Errorf("%s: exit code %d, want 2", args, code)
		}
	}
}

// A program that does not serve is no success.
func TestProgramThatEnds(t *testing.T) {
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"--tutti", filepath.Join(t.TempDir(), "none")}, new(bytes.Buffer), &errs); code != 1 {
		t.Errorf("exit code %d, want 1: %s", code, &errs)
	}
}

// goodFigures meet all targets of somePlan.
func goodFigures() (*figures, load) {
	f := &figures{memory: slices.Repeat([]weight{{resident: 100 * mib, live: 20 * mib}}, 20), watched: watched{events: 10}}
	for range 100 {
		f.reads = append(f.reads, read{route: routes[0], took: 10 * time.Millisecond, status: 200})
	}
	return f, load{rate: 10, time: 10 * time.Second, p99: 50 * time.Millisecond, growth: 4}
}

// Each target can be missed.
func TestMissed(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*figures)
		want  string
	}{
		{"nothing", func(*figures) {}, ""},
		{"one slow read of a hundred", func(f *figures) { f.reads[3].took = time.Second }, ""},
		{"two slow reads of a hundred", func(f *figures) { f.reads[3].took, f.reads[4].took = time.Second, time.Second }, "p99 of reads is 1s"},
		{"a read refused", func(f *figures) { f.reads[7].status = 429 }, "1 reads were refused"},
		{"a read without answer", func(f *figures) { f.reads[7].status = 0 }, "1 reads were refused or not answered"},
		{"few reads", func(f *figures) { f.reads = f.reads[:40] }, "40 reads were sent"},
		{"memory leaks", func(f *figures) {
			for i := range f.memory {
				f.memory[i].live += int64(i) * mib
			}
		}, "memory grew by 10.0 MiB"},
		{"memory in use for a moment", func(f *figures) { f.memory[17].live, f.memory[18].live = 90*mib, 90*mib }, ""},
		{"memory at the beginning", func(f *figures) { f.memory[0].live = mib }, ""},
		{"memory not seen", func(f *figures) { f.memory = nil }, "memory was seen 0 times"},
		{"events lost", func(f *figures) { f.watched.faults = []string{"campaign x"} }, "1 streams were not what the journals say: campaign x"},
		{"nothing happened", func(f *figures) { f.watched.events = 0 }, "no event was seen"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f, p := goodFigures()
			tc.spoil(f)
			got := strings.Join(f.missed(p), "\n")
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("missed %q, want %q", got, tc.want)
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	ten := []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 5, 0.51: 6, 0.99: 10, 1: 10} {
		if got := quantile(ten, q); got != want {
			t.Errorf("quantile %g = %d, want %d", q, got, want)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("quantile of nothing = %d", got)
	}
}

// What a client saw is held against the file: lost, double and changed events show.
func TestCheck(t *testing.T) {
	s := &served{dir: t.TempDir()}
	if err := os.MkdirAll(filepath.Dir(s.journal("c1")), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.journal("c1"), []byte("{\"a\":1}\n{\"a\":2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKeeper(nil, 1, time.Now())
	k.made[0] = []string{"c1"}
	w := newWatchers(s, load{clients: 1, machines: 1}, k)
	good := w.lines("c1")
	if good.events != 2 || good.err != nil {
		t.Fatalf("journal: %+v", good)
	}
	other := good
	other.hash++
	less := good
	less.events--
	for name, tc := range map[string]struct {
		seen   []seen
		faults int
	}{
		"all": {[]seen{good}, 0}, "changed": {[]seen{other}, 1}, "lost": {[]seen{less}, 1}, "no such campaign": {[]seen{{campaign: "c2"}}, 1},
		"nobody came": {nil, 1}, "an error": {[]seen{{campaign: "c1", err: os.ErrClosed}}, 1},
	} {
		w.seen = tc.seen
		if got := w.check(); len(got.faults) != tc.faults {
			t.Errorf("%s: faults %q, want %d", name, got.faults, tc.faults)
		}
	}
}
