package online

import (
	"math"
	"slices"
)

// star learns as STAR-MPI does: in each class it tries every algorithm a few times, those
// that are hopeless only once, and keeps the one whose faster half of times has the lowest
// mean. Then it watches, and learns again when the times change. It forgets all of it when
// the application ends.
//
// Source: Faraj, Yuan and Lowenthal, STAR-MPI: Self Tuned Adaptive Routines for MPI
// Collective Operations (ICS 2006); the mean of the faster half as in the version of it in
// IBM's MPI. Dropping the hopeless and the detector are ours.
type star struct {
	problem Problem
	opt     Options
	classes []starClass
}

type starClass struct {
	times   [][]float64 // of each algorithm
	at      int         // that is tried; len(times): done
	best    int
	watched *Detector
}

// hopeless is how many times slower than the best a first call may be.
const hopeless = 2.0

func newStar(p Problem, opt Options) *star {
	s := &star{problem: p, opt: opt}
	s.begin()
	return s
}

func (s *star) begin() {
	s.classes = make([]starClass, len(s.problem.Classes))
	for i := range s.classes {
		s.restart(i)
	}
}

func (s *star) end() error { return nil }

func (s *star) restart(class int) {
	s.classes[class] = starClass{times: make([][]float64, len(s.problem.Classes[class].Algorithms))}
}

func (s *star) choose(class int) (int, bool) {
	c := &s.classes[class]
	if c.at < len(c.times) {
		return c.at, true
	}
	return c.best, false
}

func (s *star) observe(class, algorithm int, seconds float64) bool {
	c := &s.classes[class]
	if c.at == len(c.times) {
		_, alarm := c.watched.Add(seconds)
		if alarm {
			s.restart(class)
		}
		return alarm
	}
	t := append(c.times[algorithm], seconds)
	c.times[algorithm] = t
	if len(t) < s.opt.Tries && seconds <= hopeless*c.least() {
		return false
	}
	c.at++
	if c.at == len(c.times) {
		c.best = s.tuned(class)
		c.watched = NewDetector(alarmRun)
	}
	return false
}

// least is the shortest time that was seen.
func (c *starClass) least() float64 {
	least := math.Inf(1)
	for _, t := range c.times {
		if len(t) > 0 {
			least = min(least, slices.Min(t))
		}
	}
	return least
}

func (s *star) tuned(class int) int {
	times := s.classes[class].times
	seconds := make([]float64, len(times))
	for a, t := range times {
		seconds[a] = fasterHalf(t)
	}
	return fastest(seconds)
}

// fasterHalf returns the mean of the faster half of times, +Inf of none.
func fasterHalf(times []float64) float64 {
	if len(times) == 0 {
		return math.Inf(1)
	}
	sorted := slices.Sorted(slices.Values(times))
	half := sorted[:(len(sorted)+1)/2]
	sum := 0.0
	for _, t := range half {
		sum += t
	}
	return sum / float64(len(half))
}
