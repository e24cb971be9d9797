package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/selection"
	"tutti/verify"
)

// machine simulates a machine. The tuned library takes the default's time multiplied by a ratio.
type machine struct {
	noise     float64 // lognormal noise of one measurement
	seed      uint64
	ratio     func(coll.Point) float64 // tuned time over default time at a point
	fails     func(coll.Candidate, int) bool
	choose    map[coll.Collective]func(coll.Point) coll.Algorithm
	noisy     bool
	cancelled func(coll.Candidate) bool // whether the job is cancelled; nil: never
	dies      int                       // number of trials before the machine fails; 0: never
	trials    int
	ran       map[string]int               // number of measurements by candidate and attempt
	begin     func(benchrunner.Batch)      // called before each batch; may be nil
	factor    func(coll.Candidate) float64 // multiplies the time of a candidate; nil: 1
}

var errDead = fmt.Errorf("the cluster is down: %w", benchrunner.ErrUnavailable)

func (m *machine) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	if m.begin != nil {
		m.begin(b)
	}
	for _, r := range b.Requests {
		if r.Ended {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if m.dies > 0 && m.trials >= m.dies {
			return errDead
		}
		m.trials++
		if m.ran != nil {
			m.ran[fmt.Sprint(r.Candidate, r.Attempt)]++
		}
		if err := log.Trial(m.trial(r)); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) trial(r benchrunner.Request) coll.Trial {
	t := coll.Trial{Measurement: coll.Measurement{Candidate: r.Candidate, CostSeconds: 0.1}, Attempt: r.Attempt, State: coll.TrialDone}
	if m.fails != nil && m.fails(r.Candidate, r.Attempt) {
		t.State, t.Phase, t.Error = coll.TrialFailed, "run", "crashed"
		return t
	}
	if m.cancelled != nil && m.cancelled(r.Candidate) {
		t.State, t.Phase, t.Error = coll.TrialFailed, benchrunner.PhaseLaunch, "job lib-verify-1: cancelled"
		return t
	}
	if m.noisy {
		t.State, t.Phase, t.Error = coll.TrialFailed, benchrunner.PhaseNoise, "too noisy"
		return t
	}
	h := uint64(14695981039346656037)
	for _, c := range []byte(fmt.Sprint(r.Candidate, r.Attempt)) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	rng := rand.New(rand.NewPCG(m.seed, h))
	t.Seconds = 1e-5 * math.Exp(m.noise*rng.NormFloat64())
	if r.Algorithm == verify.Tuned && !m.choose[r.Collective](r.Point).IsDefault() {
		t.Seconds *= m.ratio(r.Point)
	}
	if m.factor != nil {
		t.Seconds *= m.factor(r.Candidate)
	}
	return t
}

// fileWriter writes files that select an algorithm wherever it is predicted to be faster than the default,
// whatever the machine measures.
type fileWriter struct {
	machine  *machine
	rows     []selection.Row
	probe    benchrunner.Runner
	rejected func(coll.Collective) selection.Rejected // of the session
}

func size(p coll.Point) int64 { return p.MsgBytes }

func choose(rows []selection.Row) (func(coll.Point) coll.Algorithm, error) {
	tree, err := selection.Merge(rows, size, selection.Options{MaxLoss: 0.01})
	return func(p coll.Point) coll.Algorithm { a, _ := tree.Select(p); return a }, err
}

func (s *fileWriter) write(rejected func(coll.Collective) selection.Rejected) (verify.Files, error) {
	s.rejected = rejected
	var problems []verify.Problem
	s.machine.choose = map[coll.Collective]func(coll.Point) coll.Algorithm{}
	for _, c := range []coll.Collective{coll.Allreduce, coll.Bcast, coll.Iallreduce} {
		rows := slices.DeleteFunc(slices.Clone(s.rows), func(r selection.Row) bool { return r.Point.Collective != c })
		if len(rows) == 0 {
			continue
		}
		rows, err := selection.RevertToDefault(rows, rejected(c), choose)
		if err != nil {
			return verify.Files{}, err
		}
		selected, err := choose(rows)
		if err != nil {
			return verify.Files{}, err
		}
		p := verify.Problem{Collective: c, Choose: selected, OffGrid: true}
		for _, r := range rows {
			p.Grid = append(p.Grid, r.Point)
		}
		s.machine.choose[c] = selected
		problems = append(problems, p)
	}
	return verify.Files{Problems: problems, Machine: s.machine, Probe: s.probe}, nil
}

// verifyAll runs passes until nothing more is reverted, as a campaign does.
func verifyAll(ctx context.Context, opt verify.Options, files *fileWriter, log *memory) (verify.Result, error) {
	f, err := files.write(log.rejected)
	if err != nil {
		return verify.Result{}, err
	}
	session, err := verify.Open(opt, log.past(), f.Problems, log.append)
	if err != nil {
		return verify.Result{}, err
	}
	for ended := false; !ended && err == nil; {
		if ended, err = session.RunPass(ctx, f); err == nil && !ended {
			f, err = files.write(log.rejected)
		}
	}
	result, resultErr := session.Result()
	return result, errors.Join(err, resultErr)
}

var (
	ring = coll.Algorithm{Name: "ring"}
	tree = coll.Algorithm{Name: "tree"}
)

// rowsOf returns rows for a selection. The best algorithm is `tree` up to 1 KiB and `ring` above; it is
// predicted to take half the default's time. From 64 KiB the default is faster than both.
func rowsOf(nodes []int, sizes []int64, collectives ...coll.Collective) []selection.Row {
	var rows []selection.Row
	for _, c := range collectives {
		for _, n := range nodes {
			for _, s := range sizes {
				r := selection.Row{Point: coll.Point{Collective: c, Nodes: n, PPN: 2, MsgBytes: s}}
				best, second := tree, ring
				if s > 1024 {
					best, second = ring, tree
				}
				byDefault := 2.0
				if s >= 65536 {
					byDefault = 0.5
				}
				r.Options = []selection.Option{{Algorithm: best, Seconds: 1}, {Algorithm: second, Seconds: 1.5}, {Algorithm: coll.Default, Seconds: byDefault}}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

var smallSizes = []int64{16, 64, 256, 1024, 4096, 16384, 65536, 262144}

// memory is a log in memory. It can fail after some entries.
type memory struct {
	records []journal.Record
	entries []verify.Entry // the same records, read back
	most    int            // number of entries before it fails; 0: it never fails
	taken   int
}

var errKilled = errors.New("killed")

func (m *memory) append(rec journal.Record) error {
	if m.most > 0 && m.taken >= m.most {
		return errKilled
	}
	m.taken++
	m.records = append(m.records, rec)
	back, err := verify.Entries(campaigntest.State([]journal.Record{rec}).Verification(rec.Verify.Library))
	m.entries = append(m.entries, back...)
	return err
}

// past returns the verification that a process restores from the written records.
func (m *memory) past() *journal.Verification {
	var records []journal.Record
	for _, r := range m.records {
		line, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		var back journal.Record
		if err := json.Unmarshal(line, &back); err != nil {
			panic(err)
		}
		records = append(records, back)
	}
	return campaigntest.State(records).Verification("lib")
}

func (m *memory) rejected(c coll.Collective) selection.Rejected {
	return verify.RejectedBy(m.entries, c)
}

func rules(seed uint64) verify.Rules {
	r := verify.DefaultRules()
	r.Seed = seed
	return r
}

func run(t *testing.T, m *machine, rows []selection.Row, r verify.Rules) (verify.Result, *memory) {
	t.Helper()
	log := &memory{}
	res := testutil.Must(verifyAll(t.Context(), verify.Options{Library: "lib", Rules: r}, &fileWriter{machine: m, rows: rows}, log))(t)
	return res, log
}

// TestFalseAlarms checks verifications in which nothing is slower, with little and with much noise. At most
// 5 of 100 may revert something.
func TestFalseAlarms(t *testing.T) {
	testutil.NeedAllCases(t)
	const all = 200
	rows := rowsOf([]int{2, 4, 8}, smallSizes, coll.Bcast)
	// These rows give 42 test points, most of them with a selected algorithm.
	for _, noise := range []float64{0.02, 0.1} {
		for _, truth := range []float64{1, 1.02} { // equal, and at the edge of the tolerance
			alarms, suspects, points := 0, 0, 0
			seeds := all
			if truth > 1 {
				seeds /= 4
			}
			for seed := range seeds {
				m := &machine{noise: noise, seed: uint64(seed), ratio: func(coll.Point) float64 { return truth }}
				res, log := run(t, m, rows, rules(uint64(seed)))
				if len(res.Reverted) > 0 {
					alarms++
				}
				suspects += log.entries[slices.IndexFunc(log.entries, func(e verify.Entry) bool { return e.Outcome != nil })].Outcome.Suspects
				points += len(res.Points)
			}
			t.Logf("noise %.0f %%, true ratio %.2f: %d of %d verifications raised a false alarm; %d of %d points had a confirmation",
				100*noise, truth, alarms, seeds, suspects, points)
			// At the edge of the tolerance the probability of a false alarm is exactly 5 %. Three standard
			// errors more are allowed.
			most := 0.05 * float64(seeds)
			if truth > 1 {
				most += 3 * math.Sqrt(0.05*0.95*float64(seeds))
			}
			if float64(alarms) > most {
				t.Errorf("noise %g, true ratio %g: %d false alarms in %d verifications, want at most 5 %%", noise, truth, alarms, seeds)
			}
		}
	}
}

// TestVerdicts simulates verifications of files of 6 to 30 points that are equal to the default, slower at one point or
// slower everywhere. Files that are slower must not pass as not slower. At 2 % noise a slower point must be found, and
// equal files must pass without an alarm.
func TestVerdicts(t *testing.T) {
	seeds := 100
	if !testutil.AllCases() {
		seeds = 3
	}
	noises, grids := []float64{0.02, 0.1, 0.3}, [][]int{{2}, {2, 4}, {2, 4, 8, 16, 32}}
	sizes := []int64{16, 64, 256, 1024, 4096, 16384}
	one := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 2, MsgBytes: 256}
	t.Log("| points | noise | slower by | where | found | other points reverted | slower | not slower | not proved | not slower, but is | blocks a point |")
	t.Log("|---|---|---|---|---|---|---|---|---|---|---|")
	if !testutil.AllCases() {
		noises, grids = noises[:2], grids[:1]
	}
	for _, nodes := range grids {
		for _, noise := range noises {
			for _, tc := range []struct {
				slow  float64
				where string
			}{{1, "nowhere"}, {1.05, "one"}, {1.05, "all"}, {1.2, "one"}} {
				rows := rowsOf(nodes, sizes, coll.Bcast)
				isSlow := func(p coll.Point) bool { return tc.where == "all" || tc.where == "one" && p == one }
				found, alarms, wrong, trials, points := 0, 0, 0, 0, 0
				verdicts := map[verify.Verdict]int{}
				for seed := range seeds {
					m := &machine{noise: noise, seed: uint64(seed), ratio: func(p coll.Point) float64 {
						if isSlow(p) {
							return tc.slow
						}
						return 1
					}}
					res, _ := run(t, m, rows, rules(uint64(seed)))
					verdict := res.Verdict()
					verdicts[verdict]++
					trials += res.Trials
					points += len(res.Points)
					alarm := false
					for _, f := range res.Reverted {
						if !isSlow(f.Point) && !f.Choice.IsDefault() {
							alarm = true
						}
					}
					if alarm {
						alarms++
					}
					remains := slices.ContainsFunc(rows, func(r selection.Row) bool {
						return isSlow(r.Point) && !m.choose[coll.Bcast](r.Point).IsDefault()
					})
					switch {
					case !remains && len(res.Reverted) > 0:
						found++
					case remains && verdict == verify.IsNotSlower:
						wrong++
					}
					checkVerdict(t, res)
				}
				t.Logf("| %d | %.0f %% | %.0f %% | %s | %d | %d | %d | %d | %d | %d | %.0f |", len(rows), 100*noise, 100*(tc.slow-1), tc.where,
					found, alarms, verdicts[verify.IsSlower], verdicts[verify.IsNotSlower], verdicts[verify.NotProved], wrong, float64(trials)/float64(2*points))
				most := max(1, seeds*5/100)
				if alarms > most || wrong > most {
					t.Errorf("%d points, noise %g, %g slower %s: %d alarms, %d wrong verdicts of %d", len(rows), noise, tc.slow-1, tc.where, alarms, wrong, seeds)
				}
				if noise == 0.02 && tc.where == "one" && found < seeds*9/10 {
					t.Errorf("%d points, noise %g, %g slower %s: found in %d of %d", len(rows), noise, tc.slow-1, tc.where, found, seeds)
				}
				if noise == 0.02 && tc.where == "nowhere" && verdicts[verify.IsNotSlower] < seeds*9/10 {
					t.Errorf("%d points, noise %g, equal: %v", len(rows), noise, verdicts)
				}
			}
		}
	}
}

// checkVerdict checks that no verdict contradicts the intervals next to it.
func checkVerdict(t *testing.T, res verify.Result) {
	t.Helper()
	if res.Verdict() != verify.IsNotSlower {
		return
	}
	for _, p := range res.Points {
		if !p.Reverted && p.Ratio.High > 1+res.Rules.Detect {
			t.Errorf("%v is not slower, but its interval is %+v", p.TestPoint, p.Ratio)
		}
	}
	if res.Time.Low > 1+res.Rules.Detect {
		t.Errorf("not slower, but the collective time is %+v", res.Time)
	}
	for _, f := range res.Reverted {
		if f.Reason == verify.Slower && f.Ratio.Low <= 1 {
			t.Errorf("%v is slower, but its interval is %+v", f.TestPoint, f.Ratio)
		}
	}
}

// TestBetween checks that a slowdown between grid points is found, and that the selection that causes it is
// reverted.
func TestBetween(t *testing.T) {
	rows := rowsOf([]int{2, 8}, smallSizes, coll.Bcast)
	slow := func(p coll.Point) bool { return p.MsgBytes > 300 && p.MsgBytes < 1000 }
	m := &machine{noise: 0.01, seed: 1, ratio: func(p coll.Point) float64 {
		if slow(p) {
			return 1.5
		}
		return 0.7
	}}
	res, _ := run(t, m, rows, rules(1))
	if !res.Proved() || len(res.Reverted) == 0 {
		t.Fatalf("proved %t, reverted %v", res.Proved(), res.Reverted)
	}
	for _, f := range res.Reverted {
		if !slow(f.Point) {
			t.Errorf("%v is reverted and was never slow", f.Point)
		}
		if got := m.choose[coll.Bcast](f.Point); !got.IsDefault() {
			t.Errorf("%v: the file still selects %v", f.Point, got)
		}
	}
	if got := m.choose[coll.Bcast](coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 2, MsgBytes: 16384}); got != ring {
		t.Errorf("a point that was never slow has %v, want ring", got)
	}
}

// TestFailures checks three cases. If a selected algorithm crashes and the default does not, the selection
// must be reverted. If the default crashes, nothing must be compared. Rare failures must have no effect.
func TestFailures(t *testing.T) {
	rows := rowsOf([]int{2, 4}, smallSizes, coll.Bcast)
	m := &machine{noise: 0.01, seed: 1, ratio: func(coll.Point) float64 { return 0.7 }}
	m.fails = func(c coll.Candidate, attempt int) bool {
		switch {
		case c.Nodes == 2 && c.MsgBytes == 64:
			return c.Algorithm == verify.Tuned && m.choose[coll.Bcast](c.Point) == tree
		case c.Nodes == 4 && c.MsgBytes == 64:
			return c.Algorithm == coll.Default
		}
		return attempt%5 == 3 && c.Algorithm == verify.Tuned
	}
	res, _ := run(t, m, rows, rules(1))
	if res.Proved() || len(res.Unmeasured()) != 1 || len(res.Reverted) != 1 || res.Reverted[0].Reason != verify.Fails || res.Reverted[0].MsgBytes != 64 || res.Reverted[0].Error != "run: crashed" {
		t.Errorf("proved %t, reverted %+v, want the point that crashes", res.Proved(), res.Reverted)
	}
	for _, p := range res.Points {
		if p.Nodes == 4 && p.MsgBytes == 64 && (p.Blocks > 0 || p.OtherFailed == 0) {
			t.Errorf("%v: %d blocks, %d failures of the default", p.Point, p.Blocks, p.OtherFailed)
		}
	}
}

// TestUnusable checks a verification whose times are all too noisy to be used. It must revert nothing and prove nothing.
func TestUnusable(t *testing.T) {
	m := &machine{noisy: true}
	res, _ := run(t, m, rowsOf([]int{2}, smallSizes, coll.Bcast), rules(1))
	if n := res.Unmeasured(); !res.Ended || res.Proved() || len(res.Reverted) > 0 || len(n) != len(res.Points) || n[0].Failure != "too noisy" {
		t.Errorf("ended %t, proved %t, reverted %v, %d of %d points unmeasured", res.Ended, res.Proved(), res.Reverted, len(n), len(res.Points))
	}
}

// TestCancelledJobs checks a machine on which some or all jobs are cancelled. Without a ratio at every test point,
// nothing may be proved.
func TestCancelledJobs(t *testing.T) {
	for _, tc := range []struct {
		name      string
		cancelled func(batch int, c coll.Candidate) bool
		proved    bool
	}{
		{"none", func(int, coll.Candidate) bool { return false }, true},
		{"all", func(int, coll.Candidate) bool { return true }, false},
		{"all but one block", func(batch int, _ coll.Candidate) bool { return batch != 6 }, false},
		{"the default's for five blocks", func(batch int, c coll.Candidate) bool { return batch < 6 && c.Algorithm.IsDefault() }, true},
		{"the default's", func(_ int, c coll.Candidate) bool { return c.Algorithm.IsDefault() }, false},
		{"those of one point", func(_ int, c coll.Candidate) bool { return c.MsgBytes == 64 }, false},
		{"the first block", func(batch int, _ coll.Candidate) bool { return batch < 2 }, true},
	} {
		batch := 0
		m := &machine{noise: 0.01, begin: func(benchrunner.Batch) { batch++ }, ratio: func(coll.Point) float64 { return 0.9 }}
		m.cancelled = func(c coll.Candidate) bool { return tc.cancelled(batch, c) }
		res, _ := run(t, m, rowsOf([]int{2, 4}, smallSizes, coll.Bcast), rules(1))
		unmeasured := res.Unmeasured()
		if res.Proved() != tc.proved || (len(unmeasured) == 0) != tc.proved || len(res.Reverted) > 0 {
			t.Errorf("%s: proved %t, %d of %d points unmeasured, reverted %v", tc.name, res.Proved(), len(unmeasured), len(res.Points), res.Reverted)
		}
		for _, p := range unmeasured {
			if !strings.Contains(p.Failure, "launch: job lib-verify-1: cancelled") {
				t.Errorf("%s: %v is not measured because of %q", tc.name, p.Point, p.Failure)
			}
		}
	}
}

// TestTies checks times without noise. Equal times must not count as slower, and longer times must.
func TestTies(t *testing.T) {
	rows := rowsOf([]int{2}, smallSizes, coll.Bcast)
	for _, tc := range []struct {
		ratio float64
		back  bool
	}{{1, false}, {1.02, false}, {1.0201, true}, {2, true}} {
		res, _ := run(t, &machine{ratio: func(coll.Point) float64 { return tc.ratio }}, rows, rules(1))
		if got := len(res.Reverted) > 0; got != tc.back || !res.Proved() {
			t.Errorf("ratio %g: reverted %t, want %t; proved %t", tc.ratio, got, tc.back, res.Proved())
		}
	}
}

// TestSlowerByItself checks a collective that becomes slower by the settings alone, whatever the files
// select. It must be reverted as a whole. If that does not help, it must be reported as slower.
func TestSlowerByItself(t *testing.T) {
	rows := rowsOf([]int{2, 4}, smallSizes, coll.Allreduce, coll.Bcast)
	for _, helps := range []bool{true, false} {
		m := &machine{noise: 0.01, seed: 1, ratio: func(coll.Point) float64 { return 0.8 }}
		files := &fileWriter{machine: m, rows: rows}
		m.factor = func(c coll.Candidate) float64 {
			if c.Algorithm == verify.Tuned && c.Collective == coll.Allreduce && !(helps && files.rejected(coll.Allreduce).All) {
				return 1.5
			}
			return 1
		}
		res := testutil.Must(verifyAll(t.Context(), verify.Options{Library: "lib", Rules: rules(1)}, files, &memory{}))(t)
		if want := []coll.Collective{coll.Allreduce}; !slices.Equal(res.RevertedCollectives, want) || !res.Ended {
			t.Errorf("reverted %v, ended %t, want %v", res.RevertedCollectives, res.Ended, want)
		}
		if res.Proved() != helps || (len(res.Slower) == 0) != helps {
			t.Errorf("helps %t: proved %t, slower %v", helps, res.Proved(), res.Slower)
		}
	}
}

// TestResume kills a verification after each of its records and resumes it. The resumed verification must
// end with the same entries and measure nothing twice.
func TestResume(t *testing.T) {
	rows := rowsOf([]int{2}, []int64{64, 4096, 65536}, coll.Bcast)
	truth := func() *machine {
		return &machine{noise: 0.02, seed: 5, ran: map[string]int{}, ratio: func(p coll.Point) float64 {
			if p.MsgBytes == 4096 {
				return 1.3
			}
			return 0.8
		}}
	}
	opt := verify.Options{Library: "lib", Rules: rules(2)}
	opt.Rules.Between, opt.Rules.Controls, opt.Rules.MaxBlocks = 2, 1, 8
	want := &memory{}
	whole, err := verifyAll(t.Context(), opt, &fileWriter{machine: truth(), rows: rows}, want)
	if err != nil || len(whole.Reverted) == 0 {
		t.Fatalf("error %v, reverted %v", err, whole.Reverted)
	}
	m := truth()
	again, err := verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows}, want)
	if err != nil || len(m.ran) > 0 || !cmp.Equal(whole, again, cmp.AllowUnexported(coll.Algorithm{})) {
		t.Errorf("a further run: error %v, %d measurements", err, len(m.ran))
	}
	step := 1
	if !testutil.AllCases() {
		step = 37
	}
	killed := 0
	for cut := 1; cut < len(want.entries); cut += step {
		m := truth()
		log := &memory{most: cut}
		if _, err := verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows}, log); !errors.Is(err, errKilled) {
			t.Fatalf("cut at %d: error %v", cut, err)
		}
		killed++
		ran := len(log.entries)
		m.ran = map[string]int{}
		log.most = 0
		got, err := verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows}, log)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if !sameEntries(want.entries, log.entries) {
			t.Fatalf("cut at %d: the entries differ", cut)
		}
		if d := cmp.Diff(whole, got, cmp.AllowUnexported(coll.Algorithm{})); d != "" {
			t.Fatalf("cut at %d: (-whole +resumed)\n%s", cut, d)
		}
		if again := len(m.ran); again > len(want.entries)-ran {
			t.Fatalf("cut at %d: %d measurements after it, want at most %d", cut, again, len(want.entries)-ran)
		}
	}
	t.Logf("killed and resumed after %d different records", killed)
}

