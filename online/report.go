package online

import (
	"fmt"
	"math"
	"slices"
	"time"

	"tutti/coll"
	"tutti/metrics"
)

// Report describes what the command "tutti online update" learned from a folder of samples. It includes the
// cost of exploration and the time that the selection saves.
type Report struct {
	Time        time.Time     `json:"time"` // of the update
	Calls       int           `json:"calls" doc:"Timed calls that count"`
	Jobs        []JobReport   `json:"jobs" doc:"The last 20, in the order in which they began"`
	AllJobs     int           `json:"all_jobs"`
	Price       Price         `json:"price"`
	Classes     []ClassReport `json:"classes"`
	TimeChanges []TimeChange  `json:"time_changes" doc:"Changes of the times of an algorithm, or of all calls of a job"`
	Drift       []SourceDrift `json:"drift" doc:"Compared with each source of measurements"`
}

// JobReport says when a job recorded samples, and how many calls they contain.
type JobReport struct {
	File  string    `json:"file"`
	Begun time.Time `json:"begun"`
	Last  time.Time `json:"last" doc:"When it last left samples"`
	Calls int       `json:"calls"`
}

// Price has the cost of exploration and the saving of the selection, as fractions of the time of all collective
// calls. It assumes that the fraction Explore of all calls explores. Intervals are 95 % confidence intervals.
type Price struct {
	Explore float64 `json:"explore" doc:"Share of calls that explore"`
	Cost    float64 `json:"cost" doc:"Extra time of explored calls compared with the selected algorithm, as a share of the time of all calls"`
	// OverDefault and its interval are zero if no call of the default was timed.
	OverDefault float64 `json:"over_default,omitzero" doc:"Time of all calls over that of the default, exploring included"`
	Low         float64 `json:"low,omitzero"`
	High        float64 `json:"high,omitzero"`
}

// ClassReport describes a class of calls and the algorithm that is selected for it.
type ClassReport struct {
	coll.Point
	Low      int64          `json:"low" doc:"Bytes from"`
	High     int64          `json:"high" doc:"Bytes to"`
	Calls    int            `json:"calls"`
	Selected coll.Algorithm `json:"selected"`
	Faster   float64        `json:"faster" doc:"Expected time of the default over that of the selected algorithm"`
	// FasterLow and FasterHigh are zero if no call of one of the two algorithms was timed.
	FasterLow  float64        `json:"faster_low,omitzero"`
	FasterHigh float64        `json:"faster_high,omitzero"`
	Explored   int            `json:"explored" doc:"Algorithms that are explored"`
	Of         int            `json:"of" doc:"Algorithms that can run"`
	Since      time.Time      `json:"since,omitzero" doc:"When the selection changed last"`
	Before     coll.Algorithm `json:"before,omitzero" doc:"The selection before that"`
	Why        string         `json:"why,omitempty"`
}

// TimeChange says that times changed: from a certain job on, an algorithm takes Factor times as long in a
// class. If the point is empty, it instead says that all calls of this job alone took Factor times as long.
type TimeChange struct {
	Job       string         `json:"job"`
	Begun     time.Time      `json:"begun"`
	Point     *coll.Point    `json:"point,omitempty"` // nil means all calls of the job
	Algorithm coll.Algorithm `json:"algorithm,omitzero"`
	Factor    float64        `json:"factor"`
}

// SourceDrift compares the times of jobs with earlier measurements (a source), such as those of a campaign.
type SourceDrift struct {
	Source     string  `json:"source"`
	Candidates int     `json:"candidates"` // number of candidates with times of both jobs and source
	Change     float64 `json:"change"`     // median of |ratio - 1|, where a ratio is the time of jobs divided by that of the source
	Ratio      float64 `json:"ratio"`      // geometric mean of the time of jobs divided by that of the source
}

// exploreShare is the fraction of its calls in which a job explores by default.
const exploreShare = 0.1

// maxJobs is the largest number of jobs that a report lists. It lists the latest ones.
const maxJobs = 20

// Report summarizes the result. `updates` holds all updates so far. Its last element may be
// the current update.
func (r *Result) Report(updates []Update, now time.Time) Report {
	out := Report{
		Time: now.UTC(), AllJobs: len(r.jobs), Jobs: []JobReport{}, Classes: []ClassReport{},
		TimeChanges: r.timeChanges(), Drift: []SourceDrift{}, Price: r.price(updates),
	}
	for i, j := range r.jobs {
		if i >= len(r.jobs)-maxJobs {
			out.Jobs = append(out.Jobs, JobReport{File: j.File, Begun: j.Begun.UTC(), Last: j.Last.UTC(), Calls: j.Count})
		}
	}
	for i := range r.Advice {
		out.Calls += r.Advice[i].Samples
		out.Classes = append(out.Classes, r.classReport(i, updates))
	}
	return out
}

