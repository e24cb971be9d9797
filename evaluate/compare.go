package evaluate

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Compare replays every set under every strategy with every seed. emit, when not
// nil, receives the outcomes as soon as all before them are known, by set, then
// strategy, then seed: the order of the result, whatever the number of workers.
func Compare(ctx context.Context, sets []Set, strategies []string, seeds []uint64, opt Options, emit func(Outcome) error) ([]Outcome, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	perSet := len(strategies) * len(seeds)
	return inOrder(ctx, opt.Workers, len(sets)*perSet, func(ctx context.Context, i int) (Outcome, error) {
		return Run(ctx, sets[i/perSet], strategies[i%perSet/len(seeds)], seeds[i%len(seeds)], opt)
	}, emit)
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
