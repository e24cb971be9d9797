package campaign

import (
	"errors"
	"slices"

	"tutti/coll"
	"tutti/store"
)

// ErrLog is matched by errors about records that the campaign cannot have written.
var ErrLog = errors.New("the log does not fit the campaign")

// history is what the log knows of one problem, by round.
type history struct {
	batches     map[int][]coll.Candidate
	jobs        map[int][]coll.Job // the last record of each
	trials      map[int][]coll.Trial
	evaluations map[int]store.Evaluation
	study       []store.Record
	stop        string
}

// historyOf picks the records of one problem.
func historyOf(p store.Problem, records []store.Record) history {
	h := history{
		batches:     map[int][]coll.Candidate{},
		jobs:        map[int][]coll.Job{},
		trials:      map[int][]coll.Trial{},
		evaluations: map[int]store.Evaluation{},
	}
	for _, r := range records {
		if r.Problem != p {
			continue
		}
		switch r.Kind {
		case store.KindBatch:
			h.batches[r.Round] = r.Batch
		case store.KindJob:
			h.addJob(r.Round, *r.Job)
		case store.KindTrial:
			h.trials[r.Round] = append(h.trials[r.Round], *r.Trial)
		case store.KindEvaluation:
			h.evaluations[r.Round] = *r.Evaluation
		case store.KindHPO:
			h.study = append(h.study, r)
		case store.KindStop:
			h.stop = r.Stop
		}
	}
	return h
}

// addJob keeps the last record of each job, in the order they began.
func (h history) addJob(round int, j coll.Job) {
	jobs := h.jobs[round]
	if i := slices.IndexFunc(jobs, func(o coll.Job) bool { return o.Name == j.Name }); i >= 0 {
		jobs[i] = j
		return
	}
	h.jobs[round] = append(jobs, j)
}
