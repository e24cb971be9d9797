package campaign

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/coll"
	"tutti/hpo"
	"tutti/journal"
	"tutti/metrics"
	"tutti/selection"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// Spec contains the settings with which a campaign tunes each of its problems.
type Spec struct {
	Seed         uint64
	Strategy     string
	Initial      int // number of points of the first batch; 0 means the strategy's default
	Batch        Batch
	Criteria     activelearn.Criteria
	CriteriaFrom activelearn.Source // what is compared with the stopping criteria
	Limits       activelearn.Limits // for each problem
	Metrics      metrics.Options
	Learner      learner.Options         // an empty Model means ModelFor
	Launch       benchrunner.LaunchModel // decides which candidates of a batch share a launch
	Folds        int                     // number of folds of the cross-validation
	Attempts     int                     // failed attempts after which a candidate is given up
	HPO          int                     // number of trials of the hyperparameter study; 0 means no study
	Guard        bool                    // files select only what was measured faster than the library's default
	Confirm      float64                 // limit of the machine time of confirmation, see Confirm; 0: none
	Auto         bool                    // the hyperparameter study chooses the final model: a forest or the Gaussian process
	// NewStrategy creates the strategy; nil means activelearn.New.
	NewStrategy func(activelearn.Options) (activelearn.Strategy, error)
}

// SourceFor returns the default of Spec.CriteriaFrom. It is Predicted if the strategy's model has a
// posterior, and CrossValidated otherwise.
func SourceFor(strategy string) activelearn.Source {
	if ModelFor(strategy) == learner.GaussianProcess {
		return activelearn.Predicted
	}
	return activelearn.CrossValidated
}

// Batch determines the number of candidates in a batch. This number grows with the number of measurements,
// because later rounds learn less from each candidate.
type Batch struct {
	Candidates int     // minimum number of candidates
	Growth     float64 // minimum as a fraction of the number of measured candidates
}

// Want returns how many candidates the next round should measure after `measured` measurements.
func (b Batch) Want(measured int) int {
	return max(1, b.Candidates, int(b.Growth*float64(measured)))
}

// Problem is one collective of one library, together with the machine that measures it.
type Problem struct {
	journal.Problem
	Space  *coll.Space
	Runner benchrunner.Runner
	Start  benchrunner.Start  // settings with which programs start; nil: the same for all candidates
	Truth  []coll.Measurement // complete, without noise; the report compares the selection with it; nil: unknown
	// Unsafe lists algorithms that could run but give wrong results for some valid calls. They are not
	// candidates. UnsafeTruth has their recorded times; it is nil on a real machine.
	Unsafe            []string
	UnsafeTruth       []coll.Measurement
	ExhaustiveSeconds func([]coll.Candidate) float64 // machine time that measuring all these would take; nil: unknown
	Weights           []float64                      // of the space's points, with mean 1; nil means equal weights
	MeanWeight        float64                        // of its points before that: how much the collective counts compared with others; 0 means 1
	// Earlier has measurements of the same problem, one slice for each earlier campaign. They may be from
	// another machine or release. The space contains all their algorithms.
	Earlier      [][]coll.Measurement
	EarlierNames []string        // names of the earlier campaigns
	Forest       *forest.Options // the best hyperparameters of an earlier campaign, in place of Learner.Forest; may be nil
	// Merge makes selection rules from the times of the algorithms at each point. The library must be able to
	// express the rules. A nil Merge means activelearn.Fastest.
	Merge    func([]selection.Row) (activelearn.Selection, error)
	Bands    int      // see activelearn.Alternatives.ForLayouts
	Search   *Search  // lets the space grow; nil means that it does not grow
	Observer Observer // decides when the campaign stops measuring; may be nil
}

// Observer follows the loop of a problem in experiments. A campaign with an observer ends when the
// observer ends it, or at a limit.
type Observer interface {
	// Evaluated receives the evaluation of a round and whether a campaign without observer would end now.
	// The function `selected` returns the selection that the campaign would make now. The result `end` says
	// whether the campaign ends.
	Evaluated(e activelearn.Evaluation, converged bool, selected func() (activelearn.Choice, error)) (end bool, err error)
}

// merge makes selection rules from `rows`, the times of the algorithms at each point.
func (p Problem) merge(rows []selection.Row) (activelearn.Selection, error) {
	if p.Merge == nil {
		return activelearn.Fastest(rows)
	}
	return p.Merge(rows)
}

