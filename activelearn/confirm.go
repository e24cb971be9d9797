package activelearn

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/selection"
)

// Pair is what confirmation measures at a point so that the guard can pass: the algorithm that is predicted to be
// fastest, the library's default, or both.
type Pair struct {
	Candidates []coll.Candidate // without those that are measured
	Gain       float64          // predicted natural logarithm of the speed-up, times the weight of the point
	Seconds    float64          // predicted machine time without launches
	launches   []any            // of the candidates, without duplicates
}

// PairOptions say how Market values and prices pairs.
type PairOptions struct {
	Weight       func(coll.Point) float64 // nil: all alike
	SharedLaunch func(coll.Candidate) any // see RuleOptions
	Launching    map[coll.Candidate]bool  // measured candidates whose machine time includes a launch
	Earlier      [][]coll.Measurement     // of earlier campaigns, for prices
}

// Market returns the pairs of one problem at the points where the guard leaves gain to the library. The rows are those
// of Rows. A pair is left out if its predicted speed-up is too small for the
// guard, if its default cannot be measured, or if one of its candidates is being measured.
func (a Alternatives) Market(rows []selection.Row, opt PairOptions) Market {
	var m Market
	if !a.hasDefault() {
		return m
	}
	price := a.pricesFor(rows, opt)
	for i, guarded := range a.Guard(rows).Rows {
		p := a.pair(rows[i], guarded)
		if p.Gain <= 0 {
			continue
		}
		if opt.Weight != nil {
			p.Gain *= opt.Weight(guarded.Point)
		}
		for _, c := range p.Candidates {
			p.Seconds += price.of(c)
			if key := (Options{SharedLaunch: opt.SharedLaunch}).launch(c); !slices.Contains(p.launches, key) {
				p.launches = append(p.launches, key)
			}
		}
		if p.Gain > 0 {
			m.Pairs = append(m.Pairs, p)
		}
	}
	m.Launch = price.launch
	return m
}

// pair returns the pair of a point. Its gain is zero if there is nothing to measure, or if the predicted speed-up is
// too small for the guard.
func (a Alternatives) pair(row, guarded selection.Row) (p Pair) {
	choice := fastest(row)
	at := slices.IndexFunc(row.Options, func(o selection.Option) bool { return o.Algorithm.IsDefault() })
	if at < 0 || choice.Algorithm.IsDefault() {
		return p
	}
	present := row.Options[at].Seconds // of what the guard lets pass
	for _, o := range guarded.Options {
		if k := slices.IndexFunc(row.Options, func(r selection.Option) bool { return r.Algorithm == o.Algorithm }); k >= 0 {
			present = min(present, row.Options[k].Seconds)
		}
	}
	for _, alg := range []coll.Algorithm{choice.Algorithm, coll.Default} {
		c := coll.Candidate{Point: row.Point, Algorithm: alg}
		switch {
		case a.Measured(c):
		case !a.ledger.IsFree(c):
			return Pair{}
		default:
			p.Candidates = append(p.Candidates, c)
		}
	}
	if math.Log10(row.Options[at].Seconds/choice.Seconds) > a.expectedMargin(row.Point) && len(p.Candidates) > 0 {
		p.Gain = math.Log(present / choice.Seconds)
	}
	return p
}

// pairPrices predicts the machine time of candidates.
type pairPrices struct {
	prices
	seconds func(coll.Candidate) float64 // of one execution
}

func (p pairPrices) of(c coll.Candidate) float64 {
	return max(minPrice, p.run(c.MsgBytes, p.seconds(c)))
}

// pricesFor returns the prices of candidates at the points of the rows. Without a posterior, the time of an execution
// is the geometric mean of the measured times of its message size, or of all sizes.
func (a Alternatives) pricesFor(rows []selection.Row, opt PairOptions) pairPrices {
	n, campaigns := a.ledger.CandidatesMeasured(), []iter.Seq[coll.Measurement]{}
	for _, ms := range opt.Earlier {
		n, campaigns = n+len(ms), append(campaigns, slices.Values(ms))
	}
	out := pairPrices{prices: pricesOf(n, append(campaigns, a.ledger.All()), opt.Launching)}
	if p := a.models.Posterior(); p != nil {
		points, at := make([]coll.Point, len(rows)), make(map[coll.Point]int, len(rows))
		for i, r := range rows {
			points[i], at[r.Point] = r.Point, i
		}
		means := p.GP().Means(preprocess.SurrogateRows(points), len(a.models.Algorithms()))
		out.seconds = func(c coll.Candidate) float64 { return math.Pow(10, means[p.Task(c.Algorithm, 0)][at[c.Point]]) }
		return out
	}
	bySize, all := map[int64][]float64{}, []float64{}
	for m := range a.ledger.All() {
		bySize[m.MsgBytes], all = append(bySize[m.MsgBytes], m.Seconds), append(all, m.Seconds)
	}
	out.seconds = func(c coll.Candidate) float64 {
		if same := bySize[c.MsgBytes]; len(same) > 0 {
			return stat.GeometricMean(same, nil)
		}
		return stat.GeometricMean(all, nil)
	}
	return out
}

