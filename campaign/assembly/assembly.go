package assembly

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/campaign"
	"tutti/internal/config"
	"tutti/journal"
)

// Campaign is a campaign with its problems and, once connected, its machines.
type Campaign struct {
	Config   *config.Campaign
	Spec     campaign.Spec
	Problems []campaign.Problem // in the configured order of libraries, then of collectives
	Warnings []string

	// Notice, if set before Connect, receives the errors of a scheduler that does not answer,
	// every few seconds. Several goroutines may call it at the same time.
	Notice func(error)

	unmeasurable []LeftOut // problems that the benchmark program cannot measure

	// Of a connected campaign on a real machine.
	id        string
	scheduler benchrunner.Scheduler
	machines  []*live.Machine // by library
}

// ErrInput is matched by errors in campaign files, recorded data and journals.
var ErrInput = errors.New("bad input")

// inputError matches ErrInput and has the message of its cause.
type inputError struct{ error }

func (e inputError) Unwrap() error        { return e.error }
func (e inputError) Is(target error) bool { return target == ErrInput }

// input makes an error match ErrInput.
func input(err error) error {
	if err == nil {
		return nil
	}
	return inputError{err}
}

// New returns a campaign with its problems, from recorded data for a replay. It reads the trace
// and the topology that cfg names into cfg. A collective that the benchmark program cannot measure
// gives a warning instead of a problem. Errors match ErrInput.
func New(cfg *config.Campaign) (*Campaign, error) {
	if err := readFiles(cfg); err != nil {
		return nil, input(err)
	}
	return build(cfg, &journal.State{})
}

// build returns a campaign; past is the state of its journal.
func build(cfg *config.Campaign, past *journal.State) (*Campaign, error) {
	spec, err := specOf(cfg)
	if err != nil {
		return nil, input(err)
	}
	c := &Campaign{Config: cfg, Spec: spec}
	if err := c.addProblems(); err != nil {
		return nil, input(err)
	}
	if err := c.dropUnmeasurable(past); err != nil {
		return nil, input(err)
	}
	if err := c.setWeights(); err != nil {
		return nil, input(err)
	}
	c.addEarlier()
	share := 1 / float64(len(c.Problems))
	c.Spec.Limits.MachineSeconds = cfg.Stop.MachineTime.Seconds() * share
	c.Spec.Limits.NodeSeconds = cfg.Stop.NodeHours * 3600 * share
	return c, nil
}

// Restore returns the campaign of a journal that is now in the folder dir.
func Restore(contents *journal.Contents, dir string) (*Campaign, error) {
	cfg, err := config.Restore(contents.Header.Spec, dir)
	if err != nil {
		return nil, input(fmt.Errorf("journal of %s: %w", dir, err))
	}
	c, err := build(cfg, contents.State())
	if err != nil {
		return nil, fmt.Errorf("campaign of %s: %w", dir, err)
	}
	return c, nil
}

// In returns a copy of the campaign that is not connected and whose folder is dir, for other
// measurements on the same machine.
func (c *Campaign) In(dir string) *Campaign {
	other, settings := *c, *c.Config
	settings.Output = dir
	other.Config, other.Problems, other.Warnings = &settings, slices.Clone(c.Problems), slices.Clone(c.Warnings)
	other.id, other.scheduler, other.machines = "", nil, nil
	return &other
}

// Sequential returns a copy of the campaign on the same machine in which one program runs at a
// time, so that programs do not disturb each other. Machines that are made from the copy have the
// scheduler of the campaign.
func (c *Campaign) Sequential() *Campaign {
	other, settings := *c, *c.Config
	settings.Runner.Parallel = config.Never
	other.Config = &settings
	return &other
}

func (c *Campaign) addProblems() error {
	if c.Config.Runner.Live() {
		for _, lib := range c.Config.Libraries {
			if err := c.addMeasured(lib); err != nil {
				return err
			}
		}
		return nil
	}
	recorded, err := c.readData()
	if err != nil {
		return err
	}
	for _, lib := range c.Config.Libraries {
		if err := c.addRecorded(lib, recorded); err != nil {
			return err
		}
	}
	return nil
}

// setWeights sets the weights of the points of every problem.
func (c *Campaign) setWeights() error {
	for i, p := range c.Problems {
		weights, warnings, err := weightsOf(c.Config.Grid, p.Space.Points())
		if err != nil {
			return err
		}
		c.Problems[i].Weights = weights
		for _, w := range warnings {
			c.warnOnce(w)
		}
	}
	return nil
}

func (c *Campaign) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// warnOnce adds a warning unless another library has the same.
func (c *Campaign) warnOnce(warning string) {
	if !slices.Contains(c.Warnings, warning) {
		c.Warnings = append(c.Warnings, warning)
	}
}

// LibraryOf returns the library of a problem.
func (c *Campaign) LibraryOf(p campaign.Problem) config.Library {
	for _, lib := range c.Config.Libraries {
		if lib.Name == p.Library {
			return lib
		}
	}
	panic("a problem of no library") // all problems are made from the libraries
}

// Workers returns the number of problems that are tuned at the same time: one if tutti runs on the
// nodes that it measures.
func (c *Campaign) Workers() int {
	switch {
	case c.Config.Runner.Kind == config.Local, c.Config.Runner.Kind == config.Allocation:
		return 1
	case c.Config.Workers > 0:
		return c.Config.Workers
	}
	return runtime.GOMAXPROCS(0)
}
