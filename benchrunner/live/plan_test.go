package live

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// sized is a program that needs one second for each byte of a case's message size.
type sized struct {
	benchrunner.Program
	most int // largest number of cases in a launch
}

func (sized) Name() string { return "sized" }

func (p sized) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return slices.Collect(slices.Chunk(cases, p.most))
}

func (sized) Allowance(s benchrunner.Launch) time.Duration {
	sum := time.Duration(0)
	for _, c := range s.Cases {
		sum += time.Duration(c.MsgBytes) * time.Second
	}
	return sum
}

func (sized) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	for _, c := range s.Cases {
		if c.Algorithm.Name == "bad" {
			return benchrunner.Command{}, fmt.Errorf("%v: no such algorithm", c.Candidate)
		}
	}
	return benchrunner.Command{Args: []string{"sized"}}, nil
}

func caseAt(request, nodes int, bytes int64, algorithm string) requestedCase {
	return requestedCase{request, benchrunner.Case{Candidate: coll.Candidate{
		Point:     coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 2, MsgBytes: bytes},
		Algorithm: coll.Algorithm{Name: algorithm},
	}}}
}

// describe returns a text with the nodes, the requests of each launch and the time limit of every job.
func describe(jobs []plannedJob) string {
	var lines []string
	for _, j := range jobs {
		line := fmt.Sprintf("%d nodes:", j.nodes)
		for _, s := range j.launches {
			line += fmt.Sprint(" ", s.Requests)
		}
		lines = append(lines, line+" "+j.limit.String())
	}
	return strings.Join(lines, "\n")
}

