package campaign

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/selection"
	"tutti/surrogate/learner"
)

// options say what may be selected where, by what a problem's measurements have taught.
// The judge of a round and the files that are written ask them alone.
type options struct {
	space    *coll.Space
	models   *learner.Learner
	barred   *activelearn.Barred // what failed
	measured map[coll.Candidate]coll.Measurement
	stands   map[coll.Candidate]coll.Measurement // those that stand for their prediction
}

func newOptions(models *learner.Learner, l *activelearn.Ledger) options {
	o := options{space: l.Space(), models: models, barred: l.Barred(), measured: map[coll.Candidate]coll.Measurement{}}
	for _, m := range l.Measurements() {
		o.measured[m.Candidate] = m
	}
	o.stands = o.models.TrustedMeasurements(l.Measurements())
	return o
}

// rows returns what can be selected at points of the space, in their order: the default
// alone where everything else is left out. What was measured at a point stands for its
// prediction there. Left out is what failed, see activelearn.Barred, and what was measured
// to be no faster than the library's default at the point itself.
func (o options) rows(points []coll.Point) ([]selection.Row, error) {
	predicted, err := o.models.Predict(points)
	if err != nil {
		return nil, err
	}
	var rows []selection.Row
	for i, point := range points {
		at, _ := o.space.Index(point)
		open := o.barred.Open(at)
		row := selection.Row{Point: point}
		var scaled []float64
		for _, alg := range open {
			task, known := slices.BinarySearchFunc(o.models.Algorithms(), alg, coll.CompareAlgorithms)
			if known && !o.beaten(coll.Candidate{Point: point, Algorithm: alg}) {
				row.Options = append(row.Options, selection.Option{Algorithm: alg})
				scaled = append(scaled, predicted[task][i])
			}
		}
		if len(scaled) == 0 {
			if len(open) < len(o.space.Feasible(at)) { // what a neighbour has must not spread here
				rows = append(rows, selection.Row{Point: point, Options: []selection.Option{{Algorithm: coll.Default, Seconds: 1}}})
			}
			continue
		}
		relative, err := o.models.Relative(scaled)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", point, err)
		}
		for k := range row.Options {
			row.Options[k].Seconds = relative[k]
		}
		o.useMeasured(row)
		rows = append(rows, row)
	}
	return rows, nil
}

// beaten reports whether a candidate was measured to be slower than the library's default
// at its point, or no faster by a difference that could be measured.
func (o options) beaten(c coll.Candidate) bool {
	own, ok := o.measured[c]
	byDefault, known := o.measured[coll.Candidate{Point: c.Point, Algorithm: coll.Default}]
	return ok && known && !c.Algorithm.IsDefault() && (own.Seconds > byDefault.Seconds || overlap(own, byDefault))
}

// even reports whether the default stays at a point only because nothing was measured to
// be faster beyond doubt: something is, by a difference that could not be measured.
func (o options) even(at int) bool {
	point := o.space.Points()[at]
	byDefault, known := o.measured[coll.Candidate{Point: point, Algorithm: coll.Default}]
	return known && slices.ContainsFunc(o.barred.Open(at), func(alg coll.Algorithm) bool {
		own, ok := o.measured[coll.Candidate{Point: point, Algorithm: alg}]
		return ok && !alg.IsDefault() && own.Seconds < byDefault.Seconds && overlap(own, byDefault)
	})
}

// overlap reports whether the intervals of two measurements have a time in common; false
// where one has no interval.
func overlap(a, b coll.Measurement) bool {
	known := a.Low > 0 && a.High > 0 && b.Low > 0 && b.High > 0
	return known && a.Low <= b.High && b.Low <= a.High
}

// open returns the algorithms that may be selected at a point of the space.
func (o options) open(p coll.Point) []coll.Algorithm {
	at, _ := o.space.Index(p)
	return o.barred.Open(at)
}

// times are those that were measured.
func (o options) times() map[coll.Candidate]learner.MeasuredTime {
	out, noise := make(map[coll.Candidate]learner.MeasuredTime, len(o.stands)), o.models.Noise()
	for c, m := range o.stands {
		out[c] = learner.MeasuredTime{Log: math.Log10(m.Seconds), Noise: noise.Of(m)}
	}
	return out
}

// useMeasured puts measured times in the place of predictions, in the unit of the
// predictions at the point: the geometric mean of those that are replaced stays.
func (o options) useMeasured(row selection.Row) {
	seconds := func(k int) float64 {
		return o.stands[coll.Candidate{Point: row.Point, Algorithm: row.Options[k].Algorithm}].Seconds
	}
	n, shift := 0, 0.0
	for k, option := range row.Options {
		if t := seconds(k); t > 0 {
			n++
			shift += math.Log(option.Seconds / t)
		}
	}
	if n == 0 {
		return
	}
	unit := math.Exp(shift / float64(n))
	for k := range row.Options {
		if t := seconds(k); t > 0 {
			row.Options[k].Seconds = t * unit
		}
	}
}

// fastest selects the fastest option of each row, the default outside: what a library does
// that can be told anything.
func fastest(rows []selection.Row) (Selection, error) {
	best := make(map[coll.Point]coll.Algorithm, len(rows))
	for _, row := range rows {
		least := slices.MinFunc(row.Options, func(a, b selection.Option) int {
			return cmp.Or(cmp.Compare(a.Seconds, b.Seconds), compareDefault(a.Algorithm, b.Algorithm))
		})
		best[row.Point] = least.Algorithm
	}
	return Selection{Leaves: len(rows), Choose: func(p coll.Point) coll.Algorithm {
		if alg, ok := best[p]; ok {
			return alg
		}
		return coll.Default
	}}, nil
}

// compareDefault puts the default first.
func compareDefault(a, b coll.Algorithm) int {
	switch {
	case a.IsDefault() == b.IsDefault():
		return 0
	case a.IsDefault():
		return -1
	}
	return 1
}
