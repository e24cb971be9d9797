// Package lab replays recorded measurements under strategies and measures what each of them
// needs: the machine time and the share of the candidates until the selection is good enough.
// Selections are compared with the truth, the complete recorded data without noise.
//
// Compare replays a design, and Versus compares one strategy with the others in a table.
// Calibrations checks how often campaigns stop correctly by their own predictions.
// CompareModels compares models on the same measurements.
//
// Draw makes the figures by which Wilkins et al., "A FACT-based Approach" (ExaMPI 2021),
// compare autotuners, from any recorded data.
//
//	sets, _, err := lab.Load([]string{"data/simgrid/C_bcast.csv"})
//	if err != nil {
//		return err
//	}
//	design := lab.Design{
//		Sets: sets, Strategies: []string{"random", "regret"}, Seeds: lab.Seeds(1, 5),
//		Launches: []benchrunner.LaunchCost{{Model: benchrunner.LaunchCandidate}},
//	}
//	outcomes, err := lab.Compare(ctx, design, lab.DefaultOptions(), nil)
//	if err != nil {
//		return err
//	}
//	versus, err := lab.NewVersus("regret", outcomes)
//	if err != nil {
//		return err
//	}
//	err = versus.WriteText(os.Stdout)
package lab

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"tutti/benchrunner"
)

// Design lists the replays of a comparison: one for each combination of set, strategy, seed and cost of
// launches.
type Design struct {
	Sets       []Set
	Strategies []string
	Seeds      []uint64
	Launches   []benchrunner.LaunchCost // instead of Options.Launch
	Earlier    []Outcome                // of an earlier run with the same options; not replayed again
}

// Compare runs the replays of a design. The outcomes are ordered by set, strategy, seed and launch cost,
// whatever the number of workers is. emit, if not nil, receives the new outcomes in this order as early as
// possible.
func Compare(ctx context.Context, d Design, opt Options, emit func(Outcome) error) ([]Outcome, error) {
	for _, launch := range d.Launches {
		opt.Launch = launch
		if err := opt.Validate(); err != nil {
			return nil, err
		}
	}
	known := make(map[replayKey]Outcome, len(d.Earlier))
	for _, o := range d.Earlier {
		known[replayKey{o.Data, o.Collective, o.Strategy, o.Launch, o.Seed}] = o
	}
	perSet := len(d.Strategies) * len(d.Seeds)
	parts, err := inOrder(ctx, opt.Workers, len(d.Sets)*perSet, func(ctx context.Context, i int) (outcomes, error) {
		e := entry{d.Sets[i/perSet], d.Strategies[i%perSet/len(d.Seeds)], d.Seeds[i%len(d.Seeds)]}
		return e.compare(ctx, d.Launches, opt, known)
	}, func(p outcomes) error {
		for _, o := range p.fresh {
			if emit == nil {
				break
			}
			if err := emit(o); err != nil {
				return err
			}
		}
		return nil
	})
	var all []Outcome
	for _, p := range parts {
		all = append(all, p.all...)
	}
	return all, err
}

// outcomes contains the outcomes of one entry, one for each cost of launches.
type outcomes struct{ all, fresh []Outcome }

// replayKey identifies one replay of a comparison by its data, collective, strategy, cost of launches and seed.
type replayKey struct {
	data, collective, strategy, launch string
	seed                               uint64
}

func (e entry) key(launch benchrunner.LaunchCost) replayKey {
	return replayKey{e.set.Data, string(e.set.Collective), e.strategy, LaunchName(launch), e.seed}
}

// compare replays an entry for those costs of launches whose outcome is not known.
func (e entry) compare(ctx context.Context, launches []benchrunner.LaunchCost, opt Options, known map[replayKey]Outcome) (outcomes, error) {
	s := e.set
	var missing []benchrunner.LaunchCost
	for _, l := range launches {
		o, ok := known[e.key(l)]
		switch {
		case !ok:
			missing = append(missing, l)
		case o.Candidates != s.Space.Size() || o.Points != len(s.Space.Points()):
			return outcomes{}, fmt.Errorf("%s: the known outcome is of %d candidates, the data have %d", s.name(), o.Candidates, s.Space.Size())
		}
	}
	fresh, err := e.run(ctx, missing, opt)
	if err != nil {
		return outcomes{}, err
	}
	p := outcomes{fresh: fresh}
	for _, l := range launches {
		o, ok := known[e.key(l)]
		if !ok {
			o, fresh = fresh[0], fresh[1:]
		}
		p.all = append(p.all, o)
	}
	return p, nil
}

// inOrder runs n jobs on several workers and returns their results by job number. emit, if not nil,
// receives the results in this order. The first error cancels the other jobs.
func inOrder[T any](ctx context.Context, workers, n int, do func(ctx context.Context, i int) (T, error), emit func(T) error) ([]T, error) {
	results, finished := make([]T, n), make([]bool, n)
	next := 0
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			r, err := do(ctx, i)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			results[i], finished[i] = r, true
			for ; emit != nil && next < n && finished[next]; next++ {
				if err := emit(results[next]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return results, nil
}
