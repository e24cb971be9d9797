package online

import (
	"fmt"
	"math"
	"slices"
	"time"

	"tutti/coll"
	"tutti/internal/robust"
	"tutti/metrics"
	"tutti/service"
)

// class is the point that a class is known by, whatever sizes its calls have.
func (a Advice) class() coll.Point {
	p := a.Point
	p.MsgBytes = a.Low
	return p
}

// Turns returns what is selected otherwise than after the updates so far, and why.
func (l Learnt) Turns(updates []Update) []Turn {
	var out []Turn
	for i, a := range l.Advice {
		before := a.Algorithms[l.now[i]]
		if turn, _, known := last(updates, a.class(), never); known {
			before = turn.To
		}
		if to := a.Algorithms[a.Best]; to != before {
			out = append(out, Turn{Point: a.class(), From: before, To: to, Why: l.why(i, before)})
		}
	}
	return out
}

// never is later than every update.
var never = time.Unix(1<<40, 0)

// why says what speaks for the selection of a class beside what was selected before.
func (l Learnt) why(i int, before coll.Algorithm) string {
	a := l.Advice[i]
	old := slices.Index(a.Algorithms, before)
	text := "nothing is faster beyond doubt"
	if a.Best != l.now[i] && old >= 0 {
		text = fmt.Sprintf("expected to be faster than %s", before)
		if r, ok := l.beside(i, old, a.Best); ok {
			text = fmt.Sprintf("%.2f times as fast as %s (%.2f to %.2f), by %d and %d calls", r.middle, before, r.low, r.high,
				l.book.tallies[i][a.Best].n, l.book.tallies[i][old].n)
		}
	} else if old < 0 {
		text = fmt.Sprintf("%s is not available", before)
	}
	for _, s := range l.book.standing.shifts {
		if s.class == i && (s.algorithm == old || s.algorithm == a.Best) {
			text += fmt.Sprintf("; since %s %s takes %.2f times as long", l.jobs[s.job].Begun.UTC().Format(time.DateTime), a.Algorithms[s.algorithm], s.factor)
		}
	}
	return text
}

// interval is a ratio of times, with where it is in 95 of 100 cases.
type interval struct{ middle, low, high float64 }

// beside returns the time of one algorithm of a class over that of another, of calls that hold.
func (l Learnt) beside(class, one, other int) (interval, bool) {
	a, b := l.book.tallies[class][one], l.book.tallies[class][other]
	if a.n == 0 || b.n == 0 {
		return interval{}, false
	}
	middle := a.mean - b.mean
	width := half * math.Sqrt(l.book.noise()*(1/float64(a.n)+1/float64(b.n)))
	if one == other {
		width = 0
	}
	return interval{math.Exp(middle), math.Exp(middle - width), math.Exp(middle + width)}, true
}

// shownJobs is how many jobs a report names.
const shownJobs = 20

// Report says what was learnt, after updates of which the last may be this one. opt.Explore
// is the share that jobs are taken to explore.
func (l Learnt) Report(updates []Update, now time.Time, opt Options) service.OnlineReport {
	r := service.OnlineReport{
		Time: now.UTC(), AllJobs: len(l.jobs), Jobs: []service.OnlineJob{}, Classes: []service.OnlineClass{},
		Turns: l.turned(), Drift: []service.OnlineDrift{}, Price: l.price(updates, opt),
	}
	for i, j := range l.jobs {
		if i >= len(l.jobs)-shownJobs {
			r.Jobs = append(r.Jobs, service.OnlineJob{File: j.File, Begun: j.Begun.UTC(), Last: j.Last.UTC(), Calls: len(j.Calls)})
		}
	}
	for i, a := range l.Advice {
		c := service.OnlineClass{
			Point: a.Point, Low: a.Low, High: a.High, Calls: a.Samples, Selected: a.Algorithms[a.Best], Faster: a.Faster, Of: len(a.Algorithms),
		}
		r.Calls += a.Samples
		for k, w := range a.Weights {
			if w > 0 && k != a.Best {
				c.Explored++
			}
		}
		if of, ok := l.beside(i, 0, a.Best); ok {
			c.FasterLow, c.FasterHigh = of.low, of.high
		}
		if turn, at, known := last(updates, a.class(), never); known {
			c.Since, c.Before, c.Why = at, turn.From, turn.Why
		}
		r.Classes = append(r.Classes, c)
	}
	return r
}

