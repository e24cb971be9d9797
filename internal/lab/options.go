package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// Options configure replays of recorded data.
type Options struct {
	Noise    float64                // relative lognormal noise of each replayed time
	Tail     float64                // probability of an outlier; see replay.Noise
	JobNoise float64                // relative lognormal noise that all times of a round share
	Launch   benchrunner.LaunchCost // price of launches
	Scaling  preprocess.Scaling
	Criteria activelearn.Criteria
	Batch    campaign.Batch
	Trees    int           // number of trees of each forest
	Workers  int           // replays at the same time; never changes a result
	Model    learner.Model // empty: campaign.ModelFor chooses
	// If Selected is set, a campaign is evaluated by the selection that it would write for the library. Such a
	// selection uses measured times where they exist, and predictions elsewhere. All strategies then begin
	// with the same points as the strategy "regret".
	Selected bool
}

// DefaultOptions returns options with the stopping criteria of section IV-B of Wilkins et al. (ExaMPI 2021), which
// must hold for three consecutive evaluations. The noise is 2 %. Medians of repeated jobs on shared clusters differ
// by about this much.
func DefaultOptions() Options {
	return Options{
		Noise:    0.02,
		Launch:   benchrunner.LaunchCost{Model: benchrunner.LaunchCandidate},
		Scaling:  preprocess.DefaultScaling,
		Criteria: activelearn.Criteria{Slowdown: 1.03, Mistakes: 0.05, Patience: 3},
		Batch:    campaign.Batch{Candidates: 8, Growth: 0.05},
		Trees:    100,
		Workers:  1,
	}
}

// Validate returns all faults of the options in one error.
func (o Options) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	c := o.Criteria
	fault(!(c.Slowdown > 1), "slowdown %g: want a number above 1", c.Slowdown)
	fault(!(c.Mistakes > 0 && c.Mistakes <= 1), "mistakes %g: want a number above 0, 1 at most", c.Mistakes)
	fault(c.Patience < 1, "patience %d: want 1 or more", c.Patience)
	fault(o.Batch.Candidates < 1, "batch %d: want 1 or more", o.Batch.Candidates)
	fault(!(o.Batch.Growth >= 0 && o.Batch.Growth <= 1), "growth %g: want a number from 0 to 1", o.Batch.Growth)
	if o.Model != "" {
		faults = append(faults, o.Model.Validate())
	}
	fault(o.Trees < 1, "trees %d: want 1 or more", o.Trees)
	fault(o.Workers < 1, "workers %d: want 1 or more", o.Workers)
	if _, err := parseLaunchModel(string(o.Launch.Model)); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(append(faults, o.Scaling.Validate(), o.replay(0).Validate())...)
}

// ParseStrategies splits a list of names at commas. Each name is a strategy or one of Contenders (strategies
// with a stopping rule or model of their own). A name that is unknown or repeated is an error.
func ParseStrategies(list string) ([]string, error) {
	var out []string
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if _, err := (strategies{name: contenderOf(name).strategy}).new(activelearn.Options{}); err != nil {
			return nil, fmt.Errorf("%w, or %s", err, strings.Join(Contenders(), ", "))
		}
		if slices.Contains(out, name) {
			return nil, fmt.Errorf("strategy %s is given twice", name)
		}
		out = append(out, name)
	}
	return out, nil
}

// LaunchNone is the name of launches that cost nothing.
const LaunchNone = "none"

func parseLaunchModel(name string) (benchrunner.LaunchModel, error) {
	if m := benchrunner.LaunchModel(name); slices.Contains(benchrunner.LaunchModels(), m) {
		return m, nil
	}
	return "", fmt.Errorf("launch model %q: want one of %s", name, strings.Join(coll.Words(benchrunner.LaunchModels()), ", "))
}

// ParseLaunches parses a list of names, separated by commas, and returns the cost of launches for each. A
// name is LaunchNone or a launch model. `seconds` is the cost of one launch.
func ParseLaunches(list string, seconds float64) ([]benchrunner.LaunchCost, error) {
	var out []benchrunner.LaunchCost
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		l := benchrunner.LaunchCost{Model: benchrunner.LaunchCandidate}
		if name != LaunchNone {
			model, err := parseLaunchModel(name)
			if err != nil {
				return nil, fmt.Errorf("%w, or %s", err, LaunchNone)
			}
			l = benchrunner.LaunchCost{Model: model, Seconds: seconds}
			if !(seconds > 0) {
				return nil, fmt.Errorf("launch %s costs %g s: want more than 0", name, seconds)
			}
		}
		if slices.Contains(out, l) {
			return nil, fmt.Errorf("launch %s is given twice", name)
		}
		out = append(out, l)
	}
	return out, nil
}

// LaunchName returns the name for which ParseLaunches returns this cost.
func LaunchName(l benchrunner.LaunchCost) string {
	switch {
	case l.Seconds == 0 && l.SecondsPerNode == 0:
		return LaunchNone
	case l.Model == "":
		return string(benchrunner.LaunchCandidate)
	}
	return string(l.Model)
}

// Seeds returns n consecutive seeds, beginning with first.
func Seeds(first uint64, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = first + uint64(i)
	}
	return out
}

func (o Options) replay(seed uint64) replay.Options {
	return replay.Options{Seed: seed, Noise: replay.Noise{Sigma: o.Noise, TailProbability: o.Tail}, JobNoise: o.JobNoise, Launch: o.Launch}
}

func (o Options) learner(s preprocess.Scaling, seed uint64) learner.Options {
	return learner.Options{Scaling: s, Forest: forest.Options{Trees: o.Trees, Seed: seed, Workers: 1}}
}

// learnerFor returns the options of the learner that models the measurements of this strategy.
func (o Options) learnerFor(strategy string, seed uint64) learner.Options {
	l := o.learner(o.Scaling, seed)
	l.Model = o.Model
	if l.Model == "" {
		l.Model = campaign.ModelFor(strategy)
	}
	return l
}
