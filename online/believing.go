package online

import (
	"cmp"
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
	"tutti/surrogate/learner"
)

// believing is our policy. Between runs the project's Gaussian process of all algorithms
// learns from all runs. Within a run, what it says of the application's classes changes with
// each call, by a formula. An algorithm is called when its expected time, less what knowing
// it better is expected to spare in the calls to come, is the least: the online knowledge
// gradient. It may do so as long as an account of the run's collective time holds the price;
// see account.
//
// Source: Ryzhov, Powell and Frazier, The knowledge gradient algorithm for a general class
// of online learning problems (Operations Research 60, 2012).
type believing struct {
	problem Problem
	book    *book
	opt     Options
	beliefs map[coll.Collective]*joint // nil of a collective: no call was seen
	first   []int                      // entry of a class's first algorithm in its belief
	seen    []float64                  // calls of each class so far, in all runs
	watched [][]*Detector
	account account
	changed []change // in this run
}

// change is what an alarm was about, and the mean of logarithms of times before.
type change struct {
	class, algorithm int
	before           float64
}

// leastHorizon is how many calls of a class are expected to come at least; else as many as
// came.
const leastHorizon = 200

// What was never called in a class may be far from what is believed: algorithms behave
// differently at places nobody measured. In one case of ten deviations are four times as
// large, as activelearn takes them to be.
const (
	tailShare = 0.1
	tailScale = 4.0
)

// paidFor is by how many deviations a call may turn out slower for the account to hold its
// price.
const paidFor = 2.0

// settledShare of a call's noise is a variance that one more call hardly changes.
const settledShare = 0.02

func newBelieving(p Problem, earlier [][]coll.Measurement, opt Options) (*believing, error) {
	b := &believing{problem: p, book: newBook(p, earlier), opt: opt, seen: make([]float64, len(p.Classes)), first: make([]int, len(p.Classes))}
	next := map[coll.Collective]int{}
	for i, c := range p.Classes {
		b.first[i] = next[c.Collective]
		next[c.Collective] += len(c.Algorithms)
	}
	b.begin()
	return b, b.end()
}

func (b *believing) begin() {
	b.account = account{over: b.opt.Over, calls: make([]float64, len(b.problem.Classes))}
	b.watched = make([][]*Detector, len(b.problem.Classes))
	for i, c := range b.problem.Classes {
		b.watched[i] = make([]*Detector, len(c.Algorithms))
	}
}

// end learns from all runs. What changed in the last may be as it was before, and is known as
// well as from one call: the next run soon finds out.
func (b *believing) end() error {
	for _, c := range slices.Backward(b.changed) { // the first of several tells what was before
		b.book.tallies[c.class][c.algorithm] = tally{n: 1, mean: c.before}
	}
	b.changed = nil
	b.beliefs = map[coll.Collective]*joint{}
	for _, c := range collectivesOf(b.problem) {
		known, earlier := b.book.measurements(c), b.book.before(c)
		if len(known) == 0 && len(earlier) == 0 {
			continue
		}
		belief, err := learner.Believe(known, nil, earlier...)
		if err != nil {
			return err
		}
		process, err := belief.Smooth()
		if err != nil {
			return err
		}
		if b.beliefs[c], err = b.jointOf(c, process, belief.Task); err != nil {
			return err
		}
	}
	return nil
}

// jointOf asks a process about all classes and algorithms of a collective. task names the
// task of an algorithm, or that of the i-th that has none.
func (b *believing) jointOf(c coll.Collective, process *gp.GP, task func(a coll.Algorithm, i int) int) (*joint, error) {
	var points []coll.Point
	var entries []gp.Entry
	unknown := map[coll.Algorithm]int{}
	for _, class := range b.problem.Classes {
		if class.Collective != c {
			continue
		}
		for _, a := range class.Algorithms {
			if _, listed := unknown[a]; !listed {
				unknown[a] = len(unknown)
			}
			entries = append(entries, gp.Entry{Row: len(points), Task: task(a, unknown[a])})
		}
		points = append(points, class.Point)
	}
	return newJoint(process, preprocess.SurrogateRows(points), entries)
}

// What is believed of algorithms before there is more than one call to learn from, as
// variances of log10 seconds: worst and best differ 2 to 10 times at most points.
var unlearnt = gp.Params{
	Common: 1, Own: 0.02, Level: 0.02, Rough: 0.005, Shared: 0.001, Noise: preprocess.MeasurementNoise,
}

// startWith makes the belief of a collective of its first call.
func (b *believing) startWith(class int, seconds float64) error {
	c := b.problem.Classes[class]
	params := unlearnt
	params.Mean = math.Log10(seconds)
	params.CommonLength, params.OwnLength = preprocess.LengthScales(), preprocess.LengthScales()
	process, err := gp.New(params, gp.Observations{
		X: preprocess.SurrogateRows([]coll.Point{c.Point}), At: []int{0}, Task: []int{0}, Y: []float64{math.Log10(seconds)},
	})
	if err != nil {
		return err
	}
	b.beliefs[c.Collective], err = b.jointOf(c.Collective, process, func(a coll.Algorithm, i int) int {
		if a.IsDefault() {
			return 0
		}
		return 1 + i
	})
	return err
}

