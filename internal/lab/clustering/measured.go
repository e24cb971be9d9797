package clustering

import (
	"context"
	"fmt"

	"tutti/topology"
	"tutti/topology/discover"
)

// CompareMeasured runs all methods on the PLogP distances and profiles of measured ranks, for messages of the given size. The
// true groups are the nodes of the ranks or, with a tree, its levels: ranks below one switch, on one node, and in one group
// of a node. Levels that do not divide the ranks, or put each into a group of its own, are left out.
//
// The error matches discover.ErrParameters if parameters are missing, or no level remains. It also says which rank is not
// in the tree.
func CompareMeasured(ctx context.Context, p discover.RankParameters, tree *topology.Tree, bytes int) ([]Row, error) {
	if err := p.Complete(); err != nil {
		return nil, err
	}
	truth, err := trueGroups(p.Ranks, tree)
	if err != nil {
		return nil, err
	}
	if len(truth) == 0 {
		return nil, fmt.Errorf("%w: the ranks have no groups to find: want several nodes of several ranks, or a tree with levels", discover.ErrParameters)
	}
	inputs, err := inputsOf(p.Pairs, bytes)
	if err != nil {
		return nil, err
	}
	return compare(ctx, "measured", inputs, truth)
}

// trueGroups returns the groups of ranks at each level, the coarsest first.
func trueGroups(ranks []discover.Endpoint, tree *topology.Tree) ([]discover.Labels, error) {
	var paths [][]string // of each rank, the names of its groups from the coarsest to the finest
	if tree != nil {
		paths = discover.Paths(tree, ranks)
	} else {
		for _, rank := range ranks {
			paths = append(paths, []string{rank.Host})
		}
	}
	depth := 0
	for i, rank := range ranks {
		if paths[i] == nil {
			return nil, fmt.Errorf("rank %v is not in the tree", rank)
		}
		depth = max(depth, len(paths[i]))
	}
	var out []discover.Labels
	for level := range depth {
		raw, number := make([]int, len(ranks)), map[string]int{}
		for i, path := range paths {
			name := path[min(level, len(path)-1)]
			if _, seen := number[name]; !seen {
				number[name] = len(number)
			}
			raw[i] = number[name]
		}
		if len(number) > 1 && len(number) < len(ranks) {
			out = append(out, discover.NewLabels(raw))
		}
	}
	return out, nil
}
