package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
)

// Parallel is a mode that says which launches are concurrent, on disjoint nodes of one job.
type Parallel string

// The modes.
const (
	ParallelNever  Parallel = "never"  // one launch at a time
	ParallelSwitch Parallel = "switch" // each launch uses switches of its own; only one launch at a time spans several switches
	ParallelAlways Parallel = "always" // on any disjoint nodes
)

// leastBusy is the smallest share of a job's node-seconds that concurrent launches must use, if each takes its
// whole time limit. Launches that would use less go to separate jobs. Inside an allocation it does not apply,
// because idle nodes there cost the same as busy ones.
const leastBusy = 0.7

// sharing says how the launches of a job share its nodes. With the zero value, launches run one at a time, and a job has
// exactly the nodes that each of its launches needs.
type sharing struct {
	nodes     int        // most nodes of a job; zero: never concurrently
	switches  [][]string // names of the nodes of each switch; nil: any nodes
	allocated bool       // the nodes are allocated already and cost the same when idle
}

// sharingFor returns how launches share the nodes of a job. `widest` is the largest number of nodes that a launch needs.
func (m *Machine) sharingFor(ctx context.Context, c benchrunner.Capacity, widest int) (sharing, error) {
	if m.opt.Parallel == ParallelNever || !c.SeparateNodes {
		return sharing{}, nil
	}
	s := sharing{nodes: cmp.Or(m.opt.ParallelNodes, widest), allocated: c.Attached}
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

// pool returns the assumed groups of nodes in a job of the given size. The real groups are unknown before the
// job starts. pool assumes that every switch is as large as the largest one, and that the job gets whole
// switches.
func (s sharing) pool(nodes int) nodePool {
	r := nodePool{Nodes: nodes}
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

func switchesText(switches [][]string) []byte {
	var b strings.Builder
	for _, names := range switches {
		b.WriteString(strings.Join(names, " ") + "\n")
	}
	return []byte(b.String())
}

// packConcurrent packs launches, in their order, into jobs in which they run concurrently. Each job gets as many of the
// remaining launches as its time limit and its use of nodes allow.
func (p planner) packConcurrent(launches []launch) []plannedJob {
	var jobs []plannedJob
	for len(launches) > 0 {
		n := len(launches)
		step := max(1, n/16)
		for ; n > 1; n = max(1, n-step) {
			if d, ok := p.tryPack(launches[:n]); ok && (p.capacity.Limit == 0 || d.limit <= p.capacity.Limit) {
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

// tryPack packs launches into one job. It chooses the number of nodes with which the job is shortest. If
// several numbers are equally good, it chooses the smallest. It returns false if too many nodes would be
// idle.
func (p planner) tryPack(launches []launch) (best plannedJob, ok bool) {
	loads := make([]load, len(launches))
	for i, s := range launches {
		loads[i] = load{Nodes: s.Layout.Nodes, Seconds: (s.Limit + grace).Seconds()}
	}
	shortest := 0.0
	for _, nodes := range p.sharing.widths(loads) {
		packed := p.sharing.pool(nodes).pack(loads)
		if !p.sharing.allocated && packed.utilisation(nodes, loads) < leastBusy || ok && packed.Makespan >= shortest {
			continue
		}
		shortest, ok = packed.Makespan, true
		best = plannedJob{nodes: nodes, limit: p.launchTime + time.Duration(packed.Makespan*float64(time.Second)), places: packed.Places, switches: p.sharing.switches}
		for _, at := range packed.Places {
			best.launches = append(best.launches, launches[at.Load])
		}
	}
	return best, ok
}

// widths returns the numbers of nodes that a job may have, at most 16 of them in ascending order. Each is the number
// of nodes that the first n loads need together, for some n. In an allocation with switches it returns only the full
// size.
func (s sharing) widths(loads []load) []int {
	var out []int
	sum, widest := 0, 0
	for _, l := range loads {
		widest = max(widest, l.Nodes)
	}
	if s.allocated && s.switches != nil {
		return []int{max(s.nodes, widest)}
	}
	for _, l := range loads {
		sum += l.Nodes
		out = append(out, min(max(sum, widest), max(s.nodes, widest)))
	}
	slices.Sort(out)
	out = slices.Compact(out)
	for len(out) > 16 { // keep every second one, including the last
		var fewer []int
		for i := (len(out) - 1) % 2; i < len(out); i += 2 {
			fewer = append(fewer, out[i])
		}
		out = fewer
	}
	return out
}
