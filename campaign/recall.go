package campaign

import (
	"fmt"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/store"
)

// Recall returns the result that a log holds of a problem, without measuring or
// training anything. Stop is "" while the problem has not stopped.
func Recall(p Problem, records []store.Record) (Result, error) {
	if p.Space == nil {
		return Result{}, fmt.Errorf("%s: no space", p.Problem)
	}
	past := historyOf(p.Problem, records)
	l := activelearn.NewLedger(p.Space)
	res := Result{Stop: activelearn.StopReason(past.stop), Ledger: l}
	for round := 1; ; round++ {
		batch, ok := past.batches[round]
		if !ok {
			break
		}
		res.Rounds = round
		for _, c := range batch {
			if l.IsFree(c) {
				if err := l.Pend(c); err != nil {
					return res, err
				}
			}
		}
		for _, t := range past.trials[round] {
			if err := l.Record(t); err != nil {
				return res, err
			}
			if t.State == coll.TrialFailed {
				res.Warnings = append(res.Warnings, fmt.Sprintf("round %d: %v failed: %s: %s", round, t.Candidate, t.Phase, t.Error))
			}
		}
		if e, ok := past.evaluations[round]; ok {
			res.Evaluations = append(res.Evaluations, e)
		}
	}
	var err error
	res.Study, err = studyOf(past)
	return res, err
}
