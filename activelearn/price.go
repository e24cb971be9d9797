package activelearn

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
)

// prices estimates the machine time of a measurement from earlier measurements. A measurement consists of a
// launch and several executions of the collective. The machine time of the executions grows with a power of
// the time of one execution. The exponent is 1 if the benchmark makes a fixed number of executions for each
// size. It is 0 if the benchmark measures for a fixed time.
type prices struct {
	launch float64   // seconds
	power  float64   // 0 to 1
	sizes  []float64 // log2 of bytes + 1, ascending
	unit   []float64 // for each of sizes: machine time divided by (time of one execution)^power
	last   float64   // median time of one execution at the last of sizes, seconds
}

// executions holds, for one measurement, the message size, the time of one execution and the machine time of all
// executions.
type executions struct {
	bytes         int64
	time, seconds float64 // of one execution, of all
}

// prices estimates prices from the measurements of the ledger and of earlier campaigns. `launching` is described at
// pricesOf.
func (l *Ledger) prices(earlier [][]coll.Measurement, launching map[coll.Candidate]bool) prices {
	n, campaigns := l.CandidatesMeasured(), []iter.Seq[coll.Measurement]{}
	for _, ms := range earlier {
		n, campaigns = n+len(ms), append(campaigns, slices.Values(ms))
	}
	return pricesOf(n, append(campaigns, l.All()), launching)
}

// pricesOf estimates prices from the n measurements of several campaigns. `launching` holds the
// candidates whose machine time includes a launch. The smallest of these machine times is the price of a launch. Each
// message size has a unit cost: the median of s/t^power, where s is machine time without the launch and t the time of
// one execution.
func pricesOf(n int, campaigns []iter.Seq[coll.Measurement], launching map[coll.Candidate]bool) prices {
	p := prices{launch: math.Inf(1)}
	runs := make([]executions, 0, n)
	var launches []int // indices in runs
	for _, ms := range campaigns {
		for m := range ms {
			if launching[m.Candidate] {
				launches = append(launches, len(runs))
				p.launch = min(p.launch, m.CostSeconds)
			}
			runs = append(runs, executions{m.MsgBytes, m.Seconds, m.CostSeconds})
		}
	}
	if math.IsInf(p.launch, 1) {
		p.launch = 0
	}
	for _, i := range launches {
		runs[i].seconds = max(0, runs[i].seconds-p.launch)
	}
	slices.SortStableFunc(runs, func(r, s executions) int { return cmp.Compare(r.bytes, s.bytes) })
	p.power = powerOf(runs)
	for first := 0; first < len(runs); {
		var units, times []float64
		bytes := runs[first].bytes
		for ; first < len(runs) && runs[first].bytes == bytes; first++ {
			units = append(units, runs[first].seconds/math.Pow(runs[first].time, p.power))
			times = append(times, runs[first].time)
		}
		slices.Sort(units)
		slices.Sort(times)
		p.sizes = append(p.sizes, math.Log2(float64(bytes)+1))
		p.unit = append(p.unit, units[len(units)/2])
		p.last = times[len(times)/2]
	}
	return p
}

// powerOf estimates the exponent with which machine time grows with the time of one execution. It is the slope
// between the logarithms of both, which is the same for all message sizes and fitted by least squares.
// `runs` must be sorted by size.
func powerOf(runs []executions) float64 {
	n, xx, xy := 0, 0.0, 0.0
	for first := 0; first < len(runs); {
		var x, y []float64
		bytes := runs[first].bytes
		for ; first < len(runs) && runs[first].bytes == bytes; first++ {
			if r := runs[first]; r.seconds > 0 {
				x, y = append(x, math.Log(r.time)), append(y, math.Log(r.seconds))
			}
		}
		if len(x) < 2 {
			continue
		}
		n += len(x)
		mx, my := stat.Mean(x, nil), stat.Mean(y, nil)
		for i := range x {
			xx += (x[i] - mx) * (x[i] - mx)
			xy += (x[i] - mx) * (y[i] - my)
		}
	}
	if n < powerRuns || xx == 0 {
		return 1
	}
	return min(1, max(0, xy/xx))
}

// run returns how many seconds of machine time measuring a candidate takes, without the launch. `t` is
// the time of one execution in seconds. The result is t^power times a unit cost, which comes from the nearest
// measured message size. For a message larger than all measured ones, the time of one execution is assumed to be at
// least that of the largest one, scaled by the sizes: a few small messages say little about large ones, whose time is
// proportional to their size (Hockney, Parallel Computing 20, 1994).
func (p prices) run(bytes int64, t float64) float64 {
	x, nearest := math.Log2(float64(bytes)+1), 0
	for i, s := range p.sizes {
		if math.Abs(s-x) < math.Abs(p.sizes[nearest]-x) {
			nearest = i
		}
	}
	if beyond := x - p.sizes[len(p.sizes)-1]; beyond > 0 {
		t = max(t, p.last*math.Exp2(beyond))
	}
	return p.unit[nearest] * math.Pow(t, p.power)
}

// logNormalMean returns the mean of 10^x, where x is normal with mean 0 and the given variance: the expected ratio of a
// time to its predicted median. The variance counts up to maxPriceVariance.
func logNormalMean(variance float64) float64 {
	return math.Exp(math.Ln10 * math.Ln10 / 2 * min(variance, maxPriceVariance))
}

// logNormalMeanWithTails is logNormalMean of the mixture that tailWeight and tailFactor describe.
func logNormalMeanWithTails(variance float64) float64 {
	return (1-tailWeight)*logNormalMean(variance) + tailWeight*logNormalMean(tailFactor*variance)
}
