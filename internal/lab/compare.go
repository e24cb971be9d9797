package lab

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"tutti/benchrunner"
)

// Design says which replays there are: each set under each strategy, with each seed
// and each price of launches.
type Design struct {
	Sets       []Set
	Strategies []string
	Seeds      []uint64
	Launches   []benchrunner.LaunchCost // instead of Options.Launch
	Known      []Outcome                // of earlier comparisons with the same options, not replayed again
}

// Compare replays what a design says. emit, when not nil, receives the outcomes as soon
// as all before them are known, by set, strategy, seed, then launch: the order of the
// result, whatever the number of workers. Known ones are among the result, but not
// emitted.
func Compare(ctx context.Context, d Design, opt Options, emit func(Outcome) error) ([]Outcome, error) {
	for _, launch := range d.Launches {
		opt.Launch = launch
		if err := opt.Validate(); err != nil {
			return nil, err
		}
	}
	known := make(map[replayKey]Outcome, len(d.Known))
	for _, o := range d.Known {
		known[keyOf(o)] = o
	}
	perSet := len(d.Strategies) * len(d.Seeds)
	parts, err := inOrder(ctx, opt.Workers, len(d.Sets)*perSet, func(ctx context.Context, i int) (part, error) {
		e := entry{d.Sets[i/perSet], d.Strategies[i%perSet/len(d.Seeds)], d.Seeds[i%len(d.Seeds)]}
		return e.compare(ctx, d.Launches, opt, known)
	}, func(p part) error {
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

// part is a replay under every price of launches.
type part struct{ all, fresh []Outcome }

// replayKey tells outcomes of one comparison apart.
type replayKey struct {
	data, collective, strategy, launch string
	seed                               uint64
}

func keyOf(o Outcome) replayKey {
	return replayKey{o.Data, o.Collective, o.Strategy, o.Launch, o.Seed}
}

// compare replays what is not known.
func (e entry) compare(ctx context.Context, launches []benchrunner.LaunchCost, opt Options, known map[replayKey]Outcome) (part, error) {
	s := e.set
	key := replayKey{s.Data, string(s.Collective), e.strategy, "", e.seed}
	var lacking []benchrunner.LaunchCost
	for _, l := range launches {
		key.launch = LaunchName(l)
		o, ok := known[key]
		switch {
		case !ok:
			lacking = append(lacking, l)
		case o.Candidates != s.Space.Size() || o.Points != len(s.Space.Points()):
			return part{}, fmt.Errorf("%s: the known outcome is of %d candidates, the data have %d", s.name(), o.Candidates, s.Space.Size())
		}
	}
	fresh, err := e.run(ctx, lacking, opt)
	if err != nil {
		return part{}, err
	}
	p := part{fresh: fresh}
	for _, l := range launches {
		key.launch = LaunchName(l)
		if o, ok := known[key]; ok {
			p.all = append(p.all, o)
			continue
		}
		p.all = append(p.all, fresh[0])
		fresh = fresh[1:]
	}
	return p, nil
}

// inOrder does n jobs side by side and returns their results by number. The first
// error cancels the rest.
func inOrder[T any](ctx context.Context, workers, n int, do func(ctx context.Context, i int) (T, error), emit func(T) error) ([]T, error) {
	results, known := make([]T, n), make([]bool, n)
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
			results[i], known[i] = r, true
			for ; next < n && known[next]; next++ {
				if emit == nil {
					continue
				}
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
