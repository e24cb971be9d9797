package learner_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// TestRiskOfOneRival checks the risk of a choice with a single rival. The mistake probability must be that
// of the normal distribution. The loss must be the mean of a log-normal variable above one.
func TestRiskOfOneRival(t *testing.T) {
	for _, r := range []learner.Rival{{Gap: 0, SD: 0.02}, {Gap: 0.03, SD: 0.05}, {Gap: -0.1, SD: 0.01}, {Gap: 0.2, SD: 0.02}} {
		got := learner.RiskOf([]learner.Rival{r}, metrics.Options{})
		rng := rand.New(rand.NewPCG(1, 1))
		const draws = 400000
		var loss, square, mistake, best float64
		for range draws {
			s := math.Pow(10, -(r.Gap + r.SD*rng.NormFloat64()))
			if s > 1 {
				loss += (s - 1) / draws
				square += (s - 1) * (s - 1) / draws
			}
			if s > 1.1 {
				mistake += 1.0 / draws
			}
			if s <= 1.005 {
				best += 1.0 / draws
			}
		}
		for _, c := range []struct {
			name      string
			got, want float64
		}{{"loss", got.Loss, loss}, {"square", got.Square, square}, {"mistake", got.Mistake, mistake}, {"best", got.Best, best}} {
			if math.Abs(c.got-c.want) > 0.003+0.02*c.want {
				t.Errorf("%+v: %s %g, drawn %g", r, c.name, c.got, c.want)
			}
		}
	}
}

// TestRisksGrowFarFromMeasurements checks that measured candidates have only the risk due to noise.
// Candidates far from measurements must have a higher risk.
func TestRisksGrowFarFromMeasurements(t *testing.T) {
	var points []coll.Point
	for i := range 12 {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 4, MsgBytes: 8 << (2 * i)})
	}
	ms := testutil.SyntheticMeasurements(points[:6])
	l := testutil.Must(learner.Fit(learner.Data{Measurements: ms}, learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}))(t)
	open := func(int) []coll.Algorithm { return l.Algorithms() }
	uncertainties := testutil.Must(l.Uncertainties(points, nil))(t)
	choices := make([]coll.Algorithm, len(points))
	for i, u := range uncertainties {
		choices[i] = u.Choice
	}
	risks := testutil.Must(l.Risks(learner.RiskQuery{Points: points, Choices: choices, Open: open, Scale: scaled(1)}))(t)
	doubled := testutil.Must(l.Risks(learner.RiskQuery{Points: points, Choices: choices, Open: open, Scale: scaled(2)}))(t)
	if wide := doubled[11]; wide.Loss <= risks[11].Loss || wide.Mistake <= risks[11].Mistake {
		t.Errorf("risks %+v with deviations twice as great, %+v with those of the Gaussian process", wide, risks[11])
	}
	if near, far := risks[2], risks[11]; near.Loss > 0.02 || far.Loss < 2*near.Loss || far.Mistake <= near.Mistake {
		t.Errorf("risks %+v where measured, %+v where not", near, far)
	}
	if _, err := l.Risks(learner.RiskQuery{Points: points, Choices: make([]coll.Algorithm, len(points)), Open: open, Scale: scaled(1)}); err == nil {
		t.Error("no choice: want an error")
	}
	forests := testutil.Must(learner.Fit(learner.Data{Measurements: ms}, learner.Options{Scaling: preprocess.AlgorithmLog10}))(t)
	if _, err := forests.Risks(learner.RiskQuery{Points: points, Choices: choices, Open: open, Scale: scaled(1)}); err == nil {
		t.Error("forests: want an error")
	}
}

// TestRiskOfRivals checks that the risk is that of the worst rival and not the sum over rivals. An extreme
// standard deviation must give a finite risk.
func TestRiskOfRivals(t *testing.T) {
	near, far := learner.Rival{Gap: 0.05, SD: 0.05}, learner.Rival{Gap: 1, SD: 0.05}
	one := learner.RiskOf([]learner.Rival{near}, metrics.Options{})
	if several := learner.RiskOf([]learner.Rival{far, near, near}, metrics.Options{}); several != one {
		t.Errorf("several rivals %+v, the worst alone %+v", several, one)
	}
	if none := learner.RiskOf(nil, metrics.Options{}); none != (learner.Risk{Best: 1}) {
		t.Errorf("no rivals: %+v", none)
	}
	if wild := learner.RiskOf([]learner.Rival{{Gap: -1, SD: 1000}}, metrics.Options{}); wild.Loss != 9 || wild.Square != 81 || !(wild.Mistake > 0.4) {
		t.Errorf("an extreme rival: %+v", wild)
	}
}

// TestRisksIncludeNoise checks that a measurement with a wide confidence interval has more risk than a
// measurement with a narrow one.
func TestRisksIncludeNoise(t *testing.T) {
	point := coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 4, MsgBytes: 1024}
	ms := testutil.SyntheticMeasurements([]coll.Point{point})
	l := testutil.Must(learner.Fit(learner.Data{Measurements: ms}, learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}))(t)
	open := func(int) []coll.Algorithm { return l.Algorithms() }
	fastest := slices.MinFunc(ms, func(a, b coll.Measurement) int { return cmp.Compare(a.Seconds, b.Seconds) })
	risk := func(wide float64) float64 {
		measured := map[coll.Candidate]learner.MeasuredTime{}
		for _, m := range ms {
			m.Low, m.High = m.Seconds/wide, m.Seconds*wide
			measured[m.Candidate] = learner.MeasuredTime{Log: math.Log10(m.Seconds), Noise: preprocess.Noise{}.Of(m)}
		}
		risks := testutil.Must(l.Risks(learner.RiskQuery{Points: []coll.Point{point}, Choices: []coll.Algorithm{fastest.Algorithm}, Open: open, Measured: measured, Scale: scaled(1)}))(t)
		return risks[0].Loss
	}
	if narrow, wide := risk(1.001), risk(3); wide < 10*narrow+0.01 {
		t.Errorf("loss %g with intervals of a factor of three, %g with narrow ones", wide, narrow)
	}
}

// scaled returns a function that gives the same scale at every point.
func scaled(scale float64) func(coll.Point) float64 {
	return func(coll.Point) float64 { return scale }
}
