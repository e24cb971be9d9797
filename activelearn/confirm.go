package activelearn

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/selection"
	"tutti/surrogate/gp"
)

// Pair is what confirmation measures at a point so that the guard can pass: the algorithm that is predicted to be the
// fastest besides the library's default, the default, or both.
type Pair struct {
	Candidates []coll.Candidate // without those that are measured
	Gain       float64          // expected natural logarithm of the speed-up, times the weight of the point; see expectedGain
	Loss       float64          // speed-up of this logarithm, minus 1, times the weight
	Seconds    float64          // predicted machine time without launches
	Faster     bool             // the algorithm is predicted to pass the guard
	Points     int              // at which it lets the guard pass
	launches   []any            // of the candidates, without duplicates
}

// PairOptions say how Market values and prices pairs.
type PairOptions struct {
	Weight       coll.Weight
	SharedLaunch func(coll.Candidate) any // see RuleOptions
	Launching    map[coll.Candidate]bool  // measured candidates whose machine time includes a launch
	Earlier      [][]coll.Measurement     // of earlier campaigns, for prices
}

// Market returns the pairs of one problem at the points where the guard may leave gain to the library. The rows are
// those of Rows. A pair is left out if its default cannot be measured, or if one of its candidates is being measured.
// For p pairs and n measurements it takes O(p · n²) operations; with more than mergedPoints pairs, the predicted gain
// replaces the expected one.
func (a Alternatives) Market(rows []selection.Row, opt PairOptions) (Market, error) {
	var m Market
	if !a.hasDefault() {
		return m, nil
	}
	price := a.pricesFor(rows, opt)
	m.Launch, m.Rest = price.launch, a.rest(price, opt)
	guarded := a.Guard(rows).Rows
	pairs, err := a.pairs(rows, guarded, opt.Weight)
	if a.bands > 0 {
		pairs, err = a.layoutPairs(rows, guarded, opt.Weight), nil
	}
	for _, p := range pairs {
		for _, c := range p.Candidates {
			p.Seconds += price.of(c)
			if key := (Options{SharedLaunch: opt.SharedLaunch}).launch(c); !slices.Contains(p.launches, key) {
				p.launches = append(p.launches, key)
			}
		}
		m.Pairs = append(m.Pairs, p)
	}
	return m, err
}

// pairs returns the pairs at single points, without prices.
func (a Alternatives) pairs(rows, guarded []selection.Row, weigh coll.Weight) (out []Pair, err error) {
	var open []comparison
	for i := range rows {
		if c, ok := a.compare(rows[i], guarded[i]); ok {
			open = append(open, c)
		}
	}
	variances, err := a.variances(open)
	if err != nil {
		return nil, err
	}
	for i, c := range open {
		weight, gain := weigh.Of(c.point), expectedGain(c.gap, variances[i], c.least)
		if gain > 0 {
			out = append(out, Pair{Candidates: c.missing, Gain: weight * gain, Loss: weight * math.Expm1(gain), Faster: c.gap > c.least, Points: 1})
		}
	}
	return out, nil
}

// comparison compares the fastest algorithm at a point besides the default with what the guard lets pass there.
type comparison struct {
	point           coll.Point
	choice, present coll.Algorithm
	gap             float64          // predicted log10 of the ratio of the present algorithm's time to the choice's
	least           float64          // gap from which the guard selects the choice, 0 or more
	missing         []coll.Candidate // the choice and the default, without those that are measured
}

