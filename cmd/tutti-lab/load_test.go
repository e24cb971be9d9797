package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/internal/testutil"
	"tutti/journal"
)

// TestLoad checks that a small load misses no target and that clients reconnect.
func TestLoad(t *testing.T) {
	testutil.SkipShort(t)
	program := filepath.Join(t.TempDir(), "tutti")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "../../cmd/tutti").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	o := loadOptions{
		Program: program, Campaign: "../../configs/service-demo-campaign.yaml", Dir: t.TempDir(), Campaigns: 2,
		Clients: 7, Rate: 20, Time: 4 * time.Second, Drop: 300 * time.Millisecond, P99: time.Minute, Growth: 50,
	}
	r := testutil.Must(runLoad(t.Context(), o))(t)
	if missed := r.missed(o); len(missed) > 0 || r.reconnects == 0 || len(r.faults) > 0 {
		t.Errorf("missed %q, %d reconnections, faults %q: want no fault and a reconnection", missed, r.reconnects, r.faults)
	}
	var out bytes.Buffer
	if r.print(&out, o); !strings.Contains(out.String(), " 0 streams differ from the journal") {
		t.Errorf("printed %s", &out)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "state")); err != nil {
		t.Errorf("the folder was removed: %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	good := loadOptions{Program: filepath.Join(t.TempDir(), "none"), Campaigns: 1, Clients: 1, Rate: 1, Time: time.Second, Drop: time.Second}
	testutil.NoError(t, good.Validate())
	if _, err := runLoad(t.Context(), good); !errors.Is(err, fs.ErrNotExist) {
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

// goodReport returns a report that meets all targets, and the options that contain these targets.
func goodReport() (*loadReport, loadOptions) {
	f := &loadReport{live: slices.Repeat([]float64{20}, 20), events: 10}
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
			for i := range f.live {
				f.live[i] += float64(i)
			}
		}, "memory grew by 10.0 MiB"},
		{"memory in use for a moment", func(f *loadReport) { f.live[17], f.live[18] = 90, 90 }, ""},
		{"memory at the beginning", func(f *loadReport) { f.live[0] = 1 }, ""},
		{"memory not measured", func(f *loadReport) { f.live = nil }, "memory was measured 0 times"},
		{"events lost", func(f *loadReport) { f.faults = []string{"campaign x"} }, "1 streams differ from the journals: campaign x"},
		{"no events", func(f *loadReport) { f.events = 0 }, "no event was received"},
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
	var ten loadReport
	for n := range 10 {
		ten.reads = append(ten.reads, read{latency: time.Duration(n + 1)})
	}
	for p, want := range map[int]time.Duration{0: 1, 50: 5, 51: 6, 99: 10, 100: 10} {
		if got, n := ten.percentile("", p); got != want || n != 10 {
			t.Errorf("percentile %d = %d of %d, want %d", p, got, n, want)
		}
	}
	if got, _ := ten.percentile("/", 50); got != 0 {
		t.Errorf("percentile of nothing = %d", got)
	}
}

// TestWatchCompares checks that missing and changed events, and a stream without an end, are found.
func TestWatchCompares(t *testing.T) {
	const lines = "{\"a\":1}\n{\"a\":2}\n"
	const end = "event: end\ndata: {}\n\n"
	first, second := "id: 1\nevent: x\ndata: {\"a\":1}\n\n: heartbeat\n\n", "id: 2\nevent: x\ndata: {\"a\":2}\n\n"
	for stream, faults := range map[string]int{first + second + end: 0, first + end: 1, second + first + end: 1, first + second: 1} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, stream) }))
		l := &loadTest{loadOptions: loadOptions{Dir: t.TempDir(), Drop: time.Hour}, url: server.URL}
		folder := filepath.Join(l.Dir, "state", "campaigns", "c1", "results")
		testutil.NoError(t, os.MkdirAll(folder, 0o700))
		testutil.NoError(t, os.WriteFile(filepath.Join(folder, journal.FileName), []byte(lines), 0o600))
		l.watch(t.Context(), "c1", 1)
		server.Close()
		if len(l.report.faults) != faults {
			t.Errorf("%q: faults %q, want %d", stream, l.report.faults, faults)
		}
	}
}
