package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"tutti/coll"
	"tutti/internal/lab"
	"tutti/online"
)

// policy chooses the algorithm of each call and learns from its time. Classes (calls at one point) and algorithms
// are numbered as in the application.
type policy interface {
	// begin begins a run.
	begin(ctx context.Context) error
	// choose returns the algorithm for the next call of a class. `explores` is true if the policy makes the call in order to
	// learn.
	choose(class int) (algorithm int, explores bool, err error)
	// observe receives the time of a call with the algorithm that the policy chose. It returns true if the policy
	// detects that times have changed.
	observe(class, algorithm int, seconds float64) (changed bool, err error)
	// end ends a run. The policy learns from all runs so far.
	end() error
	// best returns the algorithm that the policy expects to be the fastest. It must not be called between
	// begin and end.
	best(class int) int
}

// Names of the policies.
const (
	PolicyIOTA    = "iota"
	PolicyShare   = "share"
	PolicyExplore = "explore"
	PolicyLearn   = "learn"
	PolicyTutti   = "tutti"
	PolicyOracle  = "oracle"
	PolicyDefault = "default"
)

// Policies returns the names of all policies, which ParsePolicies accepts.
func Policies() []string {
	return []string{PolicyIOTA, PolicyShare, PolicyExplore, PolicyLearn, PolicyTutti, PolicyOracle, PolicyDefault}
}

// ParsePolicies parses a list of policies, separated by commas. It returns an error if one is listed twice.
func ParsePolicies(list string) ([]string, error) {
	var out []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(Policies(), name) {
			return nil, fmt.Errorf("policy %q: want one of %s", name, strings.Join(Policies(), ", "))
		}
		if slices.Contains(out, name) {
			return nil, fmt.Errorf("policy %s is listed twice", name)
		}
		out = append(out, name)
	}
	return out, nil
}

// newPolicy returns a policy that has learnt from earlier measurements. Each slice in `earlier` has the
// measurements of one campaign or machine.
func newPolicy(name string, app Application, earlier [][]coll.Measurement, opt Options) (policy, error) {
	var p interface {
		policy
		learn() error
	}
	switch name {
	case PolicyIOTA:
		p = &iota{learner: newLearner(app, earlier), opt: opt, share: 1}
	case PolicyShare:
		p = &iota{learner: newLearner(app, earlier), opt: opt, share: opt.ExploreShare}
	case PolicyExplore, PolicyLearn:
		p = &runtime{learner: newLearner(app, earlier), opt: opt, mode: name}
	case PolicyTutti:
		p = newGradient(app, earlier, opt)
	case PolicyDefault:
		return fixed(func(int) int { return 0 }), nil
	case PolicyOracle: // simulation.call corrects its choices for the effects of Slow
		return fixed(func(class int) int { return app.Classes[class].Best() }), nil
	default:
		_, err := ParsePolicies(name)
		return nil, err
	}
	return p, p.learn()
}

// fixed is a policy that never learns: it always chooses the same algorithm for a class.
type fixed func(class int) int

func (fixed) begin(context.Context) error             { return nil }
func (f fixed) choose(class int) (int, bool, error)   { return f(class), false, nil }
func (fixed) observe(int, int, float64) (bool, error) { return false, nil }
func (fixed) end() error                              { return nil }
func (f fixed) best(class int) int                    { return f(class) }

// learner is the part of a policy that learns between runs, as the command tutti online update does.
type learner struct {
	classes []Class
	earlier [][]coll.Measurement // by source
	jobs    []online.Job
	result  online.Result
	advice  []online.Advice // advice for each class
}

func newLearner(app Application, earlier [][]coll.Measurement) learner {
	return learner{classes: app.Classes, earlier: earlier}
}

// learn computes the advice for each class from all jobs so far: which algorithms to select and to explore.
func (l *learner) learn() error {
	var err error
	if l.result, err = online.Learn(l.jobs, l.earlier, baseOf(l.classes)); err != nil {
		return err
	}
	l.advice = make([]online.Advice, len(l.classes))
	for i, c := range l.classes {
		for _, a := range l.result.Advice {
			if a.Collective == c.Collective && a.Nodes == c.Nodes && a.PPN == c.PPN && a.Low <= c.MsgBytes && c.MsgBytes <= a.High {
				l.advice[i] = restrict(a, c.Algorithms)
			}
		}
	}
	return nil
}

// restrict limits the advice to the given algorithms, in their order.
func restrict(a online.Advice, algorithms []coll.Algorithm) online.Advice {
	out := a
	out.Algorithms, out.Weights, out.Most = algorithms, make([]float64, len(algorithms)), nil
	out.Best = max(0, slices.Index(algorithms, a.Algorithms[a.Best]))
	if a.Most != nil {
		out.Most = make([]float64, len(algorithms))
	}
	for i, algorithm := range algorithms {
		if k := slices.Index(a.Algorithms, algorithm); k >= 0 {
			out.Weights[i] = a.Weights[k]
			if a.Most != nil {
				out.Most[i] = a.Most[k]
			}
		}
	}
	return out
}

