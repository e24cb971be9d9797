package live

import (
	"fmt"
	"sync"

	"tutti/benchrunner"
	"tutti/coll"
)

// confirmed is the number of failed trials after which an algorithm counts as unusable. A single failure may
// have its cause in the machine.
const confirmed = 2

// family holds all candidates of an algorithm: every point and every value of its parameters.
type family struct {
	collective coll.Collective
	name       string
}

type record struct {
	succeeded bool
	failed    int    // while the program ran
	reason    string // of the last failure
}

// records finds algorithms that crash, hang or deliver wrong data wherever they run. Each attempt to measure
// such an algorithm may cost a job. The remaining candidates of the algorithm therefore fail without being
// run.
type records struct {
	sync.Mutex
	of map[family]record
}

// Restore counts a trial of an earlier process: an unusable algorithm is not run again, and its nodes are known to be
// usual. It must be called before Run.
func (m *Machine) Restore(t coll.Trial) {
	m.records.add(t)
	if t.State == coll.TrialDone {
		m.accepted.Store(true)
		m.nodes.Store(max(int64(t.Nodes), m.nodes.Load()))
	}
}

func (r *records) add(t coll.Trial) {
	r.Lock()
	defer r.Unlock()
	if r.of == nil {
		r.of = map[family]record{}
	}
	key := family{t.Collective, t.Algorithm.Name}
	seen := r.of[key]
	switch {
	case t.State == coll.TrialDone:
		seen.succeeded = true
	case t.Phase == benchrunner.PhaseRun:
		seen.failed, seen.reason = seen.failed+1, t.Error
	}
	r.of[key] = seen
}

func (r *records) unusable(c coll.Candidate) string {
	r.Lock()
	defer r.Unlock()
	seen := r.of[family{c.Collective, c.Algorithm.Name}]
	if seen.succeeded || seen.failed < confirmed || c.Algorithm.IsDefault() {
		return ""
	}
	return fmt.Sprintf("not launched: %d trials of %s %s failed and none succeeded: %s", seen.failed, c.Collective, c.Algorithm.Name, seen.reason)
}
