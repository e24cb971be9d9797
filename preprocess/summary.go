package preprocess

import (
	"cmp"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"

	"tutti/coll"
	"tutti/metrics"
)

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
