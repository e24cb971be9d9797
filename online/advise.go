package online

import (
	"fmt"
	"math/bits"
	"slices"

	"tutti/coll"
	"tutti/internal/robust"
	"tutti/surrogate/learner"
)

// Advice is what a policy makes of all that is known of calls, for those to come: calls of
// one collective and layout whose sizes have as many bits.
type Advice struct {
	Class             // its point has the size that most samples have
	Low, High int64   // bytes
	Samples   int     // of calls
	Best      int     // what is to be selected: what is now, unless another is faster beyond doubt
	Faster    float64 // expected time of the default over that of Best
	Weights   []float64
	Budget    float64   // of a call, in times of Best, besides the share that a job may spend
	Most      []float64 // times Best: what a call may take; nil: not known
}

// advisers turn what a book knows into advice: for each class the best algorithm beside the
// one that is selected now, how much faster it is than the default, and weights of which one
// at least is above zero.
var advisers = map[string]func(p Problem, b *book, now []int, opt Options) ([]Advice, error){
	PolicyIOTA:  adviseWeighted,
	PolicyTutti: adviseBelieving,
}

// Selected is what can run at a point, coll.Default first, and what is selected there now.
type Selected struct {
	Feasible func(coll.Point) []coll.Algorithm
	Now      func(coll.Point) coll.Algorithm
}

// ofJob is a sample of a job, by its place.
type ofJob struct {
	Sample
	job int
}

// possible returns the samples of algorithms that can run where they ran.
func (s Selected) possible(jobs []Job) []ofJob {
	known := map[coll.Candidate]bool{}
	var out []ofJob
	for j, job := range jobs {
		for _, of := range job.Calls {
			can, asked := known[of.Candidate]
			if !asked {
				can = slices.Contains(s.Feasible(of.Point), of.Algorithm)
				known[of.Candidate] = can
			}
			if can {
				out = append(out, ofJob{of, j})
			}
		}
	}
	return out
}

// Learnt is what was learnt of samples.
type Learnt struct {
	Advice  []Advice // by point
	problem Problem
	jobs    []Job
	calls   [][]timed // of each class, in the order of jobs
	now     []int     // of each class: what is selected without them
	book    *book
}

// Learn says what to select and what to explore in runs to come. jobs are all so far, in the
// order of time; earlier holds what was measured elsewhere, in a campaign or on another
// machine, by source. Samples of what cannot run count for nothing.
// O(points · algorithms² · measurements) operations.
func Learn(policy string, jobs []Job, earlier [][]coll.Measurement, sel Selected, opt Options) (Learnt, error) {
	adviser := advisers[policy]
	if adviser == nil {
		return Learnt{}, fmt.Errorf("policy %q: want %s or %s", policy, PolicyTutti, PolicyIOTA)
	}
	p, samples := classesOf(sel.possible(jobs), earlier, sel.Feasible)
	l := Learnt{problem: p, jobs: jobs, now: make([]int, len(p.Classes)), calls: make([][]timed, len(p.Classes)), book: newBook(p, earlier)}
	for i, c := range p.Classes {
		l.now[i] = max(0, slices.Index(c.Algorithms, sel.Now(c.Point)))
		for _, s := range samples[i] {
			if a := slices.Index(c.Algorithms, s.Algorithm); a >= 0 {
				l.calls[i] = append(l.calls[i], timed{s.job, a, s.Seconds()})
			}
		}
	}
	l.book.hold(l.calls)
	var err error
	l.Advice, err = adviser(p, l.book, l.now, opt)
	for i := range l.Advice {
		l.Advice[i].Class, l.Advice[i].Samples = p.Classes[i], len(samples[i])
		l.Advice[i].Low, l.Advice[i].High = sameBits(p.Classes[i].MsgBytes)
	}
	return l, err
}

// sameBits are the sizes with as many bits.
func sameBits(bytes int64) (low, high int64) {
	n := bits.Len64(uint64(bytes))
	if n == 0 {
		return 0, 0
	}
	return 1 << (n - 1), 1<<n - 1
}

// classesOf returns the classes of samples and of what was measured elsewhere, with the
// samples of each.
func classesOf(samples []ofJob, earlier [][]coll.Measurement, feasible func(coll.Point) []coll.Algorithm) (Problem, [][]ofJob) {
	in := map[coll.Point][]ofJob{}
	add := func(p coll.Point, s ...ofJob) {
		low, _ := sameBits(p.MsgBytes)
		p.MsgBytes = low
		in[p] = append(in[p], s...)
	}
	for _, s := range samples {
		add(s.Point, s)
	}
	sizes := map[coll.Point][]int64{}
	for _, source := range earlier {
		for _, m := range source {
			add(m.Point)
			low, _ := sameBits(m.MsgBytes)
			at := coll.Point{Collective: m.Collective, Nodes: m.Nodes, PPN: m.PPN, MsgBytes: low}
			sizes[at] = append(sizes[at], m.MsgBytes)
		}
	}
	var points []coll.Point
	for p := range in {
		points = append(points, p)
	}
	slices.SortFunc(points, coll.ComparePoints)
	var p Problem
	var calls [][]ofJob
	for _, at := range points {
		found := sizes[at]
		if len(in[at]) > 0 {
			found = nil
		}
		for _, s := range in[at] {
			found = append(found, s.MsgBytes)
		}
		point := at
		point.MsgBytes = commonest(found)
		p.Classes = append(p.Classes, Class{Point: point, Calls: float64(len(in[at])), Algorithms: feasible(point)})
		calls = append(calls, in[at])
	}
	return p, calls
}

