package replay_test

import (
	"math"
	"slices"
	"testing"

	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/coll"
	"tutti/internal/testutil"
)

// repeated returns recorded data with five repetitions of each candidate. The time and cost of repetition k
// are 1 + k/10 times the synthetic ones.
func repeated() []coll.Measurement {
	var out []coll.Measurement
	for _, m := range testutil.SyntheticMeasurements(points()) {
		for _, rep := range []int{4, 1, 5, 2, 3} {
			r := m
			r.Rep = rep
			r.Seconds *= 1 + float64(rep)/10
			r.Overall = r.Seconds * 1.5
			r.CostSeconds *= 1 + float64(rep)/10
			out = append(out, r)
		}
	}
	return out
}

// TestRepetitionsAreDrawn checks that a trial has the time of one repetition without further noise, and
// that Truth returns the median of the repetitions. Further attempts return the other repetitions in turn.
func TestRepetitionsAreDrawn(t *testing.T) {
	once := machine(t, replay.Options{})
	m := testutil.Must(replay.New(repeated(), replay.Options{Seed: 4, Noise: replay.Noise{Sigma: 0.5, TailProbability: 1}}))(t)
	if !slices.Equal(m.Candidates(), once.Candidates()) {
		t.Fatalf("%d candidates, want %d", len(m.Candidates()), len(once.Candidates()))
	}
	firsts := map[int]int{}
	for i, truth := range m.Truths() {
		base, _ := once.Truth(truth.Candidate)
		if truth.Candidate != m.Candidates()[i] || truth.Rep != 0 || truth.Seconds != base.Seconds*1.3 || truth.CostSeconds != base.CostSeconds*1.3 {
			t.Fatalf("truth %+v, want 1.3 times %+v", truth, base)
		}
		var reps []int
		for attempt := 1; attempt <= 6; attempt++ {
			tr := runAll(t, m, []benchrunner.Request{{Candidate: truth.Candidate, Attempt: attempt}})[0]
			factor := 1 + float64(tr.Rep)/10
			if share, ok := tr.Overlap(); !ok || math.Abs(share-0.5) > 1e-9 {
				t.Fatalf("trial %+v has the overlap %g, want half", tr, share)
			}
			if tr.Seconds != base.Seconds*factor || math.Abs(tr.CostSeconds-base.CostSeconds*factor) > 1e-12 {
				t.Fatalf("trial %+v is not repetition %d of %+v", tr, tr.Rep, base)
			}
			reps = append(reps, tr.Rep)
		}
		firsts[reps[0]]++
		if reps[5] != reps[0] {
			t.Errorf("after all repetitions came %d, want %d again", reps[5], reps[0])
		}
		if slices.Sort(reps[:5]); !slices.Equal(reps[:5], []int{1, 2, 3, 4, 5}) {
			t.Errorf("five attempts drew %v, want each once", reps[:5])
		}
	}
	if len(firsts) != 5 {
		t.Errorf("first attempts drew %v, want all five now and then", firsts)
	}
}

func TestNewRejectsRepetitions(t *testing.T) {
	runs := repeated()
	again := runs[0]
	unnumbered := runs[0]
	unnumbered.Rep = 0
	for name, ms := range map[string][]coll.Measurement{
		"a number twice":        append(slices.Clone(runs), again),
		"one without a number":  append(slices.Clone(runs), unnumbered),
		"first without, then 4": {unnumbered, again},
	} {
		if _, err := replay.New(ms, replay.Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestJobNoiseDisturbsWholeJobs checks that the same noise factor applies to all times of a job.
func TestJobNoiseDisturbsWholeJobs(t *testing.T) {
	m := machine(t, replay.Options{Seed: 1, JobNoise: 0.1})
	var factors []float64
	for round := 1; round <= 400; round++ {
		var job []float64
		b := benchrunner.Batch{Round: round, Requests: requests(m.Candidates()[:5])}
		err := m.Run(t.Context(), b, benchrunner.TrialLog(func(tr coll.Trial) error {
			truth, _ := m.Truth(tr.Candidate)
			job = append(job, tr.Seconds/truth.Seconds)
			return nil
		}))
		testutil.NoError(t, err)
		if slices.Max(job)-slices.Min(job) > 1e-12 {
			t.Fatalf("round %d: factors %v, want one", round, job)
		}
		factors = append(factors, math.Log(job[0]))
	}
	square := 0.0
	for _, f := range factors {
		square += f * f
	}
	if sd := math.Sqrt(square / float64(len(factors))); math.Abs(sd-0.1) > 0.01 { // the standard error of 400 factors is 0.0035
		t.Errorf("jobs are off by %.3f, want 0.1", sd)
	}
	if err := (replay.Options{JobNoise: -0.1}).Validate(); err == nil {
		t.Error("job noise -0.1: no error")
	}
}
