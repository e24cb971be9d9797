package online

import (
	"context"
	"errors"
	"fmt"
	"math"

	"tutti/coll"
)

// Options say how an application is replayed.
type Options struct {
	Runs       int     // of the application, one after another
	Iterations int     // of a run; its calls are spread over them
	Noise      float64 // relative, lognormal, of each call
	Seed       uint64
	Tries      int     // calls of each algorithm when STAR learns
	Explore    float64 // share of calls that PolicyShare explores
	Explored   int     // calls of a class in a run that IOTA explores at most
	Over       float64 // share of the default's time by which our policy may exceed it while it learns
	Slow       []Slow  // what changes in each run
}

// Slow makes an algorithm take Factor times as long in iterations From to To, without To, of
// each run from run Since on, in all classes.
type Slow struct {
	Algorithm coll.Algorithm
	Since     int // the first run is 1
	From, To  int
	Factor    float64
}

// alarmRun is how many calls of an algorithm in a class pass between two false alarms.
const alarmRun = 10_000

// DefaultOptions are those of the figures in docs/experiments.
func DefaultOptions() Options {
	return Options{Runs: 8, Iterations: 200, Noise: 0.05, Seed: 1, Tries: 3, Explore: 0.1, Explored: 1000, Over: 0.03}
}

// Validate reports every fault of the options at once.
func (o Options) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(o.Runs < 1 || o.Runs > 1000, "runs %d: want 1 to 1000", o.Runs)
	fault(o.Iterations < 1 || o.Iterations > 1_000_000, "iterations %d: want 1 to 1000000", o.Iterations)
	fault(!(o.Noise >= 0 && o.Noise <= 1), "noise %g: want a number from 0 to 1", o.Noise)
	fault(o.Tries < 1, "tries %d: want 1 or more", o.Tries)
	fault(!(o.Explore >= 0 && o.Explore <= 1), "explore %g: want a number from 0 to 1", o.Explore)
	fault(o.Explored < 0, "explored calls %d: want none or more", o.Explored)
	fault(!(o.Over >= 0 && o.Over <= 1), "over %g: want a number from 0 to 1", o.Over)
	for _, s := range o.Slow {
		fault(!(s.Factor > 0) || math.IsInf(s.Factor, 0), "%v is slowed %g times: want a number above 0", s.Algorithm, s.Factor)
		fault(s.From < 0 || s.To <= s.From, "%v is slowed in iterations %d to %d: want a range", s.Algorithm, s.From, s.To)
	}
	return errors.Join(faults...)
}

// Run is what came of one run. Times are of all collective calls together.
type Run struct {
	Seconds  float64 `json:"seconds"`
	Best     float64 `json:"best_seconds"`    // with the fastest algorithm at every call
	Default  float64 `json:"default_seconds"` // with the library as shipped
	Calls    int     `json:"calls"`
	Explored int     `json:"explored"`
	Regret   float64 `json:"regret_seconds"`   // Seconds less Best, of this run and all before
	Tuned    float64 `json:"tuned_over_best"`  // what is held to be best afterwards, beside what is
	Alarms   []int   `json:"alarms,omitempty"` // iterations in which a change was noticed
	Served   []int   `json:"served"`           // calls of Outcome.Class that each of its algorithms served
}

// OverBest is the time over that of the fastest choices.
func (r Run) OverBest() float64 { return r.Seconds / r.Best }

// OverDefault is the time over that of the library as shipped.
func (r Run) OverDefault() float64 { return r.Seconds / r.Default }

// ExploredShare is the share of calls that were made to learn.
func (r Run) ExploredShare() float64 { return float64(r.Explored) / float64(max(1, r.Calls)) }

// Outcome is a problem under a policy.
type Outcome struct {
	Problem string             `json:"problem"`
	Policy  string             `json:"policy"`
	Class   Class              `json:"class"`           // in which the default takes most time
	Start   float64            `json:"start_over_best"` // what is held to be best before the first run, beside what is
	Runs    []Run              `json:"runs"`
	Known   []coll.Measurement `json:"-"` // what the policy was told, for those who come after it
}

