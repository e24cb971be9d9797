package assembly

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/preflight"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
)

// siteProbe is the algorithm of the case with which a launch reads the settings of the machine.
var siteProbe = coll.Algorithm{Name: "settings"}

// RecordFunc writes a record to the journal of a campaign. When it returns nil, the record is on disk.
type RecordFunc func(journal.Record) error

// settingsReader reads the settings of the machine for one library. Each launch is a round of the journal's problem
// journal.Preflight, with one case. A launch that the journal has is not repeated, and its jobs are found again.
type settingsReader struct {
	campaign *Campaign
	lib      config.Library
	at       coll.Point            // of the case
	past     *journal.ProblemState // launches of earlier processes
	record   RecordFunc
	round    int // of the last launch
}

// find returns what a launch finds that has further variables in its environment. A launch that fails by itself is
// repeated, up to `attempts` of the campaign. Then the error matches benchrunner.ErrNoStart.
func (r *settingsReader) find(ctx context.Context, port mpi.Measurable, with []mpi.Var) (preflight.Findings, error) {
	machine, err := r.machine(port, with)
	if err != nil {
		return preflight.Findings{}, err
	}
	for failed := 0; ; {
		r.round++
		trial, logged, err := r.launch(ctx, machine)
		if err != nil {
			return preflight.Findings{}, err
		}
		if trial.State == coll.TrialDone {
			return preflight.Decode(trial.Answer)
		}
		if !logged {
			failed++
		}
		if failed >= r.campaign.Config.Attempts {
			return preflight.Findings{}, fmt.Errorf("%w: %s: the launch that reads the settings of the MPI library failed: %s", benchrunner.ErrNoStart, r.lib.Name, trial.Error)
		}
	}
}

func (r *settingsReader) machine(port mpi.Measurable, with []mpi.Var) (benchrunner.Runner, error) {
	kind := r.campaign.Config.Benchmark.Kind()
	program := &preflight.Program{Benchmark: executable(r.lib, kind), Library: port, Native: kind.BuiltIn}
	f := mpi.Forcing{Base: with, Env: with}
	machine, err := r.campaign.Machine(r.lib, program, func(coll.Candidate) (mpi.Forcing, error) { return f, nil })
	if err != nil {
		return nil, err
	}
	machine.RequireFirstStart()
	return machine, nil
}

// launch runs the launch of the current round, and returns its trial. `logged` reports whether an earlier process
// recorded the trial.
func (r *settingsReader) launch(ctx context.Context, machine benchrunner.Runner) (trial coll.Trial, logged bool, err error) {
	past, known := r.past.Round(r.round)
	batch := r.batch()
	request := &batch.Requests[0]
	request.Attempt = 1
	if known {
		for trial, err = range past.Trials() {
			if err != nil {
				return trial, false, err
			}
			request.Ended = true
		}
		batch.Jobs = past.Jobs()
	} else if err := r.append(journal.Record{Kind: journal.KindBatch, Batch: []coll.Candidate{request.Candidate}}); err != nil {
		return trial, false, err
	}
	if request.Ended && !slices.ContainsFunc(batch.Jobs, isOpen) {
		return trial, true, nil
	}
	batch.Until = r.campaign.Spec.Limits.Until(time.Now())
	err = machine.Run(ctx, batch, settingsLog{r, &trial})
	if errors.Is(err, benchrunner.ErrTimeUp) {
		err = fmt.Errorf("%w: stop.wall_time: %w before the launch that reads the settings of the MPI library began", benchrunner.ErrUnavailable, err)
	}
	return trial, request.Ended, err
}

// checkNeutral checks that the settings that select algorithms can be turned off. An argument of the launcher or a file
// of overriding parameters can outrank the environment.
func (r *settingsReader) checkNeutral(ctx context.Context, port mpi.Measurable, site *mpi.Site) error {
	off := site.Neutral(func(mpi.SiteSetting) bool { return false })
	if len(off) == 0 {
		return nil
	}
	found, err := r.find(ctx, port, off)
	if err != nil {
		return err
	}
	for _, s := range found.Settings {
		if s.Effect.Neutralised() {
			return fmt.Errorf("%w: %s: %v selects algorithms, and %s=%s does not turn it off: remove it from launcher_args or from the file", mpi.ErrSite, r.lib.Name, s, s.Name, s.Neutral)
		}
	}
	return nil
}

func isOpen(j coll.Job) bool { return j.State != coll.JobEnded }

// endOpen waits for the ends of launches that an earlier process began, and skips them. They had the environment of that
// process.
func (r *settingsReader) endOpen(ctx context.Context, port mpi.Measurable) error {
	if r.past == nil {
		return nil
	}
	machine, err := r.machine(port, nil)
	if err != nil {
		return err
	}
	for _, round := range r.past.Rounds {
		r.round = round.Number
		batch := r.batch()
		batch.Jobs, batch.Requests[0].Ended = round.Jobs(), true
		if slices.ContainsFunc(batch.Jobs, isOpen) {
			if err := machine.Run(ctx, batch, settingsLog{r, new(coll.Trial)}); err != nil && !errors.Is(err, benchrunner.ErrNoStart) {
				return err
			}
		}
	}
	r.round = r.past.Last()
	return nil
}

// batch returns the batch of the current round, without its jobs.
func (r *settingsReader) batch() benchrunner.Batch {
	request := benchrunner.Request{Candidate: coll.Candidate{Point: r.at, Algorithm: siteProbe}}
	return benchrunner.Batch{Label: r.lib.Name + "-" + string(journal.Preflight), Round: r.round, Requests: []benchrunner.Request{request}}
}

func (r *settingsReader) append(rec journal.Record) error {
	rec.Problem, rec.Round = journal.Problem{Library: r.lib.Name, Collective: journal.Preflight}, r.round
	return r.record(rec)
}

// settingsLog records the jobs and the trial of a launch that reads settings. It implements benchrunner.Log.
type settingsLog struct {
	reader *settingsReader
	trial  *coll.Trial
}

func (l settingsLog) Job(j coll.Job) error {
	return l.reader.append(journal.Record{Kind: journal.KindJob, Job: &j})
}

func (l settingsLog) Trial(t coll.Trial) error {
	*l.trial = t
	return l.reader.append(journal.Record{Kind: journal.KindTrial, Trial: &t})
}
