package live

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/topology"
)

// placementOn returns the placement of ppn ranks on each of the nodes. It contains the switches only if the
// switch of every node is known.
func placementOn(switches [][]string, order coll.Order, nodes []string, ppn int) coll.Placement {
	p := coll.Placement{Order: order}
	names := topology.NamesOf(slices.Concat(switches...)).Match(nodes)
	below := map[int]int{} // number of ranks by index of the switch
	for _, n := range nodes {
		name, known := names[n]
		i := slices.IndexFunc(switches, func(own []string) bool { return known && slices.Contains(own, name) })
		if i < 0 {
			return p
		}
		below[i] += ppn
	}
	if len(below) > 0 {
		ranks := slices.Sorted(maps.Values(below))
		p.Switches, p.Least, p.Most = len(ranks), ranks[0], ranks[len(ranks)-1]
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
	switches, _ := m.switches(ctx)
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
		s.launches[i].placement = placementOn(switches, st.Order, nodes[:min(len(nodes), st.Layout.Nodes)], st.Layout.PPN)
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
