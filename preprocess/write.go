package preprocess

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"tutti/coll"
)

// WriteTable writes measurements as a CSV that ReadTable reads back without loss,
// ordered by candidate and time. The columns low_us, high_us and samples are
// there when any measurement has them. Measurements that Validate refuses are an
// error.
func WriteTable(w io.Writer, ms []coll.Measurement) error {
	sorted := slices.Clone(ms)
	slices.SortFunc(sorted, compareMeasurements)
	spread := slices.ContainsFunc(sorted, func(m coll.Measurement) bool {
		return m.Low != 0 || m.High != 0 || m.Samples != 0
	})
	header := append(slices.Clone(requiredColumns), "cost_s")
	if spread {
		header = append(header, "low_us", "high_us", "samples")
	}
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	for _, m := range sorted {
		if err := writable(m); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
		row := []string{
			string(m.Collective), m.Algorithm.String(), strconv.Itoa(m.Nodes), strconv.Itoa(m.PPN),
			strconv.FormatInt(m.MsgBytes, 10), formatMicros(m.Seconds), formatNumber(m.CostSeconds),
		}
		if spread {
			row = append(row, formatMicros(m.Low), formatMicros(m.High), strconv.Itoa(m.Samples))
		}
		if err := out.Write(row); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// writable reports a measurement that ReadTable would not read back.
func writable(m coll.Measurement) error {
	for _, v := range []float64{m.Low, m.High} {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%v: interval from %g to %g s: want finite numbers, zero or more", m.Candidate, m.Low, m.High)
		}
	}
	return m.Validate()
}
