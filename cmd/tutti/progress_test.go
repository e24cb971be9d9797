package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/progress"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// TestBars checks the width of the bars, and that they have no colours unless these are requested.
func TestBars(t *testing.T) {
	var out bytes.Buffer
	d := progressDisplay{bars: newBars(&out, 2, false), trackers: map[journal.Problem]*progress.Tracker{}, limits: activelearn.Limits{MachineSeconds: 100}}
	ended := make(chan bool)
	go func() { d.bars.Render(); close(ended) }()
	for _, c := range []coll.Collective{coll.ReduceScatterBlock, coll.Bcast} {
		e := campaign.Event{Problem: journal.Problem{Library: "openmpi", Collective: c}, Phase: campaign.PhaseMeasure, Jobs: 3}
		e.Evaluation = activelearn.Evaluation{Round: 12, Slowdown: 1.042, Mistakes: 0.08, MachineSeconds: 25}
		d.observe(e)
		time.Sleep(2 * redrawInterval)
		e.Phase, e.Stop = campaign.PhaseEnd, activelearn.Converged
		d.observe(e)
	}
	d.line("waiting for Slurm: nothing")
	d.stop()
	<-ended
	text := regexp.MustCompile(`\x1b\[\d*[A-Z]`).ReplaceAllString(out.String(), "")
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > terminalWidth {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	for _, want := range []string{"problem           slowdown mistakes state     used       [time; left at most]\n", "openmpi reduce_sc    1.042      8 % 3 jobs", " 25 % ", "[0 s]", "converged", "waiting for Slurm: nothing\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	const first = "openmpi bcast                       3 jobs"
	if got := barMessage(campaign.Event{Problem: journal.Problem{Library: "openmpi", Collective: coll.Bcast}, Phase: campaign.PhaseMeasure, Jobs: 3}); got != first {
		t.Errorf("before the first evaluation %q, want %q", got, first)
	}
	bar := progress.Tracker{Total: wholeBudget, ExpectedDuration: 90 * time.Minute}
	bar.Start()
	if got := barTimes(&bar)(0); got != "0 s; 90 min" {
		t.Errorf("times %q, want %q", got, "0 s; 90 min")
	}
	if strings.Contains(text, "\x1b[") {
		t.Errorf("colours in %q", text)
	}
}

func TestPlainProgress(t *testing.T) {
	var out bytes.Buffer
	d := newProgress(&out, nil, &assembly.Campaign{})
	e := campaign.Event{Problem: journal.Problem{Library: "mpich", Collective: coll.Bcast}, Phase: campaign.PhaseMeasure}
	for round := 1; round <= 50; round++ {
		e.Evaluation = activelearn.Evaluation{Round: round, CandidateShare: 0.5, MachineSeconds: 3.14159, Slowdown: 1.5, Mistakes: 0.25}
		d.observe(e)
	}
	e.Phase, e.Stop = campaign.PhaseEnd, activelearn.Converged
	d.observe(e)
	d.stop()
	want := `mpich bcast            round 1   measured  50 %  machine 3.1 s    slowdown 1.500  mistakes 25 %
mpich bcast            round 50  measured  50 %  machine 3.1 s    slowdown 1.500  mistakes 25 %  converged
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

func TestWaitNotices(t *testing.T) {
	var printed []string
	w := newWaitNotices("Slurm", func(line string) { printed = append(printed, line) })
	now := time.Unix(1_800_000_000, 0)
	w.now = func() time.Time { return now }
	a, b, lost := errors.New("a"), errors.New("b"), fmt.Errorf("%w: output lost", benchrunner.ErrNoResults)
	for _, step := range []struct {
		after time.Duration
		cause error
	}{{0, a}, {time.Second, a}, {time.Second, b}, {4 * time.Second, b}, {50 * time.Second, b}, {10 * time.Second, b}, {5 * time.Second, lost}} {
		now = now.Add(step.after)
		w.notice(step.cause)
	}
	if want := []string{"waiting for Slurm: a", "waiting for Slurm: b", "waiting for Slurm: b", "a job measured nothing: output lost"}; !slices.Equal(printed, want) {
		t.Errorf("printed %q, want %q", printed, want)
	}
}

// TestWaitIsPrinted checks that tune and tune --dry-run soon print that they wait for Slurm.
func TestWaitIsPrinted(t *testing.T) {
	dir := t.TempDir()
	file := campaigntest.Fake(t, dir, "slurm")
	bin := filepath.Join(dir, "bin")
	testutil.NoError(t, os.Mkdir(bin, 0o777))
	const away = "#!/bin/sh\necho 'error: Unable to contact slurm controller (connect failure)' >&2\nexit 1\n"
	for _, name := range []string{"sinfo", "scontrol", "sbatch", "squeue"} {
		testutil.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(away), 0o777))
	}
	for _, args := range [][]string{{"--dry-run"}, nil} {
		cmd, output := process(t, dir, append([]string{"tune", "-c", file, "--set", "slurm.bin=" + bin}, args...)...)
		began := time.Now()
		endWhen(t, cmd, os.Interrupt, func() bool { return strings.Contains(output.String(), "waiting for Slurm: ") })
		if took := time.Since(began); took > testutil.HangTimeout || !strings.Contains(output.String(), "Unable to contact slurm controller") {
			t.Errorf("%q: after %v:\n%s", args, took, output)
		}
	}
}
