package campaign

import (
	"fmt"
	"hash/fnv"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/coll"
	"tutti/journal"
	"tutti/metrics"
	"tutti/selection"
	"tutti/surrogate/learner"
)

// Spec says how a problem is tuned.
type Spec struct {
	Seed     uint64
	Strategy string
	Initial  int // points of the initial design; 0: the strategy's default
	Batch    Batch
	Criteria activelearn.Criteria
	// CriteriaFrom says where the figures come from that are compared with the criteria.
	CriteriaFrom activelearn.Source
	Limits       activelearn.Limits // of one problem
	Metrics      metrics.Options
	Learner      learner.Options         // an empty Model means ModelFor
	Launch       benchrunner.LaunchModel // which candidates of a batch share a launch
	Folds        int                     // of the cross-validation
	Attempts     int                     // at a candidate before it is given up
	HPO          int                     // trials of the hyperparameter study; zero for none
	// NewStrategy makes the strategy; nil: activelearn.New.
	NewStrategy func(activelearn.Options) (activelearn.Strategy, error)
}

// SourceFor returns the default source of the figures that are compared with the criteria:
// predictions where the model has a posterior, cross-validation for strategies that measure whole
// points.
func SourceFor(strategy string) activelearn.Source {
	if ModelFor(strategy) == learner.GaussianProcess {
		return activelearn.Predicted
	}
	return activelearn.CrossValidated
}

// Batch is the size of batches. It grows with the number of measurements: early rounds learn much
// from few candidates, late rounds would retrain for little.
type Batch struct {
	Candidates int     // minimum of a round
	Growth     float64 // minimum as a share of the candidates measured so far
}

// Want returns the number of candidates of the next round.
func (b Batch) Want(measured int) int {
	return max(1, b.Candidates, int(b.Growth*float64(measured)))
}

// Problem is one library and collective with the machine to measure it on.
type Problem struct {
	journal.Problem
	Space  *coll.Space
	Runner benchrunner.Runner
	// Truth is a complete and noise-free set of measurements, nil if there is none. The report
	// compares the selection with it.
	Truth []coll.Measurement
	// ExhaustiveSeconds is the machine time of measuring every candidate, 0 if it is unknown.
	ExhaustiveSeconds float64
	// Weights of the points of the space, with mean 1; nil: all alike.
	Weights []float64
	// Earlier are measurements of the same problem by earlier campaigns, a slice of each, possibly
	// on another machine or of another release. All algorithms are in the space.
	Earlier      [][]coll.Measurement
	EarlierNames []string // names of the earlier campaigns
	// Fit merges the alternatives into rules of the library; nil: activelearn.Fastest.
	Fit func([]selection.Row) (activelearn.Selection, error)
	// Search says how the space may grow; nil: it does not grow.
	Search *Search
	// Observer, if not nil, decides when the measuring ends.
	Observer Observer
}

// Observer follows the loop of a problem for experiments. A campaign with an observer ends
// where the observer says so, or where a limit is reached.
type Observer interface {
	// Evaluated receives the evaluation of a round and whether the campaign would now end as
	// converged. selected returns what would be selected, a function of the points of the
	// space. It reports whether the campaign ends.
	Evaluated(e activelearn.Evaluation, converged bool, selected func() (activelearn.Choice, error)) (end bool, err error)
}

// merge returns the selection of rows that the library can be told.
func (p Problem) merge(rows []selection.Row) (activelearn.Selection, error) {
	if p.Fit == nil {
		return activelearn.Fastest(rows)
	}
	return p.Fit(rows)
}

// Weigh returns options in which each of some points of the space has its weight.
func (p Problem) Weigh(opt metrics.Options, points []coll.Point) metrics.Options {
	return activelearn.Weigh(opt, p.Space, p.Weights, points)
}

// weight returns the weight of a point, 0 outside the space. The problem must have weights.
func (p Problem) weight(point coll.Point) float64 {
	if at, ok := p.Space.Index(point); ok {
		return p.Weights[at]
	}
	return 0
}

// earlierPatience is the patience of campaigns that start from an earlier one: further rounds
// would cost more than they could still show.
const earlierPatience = 2

// criteria returns the criteria with the patience of a problem that has earlier campaigns.
func (p Problem) criteria(c activelearn.Criteria) activelearn.Criteria {
	if len(p.Earlier) > 0 {
		c.Patience = min(c.Patience, earlierPatience)
	}
	return c
}

// Log receives the records of a campaign. The campaign continues after Append returns.
type Log interface {
	Append(recs ...journal.Record) error
}

// Event is the progress of a problem.
type Event struct {
	Problem    journal.Problem
	Evaluation activelearn.Evaluation
	Stop       activelearn.StopReason // "" while measuring
	Phase      Phase
	Jobs       int // submitted and not ended
}

// Phase is the current activity of a problem.
type Phase string

// The phases of a problem.
const (
	PhaseMeasure Phase = "measuring"
	PhaseStudy   Phase = "tuning forests"
	PhaseEnd     Phase = "done"
)

// Result is the outcome of a problem.
type Result struct {
	Stop        activelearn.StopReason
	Rounds      int
	Ledger      *activelearn.Ledger
	Evaluations []activelearn.Evaluation
	Study       Study
	Warnings    []string
}

// problemSeed returns the seed of a problem, independent of those of other problems.
func problemSeed(seed uint64, p journal.Problem) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p.String()))
	return seed ^ h.Sum64()
}

// allowed returns what a selection may lose by the criteria.
func (s Spec) allowed() metrics.Allowed {
	return metrics.Allowed{
		Slowdown: s.Criteria.Slowdown - 1, Mistakes: s.Criteria.Mistakes, Threshold: s.Metrics.MistakeThreshold,
	}.WithDefaults()
}

// sharedLaunch is equal for candidates that one launch measures; nil where each needs its own.
func (s Spec) sharedLaunch() func(coll.Candidate) any {
	if s.Launch != benchrunner.LaunchOSU && s.Launch != benchrunner.LaunchNative {
		return nil
	}
	return func(c coll.Candidate) any { return s.Launch.Key(c) }
}

// forProblem returns the spec of one problem, with its own seed and model.
func (s Spec) forProblem(p Problem) Spec {
	s.Seed = problemSeed(s.Seed, p.Problem)
	s.Learner.Forest.Seed = s.Seed
	if s.Learner.Model == "" {
		s.Learner.Model = ModelFor(s.Strategy)
	}
	s.Learner.Allowed = s.allowed()
	if p.Weights != nil {
		s.Learner.Weight = p.weight
	}
	return s
}

// ModelFor returns the default model of a strategy. Forests learn little from the single
// candidates that regret selects.
func ModelFor(strategy string) learner.Model {
	if activelearn.UsesPosterior(strategy) {
		return learner.GaussianProcess
	}
	return learner.Forest
}

func (p Problem) validate(s Spec) error {
	if s.CriteriaFrom == activelearn.Reference && p.Truth == nil {
		return fmt.Errorf("%s: the criteria are compared with a reference, but there is none", p.Problem)
	}
	if p.Space == nil || p.Space.Size() == 0 {
		return fmt.Errorf("%s: nothing to measure: the grid, the catalogue and the machine have no candidate in common", p.Problem)
	}
	return nil
}
