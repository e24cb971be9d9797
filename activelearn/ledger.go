package activelearn

import (
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
)

// status is the state of a candidate in the ledger.
type status uint8

const (
	free status = iota
	pending
	done
	repeating // done, and being measured a second time
	abandoned
)

// Ledger records for all candidates of a space which state they are in, their measurements, and what these
// have cost.
type Ledger struct {
	space        *coll.Space
	status       []status // of every candidate of the space, in its order
	first        []int    // point index -> its first candidate in status
	left         []int    // point index -> candidates still free
	free         int
	abandoned    int                // candidates that were given up
	measurements []coll.Measurement // in the order of their trials
	places       []int              // index in status -> index in measurements, of measured candidates
	replicates   []preprocess.Replicate
	costSeconds  float64
	nodeSeconds  float64
	trials       int
	failed       int
}

// NewLedger returns a ledger in which every candidate is free.
func NewLedger(s *coll.Space) *Ledger {
	n := len(s.Points())
	l := &Ledger{space: s, status: make([]status, s.Size()), places: make([]int, s.Size()), first: make([]int, n), left: make([]int, n), free: s.Size()}
	at := 0
	for i := range s.Points() {
		l.first[i], l.left[i] = at, len(s.Feasible(i))
		at += l.left[i]
	}
	return l
}

// Grow replaces the space of the ledger by one that has additional candidates. These are free.
func (l *Ledger) Grow(s *coll.Space) {
	grown := NewLedger(s)
	for c := range l.space.All() {
		_, from, _ := l.find(c)
		if l.status[from] != free {
			grown.move(c, l.status[from])
			_, to, _ := grown.find(c)
			grown.places[to] = l.places[from]
		}
	}
	grown.measurements, grown.costSeconds, grown.nodeSeconds = l.measurements, l.costSeconds, l.nodeSeconds
	grown.replicates, grown.trials, grown.failed = l.replicates, l.trials, l.failed
	*l = *grown
}

// find returns the index of a candidate's point in the space, and the candidate's index in status. ok is
// false if the space does not have the candidate.
func (l *Ledger) find(c coll.Candidate) (point, at int, ok bool) {
	point, ok = l.space.Index(c.Point)
	if !ok {
		return 0, 0, false
	}
	for k, a := range l.space.Feasible(point) {
		if l.space.Algorithms()[a] == c.Algorithm {
			return point, l.first[point] + k, true
		}
	}
	return 0, 0, false
}

// among returns those candidates at the i-th point whose status is one of the given values.
func (l *Ledger) among(i int, some ...status) []coll.Candidate {
	var out []coll.Candidate
	for k, a := range l.space.Feasible(i) {
		if slices.Contains(some, l.status[l.first[i]+k]) {
			out = append(out, coll.Candidate{Point: l.space.Points()[i], Algorithm: l.space.Algorithms()[a]})
		}
	}
	return out
}

// Space returns the space of the ledger.
func (l *Ledger) Space() *coll.Space { return l.space }

// Free returns the free candidates at the i-th point of the space.
func (l *Ledger) Free(i int) []coll.Candidate {
	if l.left[i] == 0 {
		return nil
	}
	return l.among(i, free)
}

// IsFree reports whether a candidate is in the space and is free.
func (l *Ledger) IsFree(c coll.Candidate) bool {
	_, at, ok := l.find(c)
	return ok && l.status[at] == free
}

// Missing returns the algorithms that are free or pending at a point, so that their times are not known
// yet.
func (l *Ledger) Missing(p coll.Point) []coll.Algorithm {
	i, ok := l.space.Index(p)
	if !ok {
		return nil
	}
	var out []coll.Algorithm
	for _, c := range l.among(i, free, pending) {
		out = append(out, c.Algorithm)
	}
	return out
}

// Left returns the number of free candidates in the space.
func (l *Ledger) Left() int { return l.free }

// Measurements returns one measurement for each measured candidate, in the order of the trials. If a
// candidate was measured twice, the first measurement counts unless it was disturbed. The caller must not
// change the slice, and later trials do not change it.
func (l *Ledger) Measurements() []coll.Measurement { return l.measurements }

// CostSeconds returns the machine time of all trials in seconds, including failed trials.
func (l *Ledger) CostSeconds() float64 { return l.costSeconds }

// NodeSeconds returns the sum of machine time times nodes over all trials.
func (l *Ledger) NodeSeconds() float64 { return l.nodeSeconds }

