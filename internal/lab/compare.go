// Package lab replays recorded measurements with several strategies. It computes how much machine time each
// strategy needs until its selection is good enough, and which share of the candidates it measures. Selections
// are compared with the truth, the complete recorded data without noise.
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
//	design := lab.Design{Sets: sets, Strategies: []string{"random", "regret"}, Seeds: lab.Seeds(1, 5)}
//	launches := []benchrunner.LaunchCost{{Model: benchrunner.LaunchCandidate}}
//	outcomes, err := lab.Compare(ctx, design, launches, lab.DefaultOptions(), nil, nil)
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
	"slices"

	"golang.org/x/sync/errgroup"

	"tutti/benchrunner"
)

// Design lists replays: one for each combination of data set, strategy and seed.
type Design struct {
	Sets       []Set
	Strategies []string
	Seeds      []uint64
}

func (d Design) entries() (out []entry) {
	for _, s := range d.Sets {
		for _, strategy := range d.Strategies {
			for _, seed := range d.Seeds {
				out = append(out, entry{s, strategy, seed})
			}
		}
	}
	return out
}

// Compare runs the replays of a design with each of several costs of launches. The outcomes are in the order of
// the design, and for each replay in the order of the costs. Outcomes in the file `keep` are not computed
// again, and new ones are added to it. The function `progress`, if not nil, receives each new outcome; it must
// be safe for concurrent use.
func Compare(ctx context.Context, d Design, launches []benchrunner.LaunchCost, opt Options, keep *ResultFile[Outcome], progress func(Outcome)) ([]Outcome, error) {
	for _, launch := range launches {
		opt.Launch = launch
		if err := opt.Validate(); err != nil {
			return nil, err
		}
	}
	parts, err := inOrder(ctx, opt.Workers, d.entries(), func(ctx context.Context, e entry) ([]Outcome, error) {
		return e.compare(ctx, launches, opt, keep, progress)
	})
	return slices.Concat(parts...), err
}

func (e entry) compare(ctx context.Context, launches []benchrunner.LaunchCost, opt Options, keep *ResultFile[Outcome], progress func(Outcome)) ([]Outcome, error) {
	s := e.set
	all := make([]Outcome, len(launches))
	var missing []benchrunner.LaunchCost
	var at []int // indices of the missing ones
	for i, l := range launches {
		opt.Launch = l
		var ok bool
		switch all[i], ok = keep.find(e.replay(opt)); {
		case !ok:
			missing, at = append(missing, l), append(at, i)
		case all[i].Candidates != s.Space.Size() || all[i].Points != len(s.Space.Points()):
			return nil, fmt.Errorf("%s: the known outcome is of %d candidates, the data have %d", s.name(), all[i].Candidates, s.Space.Size())
		}
	}
	fresh, err := e.run(ctx, missing, opt)
	if err != nil {
		return nil, err
	}
	for k, o := range fresh {
		all[at[k]] = o
		if err := keep.Add(o); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(o)
		}
	}
	return all, nil
}

// inOrder computes a result for each item on several workers and returns the results in the order of the items. The
// first error cancels the other computations.
func inOrder[I, T any](ctx context.Context, workers int, items []I, do func(ctx context.Context, item I) (T, error)) ([]T, error) {
	results := make([]T, len(items))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i, item := range items {
		group.Go(func() error {
			err := ctx.Err()
			if err == nil {
				results[i], err = do(ctx, item)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return results, nil
}
