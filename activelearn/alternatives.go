package activelearn

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/selection"
	"tutti/surrogate/learner"
)

// Choice returns the algorithm that a selection (see Selection) uses at a point.
type Choice = func(coll.Point) coll.Algorithm

// Selection is an algorithm for each point, in a form that a library's configuration files can express. At
// points where the library decides by itself, the algorithm is coll.Default. Leaves is the number of rules in
// the files.
type Selection struct {
	Choose Choice
	Leaves int
}

// Alternatives are the algorithms that may be selected at each point of a space, with their predicted or
// measured times. Both the evaluations of a campaign and the exported files use them.
type Alternatives struct {
	space    *coll.Space
	models   *learner.Learner
	excluded *Excluded
	ledger   *Ledger
	entries  entries                 // of the ledger when the alternatives were made
	noisy    map[coll.Candidate]bool // measured candidates whose prediction is more accurate than their time
	noise    preprocess.Noise
	bands    int         // see ForLayouts
	gaps     [][]float64 // predicted, if bands > 0: log10 of the ratio of the default's time to that of each of the models' algorithms, at each point
}

// NewAlternatives returns the alternatives at all points of a ledger's space. Their times come from the fitted
// models and from the ledger's measurements.
func NewAlternatives(models *learner.Learner, l *Ledger) Alternatives {
	a := Alternatives{
		space: l.Space(), models: models, excluded: l.Excluded(), ledger: l, entries: l.entries, noisy: models.NoisyCandidates(l.All()),
	}
	a.noise = a.noiseOf()
	return a
}

// ForLayouts returns the alternatives for a library whose settings hold for all sizes of a layout, with at most the given
// number of ranges of sizes, each with an algorithm. Such settings replace the default at a size where nothing is faster,
// too, so that an algorithm that is hardly slower than the default (see equal) counts as equally fast. It may be selected
// if other sizes gain more. With 0 ranges the settings can leave single sizes to the library.
func (a Alternatives) ForLayouts(bands int) (Alternatives, error) {
	byDefault, known := slices.BinarySearchFunc(a.models.Algorithms(), coll.Default, coll.CompareAlgorithms)
	if bands == 0 || !known {
		return a, nil
	}
	predicted, err := a.models.Predict(a.space.Points())
	if err != nil {
		return a, err
	}
	a.bands, a.gaps = bands, make([][]float64, len(predicted))
	for task, scaled := range predicted {
		a.gaps[task] = make([]float64, len(scaled))
		for i := range scaled {
			relative, err := a.models.Relative([]float64{scaled[i], predicted[byDefault][i]})
			if err != nil {
				return a, err
			}
			a.gaps[task][i] = math.Log10(relative[1] / relative[0])
		}
	}
	return a, nil
}

// Excluded returns the candidates that may not be selected because of failures.
func (a Alternatives) Excluded() *Excluded { return a.excluded }

// Measured reports whether a candidate had a measurement when the alternatives were made.
func (a Alternatives) Measured(c coll.Candidate) bool {
	_, ok := a.measurement(c)
	return ok
}

// measurement returns the measurement of a candidate. It returns false if there was none when the
// alternatives were made.
func (a Alternatives) measurement(c coll.Candidate) (coll.Measurement, bool) {
	if !a.ledger.IsMeasured(c) {
		return coll.Measurement{}, false
	}
	_, at, _ := a.ledger.find(c)
	if i := a.ledger.entryIndex[at]; int(i) < a.entries.len {
		return a.entries.at(i).of(c), true
	}
	return coll.Measurement{}, false
}

// trusted returns the measurement of a candidate. It returns false without a measurement, or if the measurement
// is so noisy that the prediction is used instead.
func (a Alternatives) trusted(c coll.Candidate) (coll.Measurement, bool) {
	if a.noisy[c] {
		return coll.Measurement{}, false
	}
	return a.measurement(c)
}

