package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// grace is the longest time that processes may continue after their launch has reached its time limit.
const grace = 10 * time.Second

type requestedCase struct {
	request int
	benchrunner.Case
}

// launch is a benchrunner.Launch with its requests and its time limit.
type launch struct {
	benchrunner.Launch
	Requests []int         // one for each case: indices into the batch
	Limit    time.Duration // wall time, launch time included
}

type plannedJob struct {
	launches []launch // in the order in which the launches begin
	nodes    int
	limit    time.Duration

	// The fields below are set only in jobs with concurrent launches.
	places   []place    // one for each launch
	switches [][]string // names of the nodes of each switch; nil: any nodes
}

// runsConcurrently reports whether launches of the job run concurrently. They do if some launch uses fewer
// nodes than the job has.
func runsConcurrently(launches []launch, nodes int) bool {
	return slices.ContainsFunc(launches, func(s launch) bool { return s.Layout.Nodes < nodes })
}

func (d plannedJob) carries() []int {
	var out []int
	for _, s := range d.launches {
		out = append(out, s.Requests...)
	}
	slices.Sort(out)
	return out
}

type rejection struct {
	request int
	reason  string
	later   bool   // a later run could measure the request
	phase   string // of the failed trial
}

// limitOf returns how long one job may take: the scheduler's limit or jobTime, whichever is shorter. In an allocation
// of nodes, a job must also end before the allocation. The result `leaving` is true if the remaining time of the
// allocation is the shortest of these times.
func limitOf(c benchrunner.Capacity, jobTime time.Duration, now time.Time) (limit time.Duration, leaving bool) {
	limit = benchrunner.Least(c.Limit, jobTime)
	if left := c.Ends.Sub(now); !c.Ends.IsZero() && (limit == 0 || left < limit) {
		return max(left, time.Nanosecond), true
	}
	return limit, false
}

// planner distributes cases to launches, and launches to jobs. Its results depend only on its fields and the cases.
type planner struct {
	program    benchrunner.Program
	capacity   benchrunner.Capacity // its Limit is that of limitOf
	usual      int                  // largest number of nodes that a job could have so far
	leaving    bool                 // the limit is the end of the allocation
	launchTime time.Duration        // allowed for the start and the end of a launch, and for the set-up of a job
	rankTime   time.Duration        // added to launchTime for each rank
	dir        string               // an absolute path, which need not exist, for calls of Command that check launches
	sharing    sharing
	order      coll.Order
}

// plan distributes the cases to jobs. It also returns the requests that cannot be measured. It returns an error
// if the program's method Group loses or repeats a case.
func (p planner) plan(cases []requestedCase) ([]plannedJob, []rejection, error) {
	var launches []launch
	var rejected []rejection
	for _, layout := range layoutsOf(cases) {
		fit, not, err := p.launches(layout, cases)
		if err != nil {
			return nil, nil, err
		}
		launches, rejected = append(launches, fit...), append(rejected, not...)
	}
	return p.pack(launches), rejected, nil
}

func (p planner) launches(layout coll.Layout, cases []requestedCase) (launches []launch, rejected []rejection, err error) {
	groups, err := p.group(layout, cases)
	for _, g := range groups {
		fit, not := p.fit(layout, g)
		launches, rejected = append(launches, fit...), append(rejected, not...)
	}
	return launches, rejected, err
}

func layoutsOf(cases []requestedCase) []coll.Layout {
	var out []coll.Layout
	for _, c := range cases {
		out = append(out, c.Layout())
	}
	slices.SortFunc(out, coll.CompareLayouts)
	return slices.Compact(out)
}

func (p planner) group(layout coll.Layout, all []requestedCase) ([][]requestedCase, error) {
	var cases []benchrunner.Case
	requests := map[coll.Candidate][]requestedCase{}
	for _, c := range all {
		if c.Layout() == layout {
			cases = append(cases, c.Case)
			requests[c.Candidate] = append(requests[c.Candidate], c)
		}
	}
	dealt := 0
	var out [][]requestedCase
	for _, g := range p.program.Group(cases) {
		var group []requestedCase
		for _, c := range g {
			left := requests[c.Candidate]
			if len(left) == 0 {
				return nil, fmt.Errorf("program %s: Group returned %v more often than it was given", p.program.Name(), c.Candidate)
			}
			group = append(group, left[0])
			requests[c.Candidate] = left[1:]
		}
		if dealt += len(group); len(group) > 0 {
			out = append(out, group)
		}
	}
	if dealt != len(cases) {
		return nil, fmt.Errorf("program %s: Group returned %d of %d cases of %v", p.program.Name(), dealt, len(cases), layout)
	}
	return out, nil
}

// fit returns launches that measure the cases. It splits the cases in half if one launch would be too long, or if the
// program cannot measure all of them together. It rejects a single case that does not fit.
func (p planner) fit(layout coll.Layout, cases []requestedCase) ([]launch, []rejection) {
	s := launch{Launch: p.launch(layout)}
	for _, c := range cases {
		s.Cases = append(s.Cases, c.Case)
		s.Requests = append(s.Requests, c.request)
	}
	refused := p.command(s.Launch)
	if refused != nil {
		if good, bad := p.splitMeasurable(layout, cases); len(good) == 0 {
			return nil, bad
		} else if len(bad) > 0 {
			fit, not := p.fit(layout, good)
			return fit, append(bad, not...)
		}
	}
	reason, later := p.whyUnfit(&s)
	if reason == "" && refused != nil {
		reason = refused.Error()
	}
	switch {
	case reason == "":
		return []launch{s}, nil
	case len(cases) == 1:
		return nil, []rejection{{request: cases[0].request, reason: reason, later: later, phase: benchrunner.PhaseRefused}}
	}
	fit, not := p.fit(layout, cases[:len(cases)/2])
	fit2, not2 := p.fit(layout, cases[len(cases)/2:])
	return append(fit, fit2...), append(not, not2...)
}