func (r *Result) classReport(class int, updates []Update) ClassReport {
	a := r.Advice[class]
	c := ClassReport{
		Point: a.Point, Low: a.Low, High: a.High, Calls: a.Samples, Selected: a.Algorithms[a.Best], Faster: a.Faster, Of: len(a.Algorithms),
	}
	for k, w := range a.Weights {
		if w > 0 && k != a.Best {
			c.Explored++
		}
	}
	if ratio, ok := r.timeRatio(class, 0, a.Best); ok {
		c.FasterLow, c.FasterHigh = ratio.low, ratio.high
	}
	if change, at, known := lastChange(updates, classKey(a.Point), never); known {
		c.Since, c.Before, c.Why = at, change.From, change.Why
	}
	return c
}

// Changes returns the classes of calls whose selection differs from their latest selection in `updates`. It gives a
// reason for each change.
func (r *Result) Changes(updates []Update) []SelectionChange {
	var out []SelectionChange
	for i, a := range r.Advice {
		before := a.Algorithms[r.selected[i]]
		if change, _, known := lastChange(updates, classKey(a.Point), never); known {
			before = change.To
		}
		if to := a.Algorithms[a.Best]; to != before {
			out = append(out, SelectionChange{Point: classKey(a.Point), From: before, To: to, Why: r.reason(i, before)})
		}
	}
	return out
}

// never is a time later than every update, for use as an upper limit that excludes none.
var never = time.Unix(1<<40, 0)

// reason says why the selection for a class of calls has changed. `before` is the algorithm that was
// selected until now.
func (r *Result) reason(class int, before coll.Algorithm) string {
	a := r.Advice[class]
	old := slices.Index(a.Algorithms, before)
	text := "no algorithm is significantly faster"
	if a.Best != r.selected[class] && old >= 0 {
		text = fmt.Sprintf("expected to be faster than %s", before)
		if ratio, ok := r.timeRatio(class, old, a.Best); ok {
			text = fmt.Sprintf("%.2f times as fast as %s (%.2f to %.2f), by %d and %d calls", ratio.middle, before, ratio.low, ratio.high,
				r.history.times[class][a.Best].n, r.history.times[class][old].n)
		}
	} else if old < 0 {
		text = fmt.Sprintf("%s is not available", before)
	}
	for _, s := range r.history.valid.shifts {
		if s.class == class && (s.algorithm == old || s.algorithm == a.Best) {
			text += fmt.Sprintf("; since %s %s takes %.2f times as long", r.jobs[s.job].Begun.UTC().Format(time.RFC3339), a.Algorithms[s.algorithm], s.factor)
		}
	}
	return text
}

type interval struct{ middle, low, high float64 }

// timeRatio returns the ratio between the geometric mean times of two algorithms in a class, with a 95 % confidence
// interval. It returns false if an algorithm has no calls in the class.
func (r *Result) timeRatio(class, one, other int) (interval, bool) {
	a, b := r.history.times[class][one], r.history.times[class][other]
	if a.n == 0 || b.n == 0 {
		return interval{}, false
	}
	middle := a.mean - b.mean
	width := normal95 * math.Sqrt(r.history.noise()*(1/float64(a.n)+1/float64(b.n)))
	if one == other {
		width = 0
	}
	return interval{math.Exp(middle), math.Exp(middle - width), math.Exp(middle + width)}, true
}

// timeChanges returns where and by how much times changed, sorted by job.
func (r *Result) timeChanges() []TimeChange {
	out := []TimeChange{}
	add := func(job int, t TimeChange) {
		t.Job, t.Begun = r.jobs[job].File, r.jobs[job].Begun.UTC()
		out = append(out, t)
	}
	for j, level := range r.history.valid.level {
		if level != 0 {
			add(j, TimeChange{Factor: math.Exp(level)})
		}
	}
	for _, s := range r.history.valid.shifts {
		class := r.history.classes[s.class]
		add(s.job, TimeChange{Point: &class.Point, Algorithm: class.Algorithms[s.algorithm], Factor: s.factor})
	}
	slices.SortStableFunc(out, func(a, b TimeChange) int { return a.Begun.Compare(b.Begun) })
	return out
}

