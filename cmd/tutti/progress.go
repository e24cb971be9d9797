package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"

	"tutti/campaign"
	"tutti/store"
)

// progressDisplay shows one line for each problem: bars that redraw themselves on
// a terminal, plain lines elsewhere.
type progressDisplay struct {
	out      io.Writer
	writer   progress.Writer // nil when out is no terminal
	trackers map[store.Problem]*progress.Tracker
	mu       sync.Mutex
	shown    map[store.Problem]time.Time // last plain line
}

// plainInterval keeps logs of batch jobs short.
const plainInterval = 5 * time.Second

func newProgress(out io.Writer, b *built) *progressDisplay {
	d := &progressDisplay{out: out, shown: map[store.Problem]time.Time{}}
	if f, ok := out.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return d
	}
	d.writer = progress.NewWriter()
	d.writer.SetOutputWriter(out)
	d.writer.SetAutoStop(false)
	d.writer.SetMessageLength(78)
	d.writer.SetTrackerLength(20)
	d.writer.SetUpdateFrequency(200 * time.Millisecond)
	d.writer.Style().Visibility.Time = false
	d.writer.Style().Visibility.Value = false
	d.writer.Style().Options.PercentFormat = "%3.0f%%"
	d.trackers = map[store.Problem]*progress.Tracker{}
	for _, p := range b.problems {
		t := &progress.Tracker{Message: line(campaign.Event{Problem: p.Problem}), Total: 1000}
		d.trackers[p.Problem] = t
		d.writer.AppendTracker(t)
	}
	go d.writer.Render()
	return d
}

// observe shows an event. It is called by several problems at once.
func (d *progressDisplay) observe(e campaign.Event) {
	if d.writer != nil {
		t := d.trackers[e.Problem]
		t.UpdateMessage(line(e))
		t.SetValue(int64(1000 * e.Evaluation.CandidateShare))
		if e.Phase == campaign.PhaseEnd {
			t.MarkAsDone()
		}
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.Phase == campaign.PhaseMeasure && time.Since(d.shown[e.Problem]) < plainInterval {
		return
	}
	d.shown[e.Problem] = time.Now()
	fmt.Fprintln(d.out, line(e))
}

// stop draws the last state.
func (d *progressDisplay) stop() {
	if d.writer == nil {
		return
	}
	d.writer.Stop()
	for d.writer.IsRenderInProgress() {
		time.Sleep(10 * time.Millisecond)
	}
}

// line is for example "mpich allreduce    round 12  measured  9 %  machine 3m10s  slowdown 1.042  mistakes 8 %".
func line(e campaign.Event) string {
	v := e.Evaluation
	text := fmt.Sprintf("%-22s", e.Problem)
	if v.Round == 0 {
		return text + " waiting"
	}
	text += fmt.Sprintf(" round %-3d measured %3.0f %%  machine %-8s slowdown %.3f  mistakes %2.0f %%",
		v.Round, 100*v.CandidateShare, seconds(v.MachineSeconds), v.Slowdown, 100*v.Mistakes)
	switch e.Phase {
	case campaign.PhaseStudy:
		text += "  " + string(e.Phase)
	case campaign.PhaseEnd:
		text += "  " + string(e.Stop)
	}
	return strings.TrimRight(text, " ")
}

func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
