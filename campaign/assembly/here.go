package assembly

import (
	"context"
	"errors"
	"runtime"

	"tutti/benchrunner/local"
	"tutti/internal/config"
)

// Place is a machine that tutti can use without submitting jobs.
type Place struct {
	Kind  string // of runner: allocation or local
	Nodes int
	Cores int // of a node
}

// Here returns the Slurm allocation that environ describes, else this machine.
func Here(ctx context.Context, environ []string) (Place, error) {
	s, err := local.NewAllocation(environ)
	if errors.Is(err, local.ErrOutside) {
		return Place{config.Local, 1, runtime.NumCPU()}, nil
	}
	if err != nil {
		return Place{}, input(err)
	}
	c, err := s.Capacity(ctx)
	if err != nil {
		return Place{}, err
	}
	if c.PPN == 0 { // the environment does not have it
		c.PPN = runtime.NumCPU()
	}
	return Place{config.Allocation, c.Nodes, c.PPN}, nil
}