func (b *believing) choose(class int) (int, bool) {
	j := b.beliefs[b.problem.Classes[class].Collective]
	if j == nil {
		return 0, false
	}
	order, best := b.order(j, class)
	from := b.first[class]
	for k, a := range order {
		if a == 0 || b.account.holds(j.at(from, -1), j.at(from+a, paidFor)) {
			return a, a != best && k == 0
		}
	}
	return 0, false
}

// order returns the algorithms of a class by expected time less the worth of knowing more,
// and the one with the least expected time.
func (b *believing) order(j *joint, class int) (order []int, best int) {
	index, best := b.index(j, class)
	for a := range index {
		order = append(order, a)
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(index[x], index[y]) })
	return order, best
}

// index returns of each algorithm of a class its expected time less the worth of knowing
// more, and the one with the least expected time.
func (b *believing) index(j *joint, class int) (index []float64, best int) {
	from, noise := b.first[class], b.book.noise()
	n := len(b.problem.Classes[class].Algorithms)
	expected := make([]float64, n)
	for a := range expected {
		expected[a] = j.expected(from + a)
	}
	best = fastest(expected)
	second := math.Inf(1)
	for a, t := range expected {
		if a != best {
			second = min(second, t)
		}
	}
	horizon := max(leastHorizon, b.seen[class])
	index = make([]float64, n)
	for a, t := range expected {
		rival := expected[best]
		if a == best {
			rival = second
		}
		index[a] = t
		if !math.IsInf(rival, 1) {
			gain := j.gain(from+a, rival, noise)
			if b.book.tallies[class][a].n == 0 {
				gain = (1-tailShare)*gain + tailShare*j.farGain(from+a, rival, noise)
			}
			index[a] -= horizon * gain
		}
	}
	return index, best
}

func (b *believing) observe(class, algorithm int, seconds float64) bool {
	collective := b.problem.Classes[class].Collective
	b.book.add(class, algorithm, seconds)
	b.seen[class]++
	j := b.beliefs[collective]
	if j == nil {
		if err := b.startWith(class, seconds); err != nil {
			panic(err) // constants and a time above zero
		}
		j = b.beliefs[collective]
	}
	from := b.first[class]
	noise := b.book.noise()
	if i := from + algorithm; j.variance(i) > settledShare*noise {
		j.observe(i, math.Log(seconds), noise)
	}
	byDefault := j.at(from, -1)
	if algorithm == 0 {
		byDefault = seconds
	}
	b.account.spend(class, b.problem.Classes[class].Calls, byDefault, seconds)
	return b.watch(j, class, algorithm, seconds)
}

// What an alarm makes of the belief: all of a class may have become slower or faster
// together, and the algorithm that was watched by itself, by a factor of 2 or so.
const (
	changedTogether = 0.35 * 0.35
	changedAlone    = 0.7 * 0.7
)

// watch looks for a change. What was known of the algorithm before is forgotten.
func (b *believing) watch(j *joint, class, algorithm int, seconds float64) bool {
	d := &b.watched[class][algorithm]
	if *d == nil {
		*d = NewDetector(alarmRun)
	}
	now, alarm := (*d).Add(seconds)
	if !alarm {
		return false
	}
	known := &b.book.tallies[class][algorithm]
	b.changed = append(b.changed, change{class, algorithm, known.mean})
	from := b.first[class]
	j.forget(from, from+len(b.problem.Classes[class].Algorithms), from+algorithm, changedTogether, changedAlone)
	log := math.Log(now.Seconds)
	j.observe(from+algorithm, log, b.book.noise()/float64(now.Calls))
	*known = tally{n: now.Calls, mean: log}
	return true
}

func (b *believing) tuned(class int) int {
	j := b.beliefs[b.problem.Classes[class].Collective]
	if j == nil {
		return 0
	}
	_, best := b.order(j, class)
	return best
}

// account is what a run may spend on learning: what its calls so far have taken less than the
// library's own choice would have, and a share of the default's time in the whole run. The
// calls of a run are those of its trace; calls beyond these add their own share.
type account struct {
	over    float64   // share of the default's time that a run may take longer
	balance float64   // seconds
	calls   []float64 // of each class so far
}

// holds reports whether a call that may take so long is paid for, beside what the default
// takes at least.
func (a *account) holds(byDefault, seconds float64) bool {
	return a.balance+byDefault >= seconds
}

// spend enters a call of a class of which a run makes so many.
func (a *account) spend(class int, traced, byDefault, seconds float64) {
	if a.calls[class] == 0 {
		a.balance += a.over * max(1, traced) * byDefault
	} else if a.calls[class] >= max(1, traced) {
		a.balance += a.over * byDefault
	}
	a.calls[class]++
	a.balance += byDefault - seconds
}
