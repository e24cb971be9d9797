package pairs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/campaign/assembly"
	"tutti/journal"
	"tutti/topology"
	"tutti/topology/discover"
)

// The smallest numbers of rounds and pairs. In a round, each node is measured with one partner. With three partners, most
// slow nodes can be distinguished from their partners. With few nodes, more rounds are needed to determine the usual time.
const (
	fewestRounds = 3
	fewestPairs  = 48
)

func networkRounds(nodes int) int { return max(fewestRounds, 2*fewestPairs/nodes) }

// networkPasses is the number of measurements of each pair.
const networkPasses = 4

// MeasureNetwork finds slow nodes, slow links and oversubscribed switches of a campaign's machine.
//
// The first job measures three or more rounds of disjoint pairs of nodes. The second job measures the
// suspects again and the bisection of each switch. If the tree is nil, all nodes count as nodes of one
// switch. The folder of the measurement is removed. MeasureNetwork returns the errors of Open and Measure.
func MeasureNetwork(ctx context.Context, c *assembly.Campaign, tree *topology.Tree, opt Options) (n *discover.NetworkReport, err error) {
	opt.Folder = "network-" + journal.NewID()
	d, err := Open(c, opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close(), assembly.RemoveFolder(d.Dir)) }()
	d.layout.PPN = 1
	first, err := d.measureOnce(ctx, rounds, discover.Plan{Rounds: networkRounds(d.layout.Nodes)})
	if err != nil {
		return nil, err
	}
	n = &discover.NetworkReport{Nodes: len(first.Hosts)}
	tree, n.Gaps = treeOf(tree, first.Hosts)
	if err := n.FindSuspects(tree, first.Pairs); err != nil {
		return nil, err
	}
	halves := discover.Cuts(tree, first.Hosts)
	retests := discover.RetestPairs(n.Suspects(), first.Hosts, first.Pairs)
	if len(retests)+len(halves) == 0 {
		return n, nil
	}
	second, err := d.measureOnce(ctx, chosen, discover.Plan{Chosen: slices.Concat(discover.DisjointRounds(retests), discover.CutRounds(halves))})
	if err != nil {
		return nil, err
	}
	if len(retests) > 0 {
		err = n.FindSuspects(tree, withRetests(n.Suspects(), first.Pairs, second.Pairs, len(discover.DisjointRounds(retests))))
	}
	n.Bisections = discover.Bisections(halves, len(discover.DisjointRounds(retests)), d.opt.Bytes, second.Pairs)
	return n, err
}

// ForecastNetwork returns the first job of MeasureNetwork. The second job is similar.
func ForecastNetwork(ctx context.Context, c *assembly.Campaign, opt Options) ([]assembly.PlannedJob, error) {
	d, err := prepare(c, opt)
	if err != nil {
		return nil, err
	}
	d.layout.PPN = 1
	plan := d.opt.plan()
	plan.Rounds = networkRounds(d.layout.Nodes)
	return d.forecast(ctx, rounds, plan)
}

// measureOnce measures the pairs of a plan in one launch and returns the output.
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
	i := slices.IndexFunc(f.launches, func(s launch) bool { return s.Ended && strings.Contains(s.job, "-"+what+"-r") })
	if i < 0 {
		return discover.Measurements{}, fmt.Errorf("%w%s", ErrNothing, f.why())
	}
	return f.launches[i].Measurements, nil
}

// treeOf returns a copy of the tree in which nodes have the names of the hosts. If the tree is nil or does
// not contain a host, treeOf returns one switch with all hosts, and a text that says so.
func treeOf(t *topology.Tree, hosts []string) (*topology.Tree, []string) {
	if t != nil {
		called := t.WithNames(hosts)
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

// withRetests returns the measurements that decide which nodes are slow. From the first launch it takes the pairs without
// a suspected node. From the second launch it takes the pairs of the first `rounds` rounds, in which suspects were
// measured again. The measurement that made a node suspect thus cannot also confirm the suspicion.
func withRetests(suspects []string, first, second []discover.Measurement, rounds int) []discover.Measurement {
	out := slices.DeleteFunc(slices.Clone(first), func(p discover.Measurement) bool {
		return slices.Contains(suspects, p.A.Host) || slices.Contains(suspects, p.B.Host)
	})
	for _, p := range second {
		if p.Round < rounds {
			out = append(out, p)
		}
	}
	return out
}