// Weigh returns a copy of `opt` with the weights of the given points. All points must be in the space.
func (p Problem) Weigh(opt metrics.Options, points []coll.Point) metrics.Options {
	return activelearn.Weigh(opt, p.weight(), points)
}

// weight returns a function that returns the weight of a point. It returns nil if all weights are equal. A
// message size between two neighboring sizes of the space has the weight of the smaller one. Other points
// outside the space have weight 0.
func (p Problem) weight() coll.Weight {
	if p.Weights == nil {
		return nil
	}
	points := p.Space.Points()
	return func(point coll.Point) float64 {
		at, found := slices.BinarySearchFunc(points, point, coll.ComparePoints)
		switch {
		case found:
			return p.Weights[at]
		case at > 0 && at < len(points) && points[at-1].WithSize(0) == point.WithSize(0) && points[at].WithSize(0) == point.WithSize(0):
			return p.Weights[at-1]
		}
		return 0
	}
}

// Log stores the records of a campaign. The campaign takes its next step after Append returns.
type Log interface {
	Append(recs ...journal.Record) error
}

// Event reports progress in tuning one problem, such as the beginning of a phase.
type Event struct {
	Problem    journal.Problem
	Evaluation activelearn.Evaluation // of the latest round; its slowdown is 0 if the round has no evaluation
	Stop       activelearn.StopReason // "" while measuring
	Phase      Phase
	Jobs       int // number of jobs that are submitted and have not ended
}

// Phase is what the campaign is doing for a problem at the moment, for example measuring.
type Phase string

// The phases of a problem.
const (
	PhaseMeasure Phase = "measuring"
	PhaseConfirm Phase = "confirming"
	PhaseStudy   Phase = "tuning forests"
	PhaseCompare Phase = "comparing models" // the configured forest with the Gaussian process
	PhaseEnd     Phase = "done"
)

// Result is what tuning one problem has led to.
type Result struct {
	Stop        activelearn.StopReason
	Rounds      int
	Ledger      *activelearn.Ledger
	Evaluations []activelearn.Evaluation
	Files       *activelearn.Evaluation // of the files' selection, predicted after confirmation; nil if unknown
	Study       hpo.Study
	Warnings    []string
}

// problemSeed returns the seed for one problem, which does not depend on the other problems of the campaign.
func problemSeed(seed uint64, p journal.Problem) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p.String()))
	return seed ^ h.Sum64()
}

// allowed returns the slowdown and the mistakes that the stopping criteria permit.
func (s Spec) allowed() metrics.Allowed {
	return metrics.Allowed{
		Slowdown: s.Criteria.Slowdown - 1, Mistakes: s.Criteria.Mistakes, Threshold: s.Metrics.MistakeThreshold,
	}.WithDefaults()
}

// sharedLaunch returns a function that says which candidates of a problem can share a launch: those for which it
// returns equal keys. The result is nil if each candidate needs its own launch.
func (s Spec) sharedLaunch(p Problem) func(coll.Candidate) any {
	if s.Launch != benchrunner.LaunchOSU && s.Launch != benchrunner.LaunchNative {
		return nil
	}
	return func(c coll.Candidate) any { return s.Launch.Key(c, p.Start) }
}

// forProblem returns the spec of one problem, with the problem's seed, model and weights.
func (s Spec) forProblem(p Problem) Spec {
	s.Seed = problemSeed(s.Seed, p.Problem)
	if p.Forest != nil {
		s.Learner.Forest = *p.Forest
	}
	s.Learner.Forest.Seed = s.Seed
	s.Learner.Model = s.Model()
	s.Learner.Allowed = s.allowed()
	s.Learner.Weight = p.weight()
	s.Limits = s.learningLimits()
	return s
}

// learningLimits returns the limits of learning, which leave the budget of confirmation. A limit of wall time never becomes
// 0, because 0 means no limit.
func (s Spec) learningLimits() activelearn.Limits {
	out := s.Limits
	if s.Guard {
		out.MachineSeconds /= 1 + s.Confirm
		out.NodeSeconds /= 1 + s.Confirm
		out.Wall = time.Duration(math.Ceil(float64(out.Wall) / (1 + s.Confirm)))
	}
	return out
}

// Model returns the model of the campaign: Learner.Model if it is set, otherwise the default of the strategy.
func (s Spec) Model() learner.Model { return cmp.Or(s.Learner.Model, ModelFor(s.Strategy)) }

// ModelFor returns the default model of a strategy. It is the Gaussian process if the strategy uses a
// posterior, otherwise the forest.
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