// commonest returns the number that is there most often, the least of several.
func commonest(of []int64) int64 {
	slices.Sort(of)
	best, most := of[0], 0
	for i := 0; i < len(of); {
		n := i
		for n < len(of) && of[n] == of[i] {
			n++
		}
		if n-i > most {
			best, most = of[i], n-i
		}
		i = n
	}
	return best
}

// disturbed is by how many deviations a call is taken to differ from the median at most: a
// few calls that something else held up count for little more than others.
const disturbed = 3

func clipped(logs []float64) []float64 {
	spread := disturbed * max(usualNoise, robust.Deviation(slices.Clone(logs)))
	middle := robust.Quantile(slices.Clone(logs), 0.5)
	for i, x := range logs {
		logs[i] = min(middle+spread, max(middle-spread, x))
	}
	return logs
}

// riskedFor is by how many deviations a call may turn out slower in a job for its account to hold
// the price. Of what was never called that is about twice what is selected, as for jobs that
// know nothing: with more, runs of some hundred calls would try hardly anything.
const riskedFor = 1.0

// spentOfGain is which part of what is spared beside the default exploring may cost. With the
// share of each job it is less than 30 %: the rest is to be kept from the second run on.
const spentOfGain = 0.2

// adviseBelieving is our policy's. An algorithm is worth a call when knowing more is worth
// what it is expected to take longer than the best; its weight is what that leaves, for the
// time of a call. The price of exploring is held down within a job, see purse.
func adviseBelieving(p Problem, b *book, now []int, _ Options) ([]Advice, error) {
	out := make([]Advice, len(p.Classes))
	for _, c := range collectivesOf(p) {
		of, err := b.advise(c, now)
		if err != nil {
			return nil, err
		}
		for i, class := range p.Classes {
			if class.Collective == c {
				out[i] = of[i]
			}
		}
	}
	return out, nil
}

// advise is our policy's advice for the classes of one collective, of which something is
// known; the others' is empty.
func (b *book) advise(c coll.Collective, now []int) ([]Advice, error) {
	belief, err := learner.Believe(b.measurements(c), nil, b.before(c)...)
	if err != nil {
		return nil, err
	}
	process, err := belief.Smooth()
	if err != nil {
		return nil, err
	}
	out := make([]Advice, len(b.problem.Classes))
	for i, class := range b.problem.Classes {
		if class.Collective != c {
			continue
		}
		calls := 0
		for _, t := range b.tallies[i] {
			calls += t.n
		}
		one := &believing{
			problem: Problem{Classes: b.problem.Classes[i : i+1]}, first: []int{0}, seen: []float64{float64(calls)},
			book: &book{problem: b.problem, tallies: b.tallies[i : i+1], within: b.within},
		}
		j, err := one.jointOf(c, process, belief.Task)
		if err != nil {
			return nil, err
		}
		out[i] = one.advice(j, now[i], b.timed[i]/2)
	}
	return out, nil
}

// advice of a policy for its one class, where an algorithm is selected now.
func (b *believing) advice(j *joint, now int, calls float64) Advice {
	index, best := b.index(j, 0)
	a := Advice{Best: now, Weights: make([]float64, len(index))}
	expected := j.expected(best)
	for i, x := range index {
		if i != best && x < expected {
			a.Weights[i] = (expected - x) / j.expected(i)
		}
	}
	if j.at(best, paidFor) < j.expected(now) {
		a.Best = best
	}
	a.Faster = j.expected(0) / j.expected(a.Best)
	a.Budget = spentOfGain * max(0, j.times(0, a.Best, -riskedFor)-1)
	for i := range index {
		a.Most = append(a.Most, j.times(i, a.Best, riskedFor))
	}
	a.Weights = drawable(a.Weights, a.Best, calls)
	return a
}

func adviseWeighted(p Problem, b *book, now []int, opt Options) ([]Advice, error) {
	w := &weighted{problem: p, book: b, opt: opt, share: 1, seconds: make([][]float64, len(p.Classes)), sums: make([][]float64, len(p.Classes))}
	if err := w.end(); err != nil {
		return nil, err
	}
	out := make([]Advice, len(p.Classes))
	for i := range out {
		a := Advice{Best: now[i], Faster: 1}
		if w.seconds[i] != nil {
			a.Best = w.tuned(i)
		}
		if t := w.seconds[i]; t != nil && t[0] > 0 && t[a.Best] > 0 {
			a.Faster = t[0] / t[a.Best]
		}
		below := 0.0
		for _, sum := range w.sums[i] {
			a.Weights = append(a.Weights, sum-below)
			below = sum
		}
		out[i] = a
	}
	return out, nil
}
