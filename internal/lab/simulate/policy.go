package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/online"
)

// policy chooses the algorithm of each call and learns from its time. Classes and algorithms
// are numbered as in the application.
type policy interface {
	// begin starts a run.
	begin(ctx context.Context) error
	// choose returns the algorithm of the next call of a class, and whether it is called in
	// order to learn something.
	choose(class int) (algorithm int, explores bool, err error)
	// observe takes the time of the call that was just chosen. It reports whether the policy
	// has detected a change of times.
	observe(class, algorithm int, seconds float64) (changed bool, err error)
	// end ends a run: the policy learns from all runs so far.
	end() error
	// best returns the algorithm that the policy expects to be the fastest. It may be called before
	// the first run and after each.
	best(class int) int
}

// The policies.
const (
	PolicyIOTA    = "iota"
	PolicyShare   = "share"
	PolicyExplore = "explore"
	PolicyLearn   = "learn"
	PolicyTutti   = "tutti"
	PolicyOracle  = "oracle"
	PolicyDefault = "default"
)

// Policies returns the names of all policies.
func Policies() []string {
	return []string{PolicyIOTA, PolicyShare, PolicyExplore, PolicyLearn, PolicyTutti, PolicyOracle, PolicyDefault}
}

// ParsePolicies returns the policies in a list separated by commas. It is an error if one is
// listed twice.
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

// newPolicy returns a policy that has learnt from measurements made elsewhere, by source.
func newPolicy(name string, app Application, earlier [][]coll.Measurement, opt Options) (policy, error) {
	var p interface {
		policy
		learn() error
	}
	switch name {
	case PolicyIOTA:
		p = &iota{learner: newLearner(online.PolicyIOTA, app, earlier), opt: opt, share: 1}
	case PolicyShare:
		p = &iota{learner: newLearner(online.PolicyIOTA, app, earlier), opt: opt, share: opt.ExploreShare}
	case PolicyExplore, PolicyLearn:
		p = &runtime{learner: newLearner(online.PolicyTutti, app, earlier), opt: opt, mode: name}
	case PolicyTutti:
		p = newGradient(app, earlier, opt)
	case PolicyDefault:
		return fixed(func(int) int { return 0 }), nil
	case PolicyOracle: // simulation.call corrects its choices where algorithms are slowed
		return fixed(func(class int) int { return app.Classes[class].Best() }), nil
	default:
		_, err := ParsePolicies(name)
		return nil, err
	}
	return p, p.learn()
}

// fixed always chooses the same algorithm for a class.
type fixed func(class int) int

func (fixed) begin(context.Context) error             { return nil }
func (f fixed) choose(class int) (int, bool, error)   { return f(class), false, nil }
func (fixed) observe(int, int, float64) (bool, error) { return false, nil }
func (fixed) end() error                              { return nil }
func (f fixed) best(class int) int                    { return f(class) }

// learner learns between runs as tutti online update does.
type learner struct {
	rule    string // of package online
	classes []Class
	earlier [][]coll.Measurement
	jobs    []online.Job
	result  online.Result
	advice  []online.Advice // of each class
}

func newLearner(rule string, app Application, earlier [][]coll.Measurement) learner {
	return learner{rule: rule, classes: app.Classes, earlier: earlier}
}

// learn advises on each class by all jobs so far.
func (l *learner) learn() error {
	var err error
	if l.result, err = online.Learn(l.rule, l.jobs, l.earlier, baseOf(l.classes)); err != nil {
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

// restrict returns advice with the given algorithms, in their order.
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

// baseOf advises on all classes, for which nothing is selected but the default.
func baseOf(classes []Class) online.Base {
	algorithms := map[coll.Point][]coll.Algorithm{}
	var points []coll.Point
	for _, c := range classes {
		algorithms[c.Point] = c.Algorithms
		points = append(points, c.Point)
	}
	return online.Base{
		Feasible: func(p coll.Point) []coll.Algorithm {
			if a, known := algorithms[p]; known {
				return a
			}
			return []coll.Algorithm{coll.Default} // a point of another source
		},
		Selected: func(coll.Point) coll.Algorithm { return coll.Default },
		Points:   points,
	}
}

// add adds a call to the job of the current run.
func (l *learner) add(class, algorithm int, seconds float64) {
	c := l.classes[class]
	job := &l.jobs[len(l.jobs)-1]
	job.Calls = append(job.Calls, sampleOf(c, algorithm, seconds))
}

func sampleOf(c Class, algorithm int, seconds float64) online.Sample {
	return online.Sample{Candidate: coll.Candidate{Point: c.Point, Algorithm: c.Algorithms[algorithm]}, Longest: seconds, Shortest: seconds}
}

func (l *learner) best(class int) int { return l.advice[class].Best }

// iota draws a share of the calls by the weights of IOTA, all of them in IOTA itself. The other
// calls run the best algorithm, and the library's default after MaxExplored drawn calls of a class
// in IOTA.
type iota struct {
	learner
	opt      Options
	share    float64
	rng      *rand.Rand
	explored []int // drawn calls of each class in this run
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

// draw returns the first index at which the sum of the weights, divided by that of all, exceeds u.
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
