package live

import (
	"context"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/topology"
)

// wiring says to which leaf switch each node belongs. The zero value contains no node.
type wiring struct {
	names topology.Names
	leaf  map[string]int // index of the switch by node name
}

func wiringOf(switches [][]string) wiring {
	w := wiring{leaf: map[string]int{}}
	for i, nodes := range switches {
		for _, n := range nodes {
			w.leaf[n] = i
		}
	}
	w.names = topology.NamesOf(slices.Concat(switches...))
	return w
}

// placement returns the placement of ppn ranks on each of the nodes. It contains the switches only if the
// switch of every node is known.
func (w wiring) placement(order coll.Order, nodes []string, ppn int) coll.Placement {
	p := coll.Placement{Order: order}
	below := map[int]int{}
	for _, n := range nodes {
		name, ok := w.names.Find(n)
		if !ok {
			return p
		}
		below[w.leaf[name]] += ppn
	}
	for _, ranks := range below {
		if p.Switches++; p.Switches == 1 {
			p.Least = ranks
		}
		p.Least, p.Most = min(p.Least, ranks), max(p.Most, ranks)
	}
	return p
}

// switches returns the names of the nodes of each switch. They come from the options, or else from the
// scheduler. If neither knows them, it returns nil.
func (m *Machine) switches(ctx context.Context) ([][]string, error) {
	if len(m.opt.Switches) > 0 {
		return m.opt.Switches, nil
	}
	m.wired.Lock()
	defer m.wired.Unlock()
	if m.wired.known {
		return m.wired.switches, nil
	}
	switches, err := m.opt.Scheduler.Switches(ctx)
	if err == nil {
		m.wired.switches, m.wired.known = switches, true
	}
	return switches, err
}

// recordPlacement records the placement of the ranks of each launch as far as it is known. An
// unknown switch is no error, because the measurements remain valid.
func (m *Machine) recordPlacement(ctx context.Context, s jobOutput) {
	if !slices.ContainsFunc(s.job.launches, func(st launch) bool { return st.Layout.Nodes > 1 }) {
		return
	}
	switches, err := m.switches(ctx)
	if err != nil {
		switches = nil
	}
	w := wiringOf(switches)
	for i, st := range s.job.launches {
		if st.Layout.Nodes == 1 {
			continue
		}
		nodes := s.launches[i].hosts
		if nodes == nil && s.environment != nil {
			nodes = s.environment.Nodes
		}
		if len(nodes) < st.Layout.Nodes {
			nodes = nil // without the hosts only the order is known
		}
		s.launches[i].placement = w.placement(st.Order, nodes[:min(len(nodes), st.Layout.Nodes)], st.Layout.PPN)
	}
}

// hosts reads the nodes of a concurrent launch from its hosts file. It removes the suffixes that the
// launcher needs.
func (f *folder) hosts(name string) []string {
	var out []string
	for line := range strings.Lines(string(f.text(name))) {
		host, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		host, _, _ = strings.Cut(host, ":")
		if host != "" {
			out = append(out, host)
		}
	}
	return out
}