// sameEntries reports whether two lists of entries are equal in the journal. The order of the trials within a block
// does not matter.
func sameEntries(a, b []verify.Entry) bool {
	lines := func(es []verify.Entry) []string {
		var out []string
		for _, e := range es {
			raw, err := json.Marshal(e)
			if err != nil {
				panic(err)
			}
			out = append(out, string(raw))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(lines(a), lines(b))
}

// TestDeadRunner checks that an unavailable machine ends the verification with its error, and that a later
// run continues to the same result.
func TestDeadRunner(t *testing.T) {
	rows := rowsOf([]int{2}, smallSizes, coll.Bcast)
	ratio := func(coll.Point) float64 { return 0.9 }
	opt := verify.Options{Library: "lib", Rules: rules(3)}
	log := &memory{}
	m := &machine{noise: 0.02, ratio: ratio, dies: 50}
	res, err := verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows}, log)
	if !errors.Is(err, benchrunner.ErrUnavailable) || res.Ended || res.Trials != 50 {
		t.Fatalf("error %v, ended %t, %d trials", err, res.Ended, res.Trials)
	}
	m.dies = 0
	if res, err = verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows}, log); err != nil || !res.Proved() {
		t.Fatalf("error %v, proved %t", err, res.Proved())
	}
	// Another run has the same result and measures nothing.
	ran := m.trials
	again, err := verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows}, log)
	if err != nil || m.trials != ran || again.Trials != res.Trials {
		t.Errorf("error %v, %d trials more", err, m.trials-ran)
	}
	// If the files select something else, a new session verifies them.
	again, err = verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rowsOf([]int{2, 16}, smallSizes, coll.Bcast)}, log)
	if err != nil || again.Sessions != 2 || !again.Proved() {
		t.Errorf("error %v, session %d, proved %t", err, again.Sessions, again.Proved())
	}
}

