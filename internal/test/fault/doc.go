// Package fault wraps a scheduler and lets happen what happens on real machines:
// submissions that time out and arrive, jobs that are cancelled, lost or run again,
// output that is late or damaged, IDs that begin again at 1. What happens to a job
// is drawn from a seed and its name.
//
//	s, err := fault.New(scheduler, fault.Options{Seed: 1, Rate: 0.5, Kinds: fault.Kinds(), Within: time.Second})
//	if err != nil {
//		return err
//	}
//	m, err := live.New(live.Options{Scheduler: s, …})
package fault
