package benchrunner

import (
	"strings"

	"tutti/coll"
)

// LaunchModel says which requests of a batch share one launch.
type LaunchModel string

// The launch models differ in how many cases the program measures in one launch.
const (
	LaunchCandidate LaunchModel = "candidate" // one launch for each candidate
	LaunchOSU       LaunchModel = "osu"       // one launch for each layout and algorithm: the program sweeps the sizes
	LaunchNative    LaunchModel = "native"    // one launch for each layout and each start: the program also switches algorithms
)

// LaunchModels returns all launch models, from the most launches to the fewest.
func LaunchModels() []LaunchModel {
	return []LaunchModel{LaunchCandidate, LaunchOSU, LaunchNative}
}

// Start identifies the settings with which a program starts that measures a candidate, see mpi.Forcing.Start. A
// program cannot change them later: candidates with different starts never share a launch. A nil Start stands for the
// same settings for all candidates.
type Start func(coll.Candidate) string

// LaunchKey identifies a launch within one batch. Candidates with equal keys share a launch.
type LaunchKey struct {
	point     coll.Point
	algorithm coll.Algorithm
	start     string
}

// Key returns the key of the launch in which the program measures a candidate.
func (m LaunchModel) Key(c coll.Candidate, start Start) LaunchKey {
	k := LaunchKey{point: c.Point, algorithm: c.Algorithm}
	switch m {
	case LaunchOSU:
		k.point.MsgBytes = 0
	case LaunchNative:
		k.point.MsgBytes, k.algorithm = 0, coll.Algorithm{}
	}
	if start != nil {
		k.start = start(c)
	}
	return k
}

// LaunchCost describes what launches cost, in seconds.
type LaunchCost struct {
	Model          LaunchModel // empty means LaunchCandidate
	Seconds        float64     // for each launch
	SecondsPerNode float64     // for each launch and node
}

// Costs returns the launch cost of each candidate of a batch, in seconds. The first candidate of a launch has the whole cost
// of this launch. The others have cost 0.
func (l LaunchCost) Costs(batch []coll.Candidate, start Start) []float64 {
	paid := map[LaunchKey]bool{}
	costs := make([]float64, len(batch))
	for i, c := range batch {
		if k := l.Model.Key(c, start); !paid[k] {
			paid[k] = true
			costs[i] = l.Seconds + l.SecondsPerNode*float64(c.Nodes)
		}
	}
	return costs
}

// AfterVariables returns a command that can follow variables in the arguments of env(1). If the path of its
// program contains =, sh starts the program, because env would take the path for a variable.
func AfterVariables(args []string) []string {
	if len(args) == 0 || !strings.Contains(args[0], "=") {
		return args
	}
	return append([]string{"sh", "-c", `exec "$0" "$@"`}, args...)
}