// Market are the pairs of one problem that confirmation may buy, and the price of a launch in seconds.
type Market struct {
	Pairs  []Pair
	Launch float64
}

// Unconfirmed is the predicted gain that the guard leaves to the library because choice or default have no measurement,
// and what measuring them costs.
type Unconfirmed struct {
	Points  int     `json:"points"`
	Gain    float64 `json:"gain"`            // mean logarithm of the speed-up over all points of the problem
	Seconds float64 `json:"machine_seconds"` // predicted, without launches
}

// Unconfirmed sums up the pairs of a problem with the given number of points.
func (m Market) Unconfirmed(points int) (out Unconfirmed) {
	for _, p := range m.Pairs {
		out.Points++
		out.Gain += p.Gain / float64(points)
		out.Seconds += p.Seconds
	}
	return out
}

// Buy returns the pairs to measure in the next round of confirmation, for each market. It buys pairs that add at least
// `rate` of gain per second of machine time, the best first, as long as all together cost at most `budget` seconds.
// Pairs of the same launches are bought together: each must be worth its own machine time, and all of them must be
// worth the launches, too.
func Buy(markets []Market, rate, budget float64) [][]Pair {
	var all []bundle
	for i, m := range markets {
		all = append(all, bundles(i, m, rate)...)
	}
	slices.SortStableFunc(all, func(a, b bundle) int { return cmp.Compare(b.gain/b.seconds, a.gain/a.seconds) })
	out := make([][]Pair, len(markets))
	for _, b := range all {
		left := budget - b.launches
		for _, p := range b.pairs {
			if p.Seconds <= left {
				left -= p.Seconds
				budget = left
				out[b.market] = append(out[b.market], p)
			}
		}
	}
	return out
}

// bundle holds the pairs of a market that the same launches measure, the best ratio of gain to machine time first.
type bundle struct {
	market                  int
	pairs                   []Pair
	gain, seconds, launches float64 // of all pairs; seconds includes the price of the launches
}

// bundles returns the bundles of a market that are worth their machine time.
func bundles(market int, m Market, rate float64) (out []bundle) {
	at := map[[2]any]int{}
	for _, p := range m.Pairs {
		if p.Gain < rate*p.Seconds {
			continue
		}
		var key [2]any
		copy(key[:], p.launches)
		k, known := at[key]
		if !known {
			k, at[key] = len(out), len(out)
			launches := m.Launch * float64(len(p.launches))
			out = append(out, bundle{market: market, launches: launches, seconds: launches})
		}
		out[k].pairs = append(out[k].pairs, p)
		out[k].gain, out[k].seconds = out[k].gain+p.Gain, out[k].seconds+p.Seconds
	}
	out = slices.DeleteFunc(out, func(b bundle) bool { return b.gain < rate*b.seconds })
	for _, b := range out {
		slices.SortStableFunc(b.pairs, func(p, q Pair) int { return cmp.Compare(q.Gain/q.Seconds, p.Gain/p.Seconds) })
	}
	return out
}

// Gain returns the predicted gain of a selection over the library's default: the sum over the points of the natural
// logarithm of its speed-up, times the weight. Points at which the default has no prediction do not count.
func Gain(rows []selection.Row, choose Choice, weight func(coll.Point) float64) (sum float64) {
	for _, row := range rows {
		loss, known := row.Loss(choose(row.Point))
		byDefault, comparable := row.Loss(coll.Default)
		if !known || !comparable {
			continue
		}
		w := 1.0
		if weight != nil {
			w = weight(row.Point)
		}
		sum += w * math.Log((1+byDefault)/(1+loss))
	}
	return sum
}
