package online

import (
	"fmt"
	"slices"

	"tutti/coll"
)

// Advice says, for one class of calls, which algorithm later jobs should select and which ones they should
// explore.
type Advice struct {
	Class
	Low, High int64     // sizes of the class, in bytes
	Samples   int       // calls that were timed
	Best      int       // index of the algorithm to select; it changes only to a significantly faster one
	Faster    float64   // expected time of the default divided by that of Best
	Weights   []float64 // weight of each algorithm for random exploration; at least one is above 0
	Budget    float64   // exploration budget of a call, as a multiple of the time of Best, in addition to each job's fixed share
	Most      []float64 // longest time that a call of each algorithm may take, as a multiple of the time of Best; nil: unknown
}

// The policies by which samples (timed calls of jobs) become advice.
const (
	PolicyTutti = "tutti" // by a Gaussian process and the knowledge gradient
	PolicyIOTA  = "iota"  // by boosted trees, as in Steiner's IOTA (2023)
)

// advisers maps each policy to a function that completes the advice in a result. The function sets Best,
// Faster, Weights, Budget and Most.
var advisers = map[string]func(*Result) error{
	PolicyIOTA:  adviseIOTA,
	PolicyTutti: adviseKnowledgeGradient,
}

// Base says which algorithms can run at a point, and which one is selected at a point without samples.
type Base struct {
	Feasible func(coll.Point) []coll.Algorithm // algorithms that can run at a point, coll.Default first
	Selected func(coll.Point) coll.Algorithm
	Points   []coll.Point // points that get advice even without samples
}

// feasible returns the samples whose algorithm can run at the sample's point.
func (b Base) feasible(jobs []Job) []jobSample {
	known := map[coll.Candidate]bool{}
	var out []jobSample
	for j, job := range jobs {
		for _, s := range job.Calls {
			feasible, asked := known[s.Candidate]
			if !asked {
				feasible = slices.Contains(b.Feasible(s.Point), s.Algorithm)
				known[s.Candidate] = feasible
			}
			if feasible {
				out = append(out, jobSample{s, j})
			}
		}
	}
	return out
}

// Result is the result of Learn: the advice, and the models from which it follows.
type Result struct {
	Advice     []Advice // ordered by point
	jobs       []Job
	calls      [][]timedCall // timed calls of each class, in the order of jobs
	selected   []int         // for each class: index of the algorithm that is selected without the samples
	history    *history
	posteriors map[coll.Collective]*posterior // nil for a collective without times; unused by PolicyIOTA
}

// Learn computes advice for later jobs from the samples of all jobs so far, which are in chronological
// order. The parameter `earlier` holds measurements of campaigns or other machines (sources), with one slice
// for each. Learn ignores samples of algorithms that cannot run at their point. It takes O(points ·
// algorithms² · measurements) operations.
func Learn(policy string, jobs []Job, earlier [][]coll.Measurement, base Base) (Result, error) {
	advise := advisers[policy]
	if advise == nil {
		return Result{}, fmt.Errorf("policy %q: want %s or %s", policy, PolicyTutti, PolicyIOTA)
	}
	classes, samples := classesOf(base.feasible(jobs), earlier, base.Points, base.Feasible)
	n := len(classes)
	r := Result{jobs: jobs, selected: make([]int, n), calls: make([][]timedCall, n), Advice: make([]Advice, n)}
	for i, c := range classes {
		r.selected[i] = max(0, slices.Index(c.Algorithms, base.Selected(c.Point)))
		for _, s := range samples[i] {
			if a := slices.Index(c.Algorithms, s.Algorithm); a >= 0 {
				r.calls[i] = append(r.calls[i], timedCall{s.job, a, s.Seconds()})
			}
		}
	}
	r.history = newHistory(classes, r.calls, earlier)
	if policy == PolicyTutti {
		if err := r.fit(); err != nil {
			return r, err
		}
	}
	if err := advise(&r); err != nil {
		return r, err
	}
	for i := range r.Advice {
		a := &r.Advice[i]
		a.Class, a.Samples = classes[i], len(samples[i])
		a.Low, a.High = sizesWithSameBits(classes[i].MsgBytes)
	}
	return r, nil
}

func (r *Result) fit() error {
	r.posteriors = map[coll.Collective]*posterior{}
	for _, c := range collectivesOf(r.history.classes) {
		p, err := r.history.posteriorOf(c)
		if err != nil {
			return err
		}
		r.posteriors[c] = p
	}
	return nil
}

// Joint returns the joint distribution of the times of all algorithms in the given classes of a collective.
// It is for the policy PolicyTutti. It returns nil if there are no times for the collective.
func (r *Result) Joint(c coll.Collective, classes []Class) (*Joint, error) {
	p := r.posteriors[c]
	if p == nil {
		return nil, nil
	}
	return NewJoint(p.process, classes, p.task)
}

// Noise returns the variance of the natural logarithm of the time of one call.
func (r *Result) Noise() float64 { return r.history.noise() }

// Measurements returns the times of all jobs as measurements.
func (r *Result) Measurements() []coll.Measurement {
	var out []coll.Measurement
	for _, c := range collectivesOf(r.history.classes) {
		out = append(out, r.history.measurements(c)...)
	}
	return out
}