// baseOf returns the state with which online learning begins: all classes of calls, each with the default selected.
func baseOf(classes []Class) online.Base {
	algorithms := map[coll.Point][]coll.Algorithm{}
	var points []coll.Point
	for _, c := range classes {
		algorithms[c.Point] = c.Algorithms
		points = append(points, c.Point)
	}
	return online.Base{
		Feasible: func(p coll.Point) []coll.Algorithm {
			if a, ok := algorithms[p]; ok {
				return a
			}
			return []coll.Algorithm{coll.Default} // the point belongs to another source
		},
		Selected: func(coll.Point) coll.Algorithm { return coll.Default },
		Points:   points,
	}
}

// add records one call of an algorithm, with its time, as part of the current run of the program. The learner
// treats each run as one job.
func (l *learner) add(class, algorithm int, seconds float64) {
	c := l.classes[class]
	job := &l.jobs[len(l.jobs)-1]
	job.Calls = append(job.Calls, sampleOf(c, algorithm, seconds))
}

func sampleOf(c Class, algorithm int, seconds float64) online.Sample {
	return online.Sample{Candidate: coll.Candidate{Point: c.Point, Algorithm: c.Algorithms[algorithm]}, Longest: seconds, Shortest: seconds}
}

func (l *learner) best(class int) int { return l.advice[class].Best }

// predicted returns the algorithm with the shortest expected time, whether or not a job has compared it with the
// default. Without a posterior it is that of best.
func (l *learner) predicted(class int) (int, error) {
	c := l.classes[class]
	j, err := l.result.Joint(c.Collective, []online.Class{c.Class})
	if j == nil || err != nil {
		return l.best(class), err
	}
	expected := make([]float64, len(c.Algorithms))
	for a := range expected {
		expected[a] = j.Expected(a)
	}
	return floats.MinIdx(expected), nil
}

// iota is the type of two policies that draw the algorithm of an exploring call at random, with IOTA's weights. With
// PolicyIOTA every call explores, until MaxExplored calls of a class have explored. After that it runs the library's
// default. With PolicyShare only a share of the calls explores; the others run the best algorithm.
type iota struct {
	learner
	opt      Options
	share    float64
	rng      *rand.Rand
	explored []int // number of drawn calls in this run, by class
}

func (p *iota) begin(context.Context) error {
	p.explored = make([]int, len(p.classes))
	p.rng = rand.New(rand.NewPCG(p.opt.Seed, uint64(len(p.jobs))))
	p.jobs = append(p.jobs, online.Job{})
	return nil
}

func (p *iota) choose(class int) (int, bool, error) {
	switch {
	case p.share == 1 && p.explored[class] >= p.opt.MaxExplored:
		return 0, false, nil
	case p.explored[class] >= p.opt.MaxExplored, p.rng.Float64() >= p.share:
		return p.best(class), false, nil
	}
	p.explored[class]++
	return draw(p.advice[class].Weights, p.rng.Float64()), true, nil
}

func (p *iota) observe(class, algorithm int, seconds float64) (bool, error) {
	p.add(class, algorithm, seconds)
	return false, nil
}

func (p *iota) end() error { return p.learn() }

// learn trains IOTA's models of each collective on the calls of all runs so far. Until enough algorithms have a
// model, the default counts as the best one, and all algorithms have the same weight.
func (p *iota) learn() error {
	times := slices.Concat(slices.Concat(p.earlier...), online.Measurements(p.jobs, baseOf(p.classes)))
	p.advice = make([]online.Advice, len(p.classes))
	most := map[coll.Collective]int{} // largest number of algorithms in a class
	for _, class := range p.classes {
		most[class.Collective] = max(most[class.Collective], len(class.Algorithms))
	}
	trained := map[coll.Collective]lab.IOTA{}
	for c, n := range most {
		trained[c] = lab.TrainIOTA(slices.DeleteFunc(slices.Clone(times), func(m coll.Measurement) bool { return m.Collective != c }), n)
	}
	for i, class := range p.classes {
		model := trained[class.Collective]
		seconds := model.Seconds(class.Point, class.Algorithms)
		p.advice[i].Weights = lab.IOTAWeights(seconds)
		if model != nil {
			p.advice[i].Best = floats.MinIdx(seconds) // skips NaN
		}
	}
	return nil
}

// draw returns a random index with probability proportional to its weight. `u` must be uniformly distributed
// from 0 to 1.
func draw(weights []float64, u float64) int {
	all := 0.0
	for _, w := range weights {
		all += w
	}
	for i, w := range weights {
		if u -= w / all; u < 0 {
			return i
		}
	}
	return len(weights) - 1
}
