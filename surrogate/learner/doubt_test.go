package learner_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"tutti/coll"
	"tutti/internal/test/synthetic"
	"tutti/surrogate/learner"
)

// twins are measurements with 2 % noise of two algorithms that are equally fast and
// of one that is twice as slow.
func twins(t *testing.T) []coll.Measurement {
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

func TestDoubtsTellTies(t *testing.T) {
	for _, m := range []learner.Model{learner.GaussianProcess, learner.Stack} {
		doubts, err := fit(t, twins(t), modelled(m)).Doubts(dense(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		ties := 0
		for _, d := range doubts {
			if d.Choice.Name == "slow" || d.Rival.Name == "slow" {
				t.Fatalf("%s: %v: %s beside %s, want the twins", m, d.Point, d.Choice, d.Rival)
			}
			if d.Gap < 0 || d.SD <= 0 || d.Loss < 0 || d.PMistake < 0 || d.PMistake > 0.5 {
				t.Fatalf("%s: %+v", m, d)
			}
			if d.Tie {
				ties++
			}
		}
		if ties < len(doubts)*9/10 {
			t.Errorf("%s: %d ties of %d points", m, ties, len(doubts))
		}
	}
}

// With twins excluded nothing is close.
func TestDoubtsLeaveOutWhatCannotRun(t *testing.T) {
	l := fit(t, twins(t), modelled(learner.GaussianProcess))
	can := []coll.Algorithm{{Name: "mirror"}, {Name: "slow"}}
	doubts, err := l.Doubts(dense(t), func(coll.Point) []coll.Algorithm { return can })
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range doubts {
		if d.Choice != can[0] || d.Rival != can[1] || d.Tie || d.PMistake > 0.01 || math.Abs(d.Gap-math.Log10(2)) > 0.05 {
			t.Fatalf("%+v, want mirror, sure, beside slow", d)
		}
	}
	single, err := l.Doubts([]coll.Point{line(3)}, func(coll.Point) []coll.Algorithm { return can[1:] })
	if err != nil || single[0].Choice != can[1] || single[0].Rival != (coll.Algorithm{}) || single[0].Tie || single[0].PMistake != 0 {
		t.Errorf("a single algorithm: %+v, %v", single, err)
	}
}

// Fewer measurements leave more doubt, and what is expected to be lost is of the
// order of what is.
func TestDoubtsFallWithData(t *testing.T) {
	points := dense(t)
	expected := func(k int) (loss, lost float64) {
		l := fit(t, few(t, k), modelled(learner.GaussianProcess))
		doubts, err := l.Doubts(points, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range doubts {
			loss += d.Loss / float64(len(points))
		}
		held, err := l.Compare(synthetic.Measurements(points))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range held.Slowdowns {
			lost += (s - 1) / float64(len(points))
		}
		return loss, lost
	}
	few, fewLost := expected(40)
	many, _ := expected(5)
	t.Logf("expected loss of few points %.4f, true %.4f; of many %.4f", few, fewLost, many)
	if many > few/2 {
		t.Errorf("expected loss falls from %.4f to %.4f, want to half at most", few, many)
	}
	if few > 10*fewLost+0.01 || few < fewLost/10 {
		t.Errorf("expected loss %.4f, true %.4f: want the same order", few, fewLost)
	}
}

func TestDoubtsErrors(t *testing.T) {
	if _, err := fit(t, twins(t), modelled(learner.Forest)).Doubts(dense(t), nil); err == nil {
		t.Error("forests answered")
	}
	_, err := fit(t, twins(t), modelled(learner.GaussianProcess)).Doubts(dense(t)[:1], func(coll.Point) []coll.Algorithm { return nil })
	var none *learner.NoAlgorithmError
	if !errors.As(err, &none) || none.Point != dense(t)[0] {
		t.Errorf("nothing can run: %v", err)
	}
}