func TestPlan(t *testing.T) {
	cases := []requestedCase{
		caseAt(0, 2, 100, "a"), caseAt(1, 4, 50, "a"), caseAt(2, 2, 30, "a"), caseAt(3, 2, 200, "a"), caseAt(4, 4, 60, "a"), caseAt(5, 2, 10, "a"),
	}
	pairs := [][]string{{"a1", "a2"}, {"b1", "b2"}, {"c1", "c2"}, {"d1", "d2"}}
	fours := [][]string{{"a1", "a2", "a3", "a4"}, {"b1", "b2", "b3", "b4"}}
	two := func(n int) []requestedCase { // launches of two nodes and 30 s each
		var out []requestedCase
		for i := range n {
			out = append(out, caseAt(i, 2, 15, "a"))
		}
		return out
	}
	tests := []struct {
		name     string
		cases    []requestedCase
		capacity benchrunner.Capacity
		most     int
		sharing  sharing
		want     string
		rejected []string
	}{
		// A launch takes the time of its cases, 5 s to start and up to 10 s to end. Each job takes another
		// 5 s.
		{name: "all in one job for a number of nodes, the longest start first", cases: cases, most: 1,
			want: "4 nodes: [4] [1] 2m25s\n2 nodes: [3] [0] [2] [5] 6m45s"},
		{name: "grouped", cases: cases, most: 3,
			want: "4 nodes: [1 4] 2m10s\n2 nodes: [0 2 3] [5] 6m15s"},
		{name: "two jobs to keep to the limit", cases: cases, most: 1, capacity: benchrunner.Capacity{Limit: 4 * time.Minute},
			want: "4 nodes: [4] [1] 2m25s\n2 nodes: [3] 3m40s\n2 nodes: [0] [2] [5] 3m10s"},
		{name: "a launch that is too long is halved", cases: cases, most: 4, capacity: benchrunner.Capacity{Limit: 4 * time.Minute},
			want: "4 nodes: [1 4] 2m10s\n2 nodes: [3 5] 3m50s\n2 nodes: [0 2] 2m30s"},
		{name: "what does not fit", cases: cases, most: 3, capacity: benchrunner.Capacity{Nodes: 3, PPN: 2, Limit: 2 * time.Minute},
			want: "2 nodes: [0] 2m0s\n2 nodes: [2] [5] 1m15s",
			rejected: []string{
				"3: a job takes up to 3m40s, 2m0s are allowed: allow longer jobs, or less time for a launch or a measurement",
				"1: 4x2 needs 4 nodes, a job has at most 3", "4: 4x2 needs 4 nodes, a job has at most 3",
			}},
		{name: "too many processes", cases: cases[:1], most: 1, capacity: benchrunner.Capacity{PPN: 1},
			rejected: []string{"0: 2x2 needs 2 processes per node, a node takes at most 1"}},
		{name: "one that cannot be asked for spoils no other", cases: append(slices.Clone(cases[:3]), caseAt(9, 2, 10, "bad")), most: 8,
			want:     "4 nodes: [1] 1m10s\n2 nodes: [0 2] 2m30s",
			rejected: []string{"9: bcast 2x2 10B bad: no such algorithm"}},
		{name: "no Duration holds what it takes and a launch", cases: []requestedCase{caseAt(0, 2, 9223372036, "a")}, most: 1, capacity: benchrunner.Capacity{Limit: time.Hour},
			rejected: []string{"0: a job takes up to 720h0m20s, 1h0m0s are allowed: allow longer jobs, or less time for a launch or a measurement"}},
		{name: "nothing"},
		{name: "four at the same time", cases: two(4), most: 1, sharing: sharing{nodes: 8},
			want: "8 nodes: [0] [1] [2] [3] 35s"},
		{name: "no more nodes than are of use", cases: two(3), most: 1, sharing: sharing{nodes: 8},
			want: "6 nodes: [0] [1] [2] 35s"},
		{name: "one after the other on few nodes", cases: two(2), most: 1, sharing: sharing{nodes: 2},
			want: "2 nodes: [0] [1] 1m5s"},
		{name: "a wide one and narrow ones that fill", cases: append(two(4), caseAt(9, 8, 15, "a")), most: 1, sharing: sharing{nodes: 8},
			want: "8 nodes: [9] [0] [1] [2] [3] 1m5s"},
		{name: "a wide one and a narrow one that does not", cases: append(two(1), caseAt(9, 8, 15, "a")), most: 1, sharing: sharing{nodes: 8},
			want: "8 nodes: [9] 35s\n2 nodes: [0] 35s"},
		{name: "allocated nodes may be idle", cases: append(two(1), caseAt(9, 8, 15, "a")), most: 1, sharing: sharing{nodes: 8, allocated: true},
			want: "8 nodes: [9] [0] 1m5s"},
		{name: "two jobs to keep to the limit", cases: two(8), most: 1, sharing: sharing{nodes: 4}, capacity: benchrunner.Capacity{Limit: 2 * time.Minute},
			want: "4 nodes: [0] [1] [2] [3] [4] [5] 1m35s\n4 nodes: [6] [7] 35s"},
		{name: "one for each switch", cases: two(4), most: 1, sharing: sharing{nodes: 8, switches: pairs},
			want: "8 nodes: [0] [1] [2] [3] 35s"},
		{name: "half of each switch would be idle", cases: two(4), most: 1, sharing: sharing{nodes: 8, switches: fours},
			want: "2 nodes: [0] [1] [2] [3] 2m5s"},
		{name: "allocated nodes may be idle", cases: two(4), most: 1, sharing: sharing{nodes: 8, switches: fours, allocated: true},
			want: "8 nodes: [0] [1] [2] [3] 1m5s"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p := planner{program: sized{most: max(1, tc.most)}, capacity: tc.capacity, launchTime: 5 * time.Second, dir: "/check", sharing: tc.sharing}
			jobs, rejected, err := p.plan(tc.cases)
			testutil.NoError(t, err)
			if got := describe(jobs); got != tc.want {
				t.Errorf("jobs\n%s\nwant\n%s", got, tc.want)
			}
			var got []string
			for _, r := range rejected {
				got = append(got, fmt.Sprintf("%d: %s", r.request, r.reason))
			}
			if !slices.Equal(got, tc.rejected) {
				t.Errorf("refused %q, want %q", got, tc.rejected)
			}
		})
	}
}

// TestStartAllowance checks that a launch with more ranks gets more time to start.
func TestStartAllowance(t *testing.T) {
	p := planner{launchTime: time.Minute, rankTime: 5 * time.Millisecond}
	for _, tc := range []struct {
		nodes, ppn int
		want       time.Duration
	}{
		{1, 2, time.Minute},
		{2, 128, time.Minute + time.Second},
		{512, 128, time.Minute + 327*time.Second},
	} {
		if got := p.launchAllowance(coll.Layout{Nodes: tc.nodes, PPN: tc.ppn}); got != tc.want {
			t.Errorf("%dx%d may take %v to start, want %v", tc.nodes, tc.ppn, got, tc.want)
		}
	}
	p.program, p.dir = sized{most: 1}, "/check"
	jobs, _, err := p.plan([]requestedCase{caseAt(0, 400, 100, "a")})
	if want := 2*time.Minute + 4*time.Second + 100*time.Second + grace; err != nil || jobs[0].limit != want {
		t.Errorf("a job of 800 ranks may take %v, %v, want %v", jobs[0].limit, err, want)
	}
}

