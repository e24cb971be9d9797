package online

import (
	"slices"

	"tutti/coll"
	"tutti/surrogate/learner"
)

// Advice says, for one class of calls (similar calls of one collective), which algorithm later jobs should
// select and which ones they should explore.
type Advice struct {
	Class
	Low, High int64     // sizes of the class, in bytes
	Samples   int       // calls that were timed
	Best      int       // index of the algorithm to select; it changes only to a significantly faster one that a job compared with the default
	Faster    float64   // expected time of the default divided by that of Best
	Weights   []float64 // weight of each algorithm for random exploration; at least one is above 0
	Budget    float64   // exploration budget of a call, as a multiple of the time of Best, in addition to each job's fixed share
	Most      []float64 // longest time that a call of each algorithm may take, as a multiple of the time of Best; nil: unknown
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
	samples    []int         // number of samples of each class
	selected   []int         // for each class: index of the algorithm that is selected without the samples
	history    *history
	posteriors map[coll.Collective]*learner.Posterior // nil for a collective without times
}

// Learn computes advice for later jobs from the samples of all jobs so far, which are in chronological
// order. `earlier` holds measurements of campaigns or other machines (sources), with one slice
// for each. Learn ignores samples of algorithms that cannot run at their point. It takes O(points ·
// algorithms² · measurements) operations.
func Learn(jobs []Job, earlier [][]coll.Measurement, base Base) (Result, error) {
	r := gather(jobs, earlier, base)
	if err := r.fit(); err != nil {
		return r, err
	}
	for i, class := range r.history.classes {
		a, err := r.adviceFor(i)
		if err != nil {
			return r, err
		}
		a.Class, a.Samples = class, r.samples[i]
		a.Low, a.High = sizesWithSameBits(class.MsgBytes)
		r.Advice = append(r.Advice, a)
	}
	return r, nil
}

// gather groups the samples by class. The result has no models and no advice yet.
func gather(jobs []Job, earlier [][]coll.Measurement, base Base) Result {
	classes, samples := classesOf(base.feasible(jobs), earlier, base.Points, base.Feasible)
	r := Result{jobs: jobs, calls: make([][]timedCall, len(classes))}
	for i, c := range classes {
		r.samples = append(r.samples, len(samples[i]))
		r.selected = append(r.selected, max(0, slices.Index(c.Algorithms, base.Selected(c.Point))))
		for _, s := range samples[i] {
			if a := slices.Index(c.Algorithms, s.Algorithm); a >= 0 {
				r.calls[i] = append(r.calls[i], timedCall{s.job, a, s.Seconds()})
			}
		}
	}
	r.history = newHistory(classes, r.calls, earlier)
	return r
}

// fit fits a Gaussian process to all times of each collective.
func (r *Result) fit() (err error) {
	r.posteriors = map[coll.Collective]*learner.Posterior{}
	for _, c := range collectivesOf(r.history.classes) {
		known, earlier := r.history.measurements(c), r.history.earlierOf(c)
		if len(known)+len(earlier) == 0 {
			continue
		}
		if r.posteriors[c], err = learner.NewPosterior(learner.Data{Measurements: slices.Values(known), Earlier: earlier}); err != nil {
			return err
		}
	}
	return nil
}

// Joint returns the joint distribution of the times of all algorithms in `classes`, which are groups of similar calls
// of the collective c. It returns nil if no times of the collective were recorded.
func (r *Result) Joint(c coll.Collective, classes []Class) (*Joint, error) {
	p := r.posteriors[c]
	if p == nil {
		return nil, nil
	}
	return NewJoint(p.GP(), classes, p.Task)
}

// Noise returns the variance of the natural logarithm of a call's time around the mean of its class and algorithm.
func (r *Result) Noise() float64 { return r.history.noise() }

// Measurements converts the times that jobs recorded into measurements like those of benchmarks.
func Measurements(jobs []Job, base Base) []coll.Measurement {
	h := gather(jobs, nil, base).history
	var out []coll.Measurement
	for _, c := range collectivesOf(h.classes) {
		out = append(out, h.measurements(c)...)
	}
	return out
}
