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
// algorithms that can run there, by the process, if its deviations are so many times
// what it says: for each of scales the risks of all points. Errors have the heavy tails
// of HeavyBelow. Of forests that have a weight it takes no notice: the choices may be
// theirs or anybody's. It returns an error for model Forest and for a choice that the
// process knows nothing of. O(points · algorithms · n²) operations for n measurements.
func (l *Learner) Risks(points []coll.Point, choices []coll.Algorithm, can func(coll.Point) []coll.Algorithm, scales []float64, opt metrics.Options) ([][]Risk, error) {
	if l.process == nil {
		return nil, errNoRisks
	}
	out := make([][]Risk, len(scales))
	for first := 0; first < len(points); first += riskBlock {
		end := min(first+riskBlock, len(points))
		here, err := l.contests(points[first:end], choices[first:end], can)
		if err != nil {
			return nil, err
		}
		for k, scale := range scales {
			for _, c := range here {
				out[k] = append(out[k], c.times(scale).Risk(HeavyBelow, opt))
			}
		}
	}
	return out, nil
}

// contests are the choices beside their rivals.
func (l *Learner) contests(points []coll.Point, choices []coll.Algorithm, can func(coll.Point) []coll.Algorithm) ([]Contest, error) {
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
	out := make([]Contest, len(points))
	for first := 0; first < len(entries); {
		at := entries[first].Row
		end := first
		var rivals []int
		for ; end < len(entries) && entries[end].Row == at; end++ {
			if end != chosen[at] {
				rivals = append(rivals, end)
			}
		}
		best := chosen[at]
		for _, e := range rivals {
			out[at].Rivals = append(out[at].Rivals, Rival{
				Gap: means[entries[e].Task][at] - means[entries[best].Task][at],
				SD:  math.Sqrt(posterior.Difference(best, e)),
			})
		}
		out[at].Shared = shared(posterior, best, rivals)
		first = end
	}
	return out, nil
}

// shared is the mean covariance of the differences between rivals and the choice.
func shared(p *gp.Posterior, best int, rivals []int) float64 {
	sum, n := 0.0, 0.0
	own := p.Variance(best)
	for i, a := range rivals {
		for _, b := range rivals[:i] {
			sum += own - p.Covariance(best, a) - p.Covariance(best, b) + p.Covariance(a, b)
			n++
		}
	}
	return max(0, sum/max(1, n))
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
	rows := preprocess.ProcessRows(points)
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
// the choice is about Gap, and off by SD.
type Rival struct {
	Gap, SD float64 // decades
}

// Contest is a choice beside its rivals. Shared is the part of the variances of the
// differences that they have in common, since the choice is in all of them.
type Contest struct {
	Rivals []Rival
	Shared float64
}

// times widens all deviations.
func (c Contest) times(scale float64) Contest {
	out := Contest{Rivals: slices.Clone(c.Rivals), Shared: c.Shared * scale * scale}
	for i := range out.Rivals {
		out.Rivals[i].SD *= scale
	}
	return out
}

// Steps of the integral over what is lost, in decades: from a thousandth to one, each
// a fifth longer than the one before. More than tenfold is not believed to be lost.
const (
	riskFirst  = 1e-3
	riskGrowth = 1.2
	riskLast   = 1.0
)

// Nodes and weights of the Gauss-Hermite quadrature with seven points for a standard
// normal variable (Abramowitz and Stegun, table 25.10, times √2 and over √π).
var hermite = [...]struct{ at, weight float64 }{
	{-3.750439717725742, 5.48268855972219e-4}, {-2.366759410734541, 3.07571239675865e-2}, {-1.154405394739968, 0.240123178605013},
	{0, 0.457142857142857},
	{1.154405394739968, 0.240123178605013}, {2.366759410734541, 3.07571239675865e-2}, {3.750439717725742, 5.48268855972219e-4},
}

// NormalBelow is the standard normal distribution function.
func NormalBelow(z float64) float64 { return below(z) }

// HeavyBelow is the distribution function of Student's t with four degrees of freedom:
// at what a process says are seven deviations, machines are found now and then.
func HeavyBelow(z float64) float64 {
	u := z / math.Sqrt(1+z*z/4)
	return 0.5 + 3./8*u*(1-u*u/12)
}

// Risk is that of the choice. Given the shared part, which is normal, rivals are
// independent, with errors of the distribution. With P(d) the probability that more
// than d decades are lost, the expected slowdown is one plus the integral of P over
// 10^d, and its square likewise.
func (c Contest) Risk(distribution func(z float64) float64, opt metrics.Options) Risk {
	shared := c.Shared
	for _, r := range c.Rivals {
		shared = min(shared, r.SD*r.SD)
	}
	common := math.Sqrt(shared)
	own := make([]float64, len(c.Rivals))
	for i, r := range c.Rivals {
		own[i] = math.Sqrt(max(r.SD*r.SD-shared, 1e-12))
	}
	lost := func(d float64) float64 {
		none := 0.0
		for _, h := range hermite {
			p := h.weight
			for i, r := range c.Rivals {
				p *= distribution((r.Gap + d + h.at*common) / own[i])
			}
			none += p
		}
		return max(0, 1-none)
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
