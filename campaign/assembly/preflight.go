package assembly

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	forced   []mpi.Var // variables with which launches force algorithms
	round    int       // of the last launch
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
			found, err := preflight.Decode(trial.Answer)
			found.Settings = r.campaign.Config.WithSources(found.Settings, r.lib, r.campaign.shell, found.Modules)
			return found, err
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
	var names []string
	for _, v := range slices.Concat(r.forced, with) {
		names = append(names, v.Name)
	}
	file := cmp.Or(kind.File(r.lib.Benchmark), r.lib.Benchmark) // of a folder of programs one, or the folder if it has none here
	program := &preflight.Program{Benchmark: file, Library: port, Native: kind.BuiltIn, Variables: names}
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

// checkForcing checks that the variables that force algorithms reach the ranks, and that the settings that select
// algorithms can be turned off. An argument of the launcher, a file that it names, a wrapper, or a file of overriding
// parameters can outrank the environment. `found` is what a launch without these variables found. Another launch has them
// only if one of them has another value there, or a setting must be turned off.
func (r *settingsReader) checkForcing(ctx context.Context, port mpi.Measurable, site *mpi.Site, found preflight.Findings) error {
	with := site.Neutral(func(mpi.SiteSetting) bool { return false })
	for _, v := range r.forced {
		at := slices.IndexFunc(with, func(o mpi.Var) bool { return o.Name == v.Name })
		if value, ok := found.Variables[v.Name]; ok && value != v.Value && at < 0 {
			with = append(with, v)
		}
	}
	if len(with) == 0 {
		return nil
	}
	found, err := r.find(ctx, port, with)
	if err != nil {
		return err
	}
	for _, s := range found.Settings {
		if s.Effect.Neutralised() {
			return fmt.Errorf("%w: %s: %v selects algorithms, and %s=%s does not turn it off: %s", mpi.ErrSite, r.lib.Name, s, s.Name, s.Neutral, r.remedy(s.Name))
		}
	}
	for _, v := range with {
		if value := found.Variables[v.Name]; value != v.Value {
			return fmt.Errorf("%w: %s: the launcher gives the ranks %s=%s, and outranks the environment, whose %[3]s=%[5]s forces algorithms: %[6]s",
				mpi.ErrSite, r.lib.Name, v.Name, value, v.Value, r.remedy(v.Name))
		}
	}
	return nil
}

// remedy says where a variable that outranks the environment is to be removed.
func (r *settingsReader) remedy(variable string) string {
	for _, a := range r.lib.LauncherArgs {
		if name := strings.TrimPrefix(variable, "OMPI_MCA_"); strings.Contains(a, name) {
			return "remove " + name + " from launcher_args"
		}
	}
	return "remove it from a file that launcher_args or the site names, or from the launcher, if it is a script"
}

// forcedVariables returns the environment variables with which launches of a library force algorithms, each value once.
// Variables with files are left out.
func (c *Campaign) forcedVariables(lib config.Library) []mpi.Var {
	release := c.releases[lib.Name]
	var out []mpi.Var
	for _, p := range c.Problems {
		seen := map[string]bool{}
		for candidate := range p.Space.All() {
			if p.Library != lib.Name || seen[candidate.Algorithm.String()] {
				continue
			}
			seen[candidate.Algorithm.String()] = true
			f, err := mpi.Force(release.port, release.cat, candidate)
			if err != nil {
				continue // measuring reports it
			}
			vars := f.Env
			if c.Config.Benchmark.Kind().BuiltIn {
				vars = f.Base
			}
			out = append(out, vars...)
		}
	}
	out = slices.DeleteFunc(out, func(v mpi.Var) bool { return v.File != nil })
	slices.SortFunc(out, func(a, b mpi.Var) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value)) })
	return slices.CompactFunc(out, func(a, b mpi.Var) bool { return a.Name == b.Name && a.Value == b.Value })
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
