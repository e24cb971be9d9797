package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"tutti/coll"
	"tutti/metrics"
)

// Result is the result of the last session of a library's verification.
type Result struct {
	Library             string             `json:"library"`
	Rules               Rules              `json:"rules"`
	Sessions            int                `json:"sessions"` // 0 if nothing was verified
	Passes              int                `json:"passes"`
	Ended               bool               `json:"ended"` // false while it runs and after an interruption
	Trials              int                `json:"trials"`
	Failed              int                `json:"failed"`
	MachineSeconds      float64            `json:"machine_seconds"`
	NodeSeconds         float64            `json:"node_seconds"`
	Points              []PointResult      `json:"points"`                         // last measurements of each test point, sorted by point
	Collectives         []CollectiveResult `json:"collectives"`                    // sorted by name
	Reverted            []Finding          `json:"reverted"`                       // findings of all passes, in their order
	RevertedCollectives []coll.Collective  `json:"reverted_collectives,omitempty"` // sorted by name
	Slower              []Finding          `json:"slower"`                         // points still slower although their collective was reverted, or slower by fixed files
	Fixed               bool               `json:"fixed,omitzero"`                 // the files are somebody else's: slower points are not reverted
	ForcingChecks       []ForcingCheck     `json:"obedience"`                      // results of the last checks; nil if there were none
	Exhausted           string             `json:"exhausted,omitempty"`            // the limit that ended the verification; "" if its points were decided
	Changed             int                `json:"changed"`                        // grid points at which the files select an algorithm
	ChangedWeight       float64            `json:"changed_weight"`                 // their share of the weight of all grid points
	Share               float64            `json:"share"`                          // at most this share of those that were not tested is slower (95 %); by weight, if points have weights
	Time                Interval           `json:"time"`                           // collective time with the files over that of the default, all grid points by weight: geometric mean, or ratio of sums with Rules.Timed; zero when unknown
}

// Proved reports whether the verification shows that the files are not slower by more than Rules.Detect: every test
// point is either not slower or reverted, at most Rules.Share of the other points is slower, the measurements can be
// trusted, and every check of the files has an answer that does not contradict them.
func (r Result) Proved() bool {
	return r.Ended && len(r.Points) > 0 && r.Share <= r.Rules.Share &&
		len(r.Slower)+len(r.Open())+len(r.Unforced())+len(r.Untrusted()) == 0
}

// Open returns the points that are neither reverted nor shown to be not slower.
func (r Result) Open() []PointResult {
	return slices.DeleteFunc(slices.Clone(r.Points), func(p PointResult) bool { return p.NotSlower || p.Reverted })
}

// sample returns the random sample. Points that were reverted, and points without a verdict, count as faults.
func (r Result) sample() sample {
	var out sample
	for _, p := range r.Points {
		if p.Kind == Random {
			out.points++
			if !p.NotSlower || p.Reverted {
				out.faults++
			}
		}
	}
	return out
}

// Unmeasured returns the points that have fewer ratios than Rules.MinBlocks. Points that were reverted to the
// default are left out.
func (r Result) Unmeasured() []PointResult {
	return slices.DeleteFunc(slices.Clone(r.Points), func(p PointResult) bool { return p.Blocks >= r.Rules.MinBlocks || p.Reverted })
}

// Unforced returns the checks in which the library ran another algorithm than the file selects, or may have.
// Checks without an answer are among them.
func (r Result) Unforced() []ForcingCheck {
	return slices.DeleteFunc(slices.Clone(r.ForcingChecks), func(s ForcingCheck) bool { return s.State == Obeyed || s.State == NotObservable })
}

// Untrusted returns the collectives whose measurements cannot be trusted. At points that the file leaves to the
// library, tuned and default times should be equal. A collective is untrusted if the interval of their ratio lies
// completely outside the tolerance.
func (r Result) Untrusted() []CollectiveResult {
	most := 1 + r.Rules.Tolerance
	return slices.DeleteFunc(slices.Clone(r.Collectives), func(c CollectiveResult) bool {
		return c.RevertedWhole || c.Controls == 0 || c.ControlSpeedup.Low <= most && c.ControlSpeedup.High >= 1/most
	})
}

