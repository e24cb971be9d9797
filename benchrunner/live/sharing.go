package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tutti/benchrunner"
)

// Parallel says which starts run side by side on disjoint nodes of one job.
type Parallel string

// Side by side or not.
const (
	ParallelNever  Parallel = "never"  // one after another
	ParallelSwitch Parallel = "switch" // each on switches of its own, one of those over several switches at a time
	ParallelAlways Parallel = "always" // on any disjoint nodes
)

// ParseParallel returns the mode called s. The error names what is allowed.
func ParseParallel(s string) (Parallel, error) {
	var names []string
	for _, p := range []Parallel{ParallelNever, ParallelSwitch, ParallelAlways} {
		if string(p) == s {
			return p, nil
		}
		names = append(names, string(p))
	}
	return "", fmt.Errorf("parallel %q: want one of %s", s, strings.Join(names, ", "))
}

// leastBusy is the share of the node-seconds of a job that its starts must use, taken
// at their limits, for nodes to be asked for together. Nodes that are held anyway need
// not be busy.
const leastBusy = 0.7

// sharing says how starts share a job. The zero value: one after another, those of as
// many nodes.
type sharing struct {
	nodes    int        // most of a job; zero: never side by side
	switches [][]string // names of the nodes of each; none: any nodes are disjoint enough
	held     bool       // nodes cost the same whether they are used or not
}

// sharingFor returns how starts of up to so many nodes share a job.
func (m *Machine) sharingFor(ctx context.Context, c benchrunner.Capacity, widest int) (sharing, error) {
	if m.opt.Parallel == ParallelNever || !c.Apart {
		return sharing{}, nil
	}
	s := sharing{nodes: cmp.Or(m.opt.ParallelNodes, widest), held: c.Attached}
	if c.Attached && m.opt.ParallelNodes == 0 {
		s.nodes = c.Nodes
	}
	if c.Nodes > 0 {
		s.nodes = min(s.nodes, c.Nodes)
	}
	if m.opt.Parallel == ParallelAlways {
		return s, nil
	}
	err := m.retry(ctx, func() (err error) {
		s.switches, err = m.switches(ctx)
		return err
	})
	if err != nil {
		return sharing{}, err
	}
	if len(s.switches) == 0 {
		return sharing{}, fmt.Errorf("%w: parallel %s: %s knows no switches: name the nodes of each, or choose %s or %s",
			benchrunner.ErrRejected, ParallelSwitch, m.opt.Scheduler.Name(), ParallelNever, ParallelAlways)
	}
	return s, nil
}

// room is what a job of so many nodes is at least: which ones it gets is not known yet,
// and it has the fewest switches when they are the largest.
func (s sharing) room(nodes int) benchrunner.NodePool {
	r := benchrunner.NodePool{Nodes: nodes}
	if s.switches == nil {
		return r
	}
	most := 0
	for _, names := range s.switches {
		most = max(most, len(names))
	}
	for left := nodes; left > 0; left -= most {
		r.Groups = append(r.Groups, min(most, left))
	}
	return r
}

// switchesText is the file of switches: a line for each.
func switchesText(switches [][]string) []byte {
	var b strings.Builder
	for _, names := range switches {
		b.WriteString(strings.Join(names, " ") + "\n")
	}
	return []byte(b.String())
}

// packConcurrent deals starts, the widest first and the longest of them first, to jobs in
// which they run side by side: each job takes as many of those that are left as keep it
// short and busy enough.
func (p planner) packConcurrent(launches []launch) []plannedJob {
	sortLaunches(launches)
	var jobs []plannedJob
	for len(launches) > 0 {
		n := len(launches)
		step := max(1, n/16)
		for ; n > 1; n = max(1, n-step) {
			if d, ok := p.tryPack(launches[:n]); ok && (p.bounds.limit == 0 || d.limit <= p.bounds.limit) {
				jobs = append(jobs, d)
				break
			}
		}
		if n == 1 {
			jobs = append(jobs, plannedJob{launches: launches[:1:1], nodes: launches[0].Layout.Nodes, limit: p.jobLimit(launches[0])})
		}
		launches = launches[n:]
	}
	return jobs
}

// tryPack makes one job of starts, on the nodes on which it is shortest, the fewest
// of these. It returns false when nodes would be idle too much.
func (p planner) tryPack(launches []launch) (best plannedJob, ok bool) {
	loads := make([]benchrunner.Load, len(launches))
	for i, s := range launches {
		loads[i] = benchrunner.Load{Nodes: s.Layout.Nodes, Seconds: (s.Limit + grace).Seconds()}
	}
	shortest := 0.0
	for _, nodes := range p.sharing.widths(loads) {
		packed, err := p.sharing.room(nodes).Pack(loads)
		if err != nil || !p.sharing.held && packed.Utilisation(nodes, loads) < leastBusy || ok && packed.Makespan >= shortest {
			continue
		}
		shortest, ok = packed.Makespan, true
		best = plannedJob{nodes: nodes, limit: p.launchTime + secondsOf(packed.Makespan), places: packed.Places, switches: p.sharing.switches}
		for _, at := range packed.Places {
			best.launches = append(best.launches, launches[at.Load])
		}
	}
	return best, ok
}

// widths are the nodes that a job may have: those of the first starts beside each
// other, ascending, at most 16 of them; all that are held where it counts which ones.
func (s sharing) widths(loads []benchrunner.Load) []int {
	var out []int
	sum, widest := 0, 0
	for _, l := range loads {
		widest = max(widest, l.Nodes)
	}
	if s.held && s.switches != nil {
		return []int{max(s.nodes, widest)}
	}
	for _, l := range loads {
		sum += l.Nodes
		out = append(out, min(max(sum, widest), max(s.nodes, widest)))
	}
	slices.Sort(out)
	out = slices.Compact(out)
	for len(out) > 16 { // every second one, the last among them
		var fewer []int
		for i := (len(out) - 1) % 2; i < len(out); i += 2 {
			fewer = append(fewer, out[i])
		}
		out = fewer
	}
	return out
}
