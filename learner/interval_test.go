package learner_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/benchrunner/synthetic"
	"tutti/coll"
	"tutti/learner"
	"tutti/metrics"
	"tutti/preprocess"
)

// One rival, normal: the probability is the distribution's, the loss that of a
// log-normal variable above one.
func TestRiskOfOneRival(t *testing.T) {
	for _, r := range []learner.Rival{{Gap: 0, SD: 0.02}, {Gap: 0.03, SD: 0.05}, {Gap: -0.1, SD: 0.01}, {Gap: 0.2, SD: 0.02}} {
		got := learner.Contest{Rivals: []learner.Rival{r}}.Risk(learner.NormalBelow, metrics.Options{})
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

// What is measured leaves no more doubt than noise; far away there is some.
func TestRisksAreWhereNothingIsMeasured(t *testing.T) {
	var points []coll.Point
	for i := range 12 {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 4, MsgBytes: 8 << (2 * i)})
	}
	ms := synthetic.Measurements(points[:6])
	l, err := learner.Fit(ms, learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.Process})
	if err != nil {
		t.Fatal(err)
	}
	can := func(coll.Point) []coll.Algorithm { return l.Algorithms() }
	choices, err := l.Choices(points, can)
	if err != nil {
		t.Fatal(err)
	}
	risks, err := l.Risks(points, choices, can, []float64{1, 2}, metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if wide := risks[1][11]; wide.Loss <= risks[0][11].Loss || wide.Mistake <= risks[0][11].Mistake {
		t.Errorf("risks %+v with deviations twice as great, %+v with those of the process", wide, risks[0][11])
	}
	if near, far := risks[0][2], risks[0][11]; near.Loss > 0.02 || far.Loss < 2*near.Loss || far.Mistake <= near.Mistake {
		t.Errorf("risks %+v where measured, %+v where not", near, far)
	}
	if _, err := l.Risks(points, make([]coll.Algorithm, len(points)), can, []float64{1}, metrics.Options{}); err == nil {
		t.Error("no choice: want an error")
	}
	forests, err := learner.Fit(ms, learner.Options{Scaling: preprocess.AlgorithmLog10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := forests.Risks(points, choices, can, []float64{1}, metrics.Options{}); err == nil {
		t.Error("forests: want an error")
	}
}

// What rivals share with the choice counts once: two that are beaten or not together
// are no greater risk than one.
func TestRiskOfSharedDoubt(t *testing.T) {
	one := learner.Contest{Rivals: []learner.Rival{{Gap: 0.05, SD: 0.05}}}.Risk(learner.NormalBelow, metrics.Options{})
	pair := []learner.Rival{{Gap: 0.05, SD: 0.05}, {Gap: 0.05, SD: 0.05}}
	independent := learner.Contest{Rivals: pair}.Risk(learner.NormalBelow, metrics.Options{})
	together := learner.Contest{Rivals: pair, Shared: 0.05 * 0.05 * 0.999}.Risk(learner.NormalBelow, metrics.Options{})
	if want := 1 - (1-one.Mistake)*(1-one.Mistake); math.Abs(independent.Mistake-want) > 1e-9 {
		t.Errorf("independent rivals: %g, want %g", independent.Mistake, want)
	}
	if math.Abs(together.Mistake-one.Mistake) > 0.05 || together.Mistake >= independent.Mistake {
		t.Errorf("rivals of one doubt: %g, one alone %g, two %g", together.Mistake, one.Mistake, independent.Mistake)
	}
}

func TestHeavyBelow(t *testing.T) {
	// Quantiles of Student's t with four degrees of freedom, from tables.
	for z, want := range map[float64]float64{0: 0.5, 2.132: 0.95, -2.776: 0.025, 4.604: 0.995} {
		if got := learner.HeavyBelow(z); math.Abs(got-want) > 1e-4 {
			t.Errorf("HeavyBelow(%g) = %g, want %g", z, got, want)
		}
	}
}
