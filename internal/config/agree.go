package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// Auto is a value of model.kind and of stop.criteria_from: the configured method makes the choice. With
// model.kind "auto", the final model is the best model that the hyperparameter study finds. With the method
// FACT ("method: fact") it is always a forest.
const Auto = "auto"

// MeasuringModel returns the kind of model that the campaign uses while it measures. The final model may differ.
func (c *Campaign) MeasuringModel() learner.Model {
	if c.Model.Kind == Auto {
		return campaign.ModelFor(activelearn.StrategyOf(c.Method))
	}
	return learner.Model(c.Model.Kind)
}

// agree checks combinations of keys. It calls fault for keys that contradict each other.
func (c *Campaign) agree(fault func(key string, err error)) {
	c.agreeModel(fault)
	c.agreeWeights(fault)
	c.readUsers(fault)
	if !c.Runner.Live() {
		if len(c.Runner.Data) == 0 {
			fault("runner.data", errors.New("is missing: replay needs files of recorded measurements (CSV)"))
		}
		return
	}
	c.agreeLive(fault)
}

func (c *Campaign) readUsers(fault func(key string, err error)) {
	for i := range c.Libraries {
		lib := &c.Libraries[i]
		if len(lib.Algorithms) == 0 {
			continue
		}
		var err error
		if port, ok := libraries.Named(lib.Name); ok && !port.Facts().Preload {
			err = fmt.Errorf("%s: only libtutti loads algorithms of users", lib.Name)
		} else {
			lib.Users, err = libraries.Users(lib.Algorithms)
		}
		if err != nil {
			fault(fmt.Sprintf("libraries[%d].algorithms", i), err)
		}
	}
}

// agreeModel reports an error if the model cannot use the chosen scaling of times. The Poisson criterion needs
// values of 0 or more, but standardised times can be negative.
func (c *Campaign) agreeModel(fault func(key string, err error)) {
	if c.Model.Criterion == forest.Poisson.String() && c.Model.Scaling == string(preprocess.Standard) {
		fault("model.criterion", fmt.Errorf("%s: wants times of 0 or more, with model.scaling %s some are below: want %v, %v or %v",
			c.Model.Criterion, c.Model.Scaling, forest.SquaredError, forest.AbsoluteError, forest.FriedmanMSE))
	}
	if m := c.MeasuringModel(); m == learner.GaussianProcess && c.Model.Scaling != string(preprocess.AlgorithmLog10) {
		fault("model.scaling", fmt.Errorf("%s: model.kind %s wants %s; others are for model.kind %s", c.Model.Scaling, m, preprocess.AlgorithmLog10, learner.Forest))
	}
}

func (c *Campaign) agreeLive(fault func(key string, err error)) {
	facts := c.Runner.Facts()
	for _, axis := range []struct {
		key   string
		empty bool
	}{
		{"grid.nodes", len(c.Grid.Nodes) == 0}, {"grid.ppn", len(c.Grid.PPN) == 0}, {"grid.sizes", len(c.Grid.Sizes) == 0},
	} {
		if axis.empty {
			fault(axis.key, fmt.Errorf("is missing: with runner.kind %s nothing is recorded", c.Runner.Kind))
		}
	}
	if c.Runner.Topology != "" && len(c.Runner.Switches) > 0 {
		fault("runner.topology", errors.New("runner.switches also says which nodes share a switch: want one of them"))
	}
	if len(c.Runner.Data) > 0 {
		fault("runner.data", fmt.Errorf("is for replay, but runner.kind is %s", c.Runner.Kind))
	}
	if c.Stop.CriteriaFrom == string(activelearn.Reference) {
		fault("stop.criteria_from", fmt.Errorf("%s: with runner.kind %s there is no reference: want %s or %s", c.Stop.CriteriaFrom, c.Runner.Kind, activelearn.Predicted, activelearn.CrossValidated))
	}
	if c.Benchmark.MinSamples > c.Benchmark.MaxSamples {
		fault("benchmark.min_samples", fmt.Errorf("%d: want at most benchmark.max_samples, %d", c.Benchmark.MinSamples, c.Benchmark.MaxSamples))
	}
	if c.Runner.Hosts != "" && (!facts.Attached || facts.OneNode) {
		fault("runner.hosts", fmt.Errorf("runner.kind is %s: want allocation", c.Runner.Kind))
	}
	if facts.OneNode && !slices.Equal(c.Grid.Nodes, []int{1}) {
		fault("grid.nodes", fmt.Errorf("%v: with runner.kind %s there is one node: want [1]", c.Grid.Nodes, c.Runner.Kind))
	}
	for i, lib := range c.Libraries {
		key := fmt.Sprintf("libraries[%d]", i)
		if lib.Benchmark == "" {
			fault(key, fmt.Errorf("%s: benchmark is missing: want the program built with this library (tutti build benchmark), or the folder of several", lib.Name))
		}
		port, known := libraries.Named(lib.Name)
		if _, measurable := port.(mpi.Measurable); known && !measurable {
			fault(key, fmt.Errorf("%s cannot be measured here: import outputs of nccl-tests or rccl-tests (tutti import) and use runner.kind replay", port.Facts().Title))
		}
		if known && port.Facts().Preload && (lib.Path == "" || strings.ContainsAny(lib.Path, " :")) {
			fault(key, fmt.Errorf("%s: path %q: want that of the file that tutti build runtime has made, without blanks and colons", lib.Name, lib.Path))
		}
		if facts.Attached && !facts.OneNode && c.Runner.Order == string(coll.Cyclic) && cmp.Or(lib.Launcher, c.Runner.DefaultLauncher(lib)) == benchrunner.Hydra {
			fault(key, fmt.Errorf("launcher hydra deals ranks to all nodes of an allocation: runner.order %s wants srun there", coll.Cyclic))
		}
		if lib.Launcher == benchrunner.Srun && facts.Srun && c.Runner.Hosts != "" {
			fault(key, errors.New("launcher srun starts no programs on the nodes of runner.hosts: want hydra, mpirun or pals"))
		}
		if lib.Launcher == benchrunner.Srun && !facts.Srun {
			fault(key, fmt.Errorf("launcher srun needs Slurm, but runner.kind is %s: want hydra or mpirun", c.Runner.Kind))
		}
	}
}
