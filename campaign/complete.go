package campaign

import (
	"math"

	"tutti/coll"
	"tutti/journal"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// normalUpper is the quantile of a standard normal variable at 95 %: the
// probability with which an upper end is meant to be above the truth.
const normalUpper = 1.645

// byMeasurement is the source of an evaluation of a space that was measured
// completely, whatever the judge.
const byMeasurement = "measured"

// complete reports whether nothing is left to measure or to try again.
func (r *run) complete() bool { return r.ledger.Left() == 0 && len(r.retry) == 0 }

// measured fills in what is lost where the fastest measured algorithm is taken at each
// point: noise may have made another one the fastest. The upper ends are those of
// averages of points that are independent of each other. It reports false where no
// point that matters was measured.
func (r *run) measured(eval *journal.Evaluation) (bool, error) {
	noise := preprocess.NoiseOf(r.ledger.Repeats())
	of := map[coll.Point][]coll.Measurement{}
	for _, m := range r.ledger.Measurements() {
		of[m.Point] = append(of[m.Point], m)
	}
	var points []coll.Point
	var risks []learner.Risk
	for _, p := range r.problem.Space.Points() {
		if len(of[p]) > 0 {
			points = append(points, p)
			risks = append(risks, riskOfFastest(of[p], noise, r.spec.Metrics))
		}
	}
	opt := r.problem.Weigh(r.spec.Metrics, points)
	sum, err := summaryOf(risks, opt)
	if err != nil {
		return false, ignoreEmpty(err)
	}
	describe(eval, sum)
	eval.Source = byMeasurement
	slowdown, mistakes := spreadOf(risks, opt)
	eval.SlowdownUpper = sum.Slowdown + normalUpper*slowdown
	eval.MistakesUpper = min(1, sum.Mistakes+normalUpper*mistakes)
	return true, nil
}

// spreadOf are the standard deviations of the average slowdown and of the proportion
// of mistakes over independent points.
func spreadOf(risks []learner.Risk, opt metrics.Options) (slowdown, mistakes float64) {
	total := 0.0
	for i, k := range risks {
		w := opt.Weight(i)
		total += w
		slowdown += w * w * max(0, k.Square-k.Loss*k.Loss)
		mistakes += w * w * k.Mistake * (1 - k.Mistake)
	}
	return math.Sqrt(slowdown) / total, math.Sqrt(mistakes) / total
}

// riskOfFastest is the risk of taking the measurement of least time.
func riskOfFastest(ms []coll.Measurement, noise preprocess.Noise, opt metrics.Options) learner.Risk {
	best := 0
	for i, m := range ms {
		if m.Seconds < ms[best].Seconds {
			best = i
		}
	}
	var rivals []learner.Rival
	for i, m := range ms {
		if i != best {
			rivals = append(rivals, learner.Rival{
				Gap: math.Log10(m.Seconds / ms[best].Seconds),
				SD:  math.Sqrt(noise.Of(m) + noise.Of(ms[best])),
			})
		}
	}
	return learner.RiskOf(rivals, opt)
}
