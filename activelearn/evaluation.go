package activelearn

import (
	"fmt"
	"math"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// Source says what the numbers of an evaluation are based on.
type Source string

// The sources of an evaluation's numbers.
const (
	Reference      Source = "reference"       // a complete, noise-free set of measurements
	CrossValidated Source = "cross-validated" // the measurements themselves; those of a point are left out of the model that predicts it
	Predicted      Source = "predicted"       // upper confidence limits of what the posterior predicts over the space
)

// measured is the source of an evaluation if every candidate of the space was measured.
const measured Source = "measured"

// Sources returns the values of Source that a configuration may choose.
func Sources() []Source { return []Source{Reference, CrossValidated, Predicted} }

// Evaluation says how good the selection is after a round, and what the campaign has cost until then. All
// numbers are finite.
type Evaluation struct {
	Round           int     `json:"round"`
	Trials          int     `json:"trials"`
	Points          int     `json:"points"`          // with a measurement
	PointShare      float64 `json:"point_share"`     // of all points
	CandidateShare  float64 `json:"candidate_share"` // measured candidates of all
	MachineSeconds  float64 `json:"machine_seconds"`
	NodeSeconds     float64 `json:"node_seconds"`
	Source          Source  `json:"source"` // or "measured": the space was measured completely
	EvaluatedPoints int     `json:"judged"` // number of points that the numbers below are based on
	R2              float64 `json:"r2"`
	Slowdown        float64 `json:"slowdown"`
	Accuracy        float64 `json:"accuracy"`
	Mistakes        float64 `json:"mistakes"`
	WorstSlowdown   float64 `json:"worst_slowdown"`
	P95Slowdown     float64 `json:"p95_slowdown"`
	// SlowdownUpper and MistakesUpper are upper 95 % limits of Slowdown and Mistakes. Both limits are zero
	// if Slowdown and Mistakes were measured instead of predicted.
	SlowdownUpper float64 `json:"slowdown_upper,omitzero"`
	MistakesUpper float64 `json:"mistakes_upper,omitzero"`
	// Outliers is the number of outliers that the next round measures again. As long as there are any, the
	// campaign continues.
	Outliers int `json:"outliers,omitzero"`
	// PConverged is the probability that both stopping criteria hold. PAttainable is the probability that both
	// would hold if every candidate were measured once. MistakesAttainable is the expected value of Mistakes in
	// that case. Noise lowers PAttainable and raises MistakesAttainable.
	PConverged         float64 `json:"p_converged,omitzero"`
	PAttainable        float64 `json:"p_attainable,omitzero"`
	MistakesAttainable float64 `json:"mistakes_attainable,omitzero"`
	// Scores say how well each model of prediction errors has predicted the measurements of all rounds.
	Scores learner.Scores `json:"scores,omitzero"`
	// Audited lists the message sizes whose last audit (measurement of the choice and its rivals) found no
	// mistake. AuditMistakes counts the mistakes that all audits found. Audits is the number of audits that the
	// next round makes.
	Audited       []int64 `json:"audited,omitempty"`
	AuditMistakes int     `json:"audit_mistakes,omitzero"`
	Audits        int     `json:"audits,omitzero"`
}

// Validate returns an error that names the journal key of the first number that is not finite.
func (e Evaluation) Validate() error {
	type number struct {
		name  string
		value float64
	}
	numbers := []number{
		{"point_share", e.PointShare}, {"candidate_share", e.CandidateShare},
		{"machine_seconds", e.MachineSeconds}, {"node_seconds", e.NodeSeconds},
		{"r2", e.R2}, {"slowdown", e.Slowdown}, {"accuracy", e.Accuracy},
		{"mistakes", e.Mistakes}, {"worst_slowdown", e.WorstSlowdown}, {"p95_slowdown", e.P95Slowdown},
		{"slowdown_upper", e.SlowdownUpper}, {"mistakes_upper", e.MistakesUpper},
		{"p_converged", e.PConverged}, {"p_attainable", e.PAttainable}, {"mistakes_attainable", e.MistakesAttainable},
	}
	for _, v := range e.Scores {
		numbers = append(numbers, number{"scores", v})
	}
	for _, n := range numbers {
		if math.IsNaN(n.value) || math.IsInf(n.value, 0) {
			return fmt.Errorf("evaluation of round %d: %s is %g: want a finite number", e.Round, n.name, n.value)
		}
	}
	return nil
}

// setCost sets what the campaign has measured and cost so far.
func (e *Evaluation) setCost(l *Ledger) {
	e.Trials, e.Points, e.MachineSeconds, e.NodeSeconds = l.Trials(), l.PointsMeasured(), l.CostSeconds(), l.NodeSeconds()
	e.CandidateShare = float64(l.CandidatesMeasured()) / float64(l.Space().Size())
}

// setForecast sets the figures to the averages and the upper limits of a forecast.
func (e *Evaluation) setForecast(f *forecast) error {
	sum, err := f.mean()
	if err == nil {
		e.describe(sum)
		e.SlowdownUpper, e.MistakesUpper = f.upper(slowdown), f.upper(mistakes)
	}
	return err
}

// describe sets the evaluation's figures (points judged, slowdown, accuracy, mistakes) to those of a summary.
func (e *Evaluation) describe(s metrics.Summary) {
	e.EvaluatedPoints = s.Points
	e.Slowdown, e.Accuracy, e.Mistakes = s.Slowdown, s.Accuracy, s.Mistakes
	e.P95Slowdown, e.WorstSlowdown = s.P95, s.Worst
}

// Reason says why a strategy selected a candidate: what it expects of the measurement, and what this costs.
type Reason struct {
	// Uncertainty is the expected slowdown of the current choice at the point. The value 0.1 means that the
	// choice is 10 % slower than the fastest algorithm.
	Uncertainty float64 `json:"uncertainty"`
	// Gain is the amount by which this measurement is expected to lower the average slowdown of the space.
	// The value 0.1 means 10 %.
	Gain    float64        `json:"gain"`
	Seconds float64        `json:"seconds"`          // expected machine time, including the candidate's part of a launch
	Rival   coll.Algorithm `json:"rival,omitzero"`   // the algorithm that competes with the point's best one; may be the candidate's own
	Audit   bool           `json:"audit,omitzero"`   // part of an audit, not selected by its gain
	Outlier bool           `json:"outlier,omitzero"` // an outlier, measured again
	Confirm bool           `json:"confirm,omitzero"` // of a pair that lets the guard pass; Gain is the logarithm of the speed-up at the point
}

// Validate returns an error if a number is not finite.
func (r Reason) Validate() error {
	for _, v := range []float64{r.Uncertainty, r.Gain, r.Seconds} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%g: want finite numbers", v)
		}
	}
	return nil
}
