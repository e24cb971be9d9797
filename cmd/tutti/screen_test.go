package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/journal"
)

// terminal shows what a terminal of a size would: it knows line ends, cursor up
// and the two erasures, wraps long lines and scrolls.
type terminal struct {
	width, height int
	lines         [][]rune // all ever shown; the window is the last height of them
	row, column   int
}

func (s *terminal) Write(p []byte) (int, error) {
	text := []rune(string(p))
	for i := 0; i < len(text); i++ {
		switch r := text[i]; r {
		case '\r':
			s.column = 0
		case '\n':
			s.row++
		case '\x1b':
			i++ // the bracket
			n := 0
			for i++; text[i] >= '0' && text[i] <= '9'; i++ {
				n = 10*n + int(text[i]-'0')
			}
			s.control(text[i], n)
		default:
			if s.column == s.width {
				s.row, s.column = s.row+1, 0
			}
			s.grow()
			for len(s.lines[s.row]) <= s.column {
				s.lines[s.row] = append(s.lines[s.row], ' ')
			}
			s.lines[s.row][s.column] = r
			s.column++
		}
		s.grow()
	}
	return len(p), nil
}

func (s *terminal) grow() {
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
}

func (s *terminal) control(final rune, n int) {
	switch final {
	case 'A':
		s.row = max(s.row-n, len(s.lines)-s.height, 0)
	case 'K':
		s.lines[s.row] = s.lines[s.row][:min(s.column, len(s.lines[s.row]))]
	case 'J':
		s.lines[s.row] = s.lines[s.row][:min(s.column, len(s.lines[s.row]))]
		for i := s.row + 1; i < len(s.lines); i++ {
			s.lines[i] = nil
		}
	default:
		panic(fmt.Sprintf("terminal control %q", final))
	}
}

func (s *terminal) String() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// show drives a screen through a campaign of all collectives given and returns
// what the terminal shows while they run and at the end.
func show(width, height int, problems []journal.Problem) (running, ended string) {
	term := &terminal{width: width, height: height}
	_, _ = term.Write([]byte("$ tutti tune\r\n"))
	s := newScreen(term, problems, func() (int, int, error) { return width, height, nil })
	s.now = func() time.Time { return s.began.Add(65 * time.Second) }
	s.draw(false)
	event := func(i, round int, phase campaign.Phase, stop activelearn.StopReason) {
		s.observe(campaign.Event{Problem: problems[i], Phase: phase, Stop: stop, Evaluation: activelearn.Evaluation{
			Round: round, CandidateShare: float64(round) / 100, MachineSeconds: 1000 * float64(round), Slowdown: 1.0421, Mistakes: 0.08,
		}})
		s.draw(false)
	}
	for round := 1; round <= 9; round++ {
		event(0, round, campaign.PhaseMeasure, "")
		event(1, 3*round, campaign.PhaseMeasure, "")
	}
	event(0, 9, campaign.PhaseStudy, "")
	running = term.String()
	for i := range problems {
		event(i, 40, campaign.PhaseEnd, activelearn.SpaceExhausted)
	}
	s.draw(true)
	_, _ = term.Write([]byte("$ "))
	return running, term.String()
}

func TestScreen(t *testing.T) {
	problems := []journal.Problem{
		{Library: "mpich", Collective: coll.Allreduce}, {Library: "mpich", Collective: coll.Bcast}, {Library: "openmpi", Collective: coll.Allgather},
	}
	running, ended := show(80, 24, problems)
	wantRunning := `$ tutti tune
                   slowdown  mistakes  measured    machine
mpich allreduce       1.042       8 %       9 %    2h30m0s  tuning forests
mpich bcast           1.042       8 %      27 %    7h30m0s
openmpi allgather                                           waiting
0 of 3 ended  1m5s  Ctrl-C stops and keeps what was measured
`
	wantEnded := `$ tutti tune
                   slowdown  mistakes  measured    machine
mpich allreduce       1.042       8 %      40 %   11h6m40s  exhausted
mpich bcast           1.042       8 %      40 %   11h6m40s  exhausted
openmpi allgather     1.042       8 %      40 %   11h6m40s  exhausted
$
`
	if running != wantRunning {
		t.Errorf("while running:\n%swant\n%s", running, wantRunning)
	}
	if ended != wantEnded {
		t.Errorf("at the end:\n%swant\n%s", ended, wantEnded)
	}
}

// TestScreenSizes wants whole names and states, every problem once at the end and
// nothing left of earlier drawings, however small the terminal.
func TestScreenSizes(t *testing.T) {
	var problems []journal.Problem
	for _, library := range []string{"mpich", "openmpi"} {
		for _, c := range coll.Collectives() {
			problems = append(problems, journal.Problem{Library: library, Collective: c})
		}
	}
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 10}, {56, 4}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			running, ended := show(size[0], size[1], problems)
			if strings.Count(running, "slowdown") != 1 || strings.Count(running, " of 28 ended") != 1 {
				t.Errorf("while running the heading or the footer stands not once:\n%s", running)
			}
			if size[1] > 5 && !(strings.Contains(running, "mpich allgather ") && strings.Contains(running, "tuning forests")) {
				t.Errorf("the problems at work are not shown:\n%s", running)
			}
			if n := strings.Count(running, "\n"); n > max(size[1], 4) {
				t.Errorf("%d lines while running:\n%s", n, running)
			}
			if strings.Count(ended, "\n") != 2+1+len(problems) || strings.Count(ended, "exhausted\n") != len(problems) || strings.Contains(ended, "…") {
				t.Errorf("at the end:\n%s", ended)
			}
			for _, p := range problems {
				if strings.Count(ended, "\n"+p.String()+" ") != 1 {
					t.Errorf("%s stands not once at the end:\n%s", p, ended)
				}
			}
			for line := range strings.Lines(ended) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > size[0] {
					t.Errorf("line of %d places: %q", n, line)
				}
			}
		})
	}
}

// TestPlainProgress wants lines for a log: the first at once, then few.
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
	want := `mpich bcast            round 1   measured  50 %  machine 3.14s    slowdown 1.500  mistakes 25 %
mpich bcast            round 50  measured  50 %  machine 3.14s    slowdown 1.500  mistakes 25 %  converged
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}
