package online

import (
	"math"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// weighted draws algorithms by weights, IOTA's way: uniformly until enough is known of a
// collective, then by performance vectors 1/t of forests that are trained between runs,
// one for each algorithm. A share of calls is drawn so, all of them in IOTA; the others run
// what is held to be best.
//
// Source: Steiner, Online Algorithm Selection of MPI Collective Communication Operations
// (diploma thesis, TU Wien, 2023), chapter 4, with the project's forests for its boosted trees.
type weighted struct {
	problem  Problem
	book     *book
	opt      Options
	share    float64
	seconds  [][]float64 // expected, of each class; nil: not trained, NaN: of an algorithm
	sums     [][]float64 // prefix sums of weights
	explored []int       // calls in this run
	drawn    []uint64    // draws so far
}

// IOTA's constants: chances are held between 3 and 50 %, and a collective is untrained
// until so many algorithms are, each with so many calls. The thesis leaves the last one
// open.
const (
	leastChance   = 0.03
	mostChance    = 0.50
	fewAlgorithms = 5
	fewCalls      = 10
)

func newWeighted(p Problem, earlier [][]coll.Measurement, opt Options, share float64) (*weighted, error) {
	n := len(p.Classes)
	w := &weighted{
		problem: p, book: newBook(p, earlier), opt: opt, share: share,
		seconds: make([][]float64, n), sums: make([][]float64, n), drawn: make([]uint64, n),
	}
	w.begin()
	return w, w.end()
}

func (w *weighted) begin() { w.explored = make([]int, len(w.problem.Classes)) }

// end trains the forests and makes weights of them.
func (w *weighted) end() error {
	for _, c := range collectivesOf(w.problem) {
		forests, err := w.train(c)
		if err != nil {
			return err
		}
		for i, class := range w.problem.Classes {
			if class.Collective != c {
				continue
			}
			if w.seconds[i], err = predict(forests, class); err != nil {
				return err
			}
			known := w.seconds[i]
			if known == nil {
				known = nans(len(class.Algorithms))
			}
			w.sums[i] = weights(known, leastChance, mostChance)
			prefix(w.sums[i])
		}
	}
	return nil
}

// train returns a forest of log times for each algorithm that was called often enough; none
// when there are too few such algorithms.
func (w *weighted) train(c coll.Collective) (map[coll.Algorithm]*forest.Forest, error) {
	rows, calls := map[coll.Algorithm][]coll.Measurement{}, map[coll.Algorithm]int{}
	most := 0
	for _, source := range append(w.book.before(c), w.book.measurements(c)) {
		for _, m := range source {
			rows[m.Algorithm] = append(rows[m.Algorithm], m)
			calls[m.Algorithm] += max(1, m.Samples)
		}
	}
	for _, class := range w.problem.Classes {
		if class.Collective == c {
			most = max(most, len(class.Algorithms))
		}
	}
	out := map[coll.Algorithm]*forest.Forest{}
	for algorithm, ms := range rows {
		if calls[algorithm] < fewCalls {
			continue
		}
		x, y := make([][]float64, len(ms)), make([]float64, len(ms))
		for i, m := range ms {
			f := preprocess.Features(m.Point)
			x[i], y[i] = f[:], math.Log(m.Seconds)
		}
		// Many calls at few places make all bootstrapped trees alike: one tree of their means.
		f, err := forest.Fit(x, y, forest.Options{Trees: 1, NoBootstrap: true, Seed: w.opt.Seed, Workers: 1})
		if err != nil {
			return nil, err
		}
		out[algorithm] = f
	}
	if len(out) < min(fewAlgorithms, most) {
		return nil, nil
	}
	return out, nil
}

// predict returns the expected seconds of each algorithm of a class, NaN for those without
// a forest, and nil when there are no forests.
func predict(forests map[coll.Algorithm]*forest.Forest, class Class) ([]float64, error) {
	if forests == nil {
		return nil, nil
	}
	f := preprocess.Features(class.Point)
	out := make([]float64, len(class.Algorithms))
	for a, algorithm := range class.Algorithms {
		out[a] = math.NaN()
		if trained := forests[algorithm]; trained != nil {
			y, err := trained.Predict([][]float64{f[:]})
			if err != nil {
				return nil, err
			}
			out[a] = math.Exp(y[0])
		}
	}
	return out, nil
}

func (w *weighted) choose(class int) (int, bool) {
	w.drawn[class]++
	key := []uint64{w.opt.Seed, uint64(class), w.drawn[class]}
	switch {
	case w.share == 1 && w.explored[class] >= w.opt.Explored:
		return 0, false // IOTA leaves the rest to the library
	case w.explored[class] >= w.opt.Explored, uniform(append(key, forShare)...) >= w.share:
		return w.tuned(class), false
	}
	w.explored[class]++
	return drawn(w.sums[class], uniform(append(key, forWeights)...)), true
}

func nans(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

func (w *weighted) observe(class, algorithm int, seconds float64) bool {
	w.book.add(class, algorithm, seconds)
	return false
}

func (w *weighted) tuned(class int) int {
	best := 0
	for a, t := range w.seconds[class] {
		if b := w.seconds[class][best]; t < b || math.IsNaN(b) {
			best = a
		}
	}
	return best
}
