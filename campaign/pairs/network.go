package pairs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"tutti/campaign/assembly"
	"tutti/journal"
	"tutti/metrics"
	"tutti/topology"
	"tutti/topology/discover"
)

// How many partners a node has before it is judged: three tell most slow nodes from their
// partners. Of few nodes more are needed to know what is usual.
const (
	fewestRounds = 3
	fewestPairs  = 48
)

func networkRounds(nodes int) int { return max(fewestRounds, 2*fewestPairs/nodes) }

// networkPasses is how often a pair is measured.
const networkPasses = 4

// Network is what some rounds of pairs of nodes tell of a machine.
type Network struct {
	Nodes      int
	Latency    discover.SuspectReport // of empty messages
	Bandwidth  discover.SuspectReport // of large ones
	Bisections []discover.Bisection
	Gaps       []string
}

// MeasureNetwork measures three rounds of disjoint pairs of a campaign's nodes in one job,
// more where they are few; then, in another one, suspects again, and the two halves of each
// switch of the tree against each other. Without a tree all nodes lie below one switch.
// Nothing is left behind; errors are those of Open and Measure.
func MeasureNetwork(ctx context.Context, c *assembly.Campaign, tree *topology.Tree, opt Options) (n *Network, err error) {
	opt.Folder = "network-" + journal.NewID()
	d, err := Open(c, opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close(), os.RemoveAll(d.Dir)) }()
	d.layout.PPN = 1
	first, err := d.measureOnce(ctx, rounds, discover.Plan{Rounds: networkRounds(d.layout.Nodes)})
	if err != nil {
		return nil, err
	}
	n = &Network{Nodes: len(first.Hosts)}
	tree, n.Gaps = treeOf(tree, first.Hosts)
	if err := n.judge(tree, first.Pairs); err != nil {
		return nil, err
	}
	halves := discover.Cuts(tree, first.Hosts)
	again := discover.RetestPairs(n.doubtful(), first.Hosts, first.Pairs)
	if len(again)+len(halves) == 0 {
		return n, nil
	}
	second, err := d.measureOnce(ctx, chosen, discover.Plan{Chosen: slices.Concat(discover.DisjointRounds(again), discover.CutRounds(halves))})
	if err != nil {
		return nil, err
	}
	if len(again) > 0 {
		err = n.judge(tree, withAgain(n.doubtful(), first.Pairs, second.Pairs, len(discover.DisjointRounds(again))))
	}
	n.Bisections = discover.Bisections(halves, len(discover.DisjointRounds(again)), d.opt.Bytes, second.Pairs)
	return n, err
}

// ForecastNetwork returns the first job of MeasureNetwork; the other one is like it.
func ForecastNetwork(ctx context.Context, c *assembly.Campaign, opt Options) ([]Planned, error) {
	d, err := prepare(c, opt)
	if err != nil {
		return nil, err
	}
	d.layout.PPN = 1
	plan := d.opt.plan()
	plan.Rounds = networkRounds(d.layout.Nodes)
	return d.forecast(ctx, rounds, plan)
}

// measureOnce measures a plan and returns the start that did.
func (d *Discovery) measureOnce(ctx context.Context, what string, plan discover.Plan) (discover.Measurements, error) {
	own := d.opt.plan()
	own.Rounds, own.Chosen, own.Passes = plan.Rounds, plan.Chosen, networkPasses
	if err := d.run(ctx, what, own, 1); err != nil {
		return discover.Measurements{}, err
	}
	f := &Found{}
	if err := f.read(d.Dir); err != nil {
		return discover.Measurements{}, err
	}
	i := slices.IndexFunc(f.starts, func(s start) bool { return s.Ended && strings.Contains(s.job, "-"+what+"-r") })
	if i < 0 {
		return discover.Measurements{}, fmt.Errorf("%w%s", ErrNothing, f.why())
	}
	return f.starts[i].Measurements, nil
}

// treeOf returns the tree, or one switch with all hosts where there is none or it lacks
// one of them.
func treeOf(t *topology.Tree, hosts []string) (*topology.Tree, []string) {
	if t != nil {
		called := t.Called(hosts)
		lost := slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return slices.Contains(called.Nodes(), h) })
		if len(lost) == 0 {
			return &called, nil
		}
		return flat(hosts), []string{fmt.Sprintf("the tree does not have %s: all nodes are taken to be below one switch", topology.HostList(lost))}
	}
	return flat(hosts), []string{"no tree is known: all nodes are taken to be below one switch"}
}

func flat(hosts []string) *topology.Tree {
	root := topology.Vertex{Kind: topology.Switch, Name: "switch"}
	for _, h := range hosts {
		root.Children = append(root.Children, topology.Vertex{Kind: topology.Node, Name: h})
	}
	return &topology.Tree{Root: root}
}

// judge finds slow places by both sizes.
func (n *Network) judge(t *topology.Tree, pairs []discover.Measurement) (err error) {
	if n.Latency, err = discover.FindSuspects(t, once(pairs, func(p discover.Measurement) float64 { return p.SmallMedian })); err != nil {
		return err
	}
	n.Bandwidth, err = discover.FindSuspects(t, once(pairs, func(p discover.Measurement) float64 { return p.LargeMedian }))
	return err
}

// once returns each pair of hosts once, with the median of its passes: they are one pair,
// however often it was measured.
func once(pairs []discover.Measurement, seconds func(discover.Measurement) float64) []discover.PairTime {
	times := map[[2]string][]float64{}
	var order [][2]string
	for _, p := range pairs {
		key := [2]string{p.A.Host, p.B.Host}
		if times[key] == nil {
			order = append(order, key)
		}
		times[key] = append(times[key], seconds(p))
	}
	var out []discover.PairTime
	for _, key := range order {
		out = append(out, discover.PairTime{A: key[0], B: key[1], Seconds: metrics.Quantile(times[key], 0.5)})
	}
	return out
}

// doubtful returns the nodes that look slow, or that are not told from others.
func (n *Network) doubtful() []string {
	var out []string
	for _, r := range []discover.SuspectReport{n.Latency, n.Bandwidth} {
		for _, s := range r.Suspects {
			out = append(out, s.Name)
		}
		for _, p := range r.Unclear {
			out = append(out, p.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withAgain returns the pairs of usual nodes, and those of the doubtful ones in so many
// rounds of the second start: what made them suspect does not count twice.
func withAgain(doubtful []string, first, second []discover.Measurement, rounds int) []discover.Measurement {
	out := slices.DeleteFunc(slices.Clone(first), func(p discover.Measurement) bool {
		return slices.Contains(doubtful, p.A.Host) || slices.Contains(doubtful, p.B.Host)
	})
	for _, p := range second {
		if p.Round < rounds {
			out = append(out, p)
		}
	}
	return out
}
