package preprocess

import (
	"math"

	"tutti/coll"
	"tutti/surrogate/gp"
)

// LengthScales are those that a Gaussian process over SurrogateRows can begin with, one
// for each column: the doublings of nodes, ppn and bytes over which a machine's behaviour
// changes, and a long one for the last column, which is 0 or 1, since what holds at powers
// of two mostly holds between them. Our choice.
func LengthScales() []float64 { return []float64{4, 4, 6, 6} }

// SurrogateRows returns, for each point, its Features and 0 where the number of
// processes is a power of two, 1 where it is none: many algorithms work differently
// there.
func SurrogateRows(points []coll.Point) [][]float64 {
	const last = len(FeatureNames)
	rows := featureRows(points, last+1)
	for i, p := range points {
		if n := int64(p.Nodes) * int64(p.PPN); n&(n-1) != 0 {
			rows[i][last] = 1
		}
	}
	return rows
}

// Observations returns the measurements as a Gaussian process of all algorithms
// takes them: log10 seconds at the SurrogateRows of the points, an algorithm's task
// being its index, with their noise beyond MeasurementNoise and their jobs.
// Measurements of earlier campaigns follow, those of the first as source 1, of the second as
// source 2, and so on. index must hold every algorithm of
// ms; of the earlier ones those that it does not hold are left out.
func Observations(ms []coll.Measurement, index map[coll.Algorithm]int, noise Noise, earlier ...[]coll.Measurement) gp.Observations {
	var o gp.Observations
	row := map[coll.Point]int{}
	var points []coll.Point
	var jobs []job
	add := func(m coll.Measurement, task, source int) {
		u, known := row[m.Point]
		if !known {
			u = len(points)
			row[m.Point] = u
			points = append(points, m.Point)
		}
		o.At, o.Task, o.Y = append(o.At, u), append(o.Task, task), append(o.Y, math.Log10(m.Seconds))
		o.Extra = append(o.Extra, noise.Of(m)-MeasurementNoise)
		jobs = append(jobs, job{source, m.Job})
		if len(earlier) > 0 {
			o.Source = append(o.Source, source)
		}
	}
	for _, m := range ms {
		add(m, index[m.Algorithm], 0)
	}
	for k, campaign := range earlier {
		for _, m := range campaign {
			if task, known := index[m.Algorithm]; known {
				add(m, task, k+1)
			}
		}
	}
	o.X = SurrogateRows(points)
	o.Job = numbered(jobs)
	return o
}

// job is one of a campaign.
type job struct {
	source int
	name   string
}

// numbered are the numbers of jobs, from 1 in their order; 0 for those without a name.
func numbered(jobs []job) []int {
	number, out := map[job]int{}, make([]int, len(jobs))
	for i, j := range jobs {
		if j.name == "" {
			continue
		}
		if number[j] == 0 {
			number[j] = len(number) + 1
		}
		out[i] = number[j]
	}
	return out
}
