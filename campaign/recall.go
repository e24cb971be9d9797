package campaign

import (
	"fmt"

	"tutti/activelearn"
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
	res := Result{Stop: activelearn.StopReason(past.stop), Ledger: activelearn.NewLedger(p.Space)}
	for round := 1; ; round++ {
		batch, ok := past.batches[round]
		if !ok {
			break
		}
		res.Rounds = round
		if err := pend(res.Ledger, batch); err != nil {
			return res, err
		}
		for _, t := range past.trials[round] {
			if _, err := settle(&res, t, spec.Attempts); err != nil {
				return res, fmt.Errorf("%s: round %d: %w: %w", p.Problem, round, ErrLog, err)
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
