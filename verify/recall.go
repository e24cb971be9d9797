package verify

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/metrics"
)

// Result is what the last session of a library's verification amounts to.
type Result struct {
	Library        string
	Rules          Rules
	Sessions       int // 0 when nothing was verified
	Passes         int
	Ended          bool // false while it goes on or after it was cut short
	Trials, Failed int
	MachineSeconds float64
	Points         []PointResult      // every spot as it was looked at last, by point
	Collectives    []CollectiveResult // by name
	PutBack        []Finding          // of all passes, by pass
	Left           []coll.Collective  // whole, in order
	Slower         []Finding          // still slower with nothing left to put back
	Sights         []Sight            // what was last seen of obedience; nil when nobody looked
}

// Proved reports whether the session ended with nothing slower left. It says
// nothing of obedience.
func (r Result) Proved() bool { return r.Ended && len(r.Slower) == 0 }

// Disobeyed returns the sights that show another algorithm than the file selects.
func (r Result) Disobeyed() []Sight {
	return slices.DeleteFunc(slices.Clone(r.Sights), func(s Sight) bool { return s.State != NotObeyed })
}

// PointResult is what was measured at one spot. Ratio is tuned over default, of the
// second look where there was one, since the first chose it for being slow; it is
// zero when no block had both times.
type PointResult struct {
	Spot
	Ratio       Interval
	Blocks      int // with both times
	TunedFailed int // blocks in which the tuned one failed and the default did not
	OtherFailed int // blocks in which the default failed
	PutBack     bool
}

// CollectiveResult is how much faster a collective became: the geometric mean of
// default over tuned.
type CollectiveResult struct {
	Collective coll.Collective
	Points     int      // looked at
	Changed    int      // of them, where the file selects an algorithm and both times are known
	Speedup    Interval // over the changed points, bootstrap by block; zero when there is none
	Controls   int
	Same       Interval // over the points left to the library: 1 but for noise and for what the settings change by themselves
	PutBack    int
	Left       bool // to the library, whole
}

// bootstrapResamples as in the other intervals of a report.
const bootstrapResamples = 1000

// Recall returns what entries say of the verification of a library. The error
// matches ErrEntry.
func Recall(library string, entries []Entry) (Result, error) {
	r := Result{Library: library}
	for _, e := range entries {
		r.Sessions = max(r.Sessions, e.Session)
	}
	own := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Session != r.Sessions })
	st := stateOf(own, r.Sessions)
	if len(st.verdicts) > len(st.passes) || len(st.passes) > len(st.verdicts)+1 {
		return r, fmt.Errorf("%w: %s: %d passes and %d verdicts", ErrEntry, library, len(st.passes), len(st.verdicts))
	}
	for _, e := range own {
		if e.Trial != nil {
			r.MachineSeconds += e.Trial.CostSeconds
		}
		if e.Trial != nil && e.Look != Probing {
			r.Trials++
			if e.Trial.State != coll.TrialDone {
				r.Failed++
			}
		}
		if e.Sights != nil {
			r.Sights = e.Sights
		}
	}
	if len(st.passes) == 0 {
		return r, nil
	}
	r.Rules, r.Passes, r.Ended = st.passes[0].Rules, len(st.passes), st.ended()
	for _, v := range st.verdicts {
		r.PutBack = append(r.PutBack, v.PutBack...)
		r.Left = append(r.Left, v.Left...)
		r.Slower = append(r.Slower, v.Slower...)
	}
	slices.Sort(r.Left)
	return r, r.collectives(r.points(st, own))
}

