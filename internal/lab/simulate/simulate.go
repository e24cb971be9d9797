// Package simulate replays applications with recorded times, one run after another, under
// policies that choose the algorithm of each call and learn from its time. The policies "explore"
// and "learn" run the C code of libtutti. Package online learns between runs.
//
//	trace, err := preprocess.ReadTrace("app.csv")
//	...
//	app, err := simulate.NewApplication("app", trace, recorded, nil)
//	...
//	outcome, err := simulate.Run(ctx, app, simulate.PolicyTutti, nil, simulate.DefaultOptions())
//	...
//	fmt.Println(simulate.Table([]simulate.Outcome{outcome}))
package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"tutti/coll"
	"tutti/online"
)

// Options of a replay.
type Options struct {
	Runs         int     // of the application, one after another
	Iterations   int     // of a run; its calls are distributed over them
	Noise        float64 // relative standard deviation of a call's time, lognormal
	Seed         uint64
	ExploreShare float64 // share of the calls that explore, of PolicyShare and PolicyExplore
	MaxExplored  int     // maximum number of exploring calls of a class in a run, of PolicyIOTA and PolicyShare
	Budget       float64 // share of the calls' time that exploring may cost, of PolicyExplore, PolicyLearn and PolicyTutti
	Slow         []Slow
	Program      string // path of BuildProgram's program, for PolicyExplore and PolicyLearn
}

// Slow slows an algorithm down by Factor, in all classes and in each run from run Since on. It applies to
// the iterations From <= i < To of the run.
type Slow struct {
	Algorithm coll.Algorithm
	Since     int // the first run is 1
	From, To  int
	Factor    float64
}

// DefaultOptions returns the options that the results in docs/experiments were made with.
func DefaultOptions() Options {
	return Options{Runs: 8, Iterations: 200, Noise: 0.05, Seed: 1, ExploreShare: 0.1, MaxExplored: 1000, Budget: 0.03}
}

// Validate returns all faults of the options in one error.
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
	fault(!(o.ExploreShare >= 0 && o.ExploreShare <= 1), "explored share %g: want a number from 0 to 1", o.ExploreShare)
	fault(o.MaxExplored < 0, "explored calls %d: want 0 or more", o.MaxExplored)
	fault(!(o.Budget >= 0 && o.Budget <= 1), "budget %g: want a number from 0 to 1", o.Budget)
	for _, s := range o.Slow {
		fault(!(s.Factor > 0) || math.IsInf(s.Factor, 0), "%v is slowed %g times: want a number above 0", s.Algorithm, s.Factor)
		fault(s.From < 0 || s.To <= s.From, "%v is slowed in iterations %d to %d: want a range", s.Algorithm, s.From, s.To)
	}
	return errors.Join(faults...)
}

// RunOutcome is the outcome of one run. Times are sums over all collective calls.
type RunOutcome struct {
	Seconds  float64 `json:"seconds"`
	Best     float64 `json:"best_seconds"`    // time with the fastest algorithm at every call
	Default  float64 `json:"default_seconds"` // time with the library as shipped
	Calls    int     `json:"calls"`
	Explored int     `json:"explored"`          // calls that the policy made to learn
	Regret   float64 `json:"regret_seconds"`    // sum of Seconds - Best over this and all earlier runs
	Tuned    float64 `json:"tuned_over_best"`   // time of the policy's choices after the run, divided by that of the fastest algorithms
	Changes  []int   `json:"changes,omitempty"` // iterations in which the policy detected a change
	Served   []int   `json:"served"`            // number of calls of Outcome.Class by algorithm
}

// OverBest returns the run's time divided by the time with the fastest algorithms.
func (r RunOutcome) OverBest() float64 { return r.Seconds / r.Best }

// OverDefault returns the run's time divided by the time with the library's default.
func (r RunOutcome) OverDefault() float64 { return r.Seconds / r.Default }

// ExploredShare returns the share of the calls that the policy made in order to learn.
func (r RunOutcome) ExploredShare() float64 { return float64(r.Explored) / float64(max(1, r.Calls)) }

// Outcome is the result of a replay in which a policy chose the algorithm of each call of an application.
type Outcome struct {
	Application string             `json:"application"`
	Policy      string             `json:"policy"`
	Class       Class              `json:"class"`           // class in which the default takes the longest time
	Start       float64            `json:"start_over_best"` // time of the policy's choices before the first run, divided by that of the fastest algorithms
	Runs        []RunOutcome       `json:"runs"`
	Measured    []coll.Measurement `json:"-"` // all times that the policy saw
}

// LostGain returns the regret of all runs divided by the regret of the library's default. Regret is the time
// lost compared with the fastest algorithms. LostGain is 0 if every call uses the fastest algorithm and 1 if
// every call uses the default.
func (o Outcome) LostGain() float64 {
	byDefault := 0.0
	for _, r := range o.Runs {
		byDefault += r.Default - r.Best
	}
	return o.Runs[len(o.Runs)-1].Regret / byDefault
}

