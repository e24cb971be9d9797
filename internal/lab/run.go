package lab

import (
	"context"
	"math"
	"slices"
	"time"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/journal"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// Quality contains the metrics of a selection over all points of a data set. The selection is compared with the
// recorded times.
type Quality struct {
	metrics.Summary
	Exact float64  `json:"exact"` // proportion of the points at which the selection is the fastest algorithm, without ties
	R2    *float64 `json:"r2"`    // null when the targets do not vary
}

// Outcome is the result of one replay: a data set, a strategy and a seed. The fields from MachineSeconds to Rounds
// describe the state when the replay converged, or its last evaluation if Converged is false.
type Outcome struct {
	Replay
	Real           bool    `json:"real,omitzero"` // measured on a real machine
	Converged      bool    `json:"converged"`
	MachineSeconds float64 `json:"machine_seconds"`
	MachineShare   float64 `json:"machine_share"` // share of measuring every candidate once, in one batch
	PointShare     float64 `json:"point_share"`   // share of measured candidates
	Slowdown       float64 `json:"slowdown"`
	Accuracy       float64 `json:"accuracy"`
	Mistakes       float64 `json:"mistakes"`
	Rounds         int     `json:"rounds"`
	WallSeconds    float64 `json:"wall_seconds"` // the only field that does not depend on design and options alone
	Stop           string  `json:"stop"`         // why the replay ended
	Points         int     `json:"points"`
	Candidates     int     `json:"candidates"`
}

// entry is one replay of a design: a campaign with the given strategy and seed. Its measurements are not made
// but come from a set of recorded measurements.
type entry struct {
	set      Set
	strategy string
	seed     uint64
}

// replay returns the key under which result files store this replay of the entry.
func (e entry) replay(opt Options) Replay {
	return Replay{e.set.Data, string(e.set.Collective), e.strategy, LaunchName(opt.Launch), e.seed, opt.Noise, opt.Tail}
}

// run simulates the campaign of an entry with recorded measurements, once for each cost of launches. If the
// strategy ignores costs, run simulates it only once. It then computes the outcomes for other costs from this
// simulation. A simulation ends when the stopping criteria hold or all candidates are measured.
func (e entry) run(ctx context.Context, launches []benchrunner.LaunchCost, opt Options) ([]Outcome, error) {
	contender := contenderOf(e.strategy)
	if contender.ownStop {
		return e.runOwnStop(ctx, launches, opt)
	}
	opt = contender.options(opt)
	var out []Outcome
	var res campaign.Result
	var converged bool
	for i, launch := range launches {
		began := time.Now()
		opt.Launch = launch
		var err error
		if i == 0 || !ignoresCosts(contender.strategy) {
			res, converged, err = e.replayed(ctx, opt)
		} else {
			res, err = repriced(ctx, e.set, res, opt.replay(e.seed))
		}
		if err != nil {
			return nil, err
		}
		o, err := e.outcome(res, opt)
		if err != nil {
			return nil, err
		}
		o.Converged = converged
		o.WallSeconds = time.Since(began).Seconds()
		out = append(out, o)
	}
	return out, nil
}

// ignoresCosts reports whether a strategy selects the same candidates whatever launches cost.
func ignoresCosts(strategy string) bool {
	return slices.Contains([]string{"random", "uncertainty", "trees", "weights"}, strategy)
}

// repriced returns the result that the replay `res` would have with other costs of launches. It measures the
// batches of `res` again and replaces the costs in the evaluations.
func repriced(ctx context.Context, s Set, res campaign.Result, opt replay.Options) (campaign.Result, error) {
	machine, err := s.machine(opt)
	if err != nil {
		return campaign.Result{}, err
	}
	ledger := activelearn.NewLedger(s.Space)
	ms := res.Ledger.Measurements()
	res.Evaluations = slices.Clone(res.Evaluations)
	for i := range res.Evaluations {
		e := &res.Evaluations[i]
		batch, err := measure(ctx, machine, e.Round, candidates(ms[ledger.CandidatesMeasured():e.Trials]))
		if err != nil {
			return campaign.Result{}, err
		}
		if err := recordAll(ledger, batch); err != nil {
			return campaign.Result{}, err
		}
		e.MachineSeconds, e.NodeSeconds = ledger.CostSeconds(), ledger.NodeSeconds()
	}
	res.Ledger = ledger
	return res, nil
}

func (e entry) outcome(res campaign.Result, opt Options) (Outcome, error) {
	s := e.set
	exhaustive, err := s.Exhaustive(opt.Launch)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{
		Replay: e.replay(opt), Real: s.Real, Stop: string(res.Stop),
		Points: len(s.Space.Points()), Candidates: s.Space.Size(),
	}
	end := res.Evaluations[len(res.Evaluations)-1]
	o.Rounds = end.Round
	o.MachineSeconds, o.MachineShare, o.PointShare = end.MachineSeconds, end.MachineSeconds/exhaustive, end.CandidateShare
	o.Slowdown, o.Accuracy, o.Mistakes = end.Slowdown, end.Accuracy, end.Mistakes
	return o, nil
}

// replayed runs a campaign on recorded data. It evaluates the stopping criteria with the recorded times of all
// candidates. The result `converged` is false if they did not hold in Criteria.Patience successive evaluations.
func (e entry) replayed(ctx context.Context, opt Options) (res campaign.Result, converged bool, err error) {
	problem, err := e.problem(opt)
	if err != nil {
		return res, false, err
	}
	observer := &referenceObserver{set: e.set, opt: opt, watch: activelearn.NewWatch(opt.Criteria)}
	spec := opt.spec(e)
	spec.CriteriaFrom, problem.Observer = activelearn.Reference, observer
	if newStrategy := spec.NewStrategy; contenderOf(e.strategy).ownModel {
		spec.NewStrategy = func(o activelearn.Options) (activelearn.Strategy, error) {
			s, err := newStrategy(o)
			observer.own, _ = s.(chooser)
			return s, err
		}
	}
	res, err = campaign.Run(ctx, spec, problem, nil, nil, nil)
	res.Evaluations = observer.evaluations
	return res, observer.converged, err
}

// referenceObserver is an observer that ends a replay when the selection has met the stopping criteria, judged by
// the recorded times. It must have met them in Criteria.Patience successive evaluations.
type referenceObserver struct {
	set         Set
	opt         Options
	watch       *activelearn.Watch
	evaluations []activelearn.Evaluation // of the selection if Options.Selected is set
	converged   bool
	own         chooser // makes the evaluated selection; nil: the campaign's model does
}

// Evaluated implements campaign.Observer. It evaluates the selection against the recorded times if
// Options.Selected is set or the strategy selects by itself. The replay ends when the stopping criteria hold.
func (w *referenceObserver) Evaluated(e activelearn.Evaluation, _ bool, selected func() (activelearn.Choice, error)) (bool, error) {
	if w.own != nil {
		selected = w.own.choose
	}
	if w.opt.Selected || w.own != nil {
		choose, err := selected()
		if err != nil {
			return false, err
		}
		s, err := w.set.quality(choose)
		if err != nil {
			return false, err
		}
		e.EvaluatedPoints, e.Slowdown, e.Accuracy, e.Mistakes = s.Points, s.Slowdown, s.Accuracy, s.Mistakes
		e.P95Slowdown, e.WorstSlowdown = s.P95, s.Worst
	}
	w.evaluations = append(w.evaluations, e)
	w.converged = w.watch.ObserveAll(metrics.Summary{Points: e.EvaluatedPoints, Slowdown: e.Slowdown, Mistakes: e.Mistakes})
	return w.converged, nil
}

// spec returns the settings of the campaign that replays an entry. CriteriaFrom remains to be set.
func (o Options) spec(e entry) campaign.Spec {
	strategy := contenderOf(e.strategy).strategy
	return campaign.Spec{
		Seed: e.seed, Strategy: strategy, Batch: o.Batch, Criteria: o.Criteria,
		NewStrategy: strategies{strategy, o.Trees, o.Selected}.new,
		Learner:     o.learnerFor(strategy, e.seed), Attempts: 1, Launch: o.Launch.Model,
	}
}

// problem returns the tuning problem that a replay solves: the space and the true times of the entry's data
// set, and a simulated machine that answers with the recorded times.
func (e entry) problem(opt Options) (campaign.Problem, error) {
	machine, err := e.set.machine(opt.replay(e.seed))
	if err != nil {
		return campaign.Problem{}, err
	}
	return campaign.Problem{
		Problem: journal.Problem{Library: e.set.Data, Collective: e.set.Collective},
		Space:   e.set.Space, Runner: machine, Truth: e.set.Truth, Search: campaign.SearchRecorded(machine.Space(), e.set.Space),
	}, nil
}

// firstShare returns the first measurements that make up at least the given share of the data set's candidates. It
// includes all algorithms of the last point.
func firstShare(ms []coll.Measurement, s Set, share float64) []coll.Measurement {
	n := min(len(ms), max(1, int(math.Ceil(share*float64(s.Space.Size())))))
	for n < len(ms) && ms[n].Point == ms[n-1].Point {
		n++
	}
	return ms[:n]
}

// data returns the given measurements of the data set as training data for a model.
func (s Set) data(ms []coll.Measurement) learner.Data {
	return learner.Data{Measurements: slices.Values(ms), Missing: s.missing(ms)}
}

// missing returns a function that lists the unmeasured algorithms at a point of the data set.
func (s Set) missing(ms []coll.Measurement) func(coll.Point) []coll.Algorithm {
	measured := make(map[coll.Candidate]bool, len(ms))
	for _, m := range ms {
		measured[m.Candidate] = true
	}
	return func(p coll.Point) []coll.Algorithm {
		i, ok := s.Space.Index(p)
		if !ok {
			return nil
		}
		var out []coll.Algorithm
		for _, c := range s.Space.At(i) {
			if !measured[c] {
				out = append(out, c.Algorithm)
			}
		}
		return out
	}
}

func totalCost(ms []coll.Measurement) float64 {
	sum := 0.0
	for _, m := range ms {
		sum += m.CostSeconds
	}
	return sum
}

// qualityOf trains a model on the measurements in `train`. It returns how good the model's selection is, judged
// by the recorded times.
func qualityOf(s Set, train []coll.Measurement, opt learner.Options) (Quality, error) {
	l, err := learner.Fit(s.data(train), opt)
	if err != nil {
		return Quality{}, err
	}
	compared, err := l.Compare(s.Truth)
	if err != nil {
		return Quality{}, err
	}
	sum, err := metrics.Summarize(compared.Slowdowns, metrics.Options{})
	if err != nil {
		return Quality{}, err
	}
	q := Quality{Summary: sum}
	for _, slowdown := range compared.Slowdowns {
		if slowdown <= 1 {
			q.Exact += 1 / float64(len(compared.Slowdowns))
		}
	}
	if r2, err := compared.R2(coll.Algorithm{}); err == nil {
		q.R2 = &r2
	}
	return q, nil
}
