package preprocess

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"

	"tutti/coll"
	"tutti/metrics"
)

// WriteTable writes measurements as CSV, sorted by candidate and time. ReadTable reads the same
// measurements from it. The columns low_us, high_us and samples are written if any measurement has them, and so is
// overall_us. It returns an error for an invalid measurement.
func WriteTable(w io.Writer, ms []coll.Measurement) error {
	for _, m := range ms {
		if err := writable(m); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	if err := frameOf(ms).WriteCSV(w); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// frameOf returns measurements as a data frame whose cells are texts. A data frame would write numeric
// cells with only six decimals.
func frameOf(ms []coll.Measurement) dataframe.DataFrame {
	sorted := slices.Clone(ms)
	slices.SortFunc(sorted, compareMeasurements)
	column := func(name string, cell func(coll.Measurement) string) series.Series {
		cells := make([]string, len(sorted))
		for i, m := range sorted {
			cells[i] = cell(m)
		}
		return series.New(cells, series.String, name)
	}
	columns := []series.Series{
		column("collective", func(m coll.Measurement) string { return string(m.Collective) }),
		column("algorithm", func(m coll.Measurement) string { return m.Algorithm.String() }),
	}
	for i, name := range coll.AxisNames() {
		columns = append(columns, column(name, func(m coll.Measurement) string { return coll.AxisTexts(m.Point)[i] }))
	}
	columns = append(columns,
		column("time_us", func(m coll.Measurement) string { return formatMicros(m.Seconds) }),
		column("cost_s", func(m coll.Measurement) string { return strconv.FormatFloat(m.CostSeconds, 'g', -1, 64) }))
	if slices.ContainsFunc(sorted, func(m coll.Measurement) bool { return m.Low != 0 || m.High != 0 || m.Samples != 0 }) {
		columns = append(columns,
			column("low_us", func(m coll.Measurement) string { return formatMicros(m.Low) }),
			column("high_us", func(m coll.Measurement) string { return formatMicros(m.High) }),
			column("samples", func(m coll.Measurement) string { return strconv.Itoa(m.Samples) }))
	}
	if slices.ContainsFunc(sorted, func(m coll.Measurement) bool { return m.Overall != 0 }) {
		columns = append(columns, column("overall_us", func(m coll.Measurement) string { return formatMicros(m.Overall) }))
	}
	return dataframe.New(columns...)
}

// writable returns an error for a measurement that ReadTable would reject.
func writable(m coll.Measurement) error {
	for _, v := range []float64{m.Low, m.High} {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%v: interval from %g to %g s: want finite numbers, zero or more", m.Candidate, m.Low, m.High)
		}
	}
	if !(m.Overall >= 0) || math.IsInf(m.Overall, 0) {
		return fmt.Errorf("%v: time with computation %g s: want a finite number, zero or more", m.Candidate, m.Overall)
	}
	return m.Validate()
}

// microseconds is the number of microseconds, the unit of tables, in a second.
const microseconds = 1e6

// parseMicros converts a decimal number of microseconds to seconds. Unless the text has an exponent, the decimal point is
// shifted in the text, which is exact. A time that formatMicros has written is therefore read as the same float64.
func parseMicros(text string) (float64, error) {
	points, err := coll.DecimalPoints(text)
	if err != nil {
		return 0, err
	}
	if seconds, err := strconv.ParseFloat(points[0]+"e-6", 64); err == nil {
		return seconds, nil
	}
	micros, err := coll.ParseNumber(text)
	return micros / microseconds, err
}

// formatMicros returns the shortest text in microseconds, without an exponent, that parseMicros converts back to the
// same seconds. `seconds` must be finite and not negative.
func formatMicros(seconds float64) string {
	const shift = 6 // decimal digits between seconds and microseconds
	whole, decimals, _ := strings.Cut(strconv.FormatFloat(seconds, 'f', -1, 64), ".")
	decimals += strings.Repeat("0", max(0, shift-len(decimals)))
	micros := cmp.Or(strings.TrimLeft(whole+decimals[:shift], "0"), "0")
	if len(decimals) == shift {
		return micros
	}
	return micros + "." + decimals[shift:]
}

// Summary returns a table with one row for each collective and algorithm, sorted by these two. A row has
// the number of measured points, the shortest, median and longest time in microseconds, and the machine
// time in seconds.
func Summary(ms []coll.Measurement) dataframe.DataFrame {
	sorted := slices.Clone(ms)
	slices.SortFunc(sorted, compareMeasurements) // rounding of sums must not depend on the order of ms
	slices.SortStableFunc(sorted, compareGroups)
	var (
		collectives, algorithms   []string
		points                    []int
		smallest, median, largest []float64
		cost                      []float64
	)
	for len(sorted) > 0 {
		end := 1
		for end < len(sorted) && compareGroups(sorted[0], sorted[end]) == 0 {
			end++
		}
		group := sorted[:end]
		sorted = sorted[end:]
		times := make([]float64, len(group))
		distinct := map[coll.Point]bool{}
		spent := 0.0
		for i, m := range group {
			times[i] = m.Seconds * microseconds
			distinct[m.Point] = true
			spent += m.CostSeconds
		}
		slices.Sort(times)
		collectives = append(collectives, string(group[0].Collective))
		algorithms = append(algorithms, group[0].Algorithm.String())
		points = append(points, len(distinct))
		smallest = append(smallest, times[0])
		median = append(median, metrics.Median(times))
		largest = append(largest, times[len(times)-1])
		cost = append(cost, spent)
	}
	return dataframe.New(
		series.New(collectives, series.String, "collective"),
		series.New(algorithms, series.String, "algorithm"),
		series.New(points, series.Int, "points"),
		series.New(smallest, series.Float, "min_us"),
		series.New(median, series.Float, "median_us"),
		series.New(largest, series.Float, "max_us"),
		series.New(cost, series.Float, "cost_s"),
	)
}

func compareGroups(a, b coll.Measurement) int {
	return cmp.Or(cmp.Compare(a.Collective, b.Collective), coll.CompareAlgorithms(a.Algorithm, b.Algorithm))
}