// Run replays an application under a policy. The policy first learns from the measurements in `earlier`. The
// calls, their order and their noise depend on the seed and not on the policy.
func Run(ctx context.Context, app Application, policyName string, earlier [][]coll.Measurement, opt Options) (Outcome, error) {
	out := Outcome{Application: app.Name, Policy: policyName}
	if err := opt.Validate(); err != nil {
		return out, err
	}
	p, err := newPolicy(policyName, app, earlier, opt)
	if err != nil {
		return out, err
	}
	main := 0
	for i, c := range app.Classes {
		if c.Calls*c.Seconds[0] > app.Classes[main].Calls*app.Classes[main].Seconds[0] {
			main = i
		}
	}
	out.Class = app.Classes[main]
	out.Start = tunedOverBest(app, p)
	regret := 0.0
	var jobs []online.Job
	for k := range opt.Runs {
		s := &simulation{app: app, main: main, opt: opt, number: k, policy: p, oracle: policyName == PolicyOracle}
		if err := s.run(ctx); err != nil {
			return out, fmt.Errorf("%s, run %d: %w", app.Name, k+1, err)
		}
		regret += s.outcome.Seconds - s.outcome.Best
		s.outcome.Regret = regret
		s.outcome.Tuned = tunedOverBest(app, p)
		out.Runs = append(out.Runs, s.outcome)
		jobs = append(jobs, s.job)
	}
	out.Measured = online.Measurements(jobs, baseOf(app.Classes))
	return out, nil
}

// tunedOverBest returns the time of a run with the policy's choices divided by that of a run with the
// fastest algorithms. Both times are without noise.
func tunedOverBest(app Application, p policy) float64 {
	tuned, best := 0.0, 0.0
	for i, c := range app.Classes {
		tuned += c.Calls * c.Seconds[p.best(i)]
		best += c.Calls * c.Seconds[c.Best()]
	}
	return tuned / best
}

type simulation struct {
	app     Application
	main    int // index of the class whose calls are counted by algorithm
	opt     Options
	number  int // from 0
	policy  policy
	oracle  bool // choose the fastest algorithm at every call, including the effects of Slow
	rng     *rand.Rand
	job     online.Job // all calls as samples
	outcome RunOutcome
}

func (s *simulation) run(ctx context.Context) error {
	s.rng = rand.New(rand.NewPCG(s.opt.Seed, uint64(s.number)))
	s.outcome.Served = make([]int, len(s.app.Classes[s.main].Algorithms))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the program of libtutti if the run fails
	if err := s.policy.begin(ctx); err != nil {
		return err
	}
	for i := range s.opt.Iterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, class := range s.calls() {
			if err := s.call(class, i); err != nil {
				return err
			}
		}
	}
	return s.policy.end()
}

// calls returns, for each call of an iteration, its class. The order is random. The number of calls of a class is its total
// divided by the number of iterations, rounded up or down at random.
func (s *simulation) calls() []int {
	var out []int
	for i, c := range s.app.Classes {
		n, part := math.Modf(c.Calls / float64(s.opt.Iterations))
		if s.rng.Float64() < part {
			n++
		}
		for range int(n) {
			out = append(out, i)
		}
	}
	s.rng.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out
}

func (s *simulation) call(class, iteration int) error {
	c := s.app.Classes[class]
	noise := math.Exp(s.opt.Noise * s.rng.NormFloat64())
	seconds := make([]float64, len(c.Seconds))
	for a, t := range c.Seconds {
		seconds[a] = t * noise * s.slowdown(c.Algorithms[a], iteration)
	}
	best := floats.MinIdx(seconds)
	chosen, explores, err := s.policy.choose(class)
	if err != nil {
		return err
	}
	if s.oracle {
		chosen = best
	}
	changed, err := s.policy.observe(class, chosen, seconds[chosen])
	if err != nil {
		return err
	}
	o := &s.outcome
	if changed {
		o.Changes = append(o.Changes, iteration)
	}
	s.job.Calls = append(s.job.Calls, sampleOf(c, chosen, seconds[chosen]))
	o.Calls++
	if class == s.main {
		o.Served[chosen]++
	}
	o.Seconds += seconds[chosen]
	o.Best += seconds[best]
	o.Default += seconds[0]
	if explores {
		o.Explored++
	}
	return nil
}

func (s *simulation) slowdown(a coll.Algorithm, iteration int) float64 {
	factor := 1.0
	for _, slow := range s.opt.Slow {
		if slow.Algorithm == a && s.number+1 >= slow.Since && iteration >= slow.From && iteration < slow.To {
			factor *= slow.Factor
		}
	}
	return factor
}