// TestBudget checks that a verification ends before the block that would exceed its limit, and that the next one goes
// on. With known costs it must choose points that fit.
func TestBudget(t *testing.T) {
	rows := rowsOf([]int{2}, smallSizes, coll.Bcast)
	m := &machine{noise: 0.02, ratio: func(coll.Point) float64 { return 0.9 }}
	opt := verify.Options{Library: "lib", Rules: rules(3), MachineTime: 5e9}
	log := &memory{}
	res, err := verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows}, log)
	if err != nil || !res.Ended || res.Exhausted == "" || res.Proved() || res.MachineSeconds < 2 || res.MachineSeconds > 5 {
		t.Fatalf("error %v, ended %t (%s), proved %t, %g s", err, res.Ended, res.Exhausted, res.Proved(), res.MachineSeconds)
	}
	opt.MachineTime = 0
	if res, err = verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows}, log); err != nil || !res.Proved() || res.Sessions != 1 {
		t.Errorf("error %v, proved %t, session %d", err, res.Proved(), res.Sessions)
	}
	log, rows = &memory{}, rowsOf([]int{2, 4, 8, 16}, smallSizes, coll.Bcast)
	opt.MachineTime, opt.BlockSeconds = 9e9, func(points []verify.TestPoint) float64 { return 0.2 * float64(len(points)) }
	res, err = verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows}, log)
	if err != nil || res.Exhausted != "" && len(res.Unmeasured()) > 0 || res.MachineSeconds > 9 || len(res.Points) < 3 {
		t.Errorf("known costs: error %v, %d of %d points unmeasured (%s), %g s", err, len(res.Unmeasured()), len(res.Points), res.Exhausted, res.MachineSeconds)
	}
	before := len(res.Points)
	res, err = verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows}, log)
	if err != nil || len(res.Points) <= before || res.Sessions != 1 {
		t.Errorf("the next verification: error %v, %d points after %d, session %d", err, len(res.Points), before, res.Sessions)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &machine{ratio: func(coll.Point) float64 { return 1 }}
	_, err := verifyAll(ctx, verify.Options{Library: "lib", Rules: rules(1)}, &fileWriter{machine: m, rows: rowsOf([]int{2}, smallSizes, coll.Bcast)}, &memory{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestLaunchNoise checks launches that are four times slower as a whole, as if two processes shared a core. Nothing may be
// reverted, and the confidence interval of the speed-up must be wide.
func TestLaunchNoise(t *testing.T) {
	rows := rowsOf([]int{2, 4}, smallSizes, coll.Bcast)
	seeds, alarms, covered := 40, 0, 0
	if !testutil.AllCases() {
		seeds = 8
	}
	for seed := range seeds {
		m := &machine{noise: 0.02, seed: uint64(seed), ratio: func(coll.Point) float64 { return 1 }}
		rng, factors := rand.New(rand.NewPCG(uint64(seed), 9)), map[bool]float64{}
		m.begin = func(benchrunner.Batch) {
			for _, tuned := range []bool{true, false} {
				factors[tuned] = []float64{1, 4}[rng.IntN(2)]
			}
		}
		m.factor = func(c coll.Candidate) float64 { return factors[c.Algorithm == verify.Tuned] }
		res, _ := run(t, m, rows, rules(uint64(seed)))
		if len(res.Reverted) > 0 {
			alarms++
		}
		if c := res.Collectives[0].Speedup; c.Low <= 1 && 1 <= c.High {
			covered++
		}
	}
	t.Logf("%d of %d verifications raised a false alarm; the interval of the speed-up covered 1 in %d", alarms, seeds, covered)
	if alarms > seeds/20+1 || covered < seeds*85/100 {
		t.Errorf("%d false alarms, %d of %d intervals cover the truth", alarms, covered, seeds)
	}
}

// TestUntrusted checks which collectives count as untrusted: those with different times even at points that the
// files do not change. There the whole confidence interval of the ratio of the times lies outside the tolerance.
func TestUntrusted(t *testing.T) {
	r := verify.Result{Rules: verify.DefaultRules()}
	for _, i := range []verify.Interval{{Value: 2.048, Low: 1.721, High: 2.439}, {Value: 1.03, Low: 1.01, High: 1.05}, {Value: 0.5, Low: 0.4, High: 0.6}} {
		r.Collectives = append(r.Collectives, verify.CollectiveResult{Controls: 4, ControlSpeedup: i})
	}
	if got := r.Untrusted(); len(got) != 2 || got[0].ControlSpeedup.Value != 2.048 || got[1].ControlSpeedup.Value != 0.5 {
		t.Errorf("untrusted %+v, want those of 2.048 and 0.5", got)
	}
}
