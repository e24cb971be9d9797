package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/metrics"
)

// series contains the measurements of one test point in one stage: the screening, or the second measurement of
// suspects.
type series struct {
	ratios      []float64 // logarithms of tuned over default time, one for each block that has both
	rounds      []int     // rounds of these blocks
	tunedFailed int       // blocks in which only the tuned library failed
	otherFailed int       // blocks in which the default failed
	unusable    int       // blocks with a time that cannot be used, for example because it is too noisy
	failure     string    // why the last block without a ratio has none
}

func (s series) blocks() int { return len(s.ratios) + s.tunedFailed + s.otherFailed + s.unusable }

// fails reports whether the tuned library failed in more than half of the blocks in which the default succeeded.
func (s series) fails() bool { return s.tunedFailed > len(s.ratios) }

// shifted returns the logarithmic ratios minus `limit`, the logarithm of the largest acceptable ratio.
func (s series) shifted(limit float64) []float64 {
	out := make([]float64, len(s.ratios))
	for i, r := range s.ratios {
		if out[i] = r - limit; math.Abs(out[i]) < 1e-12 { // rounding
			out[i] = 0
		}
	}
	return out
}

// measurePass screens the points of a pass and measures the suspects again. The field Reverted of the outcome contains
// the suspects that the second measurement confirms as slower or failing.
func (s *Session) measurePass(ctx context.Context, pass Pass, machine benchrunner.Runner) (PassOutcome, error) {
	m := &measurer{Session: s, pass: pass, machine: machine, attempts: s.attemptsBefore(pass), next: pass.FirstRound}
	first, err := m.measureStage(ctx, Screening, s.rules.MaxBlocks, func(_ int, seen series) bool { return s.continuesScreening(seen) })
	if err != nil {
		return PassOutcome{}, err
	}
	suspects := s.suspects(first)
	v := PassOutcome{Suspects: len(suspects), Reverted: []Finding{}}
	if len(suspects) == 0 {
		return v, nil
	}
	most, unfinished := m.confirmation(suspects, first)
	second, err := m.measureStage(ctx, Confirmation, most, unfinished)
	if err != nil {
		return PassOutcome{}, err
	}
	v.Reverted = s.findings(pass, suspects, second)
	return v, nil
}

// confirmation returns the largest number of blocks of a second measurement, and says which points it measures in each.
func (m *measurer) confirmation(suspects []int, first []series) (most int, wants wantsBlock) {
	lengths := map[int]int{}
	for _, i := range suspects {
		lengths[i] = m.rules.confirmationBlocks(m.pass.Number, len(suspects), first[i].ratios)
	}
	return slices.Max(slices.Collect(maps.Values(lengths))), func(i int, seen series) bool { return seen.blocks() < lengths[i] }
}

// attemptsBefore returns how often each candidate was measured before a pass.
func (s *Session) attemptsBefore(pass Pass) map[coll.Candidate]int {
	attempts := map[coll.Candidate]int{}
	for _, e := range s.entries {
		if e.Session == s.number && e.Trial != nil && e.Stage != Probing && e.Round < pass.FirstRound {
			attempts[e.Trial.Candidate]++
		}
	}
	return attempts
}

// continuesScreening reports whether the screening of a point needs another block. It ends at a look (Rules.isLook) if
// the point is clear or certainly a suspect, if more blocks would change nothing, if the tuned library fails, or if too many blocks have no
// ratio. It ends after MaxBlocks at the latest.
func (s *Session) continuesScreening(seen series) bool {
	n := len(seen.ratios)
	switch {
	case seen.blocks() < s.rules.MinBlocks:
		return true
	case seen.blocks() >= s.rules.MaxBlocks, seen.fails(), seen.otherFailed+seen.unusable >= s.rules.MinBlocks:
		return false
	case n < s.rules.MinBlocks, !s.rules.isLook(n):
		return true
	}
	suspect := metrics.SignedRank(seen.shifted(s.rules.limit())) <= clearError/looks
	return !suspect && !s.rules.isClear(seen.ratios) && !s.rules.futile(seen.ratios)
}