// PointResult is the result at one test point. Ratio is the tuned time divided by the default time, zero if
// no block had both times. If the point was tested again for confirmation, Ratio is from this second test
// alone, because the first test selects slow points.
type PointResult struct {
	TestPoint
	Ratio       Interval `json:"ratio"`
	Blocks      int      `json:"blocks"`            // blocks that have both times
	TunedFailed int      `json:"tuned_failed"`      // blocks in which only the tuned library failed
	OtherFailed int      `json:"default_failed"`    // blocks in which the default failed
	Failure     string   `json:"failure,omitempty"` // why the last block without a ratio has none; "" if all have one
	Reverted    bool     `json:"reverted"`
	NotSlower   bool     `json:"not_slower"`      // the ratio shows that the point is not slower by more than Rules.Detect
	Upper       *float64 `json:"upper,omitempty"` // upper end of the ratio by which NotSlower is decided; null when unknown
}

// CollectiveResult is the speed-up of a collective: the default time divided by the tuned time, as a
// geometric mean over all points.
type CollectiveResult struct {
	Collective     coll.Collective `json:"collective"`
	Points         int             `json:"points"`  // tested points
	ChangedPoints  int             `json:"changed"` // tested points with both times where the file selects an algorithm
	Speedup        Interval        `json:"speedup"` // over the changed points, by bootstrap over blocks; zero without such points
	Controls       int             `json:"controls"`
	ControlSpeedup Interval        `json:"unchanged"` // over the points left to the library: 1, except for noise and for effects of the settings themselves
	Reverted       int             `json:"reverted"`
	RevertedWhole  bool            `json:"all_reverted"` // the whole collective was reverted
}

const bootstrapResamples = 1000

// Restore returns the result that the entries of a library's verification contain. The error matches
// ErrEntry if no verification can have written them.
func Restore(library string, entries []Entry) (Result, error) {
	r, measured, err := restorePoints(library, entries)
	if err != nil || r.Passes == 0 {
		return r, err
	}
	if r.Time, err = r.timeRatio(measured); err != nil {
		return r, err
	}
	return r, r.addCollectives(measured)
}

// restorePoints returns the result without the ratios over several points, and the latest measurements of each point.
func restorePoints(library string, entries []Entry) (r Result, measured map[coll.Point]series, err error) {
	r = Result{Library: library}
	for _, e := range entries {
		r.Sessions = max(r.Sessions, e.Session)
	}
	own := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Session != r.Sessions })
	st := stateOf(own, r.Sessions)
	if len(st.outcomes) > len(st.passes) || len(st.passes) > len(st.outcomes)+1 {
		return r, nil, fmt.Errorf("%w: %s: %d passes and %d outcomes", ErrEntry, library, len(st.passes), len(st.outcomes))
	}
	for _, e := range own {
		if e.Trial != nil {
			r.MachineSeconds += e.Trial.CostSeconds
			r.NodeSeconds += e.Trial.NodeSeconds()
		}
		if e.Trial != nil && e.Stage != Probing {
			r.Trials++
			if e.Trial.State != coll.TrialDone {
				r.Failed++
			}
		}
		if e.ForcingChecks != nil {
			r.ForcingChecks = e.ForcingChecks
		}
	}
	if len(st.passes) == 0 {
		return r, nil, nil
	}
	r.Rules, r.Passes, r.Ended, r.Fixed = st.passes[0].Rules, len(st.passes), st.ended(), st.passes[0].Fixed
	for _, v := range st.outcomes {
		r.Exhausted = v.Exhausted
		r.Reverted = append(r.Reverted, v.Reverted...)
		r.RevertedCollectives = append(r.RevertedCollectives, v.RevertedCollectives...)
		r.Slower = append(r.Slower, v.Slower...)
	}
	slices.Sort(r.RevertedCollectives)
	measured = r.addPoints(st, own)
	last := st.passes[len(st.passes)-1]
	r.Changed, r.ChangedWeight, r.Share = last.Changed, last.ChangedWeight, r.boundShare(st)
	return r, measured, nil
}

// boundShare returns the bound of the share of slower points among those that were not tested. It is 0 if all were.
func (r *Result) boundShare(st state) float64 {
	tested := 0
	for _, p := range r.Points {
		if p.Weight > 0 {
			tested++
		}
	}
	if first := st.passes[0].Changed; tested >= first {
		return 0
	}
	return r.sample().bound()
}