// Simulate replays an application under a policy. earlier holds what was measured
// elsewhere, by source. Calls, their order and their noise are the same for every policy
// with the same seed. The cost is that of the calls and, for PolicyTutti, of a belief for
// each collective and run.
func Simulate(ctx context.Context, p Problem, name string, earlier [][]coll.Measurement, opt Options) (Outcome, error) {
	out := Outcome{Problem: p.Name, Policy: name}
	if err := opt.Validate(); err != nil {
		return out, err
	}
	pol, err := newPolicy(name, p, earlier, opt)
	if err != nil {
		return out, err
	}
	main := 0
	for i, c := range p.Classes {
		if c.Calls*c.Seconds[0] > p.Classes[main].Calls*p.Classes[main].Seconds[0] {
			main = i
		}
	}
	out.Class = p.Classes[main]
	seen := newBook(p, nil)
	out.Start = tunedOverBest(p, pol)
	regret := 0.0
	for k := range opt.Runs {
		s := &simulation{problem: p, main: main, opt: opt, number: k, policy: pol, oracle: name == PolicyOracle, seen: seen, count: make([]uint64, len(p.Classes))}
		if err := s.run(ctx); err != nil {
			return out, err
		}
		if err := pol.end(); err != nil {
			return out, fmt.Errorf("%s after run %d: %w", p.Name, k+1, err)
		}
		regret += s.result.Seconds - s.result.Best
		s.result.Regret = regret
		s.result.Tuned = tunedOverBest(p, pol)
		out.Runs = append(out.Runs, s.result)
	}
	out.Known = seen.all()
	return out, nil
}

// tunedOverBest is the undisturbed time of a run with what the policy holds to be best,
// over that with what is.
func tunedOverBest(p Problem, pol policy) float64 {
	tuned, best := 0.0, 0.0
	for i, c := range p.Classes {
		tuned += c.Calls * c.Seconds[pol.tuned(i)]
		best += c.Calls * c.Seconds[c.Best()]
	}
	return tuned / best
}

// simulation is one run.
type simulation struct {
	problem Problem
	main    int // class whose calls are counted by algorithm
	opt     Options
	number  int
	policy  policy
	oracle  bool // which also knows what is slowed
	seen    *book
	count   []uint64 // calls of each class so far
	result  Run
}

func (s *simulation) run(ctx context.Context) error {
	s.policy.begin()
	s.result.Served = make([]int, len(s.problem.Classes[s.main].Algorithms))
	for i := range s.opt.Iterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, class := range s.calls(i) {
			s.call(class, i)
		}
	}
	return nil
}

// calls returns the classes that an iteration calls, in order: of each as many as its calls
// divided by the iterations, rounded up or down by a draw, all of them shuffled.
func (s *simulation) calls(iteration int) []int {
	at := []uint64{s.opt.Seed, uint64(s.number), uint64(iteration)}
	var out []int
	for i, c := range s.problem.Classes {
		whole, part := math.Modf(c.Calls / float64(s.opt.Iterations))
		if uniform(append(at, uint64(i), forCalls)...) < part {
			whole++
		}
		for range int(whole) {
			out = append(out, i)
		}
	}
	for i := len(out) - 1; i > 0; i-- {
		j := int(uniform(append(at, uint64(i), forOrder)...) * float64(i+1))
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// call makes one call of a class.
func (s *simulation) call(class, iteration int) {
	c := s.problem.Classes[class]
	s.count[class]++
	noise := math.Exp(s.opt.Noise * normal(s.opt.Seed, uint64(s.number), uint64(class), s.count[class], forNoise))
	seconds := make([]float64, len(c.Seconds))
	for a, t := range c.Seconds {
		seconds[a] = t * noise * s.slowed(c.Algorithms[a], iteration)
	}
	best := fastest(seconds)
	chosen, explores := s.policy.choose(class)
	if s.oracle {
		chosen = best
	}
	if s.policy.observe(class, chosen, seconds[chosen]) {
		s.result.Alarms = append(s.result.Alarms, iteration)
	}
	s.seen.add(class, chosen, seconds[chosen])
	s.result.Calls++
	if class == s.main {
		s.result.Served[chosen]++
	}
	s.result.Seconds += seconds[chosen]
	s.result.Best += seconds[best]
	s.result.Default += seconds[0]
	if explores {
		s.result.Explored++
	}
}

func (s *simulation) slowed(a coll.Algorithm, iteration int) float64 {
	factor := 1.0
	for _, slow := range s.opt.Slow {
		if slow.Algorithm == a && s.number+1 >= slow.Since && iteration >= slow.From && iteration < slow.To {
			factor *= slow.Factor
		}
	}
	return factor
}
