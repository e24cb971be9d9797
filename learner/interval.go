package learner

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Risk is what a choice at a point is expected to lose, given what was measured.
type Risk struct {
	Loss    float64 // expected slowdown, minus one
	Square  float64 // expected square of the slowdown minus one
	Mistake float64 // probability of a significant mistake
	Best    float64 // probability that nothing is faster by more than a tie
}

// riskBlock are the points whose posterior is held at once.
const riskBlock = 128

// errNoRisks says that forests were asked.
var errNoRisks = errors.New("risks: a forest does not know how sure it is: want model process or stack")

// Choices returns at each point the algorithm of lowest prediction among those that
// can run there; the zero Algorithm where nothing that can run is known.
func (l *Learner) Choices(points []coll.Point, can func(coll.Point) []coll.Algorithm) ([]coll.Algorithm, error) {
	predicted, err := l.Predict(points)
	if err != nil {
		return nil, err
	}
	out := make([]coll.Algorithm, len(points))
	for i, p := range points {
		lowest := math.Inf(1)
		here := can(p)
		for a, alg := range l.algorithms {
			if v := predicted[a][i]; v < lowest && slices.Contains(here, alg) {
				lowest, out[i] = v, alg
			}
		}
	}
	return out, nil
}

// Risks returns what each choice is expected to lose at its point beside the other
// algorithms that can run there, by the process. Of forests that have a weight it takes
// no notice: the choices may be theirs or anybody's. It returns an error for model
// Forest and for a choice that the process knows nothing of.
// O(points · algorithms · n²) operations for n measurements.
func (l *Learner) Risks(points []coll.Point, choices []coll.Algorithm, can func(coll.Point) []coll.Algorithm, opt metrics.Options) ([]Risk, error) {
	if l.process == nil {
		return nil, errNoRisks
	}
	out := make([]Risk, 0, len(points))
	for first := 0; first < len(points); first += riskBlock {
		end := min(first+riskBlock, len(points))
		here, err := l.risks(points[first:end], choices[first:end], can, opt)
		if err != nil {
			return nil, err
		}
		out = append(out, here...)
	}
	return out, nil
}

func (l *Learner) risks(points []coll.Point, choices []coll.Algorithm, can func(coll.Point) []coll.Algorithm, opt metrics.Options) ([]Risk, error) {
	rows := preprocess.ProcessRows(points)
	means := l.process.Means(rows, len(l.algorithms))
	var entries []gp.Entry
	chosen := make([]int, len(points)) // entries
	for i, p := range points {
		chosen[i] = -1
		here := can(p)
		for a, alg := range l.algorithms {
			if alg == choices[i] {
				chosen[i] = len(entries)
			}
			if slices.Contains(here, alg) {
				entries = append(entries, gp.Entry{Row: i, Task: a})
			}
		}
		if chosen[i] < 0 || !slices.Contains(here, choices[i]) {
			return nil, fmt.Errorf("risk of %q at %v: nothing is known of it there", choices[i], p)
		}
	}
	posterior, err := l.process.Posterior(rows, entries)
	if err != nil {
		return nil, err
	}
	rivals := make([][]Rival, len(points))
	for e, at := range entries {
		if best := chosen[at.Row]; e != best {
			rivals[at.Row] = append(rivals[at.Row], Rival{
				Gap: means[at.Task][at.Row] - means[entries[best].Task][at.Row],
				SD:  math.Sqrt(posterior.Difference(best, e)),
			})
		}
	}
	out := make([]Risk, len(points))
	for i := range out {
		out[i] = RiskOf(rivals[i], opt)
	}
	return out, nil
}

// Rival is an algorithm beside the one that is chosen: log10 of its time over that of
// the choice is normal.
type Rival struct {
	Gap, SD float64 // decades
}

// Steps of the integral over what is lost, in decades: from a thousandth to two, each
// a fifth longer than the one before.
const (
	riskFirst  = 1e-3
	riskGrowth = 1.2
	riskLast   = 2.0
)

// RiskOf is the risk of a choice beside rivals that are independent given it. They are
// not where the choice's own time is in doubt: then several beat it at once, and the
// probability that one does is less than this says. With P(d) the probability that
// more than d decades are lost, the expected slowdown is one plus the integral of P
// over 10^d, and its square likewise.
func RiskOf(rivals []Rival, opt metrics.Options) Risk {
	lost := func(d float64) float64 {
		none := 1.0
		for _, r := range rivals {
			switch {
			case r.SD > 0:
				none *= below((r.Gap + d) / r.SD)
			case r.Gap+d < 0:
				none = 0
			}
		}
		return 1 - none
	}
	mistake, tie := opt.Thresholds()
	out := Risk{Mistake: lost(math.Log10(1 + mistake)), Best: 1 - lost(math.Log10(1+tie))}
	for from, to := 0.0, riskFirst; from < riskLast; from, to = to, to*riskGrowth {
		p, low, high := lost((from+to)/2), math.Pow(10, from)-1, math.Pow(10, to)-1
		out.Loss += p * (high - low)
		out.Square += p * (high*high - low*low)
	}
	return out
}
