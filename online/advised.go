package online

import (
	"slices"

	"tutti/coll"
)

// advised is what libtutti does with the tables of Advise: what is held to be best, but for
// a share of calls that are drawn by weights. As many others are timed; only of these calls
// anything is learnt, between runs.
type advised struct {
	problem           Problem
	earlier           [][]coll.Measurement
	calls             [][]timed // of each class, of all runs
	run               int
	opt               Options
	advice            []Advice
	sums              [][]float64 // prefix sums of weights
	explored, watched []int       // calls in this run
	drawn             []uint64    // draws so far
	served            [][]bool    // of each class: whether each algorithm, and what is selected, has served in this run
	kept              bool        // the time of the call that was just chosen
	explores          bool        // that call
	purse             purse
}

func newAdvised(p Problem, earlier [][]coll.Measurement, opt Options) (*advised, error) {
	n := len(p.Classes)
	a := &advised{
		problem: p, earlier: earlier, calls: make([][]timed, n), opt: opt,
		advice: make([]Advice, n), sums: make([][]float64, n), drawn: make([]uint64, n),
	}
	for i, c := range p.Classes {
		a.advice[i].Weights = slices.Repeat([]float64{1}, len(c.Algorithms))
	}
	a.begin()
	return a, a.end()
}

func (a *advised) begin() {
	n := len(a.problem.Classes)
	a.purse = newPurse(a.problem, a.opt.Over)
	a.explored, a.watched, a.served = make([]int, n), make([]int, n), make([][]bool, n)
	for i, c := range a.problem.Classes {
		a.served[i] = make([]bool, len(c.Algorithms)+1)
	}
}

func (a *advised) end() error {
	b, now := newBook(a.problem, a.earlier), make([]int, len(a.problem.Classes))
	b.hold(a.calls)
	a.run++
	for _, c := range collectivesOf(a.problem) {
		if len(b.measurements(c)) == 0 && len(b.before(c)) == 0 {
			continue
		}
		advice, err := b.advise(c, now)
		if err != nil {
			return err
		}
		for i, class := range a.problem.Classes {
			if class.Collective == c {
				a.advice[i] = advice[i]
			}
		}
	}
	for i := range a.advice {
		a.sums[i] = slices.Clone(a.advice[i].Weights)
		share(a.sums[i])
		prefix(a.sums[i])
	}
	return nil
}

func (a *advised) choose(class int) (int, bool) {
	a.drawn[class]++
	key := []uint64{a.opt.Seed, uint64(class), a.drawn[class]}
	u := uniform(append(key, forShare)...)
	a.purse.earn(class, a.advice[class].Budget)
	known := a.purse.known(class)
	draws := u < a.opt.Explore && known && a.explored[class] < a.opt.Explored
	watches := u < 2*a.opt.Explore && (u >= a.opt.Explore || !known) && a.watched[class] < a.opt.Explored
	chosen := drawn(a.sums[class], uniform(append(key, forWeights)...))
	a.explores = draws && a.purse.holds(class, chosen, a.advice[class].Most)
	switch {
	case a.explores:
		a.explored[class]++
		a.serve(class, chosen, chosen)
		return chosen, true
	case watches:
		a.watched[class]++
		a.serve(class, len(a.served[class])-1, a.tuned(class))
	default:
		a.kept = false
	}
	return a.tuned(class), false
}

// serve is told of a timed call before it is made: its place in served, and its algorithm. The
// first that each serves makes communicators and plans: its time is not kept.
func (a *advised) serve(class, place, algorithm int) {
	if algorithm == 0 {
		place = 0
	}
	a.kept, a.served[class][place] = a.served[class][place], true
}

func (a *advised) observe(class, algorithm int, seconds float64) bool {
	switch {
	case a.explores:
		a.purse.spend(class, algorithm, seconds)
	case a.kept:
		a.purse.selected[class].add(seconds)
	}
	if a.kept {
		a.calls[class] = append(a.calls[class], timed{a.run, algorithm, seconds})
	}
	return false
}

func (a *advised) tuned(class int) int { return a.advice[class].Best }
