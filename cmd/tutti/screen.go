package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/journal"
)

// screen keeps a table on a terminal up to date, one line for each problem in the
// order of the campaign. It uses no colours.
type screen struct {
	out      io.Writer
	problems []journal.Problem
	size     func() (width, height int, err error)
	now      func() time.Time
	began    time.Time

	mu    sync.Mutex
	last  map[journal.Problem]campaign.Event
	drawn int // lines above the cursor that the next drawing replaces
	told  string
	since time.Time // when it was told

	quit, done chan struct{}
}

// Terminal control (ECMA-48): cursor up, erase to the end of the line, erase
// below the cursor.
const (
	cursorUp   = "\x1b[%dA"
	eraseLine  = "\x1b[K"
	eraseBelow = "\x1b[J"
)

// redrawInterval is short enough to look alive and too long to flicker.
const redrawInterval = 200 * time.Millisecond

func newScreen(out io.Writer, problems []journal.Problem, size func() (width, height int, err error)) *screen {
	return &screen{
		out: out, problems: problems, size: size, now: time.Now, began: time.Now(),
		last: map[journal.Problem]campaign.Event{},
		quit: make(chan struct{}), done: make(chan struct{}),
	}
}

func (s *screen) observe(e campaign.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[e.Problem] = e
}

// toldFor is how long a line stays below the table: until the next of its kind is due.
const toldFor = sameInterval + newsInterval

// tell shows a line below the table for a while.
func (s *screen) tell(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told, s.since = line, s.now()
}

// run redraws until stop.
func (s *screen) run() {
	defer close(s.done)
	tick := time.NewTicker(redrawInterval)
	defer tick.Stop()
	for {
		s.draw(false)
		select {
		case <-s.quit:
			s.draw(true)
			return
		case <-tick.C:
		}
	}
}

// stop draws every line a last time and waits for it.
func (s *screen) stop() {
	close(s.quit)
	<-s.done
}

// draw replaces what it drew before, in one write. Lines are cut to the width, so
// that none wraps, and while running to the height, since what has scrolled away
// cannot be replaced.
func (s *screen) draw(final bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	width, height, err := s.size()
	if err != nil || width < 1 || height < 1 {
		width, height = 80, 24
	}
	lines := s.lines(width)
	if !final {
		below := s.below()
		if room := height - len(below) - 1; len(lines) > room { // one for the cursor
			lines = s.fit(lines, room)
		}
		lines = append(lines, below...)
	}
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\r"+cursorUp, s.drawn)
	}
	for _, line := range lines {
		b.WriteString(cut(line, width) + eraseLine + "\r\n")
	}
	b.WriteString(eraseBelow)
	s.drawn = len(lines)
	_, _ = io.WriteString(s.out, b.String()) // a terminal that is gone is no reason to stop tuning
}

// fit keeps the heading and what fits below it: the problems at work before those
// that wait, and those before the ones that have ended.
func (s *screen) fit(lines []string, room int) []string {
	room = max(room, 1)
	keep := make([]bool, len(lines))
	keep[0] = true
	left := room - 1
	for _, wanted := range []string{"running", "waiting", "ended"} {
		for i, p := range s.problems {
			if left > 0 && s.standing(p) == wanted {
				keep[i+1] = true
				left--
			}
		}
	}
	var out []string
	for i, line := range lines {
		if keep[i] {
			out = append(out, line)
		}
	}
	return out
}

func (s *screen) standing(p journal.Problem) string {
	e, known := s.last[p]
	switch {
	case !known:
		return "waiting"
	case e.Phase == campaign.PhaseEnd:
		return "ended"
	}
	return "running"
}

// below is what stands below the table: what was told, and the footer.
func (s *screen) below() []string {
	if s.told != "" && s.now().Sub(s.since) < toldFor {
		return []string{s.told, s.footer()}
	}
	return []string{s.footer()}
}

func (s *screen) footer() string {
	ended := 0
	for _, p := range s.problems {
		if s.standing(p) == "ended" {
			ended++
		}
	}
	return fmt.Sprintf("%d of %d ended  %s  Ctrl-C stops and keeps what was measured",
		ended, len(s.problems), s.now().Sub(s.began).Truncate(time.Second))
}

// column is one figure of the table.
type column struct {
	title string
	cell  func(activelearn.Evaluation) string
}

// columns from the one that is given up last on a narrow terminal to the first.
func columns() []column {
	percent := func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
	return []column{
		{"slowdown", func(v activelearn.Evaluation) string { return fmt.Sprintf("%.3f", v.Slowdown) }},
		{"mistakes", func(v activelearn.Evaluation) string { return percent(v.Mistakes) }},
		{"measured", func(v activelearn.Evaluation) string { return percent(v.CandidateShare) }},
		{"machine", func(v activelearn.Evaluation) string { return formatSeconds(v.MachineSeconds) }},
		{"round", func(v activelearn.Evaluation) string { return strconv.Itoa(v.Round) }},
	}
}

// lines returns the heading and a line for each problem, with as many columns as
// fit beside the longest name and state.
func (s *screen) lines(width int) []string {
	names, states := 0, len(campaign.PhaseStudy)
	for _, p := range s.problems {
		names = max(names, len(p.String()))
		states = max(states, len(stateOf(s.last[p])))
	}
	shown := columns()
	for len(shown) > 1 && names+tableWidth(shown)+2+states > width {
		shown = shown[:len(shown)-1]
	}
	row := func(name, state string, cell func(column) string) string {
		line := fmt.Sprintf("%-*s", names, name)
		for _, c := range shown {
			line += fmt.Sprintf("  %*s", cellWidth(c), cell(c))
		}
		return strings.TrimRight(line+"  "+state, " ")
	}
	out := []string{row("", "", func(c column) string { return c.title })}
	for _, p := range s.problems {
		e, known := s.last[p]
		state := stateOf(e)
		if !known {
			state = "waiting"
		}
		out = append(out, row(p.String(), state, func(c column) string {
			if e.Evaluation.Round == 0 {
				return ""
			}
			return c.cell(e.Evaluation)
		}))
	}
	return out
}

// cellWidth leaves room for machine times like 12h34m56s.
func cellWidth(c column) int {
	if c.title == "machine" {
		return 9
	}
	return len(c.title)
}

func tableWidth(shown []column) int {
	sum := 0
	for _, c := range shown {
		sum += 2 + cellWidth(c)
	}
	return sum
}

// cut shortens a line to the width, the last place showing that it did.
func cut(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "…"
}
