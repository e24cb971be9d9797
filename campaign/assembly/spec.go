package assembly

import (
	"fmt"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/internal/config"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

func specOf(c *config.Campaign) (campaign.Spec, error) {
	criterion, err := forest.ParseCriterion(c.Model.Criterion)
	if err != nil {
		return campaign.Spec{}, fmt.Errorf("model.criterion: %w", err)
	}
	return campaign.Spec{
		Seed:         c.Seed,
		Strategy:     c.Strategy.Name,
		Initial:      c.Strategy.Initial,
		Batch:        campaign.Batch{Candidates: c.Strategy.Batch, Growth: c.Strategy.Growth},
		Criteria:     activelearn.Criteria{Slowdown: c.Stop.Slowdown, Mistakes: c.Stop.Mistakes, Patience: c.Stop.Patience},
		CriteriaFrom: activelearn.Source(c.Stop.CriteriaFrom),
		Limits:       activelearn.Limits{Wall: c.Stop.WallTime},
		Metrics:      metrics.Options{MistakeThreshold: c.Stop.MistakeThreshold},
		Launch:       launchModel(c),
		Learner: learner.Options{
			Model:   learner.Model(c.Model.Kind),
			Scaling: preprocess.Scaling(c.Model.Scaling),
			Forest: forest.Options{
				Trees: c.Model.Trees, Criterion: criterion, MaxDepth: c.Model.MaxDepth, MinSplit: c.Model.MinSplit,
				MinLeaf: c.Model.MinLeaf, MaxFeatures: c.Model.MaxFeatures,
				Workers: 1, // several problems run at the same time instead
			},
		},
		Folds:    c.Model.Folds,
		Attempts: c.Attempts,
		HPO:      c.HPO.Trials,
	}, nil
}

// launchModel returns what one launch of the benchmark program measures: native switches
// algorithms while it runs, the others only sweep message sizes.
func launchModel(c *config.Campaign) benchrunner.LaunchModel {
	switch {
	case !c.Runner.Live():
		return benchrunner.LaunchModel(c.Runner.Launch.Model)
	case c.Benchmark.Program == "native":
		return benchrunner.LaunchNative
	}
	return benchrunner.LaunchOSU
}
