package assembly

import (
	"context"
	"errors"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/local"
	"tutti/benchrunner/runners"
)

// Place describes the nodes that a runner uses: the nodes of tutti's own job, those of a queue, or this machine.
type Place struct {
	Kind  string // kind of the runner
	Nodes int    // 0 if unknown
	Cores int    // per node
}

// placeTime is the longest time to ask a workload manager for its nodes.
const placeTime = 20 * time.Second

// Here returns the nodes in the file `hosts`. If this is empty, it returns those of the job in which this process runs, or
// outside of a job this machine.
func Here(ctx context.Context, environ []string, hosts string) (Place, error) {
	host := benchrunner.Host{Environ: environ, Hosts: hosts}
	return findPlace(ctx, host, func(f benchrunner.KindFacts) bool { return f.Attached })
}

// FindPlace returns the nodes and cores that a runner of the given kind can use. If `kind` is empty, it chooses
// the first of three that is available: the job of this process, the queue of a workload manager, this machine.
// The number of nodes is 0 if the workload manager does not answer or if there is no job around this process.
func FindPlace(ctx context.Context, environ []string, kind string) (Place, error) {
	at, err := findPlace(ctx, benchrunner.Host{Environ: environ}, func(f benchrunner.KindFacts) bool { return kind == "" || f.Name == kind })
	if errors.Is(err, errNoPlace) {
		return Place{Kind: kind}, nil
	}
	return at, err
}

var errNoPlace = errors.New("no nodes are available")

// findPlace returns the nodes of the first available kind of runner that the function `wanted` accepts.
func findPlace(ctx context.Context, host benchrunner.Host, wanted func(benchrunner.KindFacts) bool) (Place, error) {
	sections := runners.Defaults()
	for _, available := range []func(benchrunner.KindFacts) bool{
		func(f benchrunner.KindFacts) bool { return f.Attached && !f.OneNode }, benchrunner.KindFacts.Queue, func(f benchrunner.KindFacts) bool { return f.OneNode },
	} {
		for _, k := range sections.All() {
			if f := k.Facts(); !available(f) || !wanted(f) {
				continue
			}
			at, err := placeOf(ctx, host, k)
			switch {
			case err == nil:
				return at, nil
			case k.Facts().Queue() || errors.Is(err, benchrunner.ErrOutside): // of a queue, any error means that it is not there
			default:
				return Place{}, err
			}
		}
	}
	return Place{}, errNoPlace
}

func placeOf(ctx context.Context, host benchrunner.Host, k benchrunner.Kind) (Place, error) {
	s, err := k.New(host)
	if err != nil {
		return Place{}, input(err)
	}
	if k.Facts().Queue() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, placeTime)
		defer cancel()
	}
	c, err := s.Capacity(ctx)
	if c.PPN == 0 && k.Facts().Attached { // nothing says how many cores a node has
		c.PPN = local.Cores()
	}
	return Place{k.Facts().Name, c.Nodes, c.PPN}, err
}
