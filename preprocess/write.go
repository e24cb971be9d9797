package preprocess

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"

	"tutti/coll"
)

// WriteTable writes measurements as CSV, sorted by candidate and time. ReadTable reads the same
// measurements from it. The columns low_us, high_us and samples are written if any measurement has them. It
// returns an error for an invalid measurement.
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
		column("nodes", func(m coll.Measurement) string { return strconv.Itoa(m.Nodes) }),
		column("ppn", func(m coll.Measurement) string { return strconv.Itoa(m.PPN) }),
		column("msg_bytes", func(m coll.Measurement) string { return strconv.FormatInt(m.MsgBytes, 10) }),
		column("time_us", func(m coll.Measurement) string { return formatMicros(m.Seconds) }),
		column("cost_s", func(m coll.Measurement) string { return strconv.FormatFloat(m.CostSeconds, 'g', -1, 64) }),
	}
	if slices.ContainsFunc(sorted, func(m coll.Measurement) bool { return m.Low != 0 || m.High != 0 || m.Samples != 0 }) {
		columns = append(columns,
			column("low_us", func(m coll.Measurement) string { return formatMicros(m.Low) }),
			column("high_us", func(m coll.Measurement) string { return formatMicros(m.High) }),
			column("samples", func(m coll.Measurement) string { return strconv.Itoa(m.Samples) }))
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
	return m.Validate()
}
