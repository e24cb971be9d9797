package live

import (
	"context"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/topology"
)

// wiring says below which switch a node hangs. The zero value knows none.
type wiring struct {
	names topology.Names
	leaf  map[string]int // by the name of the node
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

// placement says how ppn ranks on each of the nodes lie. What the switches of some of
// them are must be known, or none is.
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

// switches returns the nodes of each switch: those that are named, else those that the
// scheduler knows; none when it knows none.
func (m *Machine) switches(ctx context.Context) ([][]string, error) {
	mapper, ok := m.opt.Scheduler.(benchrunner.Mapper)
	if len(m.opt.Switches) > 0 || !ok {
		return m.opt.Switches, nil
	}
	m.wired.Lock()
	defer m.wired.Unlock()
	if m.wired.known {
		return m.wired.switches, nil
	}
	switches, err := mapper.Switches(ctx)
	if err == nil {
		m.wired.switches, m.wired.known = switches, true
	}
	return switches, err
}

// recordPlacement tells of each start how its ranks lay, as far as it is known. That the scheduler
// cannot say it is no error: what was measured counts.
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
			nodes = nil // the order alone
		}
		s.launches[i].placement = w.placement(st.Order, nodes[:min(len(nodes), st.Layout.Nodes)], st.Layout.PPN)
	}
}

// hosts returns the nodes that the script wrote down for a start that runs beside others,
// without what the launcher wants behind their names.
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