// TestPlanRandom plans random cases. Each case must be rejected or be in one launch of the program, and no
// job may exceed its limits.
func TestPlanRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	plans := 400
	if testing.Short() {
		plans = 40 // the race detector needs few cases
	}
	for i := range plans {
		p := planner{
			program: sized{most: 1 + rng.IntN(9)}, launchTime: 5 * time.Second, dir: "/check",
			capacity: benchrunner.Capacity{Nodes: rng.IntN(5), Limit: time.Duration(rng.IntN(300)) * time.Second},
		}
		algorithms := []string{"a", "a", "a", "bad"}
		if concurrent := i%4 == 3; concurrent {
			p.program, p.capacity = sized{most: 1 + rng.IntN(3)}, benchrunner.Capacity{Limit: 400 * time.Second}
			p.sharing = sharing{nodes: 8 + rng.IntN(9), allocated: rng.IntN(2) == 0}
			algorithms = algorithms[:1]
		}
		var cases []requestedCase
		for n := range rng.IntN(50) {
			cases = append(cases, caseAt(n, 1+rng.IntN(max(4, min(8, p.sharing.nodes))), int64(1+rng.IntN(100)), algorithms[rng.IntN(len(algorithms))]))
		}
		jobs, rejected, err := p.plan(cases)
		if err != nil || p.sharing.nodes > 0 && len(rejected) > 0 {
			t.Fatal(err, rejected)
		}
		checkPlannedOnce(t, cases, jobs, rejected)
		for _, j := range jobs {
			checkBounds(t, p, j)
		}
		if again, _, _ := p.plan(cases); describe(again) != describe(jobs) {
			t.Error("the same cases give another plan")
		}
	}
}

// checkPlannedOnce checks that each case is rejected or in exactly one launch (run of the program).
func checkPlannedOnce(t *testing.T, cases []requestedCase, jobs []plannedJob, rejected []rejection) {
	t.Helper()
	count := map[int]int{}
	for _, r := range rejected {
		count[r.request]++
	}
	for _, j := range jobs {
		for _, c := range j.carries() {
			count[c]++
		}
	}
	for i := range cases {
		if count[i] != 1 {
			t.Errorf("case %d of %d is planned %d times", i, len(cases), count[i])
		}
	}
}

// checkBounds checks that a job is within its limits, and that sequential launches use all its nodes.
func checkBounds(t *testing.T, p planner, j plannedJob) {
	t.Helper()
	concurrent := p.sharing.nodes > 0
	most := cmp.Or(p.sharing.nodes, p.capacity.Nodes, math.MaxInt)
	if p.capacity.Limit > 0 && j.limit > p.capacity.Limit || j.nodes > most || !concurrent && j.limit != p.jobLimit(j.launches...) {
		t.Errorf("job %s is over %+v, %+v", describe([]plannedJob{j}), p.capacity, p.sharing)
	}
	for _, s := range j.launches {
		if s.Layout.Nodes > j.nodes || !concurrent && s.Layout.Nodes < j.nodes {
			t.Errorf("a job of %d nodes has a launch of %v", j.nodes, s.Layout)
		}
	}
}

type droppingProgram struct{ sized }

func (droppingProgram) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return [][]benchrunner.Case{cases[1:]}
}

type repeatingProgram struct{ sized }

func (repeatingProgram) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return [][]benchrunner.Case{cases, cases[:1]}
}

func TestPlanChecksGroups(t *testing.T) {
	for _, p := range []benchrunner.Program{droppingProgram{}, repeatingProgram{}} {
		if _, _, err := (planner{program: p, dir: "/check"}).plan([]requestedCase{caseAt(0, 1, 1, "a"), caseAt(1, 1, 2, "a")}); err == nil {
			t.Errorf("%T: no error", p)
		}
	}
}

