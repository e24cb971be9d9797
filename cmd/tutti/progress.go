package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/journal"
	"tutti/report"
)

// progressDisplay shows the progress of a campaign. On a terminal, each pair of library and collective (a
// problem) has a bar. Otherwise, events are printed as lines.
type progressDisplay struct {
	out    io.Writer
	limits activelearn.Limits
	bars   progress.Writer // nil if out is no terminal

	mu       sync.Mutex
	trackers map[journal.Problem]*progress.Tracker
	printed  map[journal.Problem]time.Time // time of the last plain line
	last     map[journal.Problem]string    // last plain line
}

const (
	plainInterval  = 5 * time.Second        // minimum time between two lines about a problem, which keeps logs short
	redrawInterval = 200 * time.Millisecond // between two updates of the bars
	// A line of terminalWidth columns has a message, a bar, the percentage and the remaining time.
	messageWidth = 45
	barWidth     = 5
	// wholeBudget is the value of a full bar. A bar shows the used share of the budget in units of 0.1 %.
	wholeBudget = 1000
)

// newProgress returns the display for a campaign. Callers must call stop at the end.
func newProgress(out io.Writer, environ []string, c *assembly.Campaign) *progressDisplay {
	d := &progressDisplay{
		out: out, limits: c.Spec.Limits,
		trackers: map[journal.Problem]*progress.Tracker{}, printed: map[journal.Problem]time.Time{}, last: map[journal.Problem]string{},
	}
	if !onTerminal(out) || slices.Contains(environ, "TERM=dumb") {
		return d
	}
	d.bars = newBars(ownFile(out), len(c.Problems), !slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") }))
	go d.bars.Render()
	return d
}

func newBars(out io.Writer, problems int, colours bool) progress.Writer {
	w := progress.NewWriter()
	w.SetOutputWriter(out)
	w.SetNumTrackersExpected(problems)
	w.SetUpdateFrequency(redrawInterval)
	w.SetMessageLength(messageWidth)
	w.SetTrackerLength(barWidth)
	w.SetTerminalWidth(terminalWidth)
	w.SetTrackerPosition(progress.PositionRight)
	style := progress.StyleBlocks
	style.Options.Separator = " "
	style.Options.PercentFormat = "%3.0f %%"
	style.Options.DoneString = ""
	style.Visibility = progress.StyleVisibility{Percentage: true, Pinned: true, Tracker: true, Value: true}
	if colours {
		style.Colors = progress.StyleColorsExample
	}
	w.SetStyle(style)
	w.SetPinnedMessages("Ctrl-C keeps the measurements. Used: share of the budget, or of the candidates",
		fmt.Sprintf("%-17s %8s %8s %-9s %s", "problem", "slowdown", "mistakes", "state", "used       [time; left at most]"))
	return w
}

// observe shows an event. Several goroutines may call it at the same time.
func (d *progressDisplay) observe(e campaign.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bars != nil {
		d.updateBar(e)
		return
	}
	if e.Phase == campaign.PhaseMeasure && time.Since(d.printed[e.Problem]) < plainInterval {
		return
	}
	d.printed[e.Problem] = time.Now()
	if line := progressLine(e); line != d.last[e.Problem] {
		d.last[e.Problem] = line
		fmt.Fprintln(d.out, line)
	}
}

func (d *progressDisplay) updateBar(e campaign.Event) {
	t := d.trackers[e.Problem]
	if t == nil {
		t = &progress.Tracker{Total: wholeBudget}
		t.Units.Formatter = barTimes(t)
		d.trackers[e.Problem] = t
		d.bars.AppendTracker(t)
	}
	t.UpdateMessage(barMessage(e))
	if e.Phase == campaign.PhaseEnd {
		t.MarkAsDone()
		return
	}
	// The value stays below wholeBudget, because a full bar would end the tracker.
	t.SetValue(min(int64(wholeBudget*budgetUsed(e.Evaluation, d.limits)), wholeBudget-1))
}

// barTimes returns a function that writes the times of a bar in the format of all durations: how long the problem has
// taken and, while it runs, how long it will take at most.
func barTimes(t *progress.Tracker) progress.UnitsFormatter {
	began, took := time.Now(), time.Duration(0)
	return func(int64) string {
		if t.IsDone() {
			return formatWhole(took)
		}
		took = time.Since(began)
		if left := t.ETA(); left >= time.Second {
			return formatWhole(took) + "; " + formatWhole(left)
		}
		return formatWhole(took)
	}
}

func formatWhole(d time.Duration) string { return report.FormatSeconds(d.Round(time.Second).Seconds()) }

// budgetUsed returns the used share of a problem's budget. If there are several budgets, it returns the largest
// share. Without a budget, it returns the share of candidates that are measured.
func budgetUsed(v activelearn.Evaluation, limits activelearn.Limits) float64 {
	if limits.MachineSeconds <= 0 && limits.NodeSeconds <= 0 {
		return v.CandidateShare
	}
	used := 0.0
	if limits.MachineSeconds > 0 {
		used = v.MachineSeconds / limits.MachineSeconds
	}
	if limits.NodeSeconds > 0 {
		used = max(used, v.NodeSeconds/limits.NodeSeconds)
	}
	return used
}

// barMessage returns the text next to a bar, for example "mpich allreduce      1.042      8 % 2 jobs".
// It has the problem, the average slowdown, the share of mistakes and the state.
func barMessage(e campaign.Event) string {
	v := e.Evaluation
	slowdown, mistakes := "", ""
	if v.Slowdown > 0 {
		slowdown, mistakes = fmt.Sprintf("%.3f", v.Slowdown), fmt.Sprintf("%.0f %%", 100*v.Mistakes)
	}
	text := fmt.Sprintf("%-17.17s %8s %8s", e.Problem, slowdown, mistakes)
	state := stateOf(e)
	if e.Phase == campaign.PhaseStudy || e.Phase == campaign.PhaseCompare {
		state = "fitting" // fits the column
	}
	return strings.TrimRight(text+" "+state, " ")
}

// line prints a text above the bars. If there are no bars, it prints the text as a line.
func (d *progressDisplay) line(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bars != nil {
		d.bars.Log("%s", text)
		return
	}
	fmt.Fprintln(d.out, text)
}

func (d *progressDisplay) stop() {
	if d.bars == nil {
		return
	}
	d.bars.SetPinnedMessages()
	time.Sleep(redrawInterval) // the last state is drawn
	d.bars.Stop()
	for d.bars.IsRenderInProgress() {
		time.Sleep(redrawInterval / 10)
	}
}

// progressLine returns the line about an event for output without bars, for example "mpich allreduce
// round 12  measured   9 %  machine 3.2 min  slowdown 1.042  mistakes  8 %".
func progressLine(e campaign.Event) string {
	v := e.Evaluation
	text := fmt.Sprintf("%-22s", e.Problem)
	if v.Round > 0 {
		text += fmt.Sprintf(" round %-3d measured %3.0f %%  machine %-8s", v.Round, 100*v.CandidateShare, report.FormatSeconds(v.MachineSeconds))
	}
	if v.Slowdown > 0 {
		text += fmt.Sprintf(" slowdown %.3f  mistakes %2.0f %% ", v.Slowdown, 100*v.Mistakes)
	}
	return strings.TrimRight(text+" "+stateOf(e), " ")
}

// stateOf returns what happens to a problem at present, or the reason why its measuring has stopped. It returns
// "" while benchmarks are measured and no job is waiting or running.
func stateOf(e campaign.Event) string {
	switch e.Phase {
	case campaign.PhaseMeasure:
		if e.Jobs > 0 {
			return plural(e.Jobs, "job")
		}
	case campaign.PhaseStudy, campaign.PhaseCompare:
		return string(e.Phase)
	case campaign.PhaseEnd:
		return string(e.Stop)
	}
	return ""
}

// Minimum times between two lines that say why a campaign waits.
const (
	newReasonInterval  = 5 * time.Second // if the reason has changed
	sameReasonInterval = time.Minute     // doubled after each line with the same reason
	sameReasonMost     = time.Hour
)

// waitNotices prints the reasons why a campaign waits. It prints the first reason at once and later ones at
// intervals.
type waitNotices struct {
	what string
	now  func() time.Time

	mu    sync.Mutex
	print func(line string)
	last  string
	when  time.Time     // of the last line
	pause time.Duration // until a line with the same reason
}

func newWaitNotices(what string, print func(line string)) *waitNotices {
	return &waitNotices{what: what, now: time.Now, print: print}
}

// notice prints that a job measured nothing, or why tutti waits for the scheduler, unless the previous line about a wait
// is too recent. Several goroutines may call it at the same time.
func (w *waitNotices) notice(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := cause.Error()
	if !errors.Is(cause, benchrunner.ErrNoResults) {
		line = fmt.Sprintf("waiting for %s: %v", w.what, cause)
	}
	interval, pause := newReasonInterval, sameReasonInterval
	if line == w.last {
		interval, pause = w.pause, min(2*w.pause, sameReasonMost)
	}
	if now := w.now(); w.when.IsZero() || now.Sub(w.when) >= interval {
		w.last, w.when, w.pause = line, now, pause
		w.print(line)
	}
}

// printTo sets the function that prints each line about a wait from now on.
func (w *waitNotices) printTo(print func(line string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.print = print
}

// watchWaits makes a campaign print the reasons why it waits. Callers must call it before Connect.
func (a *app) watchWaits(c *assembly.Campaign) {
	if manager := c.Config.Runner.Facts().Manager; manager != "" {
		a.waits.what = manager
	}
	c.Notice = a.waits.notice
}

func (a *app) printLine(line string) { fmt.Fprintln(a.stderr, fit(a.stderr, line)) }
