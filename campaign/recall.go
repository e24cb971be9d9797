package campaign

import (
	"fmt"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/store"
)

// Recall returns the result that a log holds of a problem, without measuring or
// training anything. Stop is "" while the problem has not stopped. Records that
// contradict the campaign give an error matching ErrLog.
func Recall(spec Spec, p Problem, records []store.Record) (Result, error) {
	if err := p.validate(spec); err != nil {
		return Result{}, err
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
				return res, fmt.Errorf("%s: round %d: %w: %w", p.Problem, round, ErrLog, err)
			}
			if t.State == coll.TrialFailed && t.Attempt >= spec.Attempts {
				l.Abandon(t.Candidate)
				res.Warnings = append(res.Warnings, givenUp(t))
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
