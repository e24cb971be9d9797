package learner

import (
	"iter"
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Observations converts measurements into observations of a Gaussian process. A target is log10 of the
// seconds, a row is the result of preprocess.SurrogateRows for the point, and a task is the algorithm's index.
// Noise in excess of preprocess.MeasurementNoise becomes extra noise.
//
// Measurements of earlier campaigns follow: the first campaign is source 1, the second is source 2, and so
// on. Measurements of algorithms that `index` does not contain are ignored.
//
// If there are more than `most` observations, only those at a sample of the points are returned; see gp.SampleRows.
// The sample prefers the points of `ms`. For each returned observation, `indices` has its number among all. The
// function needs memory for the points and the sample only.
func Observations(most int, ms iter.Seq[coll.Measurement], index map[coll.Algorithm]int, noise preprocess.Noise, earlier ...[]coll.Measurement) (o gp.Observations, indices []int) {
	all := bySource(ms, index, earlier)
	rows, jobs := map[coll.Point]int{}, map[sourceJob]int{}
	var count []int
	var current []bool // whether a row has an observation of source 0
	for source, m := range all {
		u, known := rows[m.Point]
		if !known {
			u = len(rows)
			rows[m.Point] = u
			count, current = append(count, 0), append(current, false)
		}
		count[u]++
		current[u] = current[u] || source == 0
		if job := (sourceJob{source, m.Job}); m.Job != "" && jobs[job] == 0 {
			jobs[job] = len(jobs) + 1 // in the order of their first measurement; 0 is a measurement without a job
		}
	}
	sample, at := gp.SampleRows(count, current, most), make(map[int]int, most)
	var points []coll.Point
	j := -1
	for source, m := range all {
		j++
		row := rows[m.Point]
		if !sample[row] {
			continue
		}
		u, known := at[row]
		if !known {
			u = len(points)
			at[row] = u
			points = append(points, m.Point)
		}
		indices = append(indices, j)
		o.At, o.Task, o.Y = append(o.At, u), append(o.Task, index[m.Algorithm]), append(o.Y, math.Log10(m.Seconds))
		o.Extra, o.Job = append(o.Extra, noise.Of(m)-preprocess.MeasurementNoise), append(o.Job, jobs[sourceJob{source, m.Job}])
		if len(earlier) > 0 {
			o.Source = append(o.Source, source)
		}
	}
	o.X = preprocess.SurrogateRows(points)
	return o, indices
}

// sourceJob identifies a job by its campaign (source) and its name.
type sourceJob struct {
	source int
	name   string
}

// bySource returns the measurements of the algorithms in `index`, each with its source.
func bySource(ms iter.Seq[coll.Measurement], index map[coll.Algorithm]int, earlier [][]coll.Measurement) iter.Seq2[int, coll.Measurement] {
	return func(yield func(int, coll.Measurement) bool) {
		for source := range 1 + len(earlier) {
			from := ms
			if source > 0 {
				from = slices.Values(earlier[source-1])
			}
			for m := range from {
				if _, known := index[m.Algorithm]; known && !yield(source, m) {
					return
				}
			}
		}
	}
}

// firstOf returns the first n measurements.
func firstOf(ms iter.Seq[coll.Measurement], n int) iter.Seq[coll.Measurement] {
	return func(yield func(coll.Measurement) bool) {
		k := 0
		for m := range ms {
			if k == n || !yield(m) {
				return
			}
			k++
		}
	}
}