func (p planner) launch(layout coll.Layout) benchrunner.Launch {
	s := benchrunner.Launch{Layout: layout, Dir: p.dir}
	if layout.Nodes > 1 {
		s.Order = p.order
	}
	return s
}

func (p planner) splitMeasurable(layout coll.Layout, cases []requestedCase) (good []requestedCase, bad []rejection) {
	for _, c := range cases {
		alone := p.launch(layout)
		alone.Cases = []benchrunner.Case{c.Case}
		if err := p.command(alone); err != nil {
			bad = append(bad, rejection{request: c.request, reason: err.Error(), phase: benchrunner.PhaseLaunch})
		} else {
			good = append(good, c)
		}
	}
	return good, bad
}

// whyUnfit sets the time limit of a launch. It returns the reason why no job can contain
// the launch, "" if a job can. The result `later` is true if a job could contain it in a later allocation, or when as
// many nodes are up as before.
func (p planner) whyUnfit(s *launch) (reason string, later bool) {
	c := p.capacity
	switch {
	case c.Nodes > 0 && s.Layout.Nodes > c.Nodes:
		later := s.Layout.Nodes <= p.usual
		return fmt.Sprintf("%v needs %d nodes, a job has at most %d", s.Layout, s.Layout.Nodes, c.Nodes), later
	case c.PPN > 0 && s.Layout.PPN > c.PPN:
		return fmt.Sprintf("%v needs %d processes per node, a node takes at most %d", s.Layout, s.Layout.PPN, c.PPN), false
	}
	if reason := tooBig(s.Cases, c.Bytes); reason != "" {
		return reason, false
	}
	s.Limit = min(p.program.Allowance(s.Launch), benchrunner.MaxTime) + p.launchAllowance(s.Layout)
	if need := p.jobLimit(*s); c.Limit > 0 && need > c.Limit {
		if p.leaving {
			return fmt.Sprintf("a job takes up to %v, the allocation ends in %v: resume in a new allocation", round(need), round(c.Limit)), true
		}
		return fmt.Sprintf("a job takes up to %v, %v are allowed: allow longer jobs, or less time for a launch or a measurement", round(need), round(c.Limit)), false
	}
	return "", false
}

// launchAllowance returns how long a launch may take to start and to end. It rounds
// the part that depends on the number of ranks to whole seconds. The limits of small launches therefore
// differ only by the cases that they measure.
func (p planner) launchAllowance(l coll.Layout) time.Duration {
	return p.launchTime + (time.Duration(l.Ranks()) * p.rankTime).Truncate(time.Second)
}

// tooBig returns a message about the first case that needs more memory than a node has, or "" if there is none.
// `bytes` is the memory of a node; 0 means unknown.
func tooBig(cases []benchrunner.Case, bytes int64) string {
	for _, c := range cases {
		if need := benchrunner.NodeBytes(c.Point); bytes > 0 && need > bytes {
			return fmt.Sprintf("%v: its buffers take %.3g GB on a node, a node has %.3g GB", c.Candidate, float64(need)/1e9, float64(bytes)/1e9)
		}
	}
	return ""
}

func (p planner) command(s benchrunner.Launch) error {
	cmd, err := p.program.Command(s)
	if err != nil {
		return err
	}
	return checkVars(cmd.Env)
}

func (p planner) jobLimit(launches ...launch) time.Duration {
	limit := p.launchTime
	for _, s := range launches {
		limit += s.Limit + grace
	}
	return limit
}

func round(d time.Duration) time.Duration { return d.Round(time.Second / 10) }

// pack packs launches into jobs. If launches do not run concurrently, all launches of a job have the same number of nodes.
// Each launch goes into the first job that has enough time for it. The launches with the most nodes come first, and among
// these the longest.
func (p planner) pack(launches []launch) []plannedJob {
	slices.SortStableFunc(launches, func(a, b launch) int {
		return cmp.Or(cmp.Compare(b.Layout.Nodes, a.Layout.Nodes), cmp.Compare(b.Limit, a.Limit))
	})
	if p.sharing.nodes > 0 {
		return p.packConcurrent(launches)
	}
	var jobs []plannedJob
	first := 0 // job with as many nodes as the launch
	for _, s := range launches {
		if first < len(jobs) && jobs[first].nodes != s.Layout.Nodes {
			first = len(jobs)
		}
		i := first + slices.IndexFunc(jobs[first:], func(d plannedJob) bool {
			return p.capacity.Limit == 0 || d.limit+s.Limit+grace <= p.capacity.Limit
		})
		if i < first {
			jobs = append(jobs, plannedJob{nodes: s.Layout.Nodes, limit: p.launchTime})
			i = len(jobs) - 1
		}
		jobs[i].launches = append(jobs[i].launches, s)
		jobs[i].limit += s.Limit + grace
	}
	return jobs
}
