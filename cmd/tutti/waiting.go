package main

import (
	"fmt"
	"sync"
	"time"

	"tutti/campaign/assembly"
	"tutti/internal/config"
)

// How often a wait is told: something new soon, the same seldom.
const (
	newsInterval = 5 * time.Second
	sameInterval = time.Minute
)

// waits tells what tutti waits for: the first time at once, then sparsely.
type waits struct {
	what string
	now  func() time.Time

	mu   sync.Mutex
	show func(line string)
	said string
	last time.Time
}

func newWaits(what string, show func(line string)) *waits {
	return &waits{what: what, now: time.Now, show: show}
}

// notice says why tutti waits. It may be called by several goroutines at any pace.
func (w *waits) notice(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("waiting for %s: %v", w.what, cause)
	interval := newsInterval
	if line == w.said {
		interval = sameInterval
	}
	if now := w.now(); w.last.IsZero() || now.Sub(w.last) >= interval {
		w.said, w.last = line, now
		w.show(line)
	}
}

// watchWaits lets a campaign tell what it waits for; call it before Connect.
func (a *app) watchWaits(c *assembly.Campaign) {
	if c.Config.Runner.Kind == config.SlurmJobs {
		a.waits.what = "Slurm"
	}
	c.Notice = a.waits.notice
}

// showLine is where a line goes while no table is drawn.
func (a *app) showLine(line string) { fmt.Fprintln(a.stderr, line) }

// showOn makes another place show what follows.
func (w *waits) showOn(show func(line string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.show = show
}