// Rows returns one row of alternatives for each of the given points of the space, in their order. A row
// leaves out excluded candidates. It also leaves out measured candidates that are not significantly faster
// than the library's default. If no other algorithm remains at a point, or the default was given up there, its row has
// only the default. If a candidate was measured, the measured time replaces the prediction.
func (a Alternatives) Rows(points []coll.Point) ([]selection.Row, error) {
	predicted, err := a.models.Predict(points)
	if err != nil {
		return nil, err
	}
	var rows []selection.Row
	for i, point := range points {
		at, _ := a.space.Index(point)
		if a.ledger.leftToLibrary(at) {
			rows = append(rows, onlyDefault(point))
			continue
		}
		selectable := a.excluded.Selectable(at)
		row := selection.Row{Point: point}
		var scaled []float64
		for _, alg := range selectable {
			task, known := slices.BinarySearchFunc(a.models.Algorithms(), alg, coll.CompareAlgorithms)
			if known && !a.beaten(coll.Candidate{Point: point, Algorithm: alg}) {
				row.Options = append(row.Options, selection.Option{Algorithm: alg})
				scaled = append(scaled, predicted[task][i])
			}
		}
		if len(scaled) == 0 {
			if len(selectable) < len(a.space.Feasible(at)) { // the selected algorithm of a neighboring point must not extend to this point
				rows = append(rows, onlyDefault(point))
			}
			continue
		}
		relative, err := a.models.Relative(scaled)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", point, err)
		}
		for k := range row.Options {
			row.Options[k].Seconds = relative[k]
		}
		a.useMeasured(row)
		a.markEqual(row)
		rows = append(rows, row)
	}
	return rows, nil
}

func onlyDefault(p coll.Point) selection.Row {
	return selection.Row{Point: p, Options: []selection.Option{{Algorithm: coll.Default, Seconds: 1}}}
}

// beaten reports whether the default is at least as good as a measured candidate at the same point: the default
// is faster, or the confidence intervals of the two times overlap. If settings hold for all sizes, a candidate that counts
// as equally fast is not beaten.
func (a Alternatives) beaten(c coll.Candidate) bool {
	own, ok := a.measurement(c)
	byDefault, known := a.measurement(coll.Candidate{Point: c.Point, Algorithm: coll.Default})
	if !ok || !known || c.Algorithm.IsDefault() || a.equal(own, byDefault) {
		return false
	}
	return own.Seconds > byDefault.Seconds || overlap(own, byDefault)
}

// markEqual marks the options that are slower than the default but count as equally fast, and limits their times; see
// ForLayouts.
func (a Alternatives) markEqual(row selection.Row) {
	at := slices.IndexFunc(row.Options, func(o selection.Option) bool { return o.Algorithm.IsDefault() })
	if a.bands == 0 || at < 0 {
		return
	}
	byDefault := row.Options[at].Seconds
	measured, known := a.measurement(coll.Candidate{Point: row.Point, Algorithm: coll.Default})
	for k, o := range row.Options {
		own, ok := a.measurement(coll.Candidate{Point: row.Point, Algorithm: o.Algorithm})
		equal := o.Seconds <= byDefault*(1+equalWithin)
		if ok && known {
			equal = a.equal(own, measured)
		}
		if equal && o.Seconds > byDefault {
			row.Options[k].Seconds, row.Options[k].Equal = min(o.Seconds, byDefault*(1+equalWithin)), true
		}
	}
}

// overlap reports whether the confidence intervals of two measurements overlap. A measurement without an
// interval overlaps with none.
func overlap(a, b coll.Measurement) bool {
	known := a.Low > 0 && a.High > 0 && b.Low > 0 && b.High > 0
	return known && a.Low <= b.High && b.Low <= a.High
}

// selectable returns the algorithms that may be selected at a point. It returns nil if the point is not in
// the space.
func (a Alternatives) selectable(p coll.Point) []coll.Algorithm {
	at, ok := a.space.Index(p)
	if !ok {
		return nil
	}
	return a.excluded.Selectable(at)
}

// useMeasured replaces predictions of a row by measured times. Measured and predicted times may differ by a
// common factor. The measured times are therefore scaled: their geometric mean becomes that of the replaced
// predictions.
func (a Alternatives) useMeasured(row selection.Row) {
	seconds := func(k int) float64 {
		m, _ := a.trusted(coll.Candidate{Point: row.Point, Algorithm: row.Options[k].Algorithm})
		return m.Seconds
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

// Fastest selects the algorithm with the shortest time in each row, and the library's default at points
// without a row. Only some libraries have configuration files that can express every such selection.
func Fastest(rows []selection.Row) (Selection, error) {
	best := make(map[coll.Point]coll.Algorithm, len(rows))
	for _, row := range rows {
		best[row.Point] = fastest(row).Algorithm
	}
	return Selection{Leaves: len(rows), Choose: func(p coll.Point) coll.Algorithm {
		if alg, ok := best[p]; ok {
			return alg
		}
		return coll.Default
	}}, nil
}
