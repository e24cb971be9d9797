package campaign

import (
	"errors"

	"tutti/coll"
	"tutti/store"
)

// ErrLog is matched by errors about records that the campaign cannot have written.
var ErrLog = errors.New("the log does not fit the campaign")

// history is what the log knows of one problem, by round.
type history struct {
	batches     map[int][]coll.Candidate
	trials      map[int][]coll.Trial
	evaluations map[int]store.Evaluation
	study       []store.Record
	stop        string
}

// historyOf picks the records of one problem.
func historyOf(p store.Problem, records []store.Record) history {
	h := history{
		batches:     map[int][]coll.Candidate{},
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
