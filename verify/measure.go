package verify

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// series is what one look measured at one spot.
type series struct {
	ratios      []float64 // logarithms of tuned over default, one for each block with both
	rounds      []int     // of the blocks
	tunedFailed int       // blocks in which only the tuned one failed
	otherFailed int       // blocks in which the default failed
	failure     string    // the last one of the tuned
}

func (s series) blocks() int { return len(s.ratios) + s.tunedFailed + s.otherFailed }

// fails reports whether the tuned one failed in most blocks in which the default
// did not.
func (s series) fails() bool { return s.tunedFailed > len(s.ratios) }

// tight reports whether the interval of the ratio is no wider than wanted.
func (s series) tight(precision float64) bool {
	if len(s.ratios) == 0 {
		return false
	}
	i := medianOf(s.ratios)
	return i.High-i.Low <= 2*precision
}

// shifted returns the logarithms above the largest ratio that is not slower.
func (s series) shifted(limit float64) []float64 {
	out := make([]float64, len(s.ratios))
	for i, r := range s.ratios {
		if out[i] = r - limit; math.Abs(out[i]) < 1e-12 { // rounding
			out[i] = 0
		}
	}
	return out
}

// twoLooks measures the spots of a pass and returns the findings as PutBack.
func (s *Session) twoLooks(ctx context.Context, pass Pass, machine benchrunner.Runner) (Verdict, error) {
	m := &measurer{Session: s, pass: pass, machine: machine, attempts: s.attemptsBefore(pass), next: pass.FirstRound}
	first, err := m.look(ctx, FirstLook, s.rules.MaxBlocks, func(_ int, seen series) bool { return s.wantsFirst(seen) })
	if err != nil {
		return Verdict{}, err
	}
	suspects := s.suspects(first)
	v := Verdict{Suspect: len(suspects), PutBack: []Finding{}}
	if len(suspects) == 0 {
		return v, nil
	}
	lengths := map[int]int{}
	for _, i := range suspects {
		lengths[i] = s.rules.secondBlocks(pass.Number, len(suspects), spread(first[i].ratios))
	}
	second, err := m.look(ctx, SecondLook, slices.Max(slices.Collect(maps.Values(lengths))), func(i int, seen series) bool { return seen.blocks() < lengths[i] })
	if err != nil {
		return Verdict{}, err
	}
	v.PutBack = s.findings(pass, suspects, second)
	return v, nil
}

// attemptsBefore counts the attempts at each candidate before a pass.
func (s *Session) attemptsBefore(pass Pass) map[coll.Candidate]int {
	attempts := map[coll.Candidate]int{}
	for _, e := range s.entries {
		if e.Session == s.number && e.Trial != nil && e.Look != Probing && e.Round < pass.FirstRound {
			attempts[e.Trial.Candidate]++
		}
	}
	return attempts
}

// wantsFirst reports whether a first look goes on: it has too few blocks, or its
// ratio is still wide and neither way keeps failing.
func (s *Session) wantsFirst(seen series) bool {
	n := seen.blocks()
	enough := seen.tight(s.rules.Precision) || seen.fails() || seen.otherFailed >= s.rules.MinBlocks
	return n < s.rules.MinBlocks || n < s.rules.MaxBlocks && !enough
}

// suspects returns the spots that look slower or fail at first.
func (s *Session) suspects(first []series) []int {
	var out []int
	for i, seen := range first {
		if seen.fails() || signedRank(seen.shifted(s.rules.limit())) <= s.rules.Suspicion {
			out = append(out, i)
		}
	}
	return out
}

