package api_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/internal/testutil/pagetest"
	"tutti/online"
	"tutti/service"
)

// sampleFolders returns the status of two folders of samples. One folder has a report; the other one cannot
// be read.
func sampleFolders() []service.SampleStatus {
	at := coll.Point{Collective: coll.Allreduce, Nodes: 16, PPN: 32, MsgBytes: 65536}
	ring := coll.Algorithm{Name: "ring"}
	r := &online.Report{
		Time: startTime, Calls: 21480, AllJobs: 37,
		Jobs: []online.JobReport{
			{File: "n1-4711-1-0.samples", Begun: startTime.Add(-5 * time.Hour), Last: startTime.Add(-4 * time.Hour), Calls: 610},
			{File: "n7-815-2-0.samples", Begun: startTime.Add(-time.Hour), Last: startTime.Add(-10 * time.Second), Calls: 588},
		},
		Price: online.Price{Explore: 0.1, Cost: 0.012, OverDefault: 0.78, Low: 0.76, High: 0.8},
		Classes: []online.ClassReport{
			{Point: at, Low: 65536, High: 131071, Calls: 9120, Selected: ring, Faster: 1.43, FasterLow: 1.38, FasterHigh: 1.48, Explored: 2, Of: 14,
				Since: startTime.Add(-49 * time.Hour), Before: coll.Default, Why: "1.43 times as fast as library_default (1.38 to 1.48), by 412 and 88 calls"},
			{Point: coll.Point{Collective: coll.Bcast, Nodes: 16, PPN: 32, MsgBytes: 64}, Low: 64, High: 127, Calls: 12360, Selected: coll.Default, Faster: 1, FasterLow: 1, FasterHigh: 1, Of: 11},
		},
		TimeChanges: []online.TimeChange{{Job: "n7-815-2-0.samples", Begun: startTime.Add(-time.Hour), Point: &at, Algorithm: coll.Algorithm{Name: "rabenseifner"}, Factor: 2.1}},
		Drift:       []online.SourceDrift{{Source: "/state/campaigns/c1/results", Candidates: 12, Change: 0.043, Ratio: 1.02}},
	}
	return []service.SampleStatus{
		{SampleFolder: config.SampleFolder{Name: "production", Folder: "/scratch/learned", Base: "night", Drift: 0.25}, Checked: startTime, Decision: "no campaign: 12 candidates differ by 4.3 %", Report: r},
		{SampleFolder: config.SampleFolder{Name: "test jobs", Folder: "/scratch/none"}, Error: "open /scratch/none: no such file or directory"},
	}
}

const onlineDrawn = `document.querySelectorAll("[data-online] tbody tr").length === 2`

// TestOnline checks that the page shows the report on a folder of samples, and that it shows a new report
// after an event.
func TestOnline(t *testing.T) {
	f := emptyFake()
	f.samples = sampleFolders()
	home, ctx := browse(t, f)
	visit(t, ctx, home+"/#/online", onlineDrawn)
	text := strings.ReplaceAll(pagetest.Eval[string](t, ctx, `document.querySelector("main").textContent`), "\u00a0", " ")
	for _, want := range []string{
		"21 480 calls of 37 jobs", "1 running at that time", "took 1.2 % of the time", "0.780 of the default (0.760 to 0.800)", "1.430 1.380 to 1.480", "2 of 14",
		"1.43 times as fast as library_default", "rabenseifner at allreduce 16×32 64 KiB takes 2.100 times as long", "12 candidates differ by 4.3 %",
		"no such file or directory", "There is no table yet",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}

	update := sampleFolders()[0]
	update.Report.Classes[1].Selected = coll.Algorithm{Name: "pipeline(segsize=8192)"}
	data := testutil.Must(json.Marshal(update))(t)
	f.events.add("online", data)
	pagetest.Until(t, ctx, `document.querySelector("main").textContent.includes("pipeline(segsize=8192)")`)
}

func TestOnlineNothing(t *testing.T) {
	home, ctx := browse(t, emptyFake())
	visit(t, ctx, home+"/#/online", `document.querySelector("main .empty")?.textContent.includes("No folder is watched")`)
}