// points fills Points with what the last pass that looked at each saw, and returns
// it.
func (r *Result) points(st state, own []Entry) map[coll.Point]series {
	back := map[coll.Point]bool{}
	for _, f := range r.PutBack {
		back[f.Point] = true
	}
	latest := map[coll.Point]PointResult{}
	saw := map[coll.Point]series{}
	for i, pass := range st.passes {
		end := 0 // of the pass, exclusive; none for the last
		if i+1 < len(st.passes) {
			end = st.passes[i+1].FirstRound
		}
		seen := seriesOf(own, pass.FirstRound, end)
		for _, s := range pass.Spots {
			of := seen[s.Point]
			p := PointResult{Spot: s, Blocks: len(of.ratios), TunedFailed: of.tunedFailed, OtherFailed: of.otherFailed, PutBack: back[s.Point]}
			if len(of.ratios) > 0 {
				p.Ratio = medianOf(of.ratios).exp()
			}
			latest[s.Point], saw[s.Point] = p, of
		}
	}
	for _, p := range latest {
		r.Points = append(r.Points, p)
	}
	slices.SortFunc(r.Points, func(a, b PointResult) int { return coll.ComparePoints(a.Point, b.Point) })
	return saw
}

// seriesOf gathers the blocks of the rounds from first to end at each point: those
// of the second look where there is one.
func seriesOf(own []Entry, first, end int) map[coll.Point]series {
	type place struct {
		point coll.Point
		look  Look
		round int
	}
	pairs := map[place][2]coll.Trial{}
	var order []place
	for _, e := range own {
		if e.Trial == nil || e.Look == Probing || e.Round < first || end > 0 && e.Round >= end {
			continue
		}
		at := place{e.Trial.Point, e.Look, e.Round}
		pair, known := pairs[at]
		if !known {
			order = append(order, at)
		}
		if e.Trial.Algorithm.IsDefault() {
			pair[1] = *e.Trial
		} else {
			pair[0] = *e.Trial
		}
		pairs[at] = pair
	}
	looks := map[coll.Point][2]series{}
	for _, at := range order {
		pair := pairs[at]
		if pair[0].State == "" || pair[1].State == "" {
			continue // the block has not ended
		}
		both := looks[at.point]
		both[at.look-1].add(at.round, pair[0], pair[1])
		looks[at.point] = both
	}
	out := map[coll.Point]series{}
	for p, both := range looks {
		out[p] = both[0]
		if both[1].blocks() > 0 {
			out[p] = both[1]
		}
	}
	return out
}

// collectives fills Collectives from Points and what was seen at each.
func (r *Result) collectives(saw map[coll.Point]series) error {
	var names []coll.Collective
	for _, p := range r.Points {
		names = append(names, p.Collective)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		c := CollectiveResult{Collective: name, Left: slices.Contains(r.Left, name)}
		var changed, same []series
		for _, p := range r.Points {
			switch {
			case p.Collective != name:
				continue
			case p.Blocks > 0 && p.Choice.IsDefault():
				same = append(same, saw[p.Point])
			case p.Blocks > 0:
				changed = append(changed, saw[p.Point])
			}
			c.Points++
			if p.PutBack {
				c.PutBack++
			}
		}
		c.Changed, c.Controls = len(changed), len(same)
		var err error
		if c.Speedup, err = speedup(changed, r.Rules.Seed); err != nil {
			return err
		}
		if c.Same, err = speedup(same, r.Rules.Seed); err != nil {
			return err
		}
		r.Collectives = append(r.Collectives, c)
	}
	return nil
}

// speedup returns the geometric mean over points of default over tuned, the median
// of the blocks at each, with its bootstrap interval; zero for no points. Blocks are
// drawn and not points: what disturbs a start disturbs all its points alike.
func speedup(points []series, seed uint64) (Interval, error) {
	if len(points) == 0 {
		return Interval{}, nil
	}
	var rounds []float64
	for _, p := range points {
		for _, r := range p.rounds {
			rounds = append(rounds, float64(r))
		}
	}
	slices.Sort(rounds)
	rounds = slices.Compact(rounds)
	mean := func(drawn []float64) float64 {
		times := map[int]int{}
		for _, r := range drawn {
			times[int(r)]++
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

// median is that of the ratios in the blocks drawn so many times each, or of all
// when none of them was.
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