// findings returns the suspects that their second look shows to be slower or to fail.
func (s *Session) findings(pass Pass, suspects []int, second []series) []Finding {
	p := make([]float64, len(suspects))
	for k, i := range suspects {
		p[k] = signedRank(second[i].shifted(s.rules.limit()))
	}
	rejected := holm(p, s.rules.alphaOf(pass.Number))
	found := []Finding{}
	for k, i := range suspects {
		seen := second[i]
		f := Finding{Spot: pass.Spots[i], P: p[k], Blocks: len(seen.ratios), Error: seen.failure}
		if len(seen.ratios) > 0 {
			f.Ratio = medianOf(seen.ratios).exp()
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

// measurer measures the blocks of one pass.
type measurer struct {
	*Session
	pass     Pass
	machine  benchrunner.Runner
	attempts map[coll.Candidate]int
	next     int // round
}

// block is what the log knows of a round.
type block struct {
	trials []coll.Trial
	jobs   []coll.Job
}

// known returns what the log knew of a round when the session was opened.
func (s *Session) known(round int) block {
	b := block{jobs: s.past.Jobs(round)}
	for _, e := range s.entries {
		if e.Session == s.number && e.Round == round && e.Trial != nil {
			b.trials = append(b.trials, *e.Trial)
		}
	}
	return b
}

// look measures blocks of the spots that still want one, most of them at most, and
// returns what was seen at each spot of the pass.
func (m *measurer) look(ctx context.Context, look Look, most int, wants func(spot int, seen series) bool) ([]series, error) {
	seen := make([]series, len(m.pass.Spots))
	for number := 1; ; number++ {
		var spots []int
		for i := range m.pass.Spots {
			if wants(i, seen[i]) {
				spots = append(spots, i)
			}
		}
		if len(spots) == 0 {
			return seen, nil
		}
		times, err := m.block(ctx, Event{Look: look, Block: number, Most: most}, spots)
		if err != nil {
			return nil, err
		}
		for _, i := range spots {
			at := m.pass.Spots[i].Point
			seen[i].add(m.next-1, times[coll.Candidate{Point: at, Algorithm: Tuned}], times[coll.Candidate{Point: at, Algorithm: coll.Default}])
		}
	}
}

// add enters the two trials of one block.
func (s *series) add(round int, tuned, byDefault coll.Trial) {
	switch {
	case byDefault.State != coll.TrialDone:
		s.otherFailed++
	case tuned.State != coll.TrialDone:
		s.tunedFailed++
		s.failure = tuned.Phase + ": " + tuned.Error
	default:
		s.ratios = append(s.ratios, math.Log(tuned.Seconds/byDefault.Seconds))
		s.rounds = append(s.rounds, round)
	}
}

// block measures some spots in both ways, or takes what the log has of it. at says which
// block of which look it is.
func (m *measurer) block(ctx context.Context, at Event, spots []int) (map[coll.Candidate]coll.Trial, error) {
	round := m.next
	m.next++
	requests := m.requests(round, spots)
	known := m.known(round)
	times := map[coll.Candidate]coll.Trial{}
	for _, t := range known.trials {
		times[t.Candidate] = t
	}
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
	if err := m.allowed(); err != nil {
		return nil, err
	}
	if m.opt.Observe != nil {
		at.Library, at.Pass, at.Spots = m.opt.Library, m.pass.Number, len(spots)
		m.opt.Observe(at)
	}
	batch := benchrunner.Batch{Label: m.opt.Library + "-verify", Round: round, Requests: requests, Jobs: known.jobs}
	if err := m.machine.Run(ctx, batch, &blockLog{m.Session, round, at.Look, times}); err != nil {
		return nil, fmt.Errorf("%s: block %d: %w", m.opt.Library, round, err)
	}
	for _, r := range requests {
		if _, ok := times[r.Candidate]; !ok {
			return nil, fmt.Errorf("%s: block %d: the runner has no trial of %v", m.opt.Library, round, r.Candidate)
		}
	}
	m.round = max(m.round, round)
	return times, nil
}

// allowed reports a budget that is used up.
func (m *measurer) allowed() error {
	if most := m.opt.MachineTime; most > 0 && m.spent >= most.Seconds() {
		return fmt.Errorf("%w: %.0f s of machine time", ErrBudget, m.spent)
	}
	if most := m.opt.WallTime; most > 0 && time.Since(m.began) >= most {
		return fmt.Errorf("%w: %v", ErrBudget, most)
	}
	return nil
}

// requests lists a block in random order, the same for the same seed and round.
func (m *measurer) requests(round int, spots []int) []benchrunner.Request {
	var out []benchrunner.Request
	for _, i := range spots {
		for _, alg := range []coll.Algorithm{Tuned, coll.Default} {
			out = append(out, benchrunner.Request{Candidate: coll.Candidate{Point: m.pass.Spots[i].Point, Algorithm: alg}})
		}
	}
	h := fnv.New64a()
	h.Write([]byte(m.opt.Library))
	rng := rand.New(rand.NewPCG(m.rules.Seed^h.Sum64(), uint64(round)))
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// blockLog writes what a runner tells of one block.
type blockLog struct {
	s     *Session
	round int
	look  Look
	times map[coll.Candidate]coll.Trial
}

// Job writes how far a job has come.
func (l *blockLog) Job(j coll.Job) error {
	return l.s.append(Entry{Round: l.round, Look: l.look, Job: &j})
}

// Trial writes a trial and enters it.
func (l *blockLog) Trial(t coll.Trial) error {
	if err := l.s.append(Entry{Round: l.round, Look: l.look, Trial: &t}); err != nil {
		return err
	}
	l.s.spent += t.CostSeconds
	l.times[t.Candidate] = t
	return nil
}
