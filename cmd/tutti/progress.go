package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/journal"
)

// progressDisplay shows how the problems get on: a table that redraws itself on a
// terminal, plain lines elsewhere.
type progressDisplay struct {
	screen *screen // nil when out is no terminal
	out    io.Writer
	mu     sync.Mutex
	shown  map[journal.Problem]time.Time // last plain line
}

// plainInterval keeps logs of batch jobs short.
const plainInterval = 5 * time.Second

func newProgress(out io.Writer, environ []string, b *assembly.Campaign) *progressDisplay {
	d := &progressDisplay{out: out, shown: map[journal.Problem]time.Time{}}
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || slices.Contains(environ, "TERM=dumb") {
		return d
	}
	var problems []journal.Problem
	for _, p := range b.Problems {
		problems = append(problems, p.Problem)
	}
	d.screen = newScreen(f, problems, func() (width, height int, err error) { return term.GetSize(int(f.Fd())) })
	go d.screen.run()
	return d
}

// observe shows an event. It is called by several problems at once.
func (d *progressDisplay) observe(e campaign.Event) {
	if d.screen != nil {
		d.screen.observe(e)
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

// line shows something beside the problems: below the table, or as a line.
func (d *progressDisplay) line(text string) {
	if d.screen != nil {
		d.screen.tell(text)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintln(d.out, text)
}

// stop draws the last state.
func (d *progressDisplay) stop() {
	if d.screen != nil {
		d.screen.stop()
	}
}

// line is for example "mpich allreduce        round 12  measured   9 %  machine 3m10s    slowdown 1.042  mistakes  8 %".
func line(e campaign.Event) string {
	v := e.Evaluation
	text := fmt.Sprintf("%-22s", e.Problem)
	if v.Round > 0 {
		text += fmt.Sprintf(" round %-3d measured %3.0f %%  machine %-8s slowdown %.3f  mistakes %2.0f %% ",
			v.Round, 100*v.CandidateShare, formatSeconds(v.MachineSeconds), v.Slowdown, 100*v.Mistakes)
	}
	return strings.TrimRight(text+" "+stateOf(e), " ")
}

// stateOf says what a problem is busy with, or why it stopped; "" while it measures
// without jobs.
func stateOf(e campaign.Event) string {
	switch e.Phase {
	case campaign.PhaseMeasure:
		if e.Jobs == 1 {
			return "1 job"
		} else if e.Jobs > 1 {
			return fmt.Sprintf("%d jobs", e.Jobs)
		}
	case campaign.PhaseStudy:
		return string(e.Phase)
	case campaign.PhaseEnd:
		return string(e.Stop)
	}
	return ""
}
