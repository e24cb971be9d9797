// Package drift measures a small batch of what a campaign has measured again, and says
// how far the times differ: whether the machine is still the one that was tuned.
//
//	probe, err := drift.Measure(ctx, c, results, 16, os.Environ())
//	if err != nil {
//		return err
//	}
//	fmt.Println(probe.Change, probe.Ratio)
package drift

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/metrics"
	"tutti/service"
)

// probeAttempt is the number of the attempts of a probe: far from those of campaigns,
// so that recorded data give it noise of its own.
const probeAttempt = 1000

// Measure measures so many candidates of a campaign again, at least one of each
// problem, spread evenly over problems and points. A campaign that measures does so in a
// folder below its own, which nodes can see as well, and which is removed; c must not be
// used afterwards.
func Measure(ctx context.Context, c *assembly.Campaign, results []campaign.Result, candidates int, environ []string) (p service.Probe, err error) {
	if c.Config.Runner.Live() {
		if c.Config.Output, err = os.MkdirTemp(c.Config.Output, "drift-"); err != nil {
			return p, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(c.Config.Output)) }()
		c.Config.Runner.Parallel = config.Never
		if err := c.Connect(journal.NewID(), environ); err != nil {
			return p, err
		}
	}
	var log probeLog
	var then []float64
	for i, problem := range c.Problems {
		ms := spread(results[i].Ledger.Measurements(), max(1, candidates/len(c.Problems)))
		if err := log.measure(ctx, problem, ms); err != nil {
			return p, errors.Join(err, c.Cancel(context.WithoutCancel(ctx), log.jobs))
		}
		for _, m := range ms {
			then = append(then, m.Seconds)
		}
	}
	return log.compare(then)
}

// spread picks at most n of the measurements, evenly by point and algorithm.
func spread(ms []coll.Measurement, n int) []coll.Measurement {
	ms = slices.Clone(ms)
	slices.SortFunc(ms, func(a, b coll.Measurement) int { return coll.CompareCandidates(a.Candidate, b.Candidate) })
	if len(ms) <= n {
		return ms
	}
	out := make([]coll.Measurement, n)
	for i := range out {
		out[i] = ms[(2*i+1)*len(ms)/(2*n)]
	}
	return out
}

// probeLog keeps what a probe measures, problem after problem.
type probeLog struct {
	now   []coll.Trial // in the order they were asked for
	asked map[coll.Candidate]int
	jobs  []coll.Job
}

func (l *probeLog) measure(ctx context.Context, p campaign.Problem, ms []coll.Measurement) error {
	batch := benchrunner.Batch{Label: p.Library + "-" + string(p.Collective), Round: 1}
	l.asked = map[coll.Candidate]int{}
	for _, m := range ms {
		batch.Requests = append(batch.Requests, benchrunner.Request{Candidate: m.Candidate, Attempt: probeAttempt})
		l.asked[m.Candidate] = len(l.now)
		l.now = append(l.now, coll.Trial{})
	}
	if len(ms) == 0 {
		return nil
	}
	return p.Runner.Run(ctx, batch, l)
}

// Job implements benchrunner.Log.
func (l *probeLog) Job(j coll.Job) error {
	l.jobs = slices.DeleteFunc(l.jobs, func(o coll.Job) bool { return o.Name == j.Name })
	if j.State != coll.JobEnded {
		l.jobs = append(l.jobs, j)
	}
	return nil
}

// Trial implements benchrunner.Log.
func (l *probeLog) Trial(t coll.Trial) error {
	l.now[l.asked[t.Candidate]] = t
	return nil
}

// compare holds the new times against those of then, in the same order.
func (l *probeLog) compare(then []float64) (service.Probe, error) {
	var p service.Probe
	var changes []float64
	sum, first := 0.0, ""
	for i, t := range l.now {
		p.NodeSeconds += t.NodeSeconds()
		if t.State != coll.TrialDone {
			p.Failed++
			if first == "" {
				first = t.Error
			}
			continue
		}
		ratio := t.Seconds / then[i]
		sum += math.Log(ratio)
		changes = append(changes, math.Abs(ratio-1))
	}
	if p.Candidates = len(changes); p.Candidates == 0 {
		return p, fmt.Errorf("nothing could be measured again: %d failed: %s", p.Failed, first)
	}
	p.Change = metrics.Median(changes)
	p.Ratio = math.Exp(sum / float64(p.Candidates))
	return p, nil
}