// turned returns the changes of times, by job.
func (l Learnt) turned() []service.OnlineTurn {
	out := []service.OnlineTurn{}
	add := func(job int, t service.OnlineTurn) {
		t.Job, t.Begun = l.jobs[job].File, l.jobs[job].Begun.UTC()
		out = append(out, t)
	}
	for j, level := range l.book.standing.level {
		if level != 0 {
			add(j, service.OnlineTurn{Factor: math.Exp(level)})
		}
	}
	for _, s := range l.book.standing.shifts {
		class := l.problem.Classes[s.class]
		add(s.job, service.OnlineTurn{Point: &class.Point, Algorithm: class.Algorithms[s.algorithm], Factor: s.factor})
	}
	slices.SortStableFunc(out, func(a, b service.OnlineTurn) int { return a.Begun.Compare(b.Begun) })
	return out
}

// price compares, job by job and class by class, the timed calls with what was selected when
// the job began, and that with the default. As many calls are timed without exploring as
// explore; both are a sample of all.
func (l Learnt) price(updates []Update, opt Options) service.OnlinePrice {
	out := service.OnlinePrice{Explore: opt.Explore}
	jobs := byJob(l.calls)
	longer, selected, byDefault := 0.0, 0.0, 0.0
	compared, variance := 0.0, 0.0 // time of what was selected where the default is known; of byDefault
	for i, a := range l.Advice {
		known := l.book.tallies[i][0].n > 0
		classDefault := 0.0
		for j, job := range jobs {
			of := l.selectedAt(i, updates, l.jobs[j].Begun)
			reference := l.typical(i, of, j, job)
			for k := range a.Algorithms {
				logs := job[pair{i, k}]
				n := float64(len(logs))
				if n == 0 || reference == 0 {
					continue
				}
				selected += n * reference
				if k != of {
					longer += n * (l.typical(i, k, j, job) - reference)
				}
				if known {
					compared += n * reference
					classDefault += n * l.typical(i, 0, j, job)
				}
			}
		}
		byDefault += classDefault
		if known {
			variance += classDefault * classDefault * l.book.noise() * (1/float64(l.book.tallies[i][0].n) + 1/float64(a.Samples))
		}
	}
	if selected == 0 {
		return out
	}
	out.Cost = 2 * opt.Explore * longer / selected
	if byDefault > 0 {
		width := half * math.Sqrt(variance) / byDefault
		out.OverDefault = (1 + out.Cost) * compared / byDefault
		out.Low, out.High = out.OverDefault*math.Exp(-width), out.OverDefault*math.Exp(width)
	}
	return out
}

// selectedAt is what was selected in a class when a job began.
func (l Learnt) selectedAt(class int, updates []Update, begun time.Time) int {
	a := l.Advice[class]
	if turn, _, known := last(updates, a.class(), begun); known {
		if at := slices.Index(a.Algorithms, turn.To); at >= 0 {
			return at
		}
	}
	return l.now[class]
}

// typical is the time of a call in a job: the median of its own calls, or what all jobs show,
// at its level; 0 where there are none.
func (l Learnt) typical(class, algorithm, j int, job map[pair][]float64) float64 {
	if logs := job[pair{class, algorithm}]; len(logs) > 0 {
		return math.Exp(robust.Quantile(logs, 0.5))
	}
	if t := l.book.tallies[class][algorithm]; t.n > 0 {
		return math.Exp(t.mean + l.book.standing.level[j])
	}
	return 0
}

// otherSize is by which part sizes may differ whose times are compared.
const otherSize = 0.1

// Drift holds what jobs timed that began after a source was measured against the source.
func (l Learnt) Drift(source string, measured []coll.Measurement, since time.Time) service.OnlineDrift {
	out := service.OnlineDrift{Source: source}
	then := map[coll.Candidate]coll.Measurement{}
	for _, m := range measured {
		at := m.Candidate
		at.MsgBytes, _ = sameBits(m.MsgBytes)
		then[at] = m
	}
	var changes []float64
	sum := 0.0
	for i, a := range l.Advice {
		for k, algorithm := range a.Algorithms {
			before := then[coll.Candidate{Point: a.class(), Algorithm: algorithm}]
			var logs []float64
			for _, c := range l.calls[i] {
				if c.algorithm == k && l.jobs[c.job].Begun.After(since) {
					logs = append(logs, math.Log(c.seconds))
				}
			}
			if len(logs) == 0 || math.Abs(float64(a.MsgBytes-before.MsgBytes)) > otherSize*float64(before.MsgBytes) || before.Seconds == 0 {
				continue
			}
			log := robust.Quantile(logs, 0.5) - math.Log(before.Seconds)
			changes, sum = append(changes, math.Abs(math.Expm1(log))), sum+log
		}
	}
	if out.Candidates = len(changes); out.Candidates > 0 {
		out.Change, out.Ratio = metrics.Median(changes), math.Exp(sum/float64(out.Candidates))
	}
	return out
}
