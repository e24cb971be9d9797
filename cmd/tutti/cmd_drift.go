package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/service"
	"tutti/store"
)

// probeAttempt is the number of the attempts of a probe: far from those of
// campaigns, so that recorded data give it noise of its own.
const probeAttempt = 1000

func (a *app) driftCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drift FOLDER",
		Short: "Measure a few benchmarks of a campaign again and tell how far they differ",
		Long: `drift measures a small batch of what a campaign has measured again, spread evenly over
its problems and points, and compares the times. The campaign is left as it is. What
differs by much more than the noise of the machine says that it is not the machine
that was tuned: tutti serve tunes again under "when: drift".`,
		Example: indent("tutti drift results/night", "tutti drift results/night --candidates 32 --output json"),
		Args:    oneFolder,
	}
	number := cmd.Flags().Int("candidates", 16, "benchmarks to measure again; at least one of each problem")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		if *number < 1 {
			return usageError(cmd, fmt.Errorf("--candidates %d: want at least 1", *number))
		}
		p, err := a.drift(cmd.Context(), args[0], *number)
		if err != nil {
			return err
		}
		if *output == "json" {
			return json.NewEncoder(a.stdout).Encode(p)
		}
		fmt.Fprintf(a.stdout, "%d measured again, %d failed: they differ by %.1f %% (median), times are %.3f of what they were\n",
			p.Candidates, p.Failed, 100*p.Change, p.Ratio)
		return nil
	}
	return cmd
}

// drift measures in a folder below the campaign's, which nodes can see as well, and
// removes it.
func (a *app) drift(ctx context.Context, dir string, number int) (p service.Probe, err error) {
	b, results, contents, err := reread(dir)
	if err != nil {
		return p, err
	}
	a.warn(contents.Warnings)
	if b.config.Runner.Live() {
		if b.config.Output, err = os.MkdirTemp(b.config.Output, "drift-"); err != nil {
			return p, withOutputCode(err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(b.config.Output)) }()
		b.config.Runner.Parallel = config.Never
		if err := b.connect(store.NewID(), a.environ); err != nil {
			return p, err
		}
	}
	var log probeLog
	var then []float64
	for i, problem := range b.problems {
		ms := spread(results[i].Ledger.Measurements(), max(1, number/len(b.problems)))
		if err := log.measure(ctx, problem, ms); err != nil {
			return p, errors.Join(err, b.endJobs(log.jobs))
		}
		for _, m := range ms {
			then = append(then, m.Seconds)
		}
	}
	return log.compare(then)
}

// endJobs cancels what a probe leaves with a scheduler.
func (b *built) endJobs(jobs []coll.Job) error {
	if len(b.machines) == 0 || len(jobs) == 0 {
		return nil
	}
	return b.machines[0].Cancel(context.Background(), jobs)
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
	slices.Sort(changes)
	p.Change = (changes[(len(changes)-1)/2] + changes[len(changes)/2]) / 2
	p.Ratio = math.Exp(sum / float64(p.Candidates))
	return p, nil
}