func TestBounds(t *testing.T) {
	now := time.Now()
	for _, tc := range []struct {
		capacity benchrunner.Capacity
		jobTime  time.Duration
		want     time.Duration
		leaving  bool
	}{
		{},
		{capacity: benchrunner.Capacity{Limit: time.Hour}, jobTime: 2 * time.Hour, want: time.Hour},
		{capacity: benchrunner.Capacity{Limit: time.Hour}, jobTime: time.Minute, want: time.Minute},
		{capacity: benchrunner.Capacity{Ends: now.Add(time.Minute)}, jobTime: time.Hour, want: time.Minute, leaving: true},
		{capacity: benchrunner.Capacity{Ends: now.Add(-time.Minute)}, want: 1, leaving: true},
	} {
		if got, leaving := limitOf(tc.capacity, tc.jobTime, now); got != tc.want || leaving != tc.leaving {
			t.Errorf("limitOf(%+v, %v) = %v, %t, want %v, %t", tc.capacity, tc.jobTime, got, leaving, tc.want, tc.leaving)
		}
	}
}

// TestCostsAddUp checks that the costs of trials add up to the time for which the job had its nodes. The
// program reports random times, some of which are impossible.
func TestCostsAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		parts := make([]launchTimes, rng.IntN(5))
		walls := 0.0
		for i := range parts {
			parts[i] = randomPart(rng)
			walls += parts[i].wall
		}
		allocated := walls + rng.Float64()
		s := splitTime(parts, allocated, claim(rng))
		if math.Abs(s.Allocated()-allocated) > 1e-9*(1+allocated) || min(s.Queue, s.Launch, s.Warmup, s.Measure, s.Idle) < 0 {
			t.Fatalf("%+v: the parts are %g s of %g s", s, s.Allocated(), allocated)
		}
		checkCosts(t, parts, allocated)
	}
}

// claim returns a random time that a program may report. Some of these times are impossible.
func claim(rng *rand.Rand) float64 {
	return []float64{rng.Float64(), 0, -1, 1e6, math.NaN(), math.Inf(1)}[min(rng.IntN(12), 5)]
}

func randomPart(rng *rand.Rand) launchTimes {
	p := launchTimes{wall: rng.Float64() * 10, warmup: claim(rng), measure: claim(rng)}
	for range 1 + rng.IntN(4) {
		p.cases = append(p.cases, claim(rng))
		p.decided = append(p.decided, rng.IntN(3) > 0)
	}
	return p
}

// checkCosts checks that the costs of the cases that have a trial add up to `allocated`, the time of the job in
// seconds.
func checkCosts(t *testing.T, parts []launchTimes, allocated float64) {
	t.Helper()
	sum, any := 0.0, false
	for i, costs := range splitCost(parts, allocated) {
		for k, c := range costs {
			if c < 0 || c > 0 && !parts[i].decided[k] {
				t.Fatalf("case %d of launch %d costs %g s", k, i, c)
			}
			sum += c
			any = any || parts[i].decided[k]
		}
	}
	if any && math.Abs(sum-allocated) > 1e-9*(1+allocated) {
		t.Fatalf("trials cost %g s, nodes were allocated for %g s: %+v", sum, allocated, parts)
	}
}

// TestTimeWithoutResultIsCharged checks that the time of a job without results is not lost. It must be added to the
// costs of the same requests in a later job, even if the campaign was resumed in between.
func TestTimeWithoutResultIsCharged(t *testing.T) {
	job := func(n int, outcome coll.JobOutcome, allocated float64, carries ...int) coll.Job {
		return coll.Job{Name: fmt.Sprintf("tutti-c-l-r1-%d", n), State: coll.JobEnded, Outcome: outcome, Requests: carries, Spent: coll.Spent{Idle: allocated}}
	}
	batch := benchrunner.Batch{Label: "l", Round: 1, Requests: make([]benchrunner.Request, 4), Jobs: []coll.Job{
		job(10, coll.JobLost, 4, 1, 2), // runs after jobs 2 and 3, although it comes first in this list
		job(2, coll.JobCancelled, 8, 1, 2),
		job(3, coll.JobCompleted, 16, 0, 3),
	}}
	batch.Requests[0].Ended = true
	r := (&Machine{opt: Options{Campaign: "c"}}).newRun(batch, nil)
	if want := []float64{0, 12, 0, 0}; !slices.Equal(r.wasted, want) {
		t.Errorf("owed %v, want %v: the lost job took over what the cancelled one left", r.wasted, want)
	}
	if want := []int{1, 2, 3}; !slices.Equal(r.openRequests(), want) || r.number != 10 {
		t.Errorf("open %v after job %d, want %v after 10", r.openRequests(), r.number, want)
	}
}