// timeRatio returns the collective time with the files over that of the default. Points without a selection have a
// ratio of 1. Risky points count with their own weights, the random sample for the weight of all others; see standFor. The
// bootstrap draws blocks, which disturb all points alike, and points of the sample.
func (r *Result) timeRatio(measured map[coll.Point]series) (Interval, error) {
	var risky, random []PointResult
	rest := r.ChangedWeight
	for _, p := range r.Points {
		switch {
		case p.Reverted || p.Blocks == 0 || p.Choice.IsDefault() || !(p.Weight > 0):
		case p.Kind == Random:
			random = append(random, p)
		default:
			risky = append(risky, p)
			rest -= p.Weight
		}
	}
	if len(random) == 0 {
		return Interval{}, nil
	}
	rest = max(0, rest)
	type draw struct {
		round  int // 0: a point
		point  PointResult
		weight float64 // for which the point stands
	}
	var all []draw
	rounds := map[int]bool{}
	for _, p := range slices.Concat(risky, random) {
		for _, round := range measured[p.Point].rounds {
			rounds[round] = true
		}
	}
	for _, round := range slices.Sorted(maps.Keys(rounds)) {
		all = append(all, draw{round: round})
	}
	for i, weight := range standFor(random, rest) {
		all = append(all, draw{point: random[i], weight: weight})
	}
	change, ratio := func(x float64) float64 { return x }, math.Exp // of logarithms
	if r.Rules.Timed {
		change, ratio = math.Expm1, func(x float64) float64 { return 1 + x }
	}
	mean := func(drawn []draw) float64 {
		times := map[int]int{}
		sum, n := 0.0, 0.0
		for _, d := range drawn {
			if d.round > 0 {
				times[d.round]++
			}
		}
		for _, d := range drawn {
			if d.round == 0 {
				sum += d.weight * change(measured[d.point.Point].median(times))
				n += d.weight
			}
		}
		total := 0.0
		for _, p := range risky {
			total += p.Weight * change(measured[p.Point].median(times))
		}
		if n > 0 {
			total += rest * sum / n
		}
		return ratio(total)
	}
	i, err := metrics.Bootstrap(all, mean, bootstrapResamples, 0.95, r.Rules.Seed)
	return Interval{Value: mean(all), Low: i.Low, High: i.High}, err
}

// standFor returns for how much weight each point of a sample stands: its own weight over the probability that it was
// drawn, 1-exp(-t·weight). t is such that all together stand for `total`, the weight of all points from which they were
// drawn. If these are all drawn, each point stands for itself. With equal weights, each stands for the same.
//
// Source: Cohen and Kaplan, Summarizing data using bottom-k sketches (PODC 2007).
func standFor(sample []PointResult, total float64) []float64 {
	out := make([]float64, len(sample))
	at := func(t float64) (sum float64) {
		for i, p := range sample {
			out[i] = p.Weight / -math.Expm1(-t*p.Weight)
			sum += out[i]
		}
		return sum
	}
	if at(math.Inf(1)) >= total*(1-1e-9) {
		return out
	}
	low, high := 0.0, 1.0 // at falls
	for at(high) > total {
		low, high = high, 2*high
	}
	for range 100 {
		if t := (low + high) / 2; at(t) > total {
			low = t
		} else {
			high = t
		}
	}
	return out
}

// addPoints sets r.Points from the latest measurements of each point, and returns these measurements.
func (r *Result) addPoints(st state, own []Entry) map[coll.Point]series {
	back := map[coll.Point]bool{}
	for _, f := range r.Reverted {
		back[f.Point] = true
	}
	latest := map[coll.Point]PointResult{}
	measured := map[coll.Point]series{}
	for i, pass := range st.passes {
		end := 0 // of the pass, exclusive; none for the last
		if i+1 < len(st.passes) {
			end = st.passes[i+1].FirstRound
		}
		seen := seriesOf(own, pass.FirstRound, end)
		for _, s := range pass.Points {
			of := seen[s.Point]
			p := PointResult{TestPoint: s, Blocks: len(of.ratios), TunedFailed: of.tunedFailed, OtherFailed: of.otherFailed, Failure: of.failure, Reverted: back[s.Point]}
			if len(of.ratios) > 0 {
				p.Ratio, p.NotSlower = intervalOf(of.ratios).exp(), r.Rules.isClear(of.ratios)
				if high := math.Exp(upper(of.ratios)); !math.IsInf(high, 1) {
					p.Upper = &high
				}
			}
			if before, ok := latest[s.Point]; ok && of.blocks() == 0 && before.Choice == s.Choice {
				continue // the verification ended before the point was tested again
			}
			latest[s.Point], measured[s.Point] = p, of
		}
	}
	r.Points = slices.SortedFunc(maps.Values(latest), func(a, b PointResult) int { return compareTestPoints(a.TestPoint, b.TestPoint) })
	return measured
}

