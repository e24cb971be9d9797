package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/internal/testutil"
)

// TestLoad checks that a small load misses no target and that clients reconnect.
func TestLoad(t *testing.T) {
	testutil.SkipShort(t)
	program := filepath.Join(t.TempDir(), "tutti")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/tutti").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	dir := t.TempDir()
	var out bytes.Buffer
	missed, err := runLoad(t.Context(), loadOptions{
		Program: program, Campaign: "../../configs/service-demo-campaign.yaml", Dir: dir, Campaigns: 2,
		Clients: 7, Rate: 20, Time: 4 * time.Second, Drop: 300 * time.Millisecond, P99: time.Minute, Growth: 50,
	}, &out)
	if err != nil || len(missed) > 0 || !strings.Contains(out.String(), " 0 streams differ from the journal") {
		t.Errorf("missed %q, %v\n%s", missed, err, &out)
	}
	if strings.Contains(out.String(), " 0 reconnections") {
		t.Errorf("no client dropped its connection\n%s", &out)
	}
	if _, err := os.Stat(filepath.Join(dir, "serve.log")); err != nil {
		t.Errorf("the folder was removed: %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	good := loadOptions{Program: filepath.Join(t.TempDir(), "none"), Campaigns: 1, Clients: 1, Rate: 1, Time: time.Second, Drop: time.Second}
	testutil.NoError(t, good.Validate())
	if _, err := runLoad(t.Context(), good, io.Discard); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a program: %v, want fs.ErrNotExist", err)
	}
	for name, change := range map[string]func(*loadOptions){
		"no client": func(o *loadOptions) { o.Clients = 0 }, "no campaign": func(o *loadOptions) { o.Campaigns = 0 }, "no read": func(o *loadOptions) { o.Rate = 0 },
		"no time": func(o *loadOptions) { o.Time = time.Millisecond }, "no drop time": func(o *loadOptions) { o.Drop = 0 },
	} {
		o := good
		change(&o)
		if o.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// goodReport returns a report that meets all targets.
func goodReport() (*loadReport, loadOptions) {
	f := &loadReport{memory: slices.Repeat([]memory{{resident: 100 * mib, live: 20 * mib}}, 20), streams: comparison{events: 10}}
	for range 100 {
		f.reads = append(f.reads, read{route: routes[0], latency: 10 * time.Millisecond, status: 200})
	}
	return f, loadOptions{Rate: 10, Time: 10 * time.Second, P99: 50 * time.Millisecond, Growth: 4}
}

func TestMissedTargets(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*loadReport)
		want  string
	}{
		{"all met", func(*loadReport) {}, ""},
		{"one slow read of a hundred", func(f *loadReport) { f.reads[3].latency = time.Second }, ""},
		{"two slow reads of a hundred", func(f *loadReport) { f.reads[3].latency, f.reads[4].latency = time.Second, time.Second }, "p99 of reads is 1s"},
		{"a read refused", func(f *loadReport) { f.reads[7].status = 429 }, "1 reads were refused"},
		{"a read without answer", func(f *loadReport) { f.reads[7].status = 0 }, "1 reads were refused or not answered"},
		{"few reads", func(f *loadReport) { f.reads = f.reads[:40] }, "40 reads were sent"},
		{"memory leaks", func(f *loadReport) {
			for i := range f.memory {
				f.memory[i].live += int64(i) * mib
			}
		}, "memory grew by 10.0 MiB"},
		{"memory in use for a moment", func(f *loadReport) { f.memory[17].live, f.memory[18].live = 90*mib, 90*mib }, ""},
		{"memory at the beginning", func(f *loadReport) { f.memory[0].live = mib }, ""},
		{"memory not measured", func(f *loadReport) { f.memory = nil }, "memory was measured 0 times"},
		{"events lost", func(f *loadReport) { f.streams.faults = []string{"campaign x"} }, "1 streams differ from the journals: campaign x"},
		{"no events", func(f *loadReport) { f.streams.events = 0 }, "no event was received"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f, o := goodReport()
			tc.spoil(f)
			got := strings.Join(f.missed(o), "\n")
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("missed %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPercentile(t *testing.T) {
	ten := []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for p, want := range map[int]time.Duration{0: 1, 50: 5, 51: 6, 99: 10, 100: 10} {
		if got := percentile(ten, p); got != want {
			t.Errorf("percentile %d = %d, want %d", p, got, want)
		}
	}
	if got := percentile(nil, 50); got != 0 {
		t.Errorf("percentile of nothing = %d", got)
	}
}

// TestCompareStreams checks that missing, repeated and changed events are found.
func TestCompareStreams(t *testing.T) {
	s := &loadService{dir: t.TempDir()}
	testutil.NoError(t, os.MkdirAll(filepath.Dir(s.journal("c1")), 0o700))
	testutil.NoError(t, os.WriteFile(s.journal("c1"), []byte("{\"a\":1}\n{\"a\":2}\n"), 0o600))
	c := newCampaigns(nil, 1, time.Now())
	c.ids[0] = []string{"c1"}
	w := &watchers{service: s, options: loadOptions{Clients: 1, Campaigns: 1}, campaigns: c}
	good := w.readJournal("c1")
	if good.events != 2 || good.err != nil {
		t.Fatalf("journal: %+v", good)
	}
	other := good
	other.hash++
	shorter := good
	shorter.events--
	for name, tc := range map[string]struct {
		streams []stream
		faults  int
	}{
		"all": {[]stream{good}, 0}, "changed": {[]stream{other}, 1}, "lost": {[]stream{shorter}, 1}, "no such campaign": {[]stream{{campaign: "c2"}}, 1},
		"no stream": {nil, 1}, "an error": {[]stream{{campaign: "c1", err: os.ErrClosed}}, 1},
	} {
		w.streams = tc.streams
		if got := w.compare(); len(got.faults) != tc.faults {
			t.Errorf("%s: faults %q, want %d", name, got.faults, tc.faults)
		}
	}
}
