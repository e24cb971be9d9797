package benchrunner

import (
	"fmt"
	"strings"

	"tutti/coll"
)

// LaunchModel says which requests of a batch one start of a parallel program
// serves.
type LaunchModel string

// The launch models.
const (
	LaunchCandidate LaunchModel = "candidate" // one launch for each candidate
	LaunchOSU       LaunchModel = "osu"       // one for each layout and algorithm: the program sweeps the sizes
	LaunchNative    LaunchModel = "native"    // one for each layout: the program switches algorithms, too
)

// LaunchModels returns the known models.
func LaunchModels() []LaunchModel {
	return []LaunchModel{LaunchCandidate, LaunchOSU, LaunchNative}
}

// ParseLaunchModel returns the model called s. The error names what is allowed.
func ParseLaunchModel(s string) (LaunchModel, error) {
	names := make([]string, 0, len(LaunchModels()))
	for _, m := range LaunchModels() {
		if string(m) == s {
			return m, nil
		}
		names = append(names, string(m))
	}
	return "", fmt.Errorf("launch model %q: want one of %s", s, strings.Join(names, ", "))
}

// LaunchKey is equal for candidates of one batch that share a launch.
type LaunchKey struct {
	point     coll.Point
	algorithm coll.Algorithm
}

// Key returns what c has in common with those that share its launch.
func (m LaunchModel) Key(c coll.Candidate) LaunchKey {
	k := LaunchKey{c.Point, c.Algorithm}
	switch m {
	case LaunchOSU:
		k.point.MsgBytes = 0
	case LaunchNative:
		k.point.MsgBytes, k.algorithm = 0, coll.Algorithm{}
	}
	return k
}

// LaunchCost prices the starts of parallel programs.
type LaunchCost struct {
	Model          LaunchModel // empty means LaunchCandidate
	Seconds        float64     // for each launch
	SecondsPerNode float64     // for each launch and node
}

// Costs returns the launch seconds of each candidate of one batch: the first
// candidate of a launch pays for it, the others pay nothing.
func (l LaunchCost) Costs(batch []coll.Candidate) []float64 {
	seen := map[LaunchKey]bool{}
	costs := make([]float64, len(batch))
	for i, c := range batch {
		if k := l.Model.Key(c); !seen[k] {
			seen[k] = true
			costs[i] = l.Seconds + l.SecondsPerNode*float64(c.Nodes)
		}
	}
	return costs
}

// Side returns what each candidate of one batch costs of the time that an allocation
// of so many nodes is held when its starts are packed side by side: the parts of the
// makespan in proportion to the node-seconds of each, its run (seconds) and what Costs
// says. The error is Pack's.
func (l LaunchCost) ConcurrentCosts(batch []coll.Candidate, run []float64, nodes int) ([]float64, error) {
	costs := l.Costs(batch)
	index := map[LaunchKey]int{}
	var loads []Load
	for i, c := range batch {
		costs[i] += run[i]
		k := l.Model.Key(c)
		if _, ok := index[k]; !ok {
			index[k] = len(loads)
			loads = append(loads, Load{Nodes: c.Nodes})
		}
		loads[index[k]].Seconds += costs[i]
	}
	p, err := NodePool{Nodes: nodes}.Pack(loads)
	if err != nil {
		return nil, err
	}
	if busy := p.Utilisation(nodes, loads); busy > 0 {
		for i, c := range batch {
			costs[i] *= float64(c.Nodes) / float64(nodes) / busy
		}
	}
	return costs, nil
}
