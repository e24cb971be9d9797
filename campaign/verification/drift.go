package verification

import (
	"cmp"
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
	"tutti/journal"
	"tutti/metrics"
)

// Drift says how the times of a machine differ from those that a campaign measured earlier.
type Drift struct {
	Candidates int     `json:"candidates"` // number of remeasured candidates
	Failed     int     `json:"failed"`     // number of failed candidates
	Change     float64 `json:"change"`     // median of |new time / old time - 1|
	Ratio      float64 `json:"ratio"`      // geometric mean of new time / old time

	NodeSeconds float64 `json:"node_seconds"` // machine time
}

// MeasureDrift measures about the given number of candidates again, at least one of each problem. They are
// evenly distributed over problems and points. On a real machine it uses a subfolder of the campaign's
// folder, and removes it afterwards.
func MeasureDrift(ctx context.Context, c *assembly.Campaign, results []campaign.Result, candidates int, environ []string) (d Drift, err error) {
	if c.Config.Runner.Live() {
		var dir string
		if dir, err = os.MkdirTemp(c.Config.Output, "drift-"); err != nil {
			return d, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		c = c.Sequential().In(dir)
		if err := c.Connect(journal.NewID(), environ); err != nil {
			return d, err
		}
	}
	var log driftLog
	var oldSeconds []float64
	for i, problem := range c.Problems {
		ms := sample(results[i].Ledger.Measurements(), max(1, candidates/len(c.Problems)))
		if err := log.measure(ctx, problem, ms); err != nil {
			return d, errors.Join(err, c.Cancel(context.WithoutCancel(ctx), log.jobs))
		}
		for _, m := range ms {
			oldSeconds = append(oldSeconds, m.Seconds)
		}
	}
	return log.compare(oldSeconds)
}

// sample returns at most n of the measurements, evenly spaced in the order of points and algorithms.
func sample(ms []coll.Measurement, n int) []coll.Measurement {
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

// driftLog collects the new trials of all collectives and libraries. It implements benchrunner.Log.
type driftLog struct {
	trials []coll.Trial           // in the order in which they were requested
	index  map[coll.Candidate]int // index in trials of each candidate of the current problem
	jobs   []coll.Job             // jobs that have not ended
}

func (l *driftLog) measure(ctx context.Context, p campaign.Problem, ms []coll.Measurement) error {
	batch := benchrunner.Batch{Label: p.Library + "-" + string(p.Collective), Round: 1}
	l.index = map[coll.Candidate]int{}
	for _, m := range ms {
		batch.Requests = append(batch.Requests, benchrunner.Request{Candidate: m.Candidate, Attempt: 1, Independent: true})
		l.index[m.Candidate] = len(l.trials)
		l.trials = append(l.trials, coll.Trial{})
	}
	if len(ms) == 0 {
		return nil
	}
	return p.Runner.Run(ctx, batch, l)
}

func (l *driftLog) Job(j coll.Job) error {
	l.jobs = slices.DeleteFunc(l.jobs, func(o coll.Job) bool { return o.Name == j.Name })
	if j.State != coll.JobEnded {
		l.jobs = append(l.jobs, j)
	}
	return nil
}

func (l *driftLog) Trial(t coll.Trial) error {
	l.trials[l.index[t.Candidate]] = t
	return nil
}

// compare computes the drift of the new times from the earlier times of the same candidates, in the same order.
func (l *driftLog) compare(oldSeconds []float64) (Drift, error) {
	var d Drift
	var changes []float64
	logSum, firstError := 0.0, ""
	for i, t := range l.trials {
		d.NodeSeconds += t.NodeSeconds()
		if t.State != coll.TrialDone {
			d.Failed++
			firstError = cmp.Or(firstError, t.Error)
			continue
		}
		ratio := t.Seconds / oldSeconds[i]
		logSum += math.Log(ratio)
		changes = append(changes, math.Abs(ratio-1))
	}
	if d.Candidates = len(changes); d.Candidates == 0 {
		return d, fmt.Errorf("nothing could be measured again: %d failed: %s", d.Failed, firstError)
	}
	d.Change = metrics.Median(changes)
	d.Ratio = math.Exp(logSum / float64(d.Candidates))
	return d, nil
}
