package export_test

import (
	"fmt"
	"testing"

	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/report"
)

// BenchmarkTrain trains the forests of two problems of 72 points.
func BenchmarkTrain(b *testing.B) {
	c, results, _, err := assembly.Reread(small(b, "workers=1", "model.trees=100"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := export.Train(b.Context(), c, results); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConclude makes the selections of two libraries at 72 points each.
func BenchmarkConclude(b *testing.B) {
	_, models, state := train(b, small(b))
	for b.Loop() {
		if _, err := models.Conclude(state); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite computes the facts of two problems and writes all files.
func BenchmarkWrite(b *testing.B) {
	_, done := concluded(b, small(b, "workers=1"))
	dir := b.TempDir()
	for b.Loop() {
		if _, err := done.Write(dir, by); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkProblemFacts computes the facts of a problem with 72 points: a cross-validation and the
// intervals of the scores.
func BenchmarkProblemFacts(b *testing.B) {
	p := concludedFirst(b, campaigntest.Small(b, b.TempDir()), nil)
	for b.Loop() {
		if _, err := export.ProblemFacts(p.Problem, p.Result, p.Conclusion); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkProblemFactsEarlier also compares the problem with an earlier campaign.
func BenchmarkProblemFactsEarlier(b *testing.B) {
	p := concludedFirst(b, campaigntest.Small(b, b.TempDir()), nil)
	p.Earlier, p.EarlierNames = [][]coll.Measurement{p.Truth}, []string{"first"}
	for b.Loop() {
		if _, err := export.ProblemFacts(p.Problem, p.Result, p.Conclusion); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAddJournal adds the facts of a journal with 10 000 jobs and 100 000 trials.
func BenchmarkAddJournal(b *testing.B) {
	bcast := journal.Problem{Library: "mpich", Collective: coll.Bcast}
	var records []journal.Record
	for job := range 10_000 {
		name, round := fmt.Sprint("job", job), 1+job/100
		j := &coll.Job{Name: name, State: coll.JobEnded, Nodes: 2, Spent: coll.Spent{Measure: 3}, Environment: &coll.Environment{Nodes: []string{fmt.Sprint("n", job%64)}, Kernel: "k"}}
		records = append(records, journal.Record{Kind: journal.KindJob, Problem: bcast, Round: round, Job: j})
		for k := range 10 {
			state := coll.TrialDone
			if k == 0 {
				state = coll.TrialFailed
			}
			records = append(records, journal.Record{Kind: journal.KindTrial, Problem: bcast, Round: round, Trial: &coll.Trial{
				Measurement: coll.Measurement{Candidate: coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: int64(10*job + k)}}, Seconds: 1, Job: name},
				Attempt:     1, State: state, Phase: "run", Error: "crashed",
			}})
		}
	}
	state := journal.Replay(records)
	for b.Loop() {
		var f report.Facts
		if err := export.AddJournal(&f, state, []string{"mpich"}, 1); err != nil {
			b.Fatal(err)
		}
	}
}
