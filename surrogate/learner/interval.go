package learner

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

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

// riskMost is the greatest loss that is expected: more than tenfold is not believed.
const riskMost = 9

// errNoRisks says that forests were asked.
var errNoRisks = errors.New("risks: a forest does not know how sure it is: want model process or stack")

// Measured are log10 seconds of candidates. What was measured at a point stands for its
// prediction there.
type Measured map[coll.Candidate]float64

// at returns the predictions at a point in column i with what was measured there in
// their place, moved by what the two differ in on average: predictions may have another
// unit at each point.
func (m Measured) at(p coll.Point, algorithms []coll.Algorithm, predicted [][]float64, i int) []float64 {
	out := make([]float64, len(algorithms))
	n, shift := 0.0, 0.0
	for a, alg := range algorithms {
		out[a] = predicted[a][i]
		if y, ok := m[coll.Candidate{Point: p, Algorithm: alg}]; ok {
			n, shift = n+1, shift+out[a]-y
		}
	}
	for a, alg := range algorithms {
		if y, ok := m[coll.Candidate{Point: p, Algorithm: alg}]; ok {
			out[a] = y + shift/n
		}
	}
	return out
}

// Choices returns at each point the algorithm of lowest prediction among those that
// can run there; the zero Algorithm where nothing that can run is known.
func (l *Learner) Choices(points []coll.Point, can func(coll.Point) []coll.Algorithm, measured Measured) ([]coll.Algorithm, error) {
	predicted, err := l.Predict(points)
	if err != nil {
		return nil, err
	}
	out := make([]coll.Algorithm, len(points))
	for i, p := range points {
		lowest := math.Inf(1)
		here, values := can(p), measured.at(p, l.algorithms, predicted, i)
		for a, alg := range l.algorithms {
			if v := values[a]; v < lowest && slices.Contains(here, alg) {
				lowest, out[i] = v, alg
			}
		}
	}
	return out, nil
}

// Risks returns what each choice is expected to lose at its point beside the other
// algorithms that can run there, by the process, if its deviations are scale times what
// it says, and by what was measured, which is off by preprocess.MeasurementNoise alone;
// see RiskOf. Of forests that have a weight it takes no notice: the choices may
// be theirs or anybody's. It returns an error for model Forest and for a choice that the
// process knows nothing of. O(points · algorithms · n²) operations for n measurements.
func (l *Learner) Risks(points []coll.Point, choices []coll.Algorithm, can func(coll.Point) []coll.Algorithm, measured Measured, scale float64, opt metrics.Options) ([]Risk, error) {
	if l.process == nil {
		return nil, errNoRisks
	}
	out := make([]Risk, 0, len(points))
	for first := 0; first < len(points); first += riskBlock {
		end := min(first+riskBlock, len(points))
		here, err := l.rivals(points[first:end], choices[first:end], can, measured, scale)
		if err != nil {
			return nil, err
		}
		for _, rivals := range here {
			out = append(out, RiskOf(rivals, opt))
		}
	}
	return out, nil
}

// rivals are those of the choice at each point.
func (l *Learner) rivals(points []coll.Point, choices []coll.Algorithm, can func(coll.Point) []coll.Algorithm, measured Measured, scale float64) ([][]Rival, error) {
	rows := preprocess.SurrogateRows(points)
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
	values := make([]float64, len(entries)) // log10 seconds
	seen := make([]bool, len(entries))
	for i, e := range entries {
		c := coll.Candidate{Point: points[e.Row], Algorithm: l.algorithms[e.Task]}
		if values[i], seen[i] = measured[c]; !seen[i] {
			values[i] = means[e.Task][e.Row]
		}
	}
	out := make([][]Rival, len(points))
	for i, e := range entries {
		if best := chosen[e.Row]; i != best {
			out[e.Row] = append(out[e.Row], Rival{Gap: values[i] - values[best], SD: math.Sqrt(spread(posterior, seen, best, i, scale))})
		}
	}
	return out, nil
}

// spread is the variance of the difference of two entries: that of what is predicted,
// scaled, and the noise of what was measured.
func spread(p *gp.Posterior, seen []bool, a, b int, scale float64) float64 {
	v := 0.0
	switch {
	case !seen[a] && !seen[b]:
		v = p.Difference(a, b)
	case !seen[a]:
		v = p.Variance(a)
	case !seen[b]:
		v = p.Variance(b)
	}
	v *= scale * scale
	for _, e := range []int{a, b} {
		if seen[e] {
			v += preprocess.MeasurementNoise
		}
	}
	return v
}

// Standardised are log10 seconds of measurements that the process has not seen, less
// its predictions, over the deviations that it says they have.
func (l *Learner) Standardised(ms []coll.Measurement) ([]float64, error) {
	if l.process == nil {
		return nil, errNoRisks
	}
	var points []coll.Point
	var entries []gp.Entry
	var seconds []float64
	for _, m := range ms {
		if a, known := slices.BinarySearchFunc(l.algorithms, m.Algorithm, coll.CompareAlgorithms); known {
			entries = append(entries, gp.Entry{Row: len(points), Task: a})
			points, seconds = append(points, m.Point), append(seconds, m.Seconds)
		}
	}
	if len(points) == 0 {
		return nil, nil
	}
	rows := preprocess.SurrogateRows(points)
	means := l.process.Means(rows, len(l.algorithms))
	posterior, err := l.process.Posterior(rows, entries)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(points))
	for i, e := range entries {
		out[i] = (math.Log10(seconds[i]) - means[e.Task][i]) / math.Sqrt(posterior.Variance(i)+preprocess.MeasurementNoise)
	}
	return out, nil
}

// Rival is an algorithm beside the one that is chosen: log10 of its time over that of
// the choice is normal with mean Gap and deviation SD.
type Rival struct {
	Gap, SD float64 // decades
}

// RiskOf is the risk of a choice beside its rivals: of each figure that of the rival that
// makes it worst. Rivals share the doubt about the choice, and adding them up counts it
// as often as there are rivals. With x the natural logarithm of choice over rival, normal
// with mean -m and deviation s, E[eᵏˣ; x > 0] = e^(k²s²/2-km)·Φ((ks²-m)/s).
func RiskOf(rivals []Rival, opt metrics.Options) Risk {
	mistake, tie := opt.Thresholds()
	out := Risk{Best: 1}
	for _, r := range rivals {
		m, s := r.Gap*math.Ln10, min(max(r.SD*math.Ln10, 1e-9), 10) // powers of e^10² are numbers
		above := func(k float64) float64 { return math.Exp(k*k*s*s/2-k*m) * distuv.UnitNormal.CDF((k*s*s-m)/s) }
		out.Loss = max(out.Loss, min(riskMost, above(1)-above(0)))
		out.Square = max(out.Square, min(riskMost*riskMost, above(2)-2*above(1)+above(0)))
		out.Mistake = max(out.Mistake, distuv.UnitNormal.CDF(-(m+math.Log1p(mistake))/s))
		out.Best = min(out.Best, distuv.UnitNormal.CDF((m+math.Log1p(tie))/s))
	}
	return out
}
