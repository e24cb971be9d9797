package learner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// MeasuredTime is log10 of a measured time in seconds, together with the variance of its noise.
type MeasuredTime struct{ Log, Noise float64 }

// DrawQuery lists the points, and the algorithms at each point, whose times are drawn together.
type DrawQuery struct {
	Points   []coll.Point
	Open     [][]coll.Algorithm // algorithms at each point; an algorithm without measurements has no time
	Measured map[coll.Candidate]MeasuredTime
	Scores   Scores
	Rand     *rand.Rand
}

// Draws draws the true times of algorithms at several points from their joint distribution. It is not safe
// for concurrent use.
//
// The true time of a measured algorithm is drawn around its measurement, with the standard deviation of the
// noise. All other times are draws of the posterior. Their deviations from the mean are multiplied by the
// scale of an ErrorModel, and by a random factor that gives them the tails of Student's t. All times at one
// message size share the factor. Separate factors would destroy the strong correlation between algorithms at
// a point, which libraries cause by changing protocols at certain sizes.
type Draws struct {
	q             DrawQuery
	options       [][]drawnOption // at each point
	models        []ErrorModel
	probabilities distuv.Categorical
	means         [][]float64 // by algorithm and point
	sampler       *gp.Sampler
}

// drawnOption is one of the algorithms at a point whose times are drawn.
type drawnOption struct {
	task     int // number of the algorithm in the Gaussian process; -1 for an algorithm without measurements
	measured bool
	log, sd  float64 // of a measured time
}

// Draws prepares random draws for a query. It takes O(n³) operations for n distinct points, including those
// of the measurements.
func (p *Posterior) Draws(q DrawQuery) (*Draws, error) {
	weights, err := probabilities(q.Scores)
	if err != nil {
		return nil, err
	}
	rows := preprocess.SurrogateRows(q.Points)
	sampler, err := p.gaussian.Sampler(rows, len(p.algorithms), q.Rand)
	if err != nil {
		return nil, fmt.Errorf("draws at %d points: %w", len(rows), err)
	}
	d := &Draws{
		q: q, options: make([][]drawnOption, len(q.Points)),
		models: errorModels(), probabilities: distuv.NewCategorical(weights, q.Rand),
		means: sampler.Means(), sampler: sampler,
	}
	for i, point := range q.Points {
		for _, alg := range q.Open[i] {
			m, measured := q.Measured[coll.Candidate{Point: point, Algorithm: alg}]
			task, known := slices.BinarySearchFunc(p.algorithms, alg, coll.CompareAlgorithms)
			if !known {
				task = -1
			}
			d.options[i] = append(d.options[i], drawnOption{task, measured, m.Log, math.Sqrt(m.Noise)})
		}
	}
	return d, nil
}

// Next returns several draws. A draw has log10 of the seconds at each point for each algorithm that the query
// lists there. The value is NaN for an algorithm that the posterior does not know.
func (d *Draws) Next(draws int) [][][]float64 {
	out := d.sampler.Draw(draws)
	for i, deviations := range out {
		out[i] = d.times(deviations)
	}
	return out
}

// times returns the times of one draw, as log10 of seconds. `deviations` has the deviation
// from the posterior mean of each algorithm at each point.
func (d *Draws) times(deviations [][]float64) [][]float64 {
	model := d.models[int(d.probabilities.Rand())]
	factors := map[int64]float64{} // of each message size
	out := make([][]float64, len(d.options))
	for i, options := range d.options {
		out[i] = make([]float64, len(options))
		for k, o := range options {
			switch {
			case o.measured:
				out[i][k] = o.log + o.sd*d.q.Rand.NormFloat64()
			case o.task < 0:
				out[i][k] = math.NaN()
			default:
				bytes := d.q.Points[i].MsgBytes
				if factors[bytes] == 0 {
					factors[bytes] = model.factor(d.q.Rand)
				}
				out[i][k] = d.means[o.task][i] + factors[bytes]*deviations[o.task][i]
			}
		}
	}
	return out
}

// factor draws a random number. A standard normal variable multiplied by it has Student's t distribution with
// the scale and the degrees of freedom of the error model.
func (m ErrorModel) factor(rng *rand.Rand) float64 {
	return m.Scale / math.Sqrt(distuv.ChiSquared{K: m.Freedom, Src: rng}.Rand()/m.Freedom)
}
