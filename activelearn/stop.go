package activelearn

import (
	"time"

	"tutti/metrics"
)

// StopReason says why a campaign ended. Only Converged means good: the criteria held, or
// everything was measured and noise alone keeps better from being known.
type StopReason string

// The closed list of stop reasons.
const (
	Converged      StopReason = "converged"
	Budget         StopReason = "budget"
	TimeUp         StopReason = "time"
	SpaceExhausted StopReason = "space exhausted"
	Cancelled      StopReason = "cancelled"
)

// Good reports whether the criteria held.
func (r StopReason) Good() bool { return r == Converged }

// Criteria say when a selection is good enough: both must hold for Patience
// evaluations in a row. Where points were held out there must be 1/Mistakes of them or
// more, since fewer cannot tell a smaller proportion from it.
type Criteria struct {
	Slowdown float64 // average slowdown must be below
	Mistakes float64 // proportion of significant mistakes must be below
	Patience int     // 0 means 1
}

// Limits end a campaign that does not converge. Zero means no limit.
type Limits struct {
	MachineSeconds float64
	NodeSeconds    float64
	Wall           time.Duration
}

// Watch decides when to stop.
type Watch struct {
	criteria Criteria
	limits   Limits
	held     int
}

// NewWatch returns a watch that has seen nothing.
func NewWatch(c Criteria, l Limits) *Watch { return &Watch{criteria: c, limits: l} }

// Observe counts the evaluation of a round and reports whether the criteria have held for
// long enough. An evaluation of fewer than 1/Mistakes points does not meet them.
func (w *Watch) Observe(s metrics.Summary) bool {
	return w.observe(float64(s.Points)*w.criteria.Mistakes >= 1 && w.Holds(s))
}

// ObserveAll is Observe for an evaluation of the whole space, however few its points are.
func (w *Watch) ObserveAll(s metrics.Summary) bool { return w.observe(w.Holds(s)) }

func (w *Watch) observe(holds bool) bool {
	if holds {
		w.held++
	} else {
		w.held = 0
	}
	return w.Held()
}

// Held reports whether the criteria have held for Patience evaluations in a row.
func (w *Watch) Held() bool { return w.held >= max(1, w.criteria.Patience) }

// Again begins to count anew for how long the criteria hold: of a space that has grown.
func (w *Watch) Again() { w.held = 0 }

// Holds reports whether an evaluation of everything there is meets the criteria: when
// nothing is left to measure there is neither patience to have nor a point to add.
func (w *Watch) Holds(s metrics.Summary) bool {
	return s.Slowdown < w.criteria.Slowdown && s.Mistakes < w.criteria.Mistakes
}

// Spent reports whether a limit is reached: the machine time or the
// node-seconds of the ledger, the wall time elapsed, or nothing left to ask for. It returns "" to go on.
func (w *Watch) Spent(l *Ledger, elapsed time.Duration) StopReason {
	switch {
	case w.limits.MachineSeconds > 0 && l.CostSeconds() >= w.limits.MachineSeconds:
		return Budget
	case w.limits.NodeSeconds > 0 && l.NodeSeconds() >= w.limits.NodeSeconds:
		return Budget
	case w.limits.Wall > 0 && elapsed >= w.limits.Wall:
		return TimeUp
	case l.Left() == 0:
		return SpaceExhausted
	}
	return ""
}
