package activelearn

import (
	"math"
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/selection"
)

// GuardResult says what the guard does at a point, and why.
type GuardResult string

// The results of the guard. NotGuarded is the result at every point if the space has no library default, or if the
// selection is wanted as predicted. Equal and NotSelected are not results of Guard: they replace another one where the
// rules that are made of the guard's rows select something else.
const (
	Confirmed    GuardResult = "confirmed"     // an algorithm was measured faster than the default
	Tie          GuardResult = "tie"           // an algorithm was measured faster, but not by more than the noise
	BestDefault  GuardResult = "default"       // the default is measured or predicted to be the fastest
	NotConfirmed GuardResult = "not confirmed" // what is predicted to be fastest, or the default, has no measurement
	NoDefault    GuardResult = "no default"    // the default cannot be measured at this point, but at others
	NotGuarded   GuardResult = "not guarded"
	NotSelected  GuardResult = "not selected" // an algorithm was measured faster, but the rules keep the default
	Equal        GuardResult = "equal"        // the rules select an algorithm that is hardly slower than the default, since other sizes gain; see ForLayouts
)

// Guarded holds rows that contain only algorithms that may replace the library's default.
type Guarded struct {
	Rows    []selection.Row // as many and in the same order as the guard's input
	Results []GuardResult   // of the rows
}

// Guard keeps the algorithms of each row that were measured faster than the library's default at the same point, by
// more than the noise of the comparison. Their times are the measured ones. The default is the only option at all
// other points. For a library whose settings hold for all sizes of a layout, Guard also keeps algorithms that count as
// equally fast (see ForLayouts). Such an algorithm has its own time, but at least that of the default, since noise is no
// gain, and at most the share equalWithin more. Guard returns the rows unchanged if the space has no default.
func (a Alternatives) Guard(rows []selection.Row) Guarded {
	out := Unguarded(rows)
	if !a.hasDefault() {
		return out
	}
	out.Rows = slices.Clone(rows)
	for i, row := range rows {
		out.Rows[i], out.Results[i] = a.guard(row)
	}
	return out
}

// Unguarded returns the rows as they are predicted.
func Unguarded(rows []selection.Row) Guarded {
	return Guarded{Rows: rows, Results: slices.Repeat([]GuardResult{NotGuarded}, len(rows))}
}

// hasDefault reports whether the library's default is an algorithm of the space.
func (a Alternatives) hasDefault() bool {
	return slices.ContainsFunc(a.space.Algorithms(), coll.Algorithm.IsDefault)
}

func (a Alternatives) guard(row selection.Row) (selection.Row, GuardResult) {
	left := onlyDefault(row.Point)
	choice := fastest(row).Algorithm
	byDefault, known := a.measurement(coll.Candidate{Point: row.Point, Algorithm: coll.Default})
	switch {
	case !known && !a.canMeasure(coll.Candidate{Point: row.Point, Algorithm: coll.Default}):
		return left, NoDefault
	case !known && choice.IsDefault():
		return left, BestDefault
	case !known:
		return left, NotConfirmed
	}
	out := selection.Row{Point: row.Point, Options: []selection.Option{{Algorithm: coll.Default, Seconds: byDefault.Seconds}}}
	result := BestDefault
	for _, alg := range a.selectable(row.Point) {
		own, measured := a.measurement(coll.Candidate{Point: row.Point, Algorithm: alg})
		switch {
		case !measured || alg.IsDefault():
		case a.faster(own, byDefault):
			out.Options = append(out.Options, selection.Option{Algorithm: alg, Seconds: own.Seconds})
			result = Confirmed
		default:
			if a.equal(own, byDefault) {
				seconds := min(max(own.Seconds, byDefault.Seconds), byDefault.Seconds*(1+equalWithin))
				out.Options = append(out.Options, selection.Option{Algorithm: alg, Seconds: seconds, Equal: true})
			}
			if own.Seconds < byDefault.Seconds && result != Confirmed {
				result = Tie
			}
		}
	}
	if result != Confirmed && !a.Measured(coll.Candidate{Point: row.Point, Algorithm: choice}) {
		result = NotConfirmed
	}
	return out, result
}

// canMeasure reports whether a candidate is in the space and was neither given up, nor too noisy, nor refused.
func (a Alternatives) canMeasure(c coll.Candidate) bool {
	_, at, ok := a.ledger.find(c)
	return ok && a.ledger.status[at] < abandoned
}

// faster reports whether one measurement is faster than that of the library's default by more than the noise of the
// comparison: by guardSigmas standard deviations of the difference of their logarithms, and by minAdvantage. Their
// confidence intervals must not overlap. The shift that all times of a job share cancels if both are of one job.
func (a Alternatives) faster(own, byDefault coll.Measurement) bool {
	gap := math.Log10(byDefault.Seconds / own.Seconds)
	return gap > a.margin(own, byDefault) && !overlap(own, byDefault)
}

// equal reports whether a measurement counts as not slower than that of the library's default where settings replace it at
// all sizes: it is not slower by more than the noise, and either the measured or the predicted time is at most equalWithin
// longer. Predictions also know the neighboring points, so that noise alone seldom leaves a layout to the library.
func (a Alternatives) equal(own, byDefault coll.Measurement) bool {
	if a.bands == 0 || a.faster(byDefault, own) {
		return false
	}
	if own.Seconds <= byDefault.Seconds*(1+equalWithin) {
		return true
	}
	task, known := slices.BinarySearchFunc(a.models.Algorithms(), own.Algorithm, coll.CompareAlgorithms)
	at, ok := a.space.Index(own.Point)
	return known && ok && a.gaps[task][at] >= -math.Log10(1+equalWithin)
}

// margin returns the difference in decades that the guard requires between two measurements.
func (a Alternatives) margin(own, byDefault coll.Measurement) float64 {
	variance := a.noise.Of(own) + a.noise.Of(byDefault)
	if own.Job != "" && own.Job == byDefault.Job {
		variance -= 2 * (a.noise.Between(own.Point) - a.noise.Unshifted(own.Point))
	}
	return max(math.Log10(1+minAdvantage), guardSigmas*math.Sqrt(variance))
}

// expectedMargin returns the difference in decades that the guard will require at a point.
func (a Alternatives) expectedMargin(p coll.Point) float64 {
	return max(math.Log10(1+minAdvantage), guardSigmas*math.Sqrt(2*a.noise.Unshifted(p)))
}

// Noise returns the relative standard deviation of a measured time between jobs, as the median over the points.
func (a Alternatives) Noise(points []coll.Point) float64 {
	deviations := make([]float64, len(points))
	for i, p := range points {
		deviations[i] = math.Ln10 * math.Sqrt(a.noise.Between(p))
	}
	return metrics.Median(deviations)
}

// noiseOf returns the noise that the models have learned, or that of the replicates if they learned none.
func (a Alternatives) noiseOf() preprocess.Noise {
	if p := a.models.Posterior(); p != nil {
		return p.Noise()
	}
	return preprocess.NoiseOf(a.ledger.Replicates())
}

// fastest returns the option with the shortest time. Of equal ones, the library's default comes first.
func fastest(r selection.Row) selection.Option {
	best := r.Options[0]
	for _, o := range r.Options[1:] {
		if o.Seconds < best.Seconds || o.Seconds == best.Seconds && o.Algorithm.IsDefault() {
			best = o
		}
	}
	return best
}
