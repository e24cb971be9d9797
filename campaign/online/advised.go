package online

import "slices"

// advised is what libtutti does with the tables of Advise: what is held to be best, but for
// a share of calls that are drawn by weights. As many others are timed; only of these calls
// anything is learnt, between runs.
type advised struct {
	problem           Problem
	book              *book
	opt               Options
	advice            []Advice
	sums              [][]float64 // prefix sums of weights
	explored, watched []int       // calls in this run
	drawn             []uint64    // draws so far
	timed             bool        // the call that was just chosen
}

func newAdvised(p Problem, b *book, opt Options) (*advised, error) {
	n := len(p.Classes)
	a := &advised{problem: p, book: b, opt: opt, advice: make([]Advice, n), sums: make([][]float64, n), drawn: make([]uint64, n)}
	for i, c := range p.Classes { // a table of nothing explores everything
		a.advice[i].Weights = slices.Repeat([]float64{1}, len(c.Algorithms))
	}
	a.begin()
	return a, a.end()
}

func (a *advised) begin() {
	a.explored, a.watched = make([]int, len(a.problem.Classes)), make([]int, len(a.problem.Classes))
}

func (a *advised) end() error {
	for _, c := range collectivesOf(a.problem) {
		if len(a.book.measurements(c)) == 0 && len(a.book.before(c)) == 0 {
			continue
		}
		advice, err := a.book.advise(c, make([]int, len(a.problem.Classes)))
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
	explores := u < a.opt.Explore && a.explored[class] < a.opt.Explored
	watches := u >= a.opt.Explore && u < 2*a.opt.Explore && a.watched[class] < a.opt.Explored
	a.timed = explores || watches
	if watches {
		a.watched[class]++
	}
	if !explores {
		return a.tuned(class), false
	}
	a.explored[class]++
	return drawn(a.sums[class], uniform(append(key, forWeights)...)), true
}

func (a *advised) observe(class, algorithm int, seconds float64) bool {
	if a.timed {
		a.book.add(class, algorithm, seconds)
	}
	return false
}

func (a *advised) tuned(class int) int { return a.advice[class].Best }
