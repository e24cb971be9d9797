package assembly

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/topology"
	"tutti/topology/files"
)

// readFiles reads the trace and the topology files that a campaign file names, and stores their contents in
// cfg. The journal stores them with cfg, so that a resumed campaign does not need the files.
func readFiles(cfg *config.Campaign) error {
	if cfg.Grid.Trace != "" {
		trace, err := preprocess.ReadTrace(cfg.Grid.Trace)
		if err != nil {
			return fmt.Errorf("grid.trace: %w", err)
		}
		cfg.Grid.Calls = preprocess.Tunable(trace.Calls)
		cfg.Grid.CollectiveShare = trace.CollectiveShare()
	}
	if cfg.Runner.Topology != "" {
		switches, err := readSwitches(cfg.Runner.Topology)
		if err != nil {
			return fmt.Errorf("runner.topology: %w", err)
		}
		cfg.Runner.Switches = switches
	}
	return nil
}

// readSwitches reads a topology file. It returns the nodes of each switch as a host list.
func readSwitches(path string) ([]string, error) {
	t, err := files.ReadFile(path, "")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, nodes := range t.Switches() {
		out = append(out, topology.HostList(nodes))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no switch with nodes%s", path, strings.Join(append([]string{""}, t.Gaps...), "; "))
	}
	return out, nil
}

// weightsOf returns the weights of the points of one collective, with mean 1. The weight of a point is its
// share of the trace, multiplied by the configured weights that match the point. Without a trace the share is
// 1. The result is nil if all weights are equal. `mean` is the mean weight before it becomes 1. The warnings name
// parts of the trace, and configured weights, that match no point. It returns an error if no point has a positive
// weight, or if the sum of the weights is infinite.
func weightsOf(g config.Grid, points []coll.Point) (out []float64, mean float64, warnings []string, err error) {
	if len(points) == 0 || len(g.Weights) == 0 && g.Trace == "" {
		return nil, 1, nil, nil
	}
	out, warnings = traceWeights(g, points)
	warnings = append(warnings, multiplyWeights(g, out, points)...)
	sum := 0.0
	for _, w := range out {
		sum += w
	}
	mean = sum / float64(len(out))
	switch {
	case !(sum > 0) || math.IsInf(sum, 0):
		return nil, 0, warnings, fmt.Errorf("grid.weights: every point of %s has the weight %g: want a positive weight somewhere", points[0].Collective, out[0])
	case !slices.ContainsFunc(out, func(w float64) bool { return w != out[0] }):
		return nil, mean, warnings, nil
	}
	for i := range out {
		out[i] /= mean
	}
	return out, mean, warnings, nil
}

// WeighPoints returns the weights of points of a problem, comparable with those of the other problems of its library. With
// a trace, all points of a collective together have the weight of its calls. The key grid.weights multiplies the weights.
func (c *Campaign) WeighPoints(p campaign.Problem, points []coll.Point) []float64 {
	opt := p.Weigh(metrics.Options{}, points)
	out, sum := make([]float64, len(points)), 0.0
	for i := range points {
		out[i] = opt.Weight(i)
		sum += out[i]
	}
	factor := cmp.Or(p.MeanWeight, 1)
	if calls := c.Config.Grid.Calls; len(calls) > 0 && sum > 0 {
		factor *= preprocess.CallWeight(p.Collective, calls) / sum
	}
	for i := range out {
		out[i] *= factor
	}
	return out
}

// traceWeights returns the share of the trace of each point, or 1 if the trace has no calls of the collective.
func traceWeights(g config.Grid, points []coll.Point) (out []float64, warnings []string) {
	even := slices.Repeat([]float64{1}, len(points))
	if g.Trace == "" {
		return even, nil
	}
	out, far, ok := preprocess.CallWeights(points, g.Calls)
	if !ok {
		out = even
		warnings = append(warnings, fmt.Sprintf("the trace has no call of %s: all its points have equal weights", points[0].Collective))
	}
	if far > 0.01 {
		warnings = append(warnings, fmt.Sprintf("%.0f %% of the trace's %s is two doublings or more away from any point of the grid", 100*far, points[0].Collective))
	}
	return out, warnings
}

// multiplyWeights multiplies the weights `out` of points by the configured ones. It warns of those that match no point.
func multiplyWeights(g config.Grid, out []float64, points []coll.Point) (warnings []string) {
	for j, w := range g.Weights {
		fits := false
		for i, p := range points {
			if w.Matches(p) {
				out[i] *= w.Weight
				fits = true
			}
		}
		if !fits && (w.Collective == "" || w.Collective == string(points[0].Collective)) {
			warnings = append(warnings, fmt.Sprintf("grid.weights[%d] fits no point of %s", j, points[0].Collective))
		}
	}
	return warnings
}
