package activelearn

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
)

// prices are what measurements have been seen to cost: a launch, and runs whose
// cost grows with a power of the time of one execution. It is 1 where a benchmark
// makes so many executions, depending on the size, and 0 where it measures for a
// while whatever it measures.
type prices struct {
	launch float64   // seconds
	power  float64   // 0 to 1
	sizes  []float64 // log2 of bytes + 1, ascending
	unit   []float64 // for each of sizes: cost over time to the power
}

// leastPrice keeps what costs nothing from being worth infinitely much.
const leastPrice = 1e-9 // seconds

// The power of the price is learnt from so many runs, and taken to be 1 before.
const powerRuns = 12

// seenRun is what the executions of a measurement took.
type seenRun struct {
	bytes         int64
	time, seconds float64 // of one, of all
}

// prices are those of the measurements of a ledger and of earlier campaigns, which tell what
// runs of sizes cost that were not measured again.
func (r *regret) prices(l *Ledger) prices {
	return pricesOf(slices.Concat(append(slices.Clone(r.opt.Earlier), l.Measurements())...), r.paid)
}

// pricesOf learns from measurements; paid are those that paid for a launch, the
// cheapest of which is taken to have paid for nothing else. The unit of a size is
// the median of its runs.
func pricesOf(ms []coll.Measurement, paid map[coll.Candidate]bool) prices {
	p := prices{launch: math.Inf(1)}
	for _, m := range ms {
		if paid[m.Candidate] {
			p.launch = min(p.launch, m.CostSeconds)
		}
	}
	if math.IsInf(p.launch, 1) {
		p.launch = 0
	}
	runs := make([]seenRun, len(ms))
	for i, m := range ms {
		runs[i] = seenRun{m.MsgBytes, m.Seconds, m.CostSeconds}
		if paid[m.Candidate] {
			runs[i].seconds = max(0, m.CostSeconds-p.launch)
		}
	}
	slices.SortStableFunc(runs, func(r, s seenRun) int { return cmp.Compare(r.bytes, s.bytes) })
	p.power = powerOf(runs)
	for first := 0; first < len(runs); {
		var units []float64
		bytes := runs[first].bytes
		for ; first < len(runs) && runs[first].bytes == bytes; first++ {
			units = append(units, runs[first].seconds/math.Pow(runs[first].time, p.power))
		}
		slices.Sort(units)
		p.sizes = append(p.sizes, math.Log2(float64(bytes)+1))
		p.unit = append(p.unit, units[len(units)/2])
	}
	return p
}

// powerOf is the slope of the logarithm of what runs took over that of the time of
// one execution, by least squares within sizes; runs are sorted by size.
func powerOf(runs []seenRun) float64 {
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

// run is the price of measuring what takes t seconds each time, by the unit of the
// nearest size that was measured.
func (p prices) run(bytes int64, t float64) float64 {
	x, nearest := math.Log2(float64(bytes)+1), 0
	for i, s := range p.sizes {
		if math.Abs(s-x) < math.Abs(p.sizes[nearest]-x) {
			nearest = i
		}
	}
	return p.unit[nearest] * math.Pow(t, p.power)
}
