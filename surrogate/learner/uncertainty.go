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

// Uncertainty compares the choice at a point with one rival. The choice is the algorithm with the lowest
// prediction. The rival is the algorithm to which the choice is expected to lose most.
type Uncertainty struct {
	Point    coll.Point
	Choice   coll.Algorithm
	Rival    coll.Algorithm // the zero Algorithm if no other algorithm can run
	Gap      float64        // predicted log10 of the ratio of the rival's time to the choice's time, 0 or more
	PMistake float64        // probability that the choice is slower than the rival by more than the threshold
	Tie      bool           // a single measurement of each cannot distinguish the two, and PMistake is below the criterion
}

// Uncertainties returns the uncertainty of the choice at each point. The function `can` returns the
// algorithms that can run at a point. If it is nil, all algorithms can run. The error says that the model is
// Forest, or that no known algorithm can run at a point. Uncertainties takes O(points · algorithms · n²)
// operations for n measurements.
func (l *Learner) Uncertainties(points []coll.Point, can func(coll.Point) []coll.Algorithm) ([]Uncertainty, error) {
	if l.posterior == nil {
		return nil, errors.New("forests have no posterior: want model gp")
	}
	out := make([]Uncertainty, 0, len(points))
	for block := range slices.Chunk(points, blockPoints) {
		here, err := l.uncertaintiesOfBlock(block, can)
		if err != nil {
			return nil, err
		}
		out = append(out, here...)
	}
	return out, nil
}

func (l *Learner) uncertaintiesOfBlock(points []coll.Point, can func(coll.Point) []coll.Algorithm) ([]Uncertainty, error) {
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
	posterior, err := l.posterior.gaussian.Posterior(preprocess.SurrogateRows(points), entries)
	if err != nil {
		return nil, err
	}
	b := predictedBlock{l: l, means: l.predictGaussian(points), entries: entries, posterior: posterior}
	out := make([]Uncertainty, len(points))
	for i, p := range points {
		out[i] = b.uncertainty(p, first[i], first[i+1])
	}
	return out, nil
}

// predictedBlock holds the predictions of all algorithms at a block of points.
type predictedBlock struct {
	l         *Learner
	means     [][]float64 // by algorithm and point
	entries   []gp.Entry
	posterior *gp.Posterior // of the entries
}

// uncertainty compares the choice at the point p with its rival. The entries of p are b.entries[first:end].
func (b predictedBlock) uncertainty(p coll.Point, first, end int) Uncertainty {
	best, row := first, b.entries[first].Row
	for e := first; e < end; e++ {
		if b.means[b.entries[e].Task][row] < b.means[b.entries[best].Task][row] {
			best = e
		}
	}
	u := Uncertainty{Point: p, Choice: b.l.algorithms[b.entries[best].Task]}
	most := math.Inf(-1)
	for e := first; e < end; e++ {
		if e == best {
			continue
		}
		gap, sd := b.gap(best, e)
		loss, mistake := expectedLoss(gap, sd, b.l.allowed.Threshold)
		if weight := b.l.allowed.Loss(loss, mistake) - rivalTieBreak*gap; weight > most {
			most = weight
			u.Rival, u.Gap, u.PMistake = b.l.algorithms[b.entries[e].Task], gap, mistake
		}
	}
	noise := tieSigma * math.Sqrt(2*preprocess.MeasurementNoise)
	u.Tie = u.Rival != (coll.Algorithm{}) && u.Gap < noise && u.PMistake < b.l.allowed.Mistakes
	return u
}

// gap returns log10 of the ratio of the rival's time to the best time, and its standard deviation.
func (b predictedBlock) gap(best, rival int) (gap, sd float64) {
	one, other, row := b.entries[best].Task, b.entries[rival].Task, b.entries[best].Row
	return b.means[other][row] - b.means[one][row], math.Sqrt(b.posterior.Difference(best, rival))
}

// expectedLoss compares the chosen algorithm with one rival. On average the rival is slower by `gap` decades;
// `sd` is the standard deviation of this normal variable. The result `loss` is the expected slowdown minus
// one, relative to the faster of the two. The result `mistake` is the probability that the choice is slower
// by more than the threshold.
func expectedLoss(gap, sd, threshold float64) (loss, mistake float64) {
	if sd == 0 {
		return 0, 0
	}
	m, s := gap*math.Ln10, sd*math.Ln10
	loss = partialMoment(1, m, s) - partialMoment(0, m, s)
	return max(0, loss), distuv.UnitNormal.CDF(-(m + math.Log1p(threshold)) / s)
}

// partialMoment returns E[eᵏˣ; x > 0] of a normal x with mean -m and standard deviation s:
// e^(k²s²/2-km)·Φ((ks²-m)/s), the partial moment of a log-normal variable.
func partialMoment(k, m, s float64) float64 {
	return math.Exp(k*k*s*s/2-k*m) * distuv.UnitNormal.CDF((k*s*s-m)/s)
}