// seriesOf returns the measurements of each point in the rounds from `first` up to `end`. If a point was tested
// again for confirmation, they come from the second test, otherwise from the first one (the screening).
func seriesOf(own []Entry, first, end int) map[coll.Point]series {
	type place struct {
		point coll.Point
		stage Stage
		round int
	}
	firsts := map[place]coll.Trial{} // the first trial of each pair
	stages := map[coll.Point][2]series{}
	for _, e := range own {
		if e.Trial == nil || e.Stage == Probing || e.Round < first || end > 0 && e.Round >= end {
			continue
		}
		at := place{e.Trial.Point, e.Stage, e.Round}
		tuned, known := firsts[at]
		if !known || tuned.Algorithm == e.Trial.Algorithm {
			firsts[at] = *e.Trial
			continue
		}
		byDefault := *e.Trial
		if tuned.Algorithm.IsDefault() {
			tuned, byDefault = byDefault, tuned
		}
		both := stages[at.point]
		both[at.stage-1].add(at.round, tuned, byDefault)
		stages[at.point] = both
	}
	out := map[coll.Point]series{}
	for p, both := range stages {
		out[p] = both[0]
		if both[1].blocks() > 0 {
			out[p] = both[1]
		}
	}
	return out
}

// addCollectives adds a summary for each collective to the result. `measured` has the measured
// times of the points.
func (r *Result) addCollectives(measured map[coll.Point]series) error {
	var names []coll.Collective
	for _, p := range r.Points {
		names = append(names, p.Collective)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		c := CollectiveResult{Collective: name, RevertedWhole: slices.Contains(r.RevertedCollectives, name)}
		var changed, same []series
		for _, p := range r.Points {
			switch {
			case p.Collective != name:
				continue
			case p.Blocks > 0 && p.Choice.IsDefault():
				same = append(same, measured[p.Point])
			case p.Blocks > 0:
				changed = append(changed, measured[p.Point])
			}
			c.Points++
			if p.Reverted {
				c.Reverted++
			}
		}
		c.ChangedPoints, c.Controls = len(changed), len(same)
		var err error
		if c.Speedup, err = speedup(changed, r.Rules.Seed); err != nil {
			return err
		}
		if c.ControlSpeedup, err = speedup(same, r.Rules.Seed); err != nil {
			return err
		}
		r.Collectives = append(r.Collectives, c)
	}
	return nil
}

// speedup returns the speed-up of the tuned library over the default, with a bootstrap interval. It is the
// geometric mean of the medians of the points, or zero if there are no points. The bootstrap draws blocks and
// not points, because a disturbed launch affects all its points alike.
func speedup(points []series, seed uint64) (Interval, error) {
	if len(points) == 0 {
		return Interval{}, nil
	}
	var rounds []int
	for _, p := range points {
		rounds = append(rounds, p.rounds...)
	}
	slices.Sort(rounds)
	rounds = slices.Compact(rounds)
	mean := func(drawn []int) float64 {
		times := map[int]int{}
		for _, r := range drawn {
			times[r]++
		}
		sum := 0.0
		for _, p := range points {
			sum += p.median(times)
		}
		return math.Exp(-sum / float64(len(points)))
	}
	i, err := metrics.Bootstrap(rounds, mean, bootstrapResamples, 0.95, seed)
	return Interval{Value: mean(rounds), Low: i.Low, High: i.High}, err
}

// median returns the median of the ratios of all blocks. The ratio of a block counts as often as `times` says
// for the block's round. If no block counts, each counts once.
func (s series) median(times map[int]int) float64 {
	var values []float64
	for i, r := range s.rounds {
		for range times[r] {
			values = append(values, s.ratios[i])
		}
	}
	if len(values) == 0 {
		values = s.ratios
	}
	return metrics.Median(values)
}
