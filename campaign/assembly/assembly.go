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

// Campaign is a campaign ready to run.
type Campaign struct {
	Config   *config.Campaign
	Spec     campaign.Spec
	Problems []campaign.Problem // by library as configured, then by collective as configured
	Warnings []string

	// Notice, when not nil before Connect, is told what a scheduler says that is waited
	// for. It may be called by several goroutines, every few seconds.
	Notice func(error)

	unmeasurable []LeftOut // problems that the benchmark program knows nothing of

	// Of a campaign that measures, once connected.
	id        string
	scheduler benchrunner.Scheduler
	machines  []*live.Machine // by library
}

// ErrInput is matched by errors about what campaign files, recorded data and journals
// say.
var ErrInput = errors.New("bad input")

// inputError matches ErrInput and says no more than its cause.
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

// New makes the problems of a campaign, from recorded data where it has them. It reads the
// trace and the topology that cfg names into cfg. What its
// benchmark program cannot measure at any point is no problem but a warning. Errors match
// ErrInput.
func New(cfg *config.Campaign) (*Campaign, error) {
	if err := readFiles(cfg); err != nil {
		return nil, input(err)
	}
	return begun(cfg, &journal.State{})
}

// begun makes the problems of a campaign of which a journal knows something.
func begun(cfg *config.Campaign, past *journal.State) (*Campaign, error) {
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
	if err := c.weigh(); err != nil {
		return nil, input(err)
	}
	c.addEarlier()
	share := 1 / float64(len(c.Problems))
	c.Spec.Limits.MachineSeconds = cfg.Stop.MachineTime.Seconds() * share
	c.Spec.Limits.NodeSeconds = cfg.Stop.NodeHours * 3600 * share
	return c, nil
}

// Restore makes the campaign that a journal describes. Its folder is dir, where the
// journal is now.
func Restore(contents *journal.Contents, dir string) (*Campaign, error) {
	cfg, err := config.Restore(contents.Header.Spec, dir)
	if err != nil {
		return nil, input(fmt.Errorf("journal of %s: %w", dir, err))
	}
	c, err := begun(cfg, contents.State())
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

// weigh gives the points of every problem their weights.
func (c *Campaign) weigh() error {
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

// warnOnce warns of what all libraries share: once, however many there are.
func (c *Campaign) warnOnce(warning string) {
	if !slices.Contains(c.Warnings, warning) {
		c.Warnings = append(c.Warnings, warning)
	}
}

// LibraryOf returns the build a problem is for.
func (c *Campaign) LibraryOf(p campaign.Problem) config.Library {
	for _, lib := range c.Config.Libraries {
		if lib.Name == p.Library {
			return lib
		}
	}
	panic("a problem of no library") // problems are made from the libraries
}

// Workers is the number of problems tuned side by side: one where tutti computes on
// the nodes that it measures.
func (c *Campaign) Workers() int {
	switch {
	case c.Config.Runner.Kind == config.Local, c.Config.Runner.Kind == config.Allocation:
		return 1
	case c.Config.Workers > 0:
		return c.Config.Workers
	}
	return runtime.GOMAXPROCS(0)
}