func (s *Session) suspects(first []series) []int {
	var out []int
	for i, seen := range first {
		if seen.fails() || metrics.SignedRank(seen.shifted(s.rules.limit())) <= s.rules.Suspicion {
			out = append(out, i)
		}
	}
	return out
}

// findings returns the suspects that the second measurement confirms: the selection is slower there than the default,
// or it fails.
func (s *Session) findings(pass Pass, suspects []int, second []series) []Finding {
	p := make([]float64, len(suspects))
	for k, i := range suspects {
		p[k] = metrics.SignedRank(second[i].shifted(s.rules.limit()))
	}
	rejected := metrics.Holm(p, s.rules.levelOf(pass.Number))
	found := []Finding{}
	for k, i := range suspects {
		seen := second[i]
		f := Finding{TestPoint: pass.Points[i], P: p[k], Blocks: len(seen.ratios), Error: seen.failure}
		if len(seen.ratios) > 0 {
			f.Ratio = intervalOf(seen.ratios).exp()
		}
		switch {
		case seen.fails():
			f.Reason = Fails
		case rejected[k]:
			f.Reason = Slower
		default:
			continue
		}
		found = append(found, f)
	}
	return found
}

// measurer runs the launches of one pass. It measures block after block, each over all test points.
type measurer struct {
	*Session
	pass     Pass
	machine  benchrunner.Runner
	attempts map[coll.Candidate]int
	next     int // round

	// Average machine seconds and wall time of a trial in the previous block; 0 before the first block.
	trialSeconds float64
	trialTime    time.Duration
}

// recorded returns the trials and jobs of a round that were already in the journal.
func (s *Session) recorded(round int) (map[coll.Candidate]coll.Trial, []coll.Job) {
	trials := map[coll.Candidate]coll.Trial{}
	for _, e := range s.entries {
		if e.Session == s.number && e.Round == round && e.Trial != nil {
			trials[e.Trial.Candidate] = *e.Trial
		}
	}
	return trials, s.past.Jobs(round)
}

// wantsBlock reports whether a stage needs another block at a point with the given series. Points are numbered as in the pass.
type wantsBlock func(point int, seen series) bool

func (w wantsBlock) of(seen []series) (points []int) {
	for i, s := range seen {
		if w(i, s) {
			points = append(points, i)
		}
	}
	return points
}

// measureStage measures blocks, each at the points that the function `wants` accepts, until `wants` accepts no
// point. It returns one series of measurements for each point of the pass.
func (m *measurer) measureStage(ctx context.Context, stage Stage, most int, wants wantsBlock) ([]series, error) {
	seen := make([]series, len(m.pass.Points))
	for number := 1; ; number++ {
		points := wants.of(seen)
		if len(points) == 0 {
			return seen, nil
		}
		at := Event{Stage: stage, Block: number, MaxBlocks: most}
		if m.opt.Observe != nil {
			at.Ahead = m.ahead(stage, seen, wants)
		}
		times, err := m.block(ctx, at, points)
		if err != nil {
			return nil, err
		}
		for _, i := range points {
			at := m.pass.Points[i].Point
			seen[i].add(m.next-1, times[coll.Candidate{Point: at, Algorithm: Tuned}], times[coll.Candidate{Point: at, Algorithm: coll.Default}])
		}
	}
}

func (s *series) add(round int, tuned, byDefault coll.Trial) {
	for _, t := range []coll.Trial{byDefault, tuned} {
		if t.Phase == benchrunner.PhaseParse || t.Phase == benchrunner.PhaseNoise {
			s.unusable++
			s.failure = t.Error
			return
		}
	}
	switch {
	case byDefault.State != coll.TrialDone:
		s.otherFailed++
		s.failure = "default: " + byDefault.Phase + ": " + byDefault.Error
	case tuned.State != coll.TrialDone:
		s.tunedFailed++
		s.failure = tuned.Phase + ": " + tuned.Error
	default:
		s.ratios = append(s.ratios, math.Log(tuned.Seconds/byDefault.Seconds))
		s.rounds = append(s.rounds, round)
	}
}