// price estimates the cost of exploration and the time that the selection saves. For each job and class it
// considers the algorithm that was selected when the job began. It compares the time of explored calls with
// the time of this algorithm, and the time of this algorithm with the default's. Half of the timed calls of a
// job explore, and half do not.
func (r *Result) price(updates []Update) Price {
	out := Price{Explore: exploreShare}
	jobs := logsByJob(r.calls)
	// Four sums in seconds. longer is the additional time of explored calls. selected is the time that all
	// timed calls would have taken with the selected algorithm. compared is the part of selected for which
	// the time of the default is known. byDefault is the time of this part with the default.
	longer, selected, compared, byDefault := 0.0, 0.0, 0.0, 0.0
	variance := 0.0 // of byDefault
	for i, a := range r.Advice {
		times := r.history.times[i]
		known := times[0].n > 0
		classDefault := 0.0
		for j, job := range jobs {
			of := r.selectedAt(i, updates, r.jobs[j].Begun)
			reference := r.typicalTime(i, of, j, job)
			for k := range a.Algorithms {
				n := float64(len(job[pair{i, k}]))
				if n == 0 || reference == 0 {
					continue
				}
				selected += n * reference
				if k != of {
					longer += n * (r.typicalTime(i, k, j, job) - reference)
				}
				if known {
					compared += n * reference
					classDefault += n * r.typicalTime(i, 0, j, job)
				}
			}
		}
		byDefault += classDefault
		if known {
			variance += classDefault * classDefault * r.history.noise() * (1/float64(times[0].n) + 1/float64(a.Samples))
		}
	}
	if selected == 0 {
		return out
	}
	out.Cost = 2 * exploreShare * longer / selected
	if byDefault > 0 {
		width := normal95 * math.Sqrt(variance) / byDefault
		out.OverDefault = (1 + out.Cost) * compared / byDefault
		out.Low, out.High = out.OverDefault*math.Exp(-width), out.OverDefault*math.Exp(width)
	}
	return out
}

// selectedAt returns the index of the algorithm that was selected for a class of calls when a job began.
func (r *Result) selectedAt(class int, updates []Update, begun time.Time) int {
	a := r.Advice[class]
	if change, _, known := lastChange(updates, classKey(a.Point), begun); known {
		if at := slices.Index(a.Algorithms, change.To); at >= 0 {
			return at
		}
	}
	return r.selected[class]
}

// typicalTime returns the typical time of a call in a job, in seconds. It is the median of the job's own
// calls. If the job has no such calls, it is the mean over all jobs, multiplied by the factor by which the
// whole job was slower. If there are no calls at all, it is 0.
func (r *Result) typicalTime(class, algorithm, job int, logs map[pair][]float64) float64 {
	if own := logs[pair{class, algorithm}]; len(own) > 0 {
		return math.Exp(median(own))
	}
	if w := r.history.times[class][algorithm]; w.n > 0 {
		return math.Exp(w.mean + r.history.valid.level[job])
	}
	return 0
}

// sizeTolerance is the largest relative difference between two sizes whose times are compared.
const sizeTolerance = 0.1

// Drift compares the times of calls with the measurements of a source, such as a campaign. It uses only jobs
// that began after `since`, the time at which the source was measured.
func (r *Result) Drift(source string, measured []coll.Measurement, since time.Time) SourceDrift {
	out := SourceDrift{Source: source}
	measurements := map[coll.Candidate]coll.Measurement{}
	for _, m := range measured {
		measurements[coll.Candidate{Point: classKey(m.Point), Algorithm: m.Algorithm}] = m
	}
	var changes []float64
	sum := 0.0
	for i, a := range r.Advice {
		for k, algorithm := range a.Algorithms {
			m := measurements[coll.Candidate{Point: classKey(a.Point), Algorithm: algorithm}]
			var logs []float64
			for _, c := range r.calls[i] {
				if c.algorithm == k && r.jobs[c.job].Begun.After(since) {
					logs = append(logs, math.Log(c.seconds))
				}
			}
			if len(logs) == 0 || math.Abs(float64(a.MsgBytes-m.MsgBytes)) > sizeTolerance*float64(m.MsgBytes) || m.Seconds == 0 {
				continue
			}
			log := metrics.Quantile(logs, 0.5) - math.Log(m.Seconds)
			changes, sum = append(changes, math.Abs(math.Expm1(log))), sum+log
		}
	}
	if out.Candidates = len(changes); out.Candidates > 0 {
		out.Change, out.Ratio = metrics.Median(changes), math.Exp(sum/float64(out.Candidates))
	}
	return out
}