// Trials returns the number of trials that ended, including failed trials.
func (l *Ledger) Trials() int { return l.trials }

// Failed returns the number of trials that failed.
func (l *Ledger) Failed() int { return l.failed }

// PointsMeasured returns the number of points with at least one measurement.
func (l *Ledger) PointsMeasured() int {
	seen := map[coll.Point]bool{}
	for _, m := range l.measurements {
		seen[m.Point] = true
	}
	return len(seen)
}

// Pending returns the candidates whose first measurement is in progress, in the order of the space.
func (l *Ledger) Pending() []coll.Candidate {
	var out []coll.Candidate
	for i, left := range l.left {
		if left < len(l.space.Feasible(i)) {
			out = append(out, l.among(i, pending)...)
		}
	}
	return out
}

// Pend records that a measurement of a candidate begins. A free candidate becomes pending, and a measured
// candidate is measured again. For a candidate in any other state it returns an error.
func (l *Ledger) Pend(c coll.Candidate) error {
	point, at, ok := l.find(c)
	switch {
	case ok && l.status[at] == done:
		l.status[at] = repeating
	case ok && l.status[at] == free:
		l.status[at] = pending
		l.left[point]--
		l.free--
	default:
		return fmt.Errorf("%v cannot be measured: it is outside the space, pending or given up", c)
	}
	return nil
}

// Reserve makes room for n more measurements, so that adding them copies nothing.
func (l *Ledger) Reserve(n int) { l.measurements = slices.Grow(l.measurements, n) }

// Record enters the result of a trial. After a failed trial the candidate stays pending until another of
// its trials is recorded or it is abandoned.
func (l *Ledger) Record(t coll.Trial) error {
	_, at, ok := l.find(t.Candidate)
	if !ok || l.status[at] != pending && l.status[at] != repeating {
		return fmt.Errorf("%v ended, but was not pending", t.Candidate)
	}
	l.trials++
	l.costSeconds += t.CostSeconds
	l.nodeSeconds += t.NodeSeconds()
	repeated := l.status[at] == repeating
	if repeated {
		l.status[at] = done
	}
	if t.State == coll.TrialFailed {
		l.failed++
		return nil
	}
	if repeated {
		l.replicate(t.Measurement)
		return nil
	}
	l.places[at] = len(l.measurements)
	l.measurements = append(l.measurements, t.Measurement)
	l.status[at] = done
	return nil
}

// replicate enters the second measurement of a candidate. If the first measurement was disturbed, the
// second one replaces it.
func (l *Ledger) replicate(m coll.Measurement) {
	at := l.place(m.Candidate)
	r := preprocess.Replicate{First: l.measurements[at], Again: m, Seen: len(l.measurements)}
	if preprocess.NoiseOf(l.replicates).Disturbed(r) {
		l.measurements = slices.Clone(l.measurements) // Measurements has returned the old slice
		l.measurements[at] = m
	}
	l.replicates = append(l.replicates, r)
}

// place returns the index of a candidate's measurement in l.measurements. The candidate must have been measured.
func (l *Ledger) place(c coll.Candidate) int {
	_, at, _ := l.find(c)
	return l.places[at]
}

// Measured returns the measurement of a candidate. The candidate must have been measured.
func (l *Ledger) Measured(c coll.Candidate) coll.Measurement { return l.measurements[l.place(c)] }

// Replicates returns the two measurements of each candidate that was measured twice, in the order of the
// second measurements.
func (l *Ledger) Replicates() []preprocess.Replicate { return l.replicates }

// IsDone reports whether a candidate has been measured and no further measurement of it is in progress.
func (l *Ledger) IsDone(c coll.Candidate) bool {
	_, at, ok := l.find(c)
	return ok && l.status[at] == done
}

// IsMeasured reports whether a candidate has a measurement.
func (l *Ledger) IsMeasured(c coll.Candidate) bool {
	_, at, ok := l.find(c)
	return ok && (l.status[at] == done || l.status[at] == repeating)
}

// Abandon marks a pending candidate as given up.
func (l *Ledger) Abandon(c coll.Candidate) { l.move(c, abandoned) }

// move changes the status of a candidate.
func (l *Ledger) move(c coll.Candidate, to status) {
	point, at, ok := l.find(c)
	if !ok {
		return
	}
	if l.status[at] == free && to != free {
		l.left[point]--
		l.free--
	}
	if l.status[at] != abandoned && to == abandoned {
		l.abandoned++
	}
	l.status[at] = to
}
