package campaign

import (
	"fmt"

	"tutti/activelearn"
	"tutti/journal"
)

// Recall returns the result that a log holds of a problem, without measuring or
// training anything; past is nil for nothing. Stop is "" while the problem has not
// stopped. Records that contradict the campaign give an error matching ErrLog.
func Recall(spec Spec, p Problem, past *journal.ProblemState) (Result, error) {
	if err := p.validate(spec); err != nil {
		return Result{}, err
	}
	res := Result{Ledger: activelearn.NewLedger(p.Space)}
	if past == nil {
		return res, nil
	}
	res.Stop = activelearn.StopReason(past.Stop)
	for number := 1; ; number++ {
		round, ok := past.Round(number)
		if !ok {
			break
		}
		res.Rounds = number
		if err := pend(res.Ledger, round.Batch); err != nil {
			return res, err
		}
		for _, t := range round.Trials {
			if _, err := enter(&res, t, spec.Attempts); err != nil {
				return res, fmt.Errorf("%s: round %d: %w: %w", p.Problem, number, ErrLog, err)
			}
		}
		if round.Evaluation != nil {
			res.Evaluations = append(res.Evaluations, *round.Evaluation)
		}
		if len(round.Grow) > 0 {
			if err := enlarge(&res, p, round.Grow); err != nil {
				return res, err
			}
		}
	}
	var err error
	res.Study, err = studyOf(past)
	return res, err
}