// compare returns the comparison at a point. It returns false if there is nothing to measure.
func (a Alternatives) compare(row, guarded selection.Row) (c comparison, ok bool) {
	others := slices.Clone(row.Options)
	at := slices.IndexFunc(others, func(o selection.Option) bool { return o.Algorithm.IsDefault() })
	if at < 0 || len(others) == 1 {
		return c, false
	}
	choice := fastest(selection.Row{Options: slices.Delete(others, at, at+1)})
	byDefault := row.Options[at].Seconds
	present := row.Options[at]
	for _, o := range guarded.Options {
		k := slices.IndexFunc(row.Options, func(r selection.Option) bool { return r.Algorithm == o.Algorithm })
		if k >= 0 && row.Options[k].Seconds < present.Seconds {
			present = row.Options[k]
		}
	}
	for _, alg := range []coll.Algorithm{choice.Algorithm, coll.Default} {
		x := coll.Candidate{Point: row.Point, Algorithm: alg}
		switch {
		case a.Measured(x):
		case !a.ledger.IsFree(x):
			return c, false
		default:
			c.missing = append(c.missing, x)
		}
	}
	c.point, c.choice, c.present = row.Point, choice.Algorithm, present.Algorithm
	c.gap = math.Log10(present.Seconds / choice.Seconds)
	c.least = max(0, a.expectedMargin(row.Point)-math.Log10(byDefault/present.Seconds))
	return c, len(c.missing) > 0
}

// variances returns the variances of the gaps, 0 without a posterior.
func (a Alternatives) variances(all []comparison) ([]float64, error) {
	p := a.models.Posterior()
	if p == nil || len(all) > mergedPoints {
		return make([]float64, len(all)), nil
	}
	var out []float64
	for block := range slices.Chunk(all, pairBlock) {
		var points []coll.Point
		var entries []gp.Entry
		for i, c := range block {
			points = append(points, c.point)
			entries = append(entries, gp.Entry{Row: i, Task: p.Task(c.choice, 0)}, gp.Entry{Row: i, Task: p.Task(c.present, 0)})
		}
		joint, err := p.GP().Posterior(preprocess.SurrogateRows(points), entries)
		if err != nil {
			return nil, err
		}
		for i := range block {
			out = append(out, joint.Difference(2*i, 2*i+1))
		}
	}
	return out, nil
}

// expectedGain returns ln 10 · E[x; x > least], where x is a normal gap in decades. A gap below `least` brings nothing,
// because the guard keeps the present algorithm. This is the expected improvement (Jones, Schonlau and Welch, Efficient
// global optimization of expensive black-box functions, J. Global Optimization 13, 1998) with the guard's margin.
func expectedGain(mean, variance, least float64) float64 {
	if variance == 0 {
		if mean > least {
			return math.Ln10 * mean
		}
		return 0
	}
	s := math.Sqrt(variance)
	z := (least - mean) / s
	return math.Ln10 * max(0, mean*distuv.UnitNormal.CDF(-z)+s*distuv.UnitNormal.Prob(z))
}

// pairPrices predicts the machine time of candidates.
type pairPrices struct {
	prices
	seconds func(coll.Candidate) float64 // of one execution
}

func (p pairPrices) of(c coll.Candidate) float64 {
	return max(minPrice, p.run(c.MsgBytes, p.seconds(c)))
}

// pricesFor returns the prices of candidates at the points of the rows. Without a posterior that knows the algorithm, the
// time of an execution is the geometric mean of the measured times of its message size, or of all sizes.
func (a Alternatives) pricesFor(rows []selection.Row, opt PairOptions) pairPrices {
	bySize, all := map[int64][]float64{}, []float64{}
	for m := range a.ledger.All() {
		bySize[m.MsgBytes], all = append(bySize[m.MsgBytes], m.Seconds), append(all, m.Seconds)
	}
	out := pairPrices{prices: a.ledger.prices(opt.Earlier, opt.Launching), seconds: func(c coll.Candidate) float64 {
		if same := bySize[c.MsgBytes]; len(same) > 0 {
			return stat.GeometricMean(same, nil)
		}
		return stat.GeometricMean(all, nil)
	}}
	p := a.models.Posterior()
	if p == nil {
		return out
	}
	points, at := make([]coll.Point, len(rows)), make(map[coll.Point]int, len(rows))
	for i, r := range rows {
		points[i], at[r.Point] = r.Point, i
	}
	means, measured := p.GP().Means(preprocess.SurrogateRows(points), len(a.models.Algorithms())), out.seconds
	out.seconds = func(c coll.Candidate) float64 {
		i, predicted := at[c.Point]
		if !predicted || !p.Knows(c.Algorithm) {
			return measured(c)
		}
		return math.Pow(10, means[p.Task(c.Algorithm, 0)][i])
	}
	return out
}

