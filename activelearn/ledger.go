package activelearn

import (
	"fmt"

	"tutti/coll"
	"tutti/space"
)

// status of a candidate.
type status uint8

const (
	free status = iota
	pending
	done
	abandoned
)

// Ledger keeps what became of each candidate of a space.
type Ledger struct {
	space        *space.Space
	status       map[coll.Candidate]status // of every candidate of the space
	left         []int                     // point index -> candidates still free
	free         int
	measurements []coll.Measurement // in the order they came
	costSeconds  float64
	nodeSeconds  float64
	trials       int
	failed       int
}

// NewLedger returns a ledger in which every candidate is free.
func NewLedger(s *space.Space) *Ledger {
	l := &Ledger{space: s, status: make(map[coll.Candidate]status, s.Size()), left: make([]int, len(s.Points())), free: s.Size()}
	for i := range s.Points() {
		l.left[i] = len(s.Feasible(i))
		for _, c := range s.At(i) {
			l.status[c] = free
		}
	}
	return l
}

// Space returns the space the ledger is kept for.
func (l *Ledger) Space() *space.Space { return l.space }

// Free returns the candidates at point i that may be asked for.
func (l *Ledger) Free(i int) []coll.Candidate {
	if l.left[i] == 0 {
		return nil
	}
	var out []coll.Candidate
	for _, c := range l.space.At(i) {
		if l.status[c] == free {
			out = append(out, c)
		}
	}
	return out
}

// IsFree reports whether a candidate is of the space and may be asked for.
func (l *Ledger) IsFree(c coll.Candidate) bool {
	now, ok := l.status[c]
	return ok && now == free
}

// Missing returns the algorithms at a point that have not been measured and may
// be yet, free or pending; those given up are not missed.
func (l *Ledger) Missing(p coll.Point) []coll.Algorithm {
	i, ok := l.space.Index(p)
	if !ok {
		return nil
	}
	var out []coll.Algorithm
	for _, c := range l.space.At(i) {
		if s := l.status[c]; s == free || s == pending {
			out = append(out, c.Algorithm)
		}
	}
	return out
}

// Left is the number of candidates that may be asked for.
func (l *Ledger) Left() int { return l.free }

// Measurements returns what was measured, in the order it came; the caller must
// not change it.
func (l *Ledger) Measurements() []coll.Measurement { return l.measurements }

// CostSeconds is the machine time of all trials, failed ones included.
func (l *Ledger) CostSeconds() float64 { return l.costSeconds }

// NodeSeconds is the same weighted by the nodes each trial used.
func (l *Ledger) NodeSeconds() float64 { return l.nodeSeconds }

// Trials is the number of attempts that ended, Failed that of those that failed.
func (l *Ledger) Trials() int { return l.trials }

// Failed is the number of attempts that failed.
func (l *Ledger) Failed() int { return l.failed }

// PointsMeasured is the number of points with a measurement.
func (l *Ledger) PointsMeasured() int {
	seen := map[coll.Point]bool{}
	for _, m := range l.measurements {
		seen[m.Point] = true
	}
	return len(seen)
}

// pendingCandidates returns what is asked for and has not ended, in the order of
// the space.
func (l *Ledger) pendingCandidates() []coll.Candidate {
	var out []coll.Candidate
	for i := range l.space.Points() {
		if l.left[i] == len(l.space.Feasible(i)) {
			continue
		}
		for _, c := range l.space.At(i) {
			if l.status[c] == pending {
				out = append(out, c)
			}
		}
	}
	return out
}

// Pend marks a candidate as asked for. It returns an error unless it was free.
func (l *Ledger) Pend(c coll.Candidate) error {
	if !l.IsFree(c) {
		return fmt.Errorf("%v cannot be asked for: it is outside the space, pending or ended", c)
	}
	l.move(c, pending)
	return nil
}

// Record enters a trial that ended. A failed one leaves its candidate pending,
// to be tried again or abandoned.
func (l *Ledger) Record(t coll.Trial) error {
	if l.status[t.Candidate] != pending {
		return fmt.Errorf("%v ended, but was not pending", t.Candidate)
	}
	l.trials++
	l.costSeconds += t.CostSeconds
	l.nodeSeconds += t.CostSeconds * float64(t.Nodes)
	if t.State == coll.TrialFailed {
		l.failed++
		return nil
	}
	l.measurements = append(l.measurements, t.Measurement)
	l.move(t.Candidate, done)
	return nil
}

// Abandon gives up a pending candidate.
func (l *Ledger) Abandon(c coll.Candidate) { l.move(c, abandoned) }

func (l *Ledger) move(c coll.Candidate, to status) {
	if l.status[c] == free && to != free {
		i, _ := l.space.Index(c.Point)
		l.left[i]--
		l.free--
	}
	l.status[c] = to
}
