package simulate

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tutti/coll"
	"tutti/online"
	"tutti/preprocess"
	"tutti/surrogate/gp"
	models "tutti/surrogate/learner"
)

// gradient is the policy of the online knowledge gradient with a Gaussian process of all algorithms. Between runs,
// the process learns from all runs so far. Within a run, each call updates the joint distribution of the times of
// all classes (groups of calls at one point). The policy calls the algorithm with the lowest knowledge-gradient
// index among those that the run's budget covers.
type gradient struct {
	learner
	opt    Options
	joints map[coll.Collective]*online.Joint // nil before the first call of a collective
	first  []int                             // index of each class's first algorithm in its joint distribution
	calls  []float64                         // number of calls in all runs, by class
	called [][]bool                          // whether an algorithm was called, by class and algorithm
	budget traceBudget
}

// affordDeviations says how cautious the budget is: it must cover a call that takes this number of standard
// deviations longer than its median time.
const affordDeviations = 2.0

// settledShare says when further calls of an algorithm no longer change the model. This is so if the model's variance
// of the algorithm's time is below this share of the noise variance of one call.
const settledShare = 0.02

func newGradient(app Application, earlier [][]coll.Measurement, opt Options) *gradient {
	n := len(app.Classes)
	p := &gradient{learner: newLearner(app, earlier), opt: opt, first: make([]int, n), calls: make([]float64, n), called: make([][]bool, n)}
	entries := map[coll.Collective]int{}
	for i, c := range app.Classes {
		p.first[i], p.called[i] = entries[c.Collective], make([]bool, len(c.Algorithms))
		entries[c.Collective] += len(c.Algorithms)
	}
	return p
}

func (p *gradient) begin(context.Context) error {
	p.budget = traceBudget{share: p.opt.Budget, calls: make([]float64, len(p.classes))}
	p.jobs = append(p.jobs, online.Job{})
	return nil
}

func (p *gradient) end() error { return p.learn() }

func (p *gradient) learn() error {
	if err := p.learner.learn(); err != nil {
		return err
	}
	p.joints = map[coll.Collective]*online.Joint{}
	for _, class := range p.classes {
		c := class.Collective
		if _, known := p.joints[c]; known {
			continue
		}
		j, err := p.result.Joint(c, p.classesOf(c))
		if err != nil {
			return err
		}
		p.joints[c] = j
	}
	return nil
}

func (p *gradient) classesOf(c coll.Collective) []online.Class {
	var out []online.Class
	for _, class := range p.classes {
		if class.Collective == c {
			out = append(out, class.Class)
		}
	}
	return out
}

// prior contains the hyperparameters of a collective's Gaussian process during the first run that calls the
// collective. They are learned at the end of the run. Variances are those of log10 seconds. With this prior the
// slowest algorithm typically takes 2 to 10 times as long as the fastest.
var prior = gp.Params{
	Common: 1, Own: 0.02, Level: 0.02, Rough: 0.005, Shared: 0.001, Noise: preprocess.MeasurementNoise,
}

// priorJoint returns the joint distribution of the times of a collective's algorithms after the first call of this
// collective. `seconds` is the time of this call.
func (p *gradient) priorJoint(class int, seconds float64) (*online.Joint, error) {
	c := p.classes[class]
	params := prior
	params.Mean = math.Log10(seconds)
	params.CommonLength, params.OwnLength = models.LengthScales(), models.LengthScales()
	process, err := gp.New(params, gp.Observations{
		X: preprocess.SurrogateRows([]coll.Point{c.Point}), At: []int{0}, Task: []int{0}, Y: []float64{math.Log10(seconds)},
	})
	if err != nil {
		return nil, err
	}
	return online.NewJoint(process, p.classesOf(c.Collective), func(a coll.Algorithm, i int) int {
		if a.IsDefault() {
			return 0
		}
		return 1 + i
	})
}

// index returns the knowledge-gradient index (see online.Joint) of each algorithm for one class. It also returns the
// algorithm with the shortest expected time.
func (p *gradient) index(j *online.Joint, class int) ([]float64, int) {
	return j.KnowledgeGradient(p.first[class], len(p.called[class]), p.result.Noise(), p.calls[class], func(a int) bool { return p.called[class][a] })
}

func (p *gradient) choose(class int) (int, bool, error) {
	j := p.joints[p.classes[class].Collective]
	if j == nil {
		return 0, false, nil
	}
	index, best := p.index(j, class)
	var order []int
	for a := range index {
		order = append(order, a)
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(index[x], index[y]) })
	from := p.first[class]
	for k, a := range order {
		if a == 0 || p.budget.affords(j.Quantile(from, -1), j.Quantile(from+a, affordDeviations)) {
			return a, a != best && k == 0, nil
		}
	}
	return 0, false, nil
}

func (p *gradient) observe(class, algorithm int, seconds float64) (bool, error) {
	p.add(class, algorithm, seconds)
	p.calls[class]++
	p.called[class][algorithm] = true
	c := p.classes[class].Collective
	if p.joints[c] == nil {
		j, err := p.priorJoint(class, seconds)
		if err != nil {
			return false, err
		}
		p.joints[c] = j
	}
	j, from, noise := p.joints[c], p.first[class], p.result.Noise()
	if i := from + algorithm; j.Variance(i) > settledShare*noise {
		j.Observe(i, math.Log(seconds), noise)
	}
	byDefault := j.Quantile(from, -1)
	if algorithm == 0 {
		byDefault = seconds
	}
	p.budget.debit(class, p.classes[class].Calls, byDefault, seconds)
	return false, nil
}

func (p *gradient) best(class int) int {
	j := p.joints[p.classes[class].Collective]
	if j == nil {
		return 0
	}
	_, best := p.index(j, class)
	return best
}

// traceBudget is the time that a run may lose by exploring algorithms other than the default. The trace says how many calls
// a class has. The first call of a class adds a share of the default's time for all of these. Each further call beyond them
// adds this share for one call. When a call takes longer than the default, the difference is subtracted. When it is faster,
// the difference is added.
type traceBudget struct {
	share   float64   // share of the default's time
	balance float64   // seconds
	calls   []float64 // number of calls so far, by class
}

// affords reports whether the budget covers a call that takes the given seconds. `byDefault` is the time of
// the call with the default.
func (b *traceBudget) affords(byDefault, seconds float64) bool { return b.balance+byDefault >= seconds }

// debit updates the budget after a call. `traced` is the number of calls in the trace at the same
// point.
func (b *traceBudget) debit(class int, traced, byDefault, seconds float64) {
	if b.calls[class] == 0 {
		b.balance += b.share * max(1, traced) * byDefault
	} else if b.calls[class] >= max(1, traced) {
		b.balance += b.share * byDefault
	}
	b.calls[class]++
	b.balance += byDefault - seconds
}