// rest returns the predicted machine time of all free candidates with their launches, in seconds.
func (a Alternatives) rest(price pairPrices, opt PairOptions) (seconds float64) {
	launches := map[any]bool{}
	for i := range a.space.Points() {
		for _, c := range a.ledger.Free(i) {
			seconds += price.of(c)
			launches[(Options{SharedLaunch: opt.SharedLaunch}).launch(c)] = true
		}
	}
	return seconds + price.launch*float64(len(launches))
}

// Market are the pairs of one problem that confirmation may buy.
type Market struct {
	Pairs  []Pair
	Launch float64 // price of a launch, seconds
	Rest   float64 // predicted machine time of all free candidates with their launches, seconds
	Rate   float64 // least gain per second of machine time of the pairs that Buy buys
}

// Unconfirmed is the expected gain that the guard leaves to the library where another algorithm is predicted to be
// faster, but it or the default has no measurement. It says what measuring them costs.
type Unconfirmed struct {
	Points  int     `json:"points"`
	Gain    float64 `json:"gain"`            // mean logarithm of the speed-up over all points of the problem
	Loss    float64 `json:"loss"`            // average slowdown, minus 1, that keeping the default causes
	Seconds float64 `json:"machine_seconds"` // predicted, without launches
}

// Unconfirmed sums up the pairs whose algorithm is predicted to be faster, of a problem with the given number of points.
func (m Market) Unconfirmed(points int) (out Unconfirmed) {
	for _, p := range m.Pairs {
		if !p.Faster {
			continue
		}
		out.Points += p.Points
		out.Gain += p.Gain / float64(points)
		out.Loss += p.Loss / float64(points)
		out.Seconds += p.Seconds
	}
	return out
}

// Buy returns the pairs to measure in the next round of confirmation, for each market. It buys pairs that add at least
// the market's rate of gain per second of machine time, the best first, as long as all together cost at most `budget`
// seconds. If none is so cheap, it buys the best one that costs at most `limit` seconds.
// Pairs of the same launches are bought together: each must be worth its own machine time, and all of them must be
// worth the launches, too.
func Buy(markets []Market, budget, limit float64) [][]Pair {
	var all []bundle
	for i, m := range markets {
		all = append(all, bundles(i, m)...)
	}
	slices.SortStableFunc(all, func(a, b bundle) int { return cmp.Compare(b.gain/b.seconds, a.gain/a.seconds) })
	out, bought := make([][]Pair, len(markets)), false
	for _, b := range all {
		left := budget - b.launches
		for _, p := range b.pairs {
			if p.Seconds <= left {
				left -= p.Seconds
				budget = left
				out[b.market], bought = append(out[b.market], p), true
			}
		}
	}
	if bought {
		return out
	}
	for _, b := range all {
		if p := b.pairs[0]; b.launches+p.Seconds <= limit {
			out[b.market] = []Pair{p}
			break
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
func bundles(market int, m Market) (out []bundle) {
	at := map[[2]any]int{}
	for _, p := range m.Pairs {
		if p.Gain < m.Rate*p.Seconds {
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
	out = slices.DeleteFunc(out, func(b bundle) bool { return b.gain < m.Rate*b.seconds })
	for _, b := range out {
		slices.SortStableFunc(b.pairs, func(p, q Pair) int { return cmp.Compare(q.Gain/q.Seconds, p.Gain/p.Seconds) })
	}
	return out
}

// Gain returns the predicted gain of a selection over the library's default: the sum over the points of the natural
// logarithm of its speed-up, times the weight. Points at which the default has no prediction do not count.
func Gain(rows []selection.Row, choose Choice, weight coll.Weight) (sum float64) {
	for _, row := range rows {
		loss, known := row.Loss(choose(row.Point))
		byDefault, comparable := row.Loss(coll.Default)
		if known && comparable {
			sum += weight.Of(row.Point) * math.Log((1+byDefault)/(1+loss))
		}
	}
	return sum
}
