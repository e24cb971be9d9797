package activelearn

import "testing"

// TestDecide checks every reason to stop, and what keeps a campaign from stopping.
func TestDecide(t *testing.T) {
	criteria := Criteria{Slowdown: 1.03, Mistakes: 0.05, Patience: 2}
	predicted := func(p float64, audits int) []Evaluation {
		return []Evaluation{{Source: Predicted, PAttainable: 1}, {Source: Predicted, PConverged: p, PAttainable: 1, Audits: audits}}
	}
	validated := []Evaluation{{Source: CrossValidated, Slowdown: 1.01, Mistakes: 0.01}}
	noisy := []Evaluation{{Source: Predicted, PAttainable: 0.19}, {Source: Predicted, PAttainable: 0.19}}
	lessNoisy := []Evaluation{noisy[0], {Source: Predicted, PAttainable: 0.21}}
	for _, tc := range []struct {
		name string
		p    Progress
		want StopReason
	}{
		{"nothing is evaluated", Progress{Free: 1}, ""},
		{"predictions meet the criteria", Progress{Evaluations: predicted(0.8, 0), Free: 1}, Converged},
		{"they do before a limit", Progress{Evaluations: predicted(0.8, 0), Free: 1, Limit: TimeUp}, Converged},
		{"not on average", Progress{Evaluations: []Evaluation{{Source: Predicted, PConverged: 0.9, PAttainable: 1, Slowdown: 1.2}}, Free: 1}, ""},
		{"too improbable", Progress{Evaluations: predicted(0.79, 0), Free: 1}, ""},
		{"audits remain", Progress{Evaluations: predicted(1, 1), Free: 1}, ""},
		{"an outlier is pending", Progress{Evaluations: predicted(1, 0), Free: 1, Outliers: 1}, ""},
		{"the space grew", Progress{Evaluations: predicted(1, 0), Free: 1, Grown: true}, ""},
		{"few points", Progress{Evaluations: predicted(1, 0), Free: 1, MeasuresAll: true}, ""},
		{"too few rounds", Progress{Evaluations: validated, Free: 1}, ""},
		{"successive rounds", Progress{Evaluations: validated, Free: 1, InRow: true}, Converged},
		{"complete and good", Progress{Evaluations: validated}, Converged},
		{"complete except for a retry", Progress{Evaluations: validated, Retries: 1}, ""},
		{"complete except for an outlier", Progress{Evaluations: validated, Outliers: 1}, ""},
		{"complete without an evaluation", Progress{}, SpaceExhausted},
		{"complete and bad", Progress{Evaluations: []Evaluation{{Source: measured, Slowdown: 1.1}}, Limit: Budget}, SpaceExhausted},
		{"noise", Progress{Evaluations: noisy, Free: 1, Replicates: minReplicates, Limit: TimeUp}, NoiseLimited},
		{"noise may allow it", Progress{Evaluations: lessNoisy, Free: 1, Replicates: minReplicates}, ""},
		{"noise in one round", Progress{Evaluations: noisy[:1], Free: 1, Replicates: minReplicates}, ""},
		{"few replicates", Progress{Evaluations: noisy, Free: 1, Replicates: minReplicates - 1}, ""},
		{"a limit", Progress{Evaluations: predicted(0.5, 0), Free: 1, Limit: Budget}, Budget},
	} {
		tc.p.Criteria, tc.p.Evaluated, tc.p.Compared = criteria, len(tc.p.Evaluations) > 0, true
		if got := Decide(tc.p); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		if tc.p.Compared = false; tc.want == Converged && Decide(tc.p) == Converged {
			t.Errorf("%s: converged although nothing is compared", tc.name)
		}
	}
	if got := Decide(Progress{Criteria: criteria, Evaluations: predicted(1, 0), Free: 1, Compared: true}); got != "" {
		t.Errorf("without an evaluation of the latest round: %q", got)
	}
}

// TestDecideUnmeasured checks that a campaign does not converge while candidates have no time through noise, or if too
// many points are left to the library.
func TestDecideUnmeasured(t *testing.T) {
	for _, tc := range []struct {
		noisy int
		left  float64
		want  StopReason
	}{{0, 0, Converged}, {0, 0.05, Converged}, {0, 0.051, Unmeasurable}, {1, 0, NoiseLimited}, {1, 1, Unmeasurable}} {
		p := Progress{
			Criteria: Criteria{Slowdown: 1.1, Mistakes: 0.1}, Evaluations: []Evaluation{{Source: Predicted, PConverged: 1, Slowdown: 1}}, Evaluated: true,
			Free: 7, Compared: true, Noisy: tc.noisy, Left: tc.left,
		}
		if got := Decide(p); got != tc.want {
			t.Errorf("%d noisy, %g left to the library: %q, want %q", tc.noisy, tc.left, got, tc.want)
		}
		p.Open, p.Retries = 1, 1
		if got := Decide(p); got != "" {
			t.Errorf("a candidate waits for a quieter machine: %q, want no stop", got)
		}
		p.Open, p.Retries = 0, 0
		p.Free, p.Evaluations[0].PConverged = 0, 0
		if got := Decide(p); got != tc.want {
			t.Errorf("complete, %d noisy, %g left to the library: %q, want %q", tc.noisy, tc.left, got, tc.want)
		}
	}
}
