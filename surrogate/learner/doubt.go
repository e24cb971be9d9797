package learner

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Doubt is how uncertain the choice at a point is: the algorithm of lowest prediction
// beside the rival to which it is expected to lose most.
type Doubt struct {
	Point    coll.Point
	Choice   coll.Algorithm
	Rival    coll.Algorithm // the zero Algorithm where there is no other
	Gap      float64        // log10 of rival over choice as predicted, 0 or more
	PMistake float64        // probability that the choice is a significant mistake beside the rival
	Tie      bool           // single measurements cannot tell the two apart, and a mistake is less likely than is allowed
}

const (
	// A tie has a Gap below so many deviations of the difference of two measurements,
	// each off by preprocess.MeasurementNoise.
	tieDeviations = 2
	// So many points have their posterior in memory at once.
	doubtBlock = 128
)

// errForests is what a learner of forests alone returns when asked how certain it is.
var errForests = errors.New("forests alone do not know how certain they are: want model gp")

// Doubts returns, for each point, how uncertain the choice among the algorithms that can
// run there is; a nil can lets all run everywhere. It returns an error for model Forest and for a point where no known algorithm can
// run. O(points · algorithms · n²) operations for n measurements.
func (l *Learner) Doubts(points []coll.Point, can func(coll.Point) []coll.Algorithm) ([]Doubt, error) {
	if l.gaussian == nil {
		return nil, errForests
	}
	out := make([]Doubt, 0, len(points))
	for block := range slices.Chunk(points, doubtBlock) {
		here, err := l.doubts(block, can)
		if err != nil {
			return nil, err
		}
		out = append(out, here...)
	}
	return out, nil
}

func (l *Learner) doubts(points []coll.Point, can func(coll.Point) []coll.Algorithm) ([]Doubt, error) {
	means := l.predictGaussian(points)
	rows := preprocess.SurrogateRows(points)
	var entries []gp.Entry
	first := make([]int, len(points)+1) // entry of each point
	for i, p := range points {
		for a, alg := range l.algorithms {
			if can == nil || slices.Contains(can(p), alg) {
				entries = append(entries, gp.Entry{Row: i, Task: a})
			}
		}
		if first[i+1] = len(entries); first[i+1] == first[i] {
			return nil, fmt.Errorf("no known algorithm can run at %v", p)
		}
	}
	posterior, err := l.gaussian.Posterior(rows, entries)
	if err != nil {
		return nil, err
	}
	b := beliefs{l: l, means: means, entries: entries, posterior: posterior}
	out := make([]Doubt, len(points))
	for i, p := range points {
		out[i] = b.doubt(p, first[i], first[i+1])
	}
	return out, nil
}

// beliefs are what is predicted of some algorithms at some points.
type beliefs struct {
	l         *Learner
	means     [][]float64 // by algorithm and point
	entries   []gp.Entry
	posterior *gp.Posterior // of the entries
}

// doubt is that of a point, whose entries are those from first to before end.
func (b beliefs) doubt(p coll.Point, first, end int) Doubt {
	best, row := first, b.entries[first].Row
	for e := first; e < end; e++ {
		if b.means[b.entries[e].Task][row] < b.means[b.entries[best].Task][row] {
			best = e
		}
	}
	d := Doubt{Point: p, Choice: b.l.algorithms[b.entries[best].Task]}
	most := math.Inf(-1)
	for e := first; e < end; e++ {
		if e == best {
			continue
		}
		gap, sd := b.gap(best, e)
		loss, mistake := expected(gap, sd, b.l.allowed.Threshold)
		// The last term picks the nearest of rivals that cost nothing.
		if weight := b.l.allowed.Loss(loss, mistake) - 1e-6*gap; weight > most {
			most = weight
			d.Rival, d.Gap, d.PMistake = b.l.algorithms[b.entries[e].Task], gap, mistake
		}
	}
	noise := tieDeviations * math.Sqrt(2*preprocess.MeasurementNoise)
	d.Tie = d.Rival != (coll.Algorithm{}) && d.Gap < noise && d.PMistake < b.l.allowed.Mistakes
	return d
}

// gap is how much slower a rival is than the best, in decades, and its deviation.
func (b beliefs) gap(best, rival int) (gap, sd float64) {
	one, other, row := b.entries[best].Task, b.entries[rival].Task, b.entries[best].Row
	return b.means[other][row] - b.means[one][row], math.Sqrt(b.posterior.Difference(best, rival))
}

// expected returns what choosing an algorithm costs beside a rival that is slower by gap
// decades, normal with deviation sd: the expected slowdown over the faster of both, minus
// one, and the probability of being slower by more than the threshold.
//
// With x the natural logarithm of choice over rival, normal with mean -m and deviation s,
// the first is E[max(eˣ, 1)] - 1 = e^(s²/2-m)·Φ((s²-m)/s) - Φ(-m/s), as in RiskOf.
func expected(gap, sd, threshold float64) (loss, mistake float64) {
	if sd == 0 {
		return 0, 0
	}
	m, s := gap*math.Ln10, sd*math.Ln10
	loss = math.Exp(s*s/2-m)*distuv.UnitNormal.CDF((s*s-m)/s) - distuv.UnitNormal.CDF(-m/s)
	return max(0, loss), distuv.UnitNormal.CDF(-(m + math.Log1p(threshold)) / s)
}
