package verification

import (
	"context"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/verify"
)

// recorded is a runner over recorded data. verify.Tuned stands for the algorithm that the files
// select. The two sides of a comparison have independent noise even if they are the same
// algorithm: attempts of the default are even, those of the files odd.
type recorded struct{ s *subject }

// Run implements benchrunner.Runner.
func (r *recorded) Run(ctx context.Context, batch benchrunner.Batch, log benchrunner.Log) error {
	for _, p := range r.s.campaign.Problems {
		if p.Library != r.s.lib.Name {
			continue
		}
		own := batch
		own.Requests = nil
		back := map[benchrunner.Request]benchrunner.Request{}
		for _, q := range batch.Requests {
			if q.Collective != p.Collective {
				continue
			}
			as := q
			as.Attempt = 2 * q.Attempt
			if q.Algorithm == verify.Tuned {
				as.Algorithm = r.s.choice(q.Point)
				as.Attempt++
			}
			own.Requests = append(own.Requests, as)
			as.Ended = false
			back[as] = q
		}
		err := p.Runner.Run(ctx, own, benchrunner.TrialLog(func(t coll.Trial) error {
			q := back[benchrunner.Request{Candidate: t.Candidate, Attempt: t.Attempt}]
			t.Candidate, t.Attempt = q.Candidate, q.Attempt
			return log.Trial(t)
		}))
		if err != nil {
			return err
		}
	}
	return nil
}