// block measures the points with both libraries, tuned and default. Trials that are in the journal are not measured
// again. The event `at` identifies the block for Options.Observe.
func (m *measurer) block(ctx context.Context, at Event, points []int) (map[coll.Candidate]coll.Trial, error) {
	round := m.next
	m.next++
	requests := m.requests(round, points)
	times, jobs := m.recorded(round)
	left := 0
	for i, r := range requests {
		m.attempts[r.Candidate]++
		requests[i].Attempt = m.attempts[r.Candidate]
		_, requests[i].Ended = times[r.Candidate]
		if !requests[i].Ended {
			left++
		}
	}
	if left == 0 {
		return times, nil
	}
	if err := m.checkBudget(points, left); err != nil {
		return nil, err
	}
	began, spent := time.Now(), m.spent
	if m.opt.Observe != nil {
		whole := m.cost(points)
		at.Library, at.Pass, at.Points, at.Cost = m.opt.Library, m.pass.Number, len(points), whole*float64(left)/float64(len(requests))
		at.Ahead = m.bounded(at.Ahead - whole + at.Cost)
		m.opt.Observe(at)
	}
	batch := benchrunner.Batch{Label: m.opt.Library + "-verify", Round: round, Requests: requests, Jobs: jobs}
	if m.opt.WallTime > 0 {
		batch.Until = m.began.Add(m.opt.WallTime)
	}
	err := m.machine.Run(ctx, batch, &blockLog{m.Session, round, at.Stage, times})
	if errors.Is(err, benchrunner.ErrTimeUp) {
		return nil, fmt.Errorf("%w: %v: %w", errBudget, m.opt.WallTime, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: block %d: %w", m.opt.Library, round, err)
	}
	for _, r := range requests {
		if _, ok := times[r.Candidate]; !ok {
			return nil, fmt.Errorf("%s: block %d: the runner has no trial of %v", m.opt.Library, round, r.Candidate)
		}
	}
	m.trialSeconds = (m.spent - spent) / float64(left)
	m.trialTime = time.Since(began) / time.Duration(left)
	m.round = max(m.round, round)
	return times, nil
}

// checkBudget returns an error matching errBudget if a block at the given points, of which so many trials are
// missing, would exceed a limit. Its cost is that of Options.BlockSeconds, and at least that of as many trials in the
// previous block.
func (m *measurer) checkBudget(points []int, trials int) error {
	expected := m.trialSeconds * float64(trials)
	if m.opt.BlockSeconds != nil {
		expected = m.opt.BlockSeconds(m.testPoints(points))
	}
	if most := m.opt.MachineTime.Seconds(); most > 0 && (m.spent >= most || m.spent+expected > most) {
		return fmt.Errorf("%w: %.0f s of machine time", errBudget, m.spent)
	}
	if most, took := m.opt.WallTime, time.Since(m.began); most > 0 && (took >= most || took+m.trialTime*time.Duration(trials) > most) {
		return fmt.Errorf("%w: %v", errBudget, most)
	}
	return nil
}

func (m *measurer) testPoints(numbers []int) []TestPoint {
	points := make([]TestPoint, len(numbers))
	for k, i := range numbers {
		points[k] = m.pass.Points[i]
	}
	return points
}

// requests returns the requests of a block in random order. This order depends only on the seed, the
// library and the round.
func (m *measurer) requests(round int, points []int) []benchrunner.Request {
	var out []benchrunner.Request
	for _, i := range points {
		for _, alg := range []coll.Algorithm{Tuned, coll.Default} {
			out = append(out, benchrunner.Request{Candidate: coll.Candidate{Point: m.pass.Points[i].Point, Algorithm: alg}})
		}
	}
	h := fnv.New64a()
	h.Write([]byte(m.opt.Library))
	rng := rand.New(rand.NewPCG(m.rules.Seed^h.Sum64(), uint64(round)))
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// blockLog writes the jobs and trials of one block to the journal.
type blockLog struct {
	s     *Session
	round int
	stage Stage
	times map[coll.Candidate]coll.Trial
}

func (l *blockLog) Job(j coll.Job) error {
	return l.s.append(Entry{Round: l.round, Stage: l.stage, Job: &j})
}

func (l *blockLog) Trial(t coll.Trial) error {
	if err := l.s.append(Entry{Round: l.round, Stage: l.stage, Trial: &t}); err != nil {
		return err
	}
	l.s.spent += t.CostSeconds
	l.times[t.Candidate] = t
	return nil
}
