package learner_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/surrogate/learner"
)

// twinMeasurements returns measurements of three algorithms, with 2 % noise. Two of them are equally fast,
// and the third takes twice as long.
func twinMeasurements(t *testing.T) []coll.Measurement {
	rng := rand.New(rand.NewPCG(1, 1))
	var out []coll.Measurement
	for i, p := range dense(t) {
		if i%9 != 0 {
			continue
		}
		base := 1e-6 * float64(p.Nodes) * (1 + float64(p.MsgBytes)/4096)
		for k, name := range []string{"ring", "mirror", "slow"} {
			out = append(out, timed(p, name, base*float64(1+k/2)*math.Exp(0.02*rng.NormFloat64())))
		}
	}
	return out
}

func TestUncertaintiesReportTies(t *testing.T) {
	uncertainties := testutil.Must(fit(t, twinMeasurements(t), optionsOf(learner.GaussianProcess)).Uncertainties(dense(t), nil))(t)
	ties := 0
	for _, d := range uncertainties {
		if d.Choice.Name == "slow" || d.Rival.Name == "slow" {
			t.Fatalf("%v: %s next to %s, want the twins", d.Point, d.Choice, d.Rival)
		}
		if d.Gap < 0 || d.PMistake < 0 || d.PMistake > 0.5 {
			t.Fatalf("%+v", d)
		}
		if d.Tie {
			ties++
		}
	}
	if ties < len(uncertainties)*9/10 {
		t.Errorf("%d ties of %d points", ties, len(uncertainties))
	}
}

// TestUncertaintiesOfFeasibleAlgorithms checks that algorithms that cannot run at a point are not compared.
func TestUncertaintiesOfFeasibleAlgorithms(t *testing.T) {
	l := fit(t, twinMeasurements(t), optionsOf(learner.GaussianProcess))
	can := []coll.Algorithm{{Name: "mirror"}, {Name: "slow"}}
	uncertainties := testutil.Must(l.Uncertainties(dense(t), func(coll.Point) []coll.Algorithm { return can }))(t)
	for _, d := range uncertainties {
		if d.Choice != can[0] || d.Rival != can[1] || d.Tie || d.PMistake > 0.01 || math.Abs(d.Gap-math.Log10(2)) > 0.05 {
			t.Fatalf("%+v, want mirror, sure, next to slow", d)
		}
	}
	single, err := l.Uncertainties([]coll.Point{line(3)}, func(coll.Point) []coll.Algorithm { return can[1:] })
	if err != nil || single[0].Choice != can[1] || single[0].Rival != (coll.Algorithm{}) || single[0].Tie || single[0].PMistake != 0 {
		t.Errorf("a single algorithm: %+v, %v", single, err)
	}
}

// TestUncertaintiesFallWithData checks that uncertainties are larger with fewer measurements. The expected
// number of mistakes must be between a quarter and six times the actual number. This range is wide, because
// the prior allows for steps and exceptional sizes, which this machine does not have.
func TestUncertaintiesFallWithData(t *testing.T) {
	points := dense(t)
	mistakes := func(k int) (expected, made float64) {
		l := fit(t, everyKth(t, k), optionsOf(learner.GaussianProcess))
		uncertainties := testutil.Must(l.Uncertainties(points, nil))(t)
		for _, d := range uncertainties {
			expected += d.PMistake
		}
		held := testutil.Must(l.Compare(testutil.SyntheticMeasurements(points)))(t)
		for _, s := range held.Slowdowns {
			if s > 1.1 {
				made++
			}
		}
		return expected, made
	}
	expected, made := mistakes(40)
	later, _ := mistakes(5)
	t.Logf("expected mistakes after few points %.1f, made %g; after many %.1f expected", expected, made, later)
	if later > 2*expected/3 {
		t.Errorf("expected mistakes fall from %.1f to %.1f, want to two thirds at most", expected, later)
	}
	if made == 0 || expected > 6*made || expected < made/4 {
		t.Errorf("expected mistakes %.1f, made %g: want six times as many at most, a fourth at least", expected, made)
	}
}

func TestUncertaintiesErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	_, err := fit(t, twinMeasurements(t), optionsOf(learner.Forest)).Uncertainties(dense(t), nil)
	golden("forest", err)
	_, err = fit(t, twinMeasurements(t), optionsOf(learner.GaussianProcess)).Uncertainties(dense(t)[:1], func(coll.Point) []coll.Algorithm { return nil })
	golden("nothing can run at "+dense(t)[0].String(), err)
}
