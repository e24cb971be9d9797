package preprocess

import (
	"math"

	"tutti/coll"
	"tutti/surrogate/gp"
)

// ProcessLengths are length scales that processes over ProcessRows can begin with:
// doublings of nodes, ppn and bytes over which a machine changes its ways, and a long
// one for the last column, which is 0 or 1: what holds at powers of two is mostly worth
// something between them, before anything is measured there.
func ProcessLengths() []float64 { return []float64{4, 4, 6, 6} }

// MeasurementNoise is the variance of log10 of a time that is 2 % off: the medians of
// repeated jobs on shared clusters differ by so much.
const MeasurementNoise = 7.5e-5 // (0.02 / ln 10)²

// ProcessRows returns the Features of each point and whether its number of
// processes is a power of two (0) or none (1), where many algorithms take another
// course.
func ProcessRows(points []coll.Point) [][]float64 {
	const columns = len(FeatureNames) + 1
	all := make([]float64, len(points)*columns)
	rows := make([][]float64, len(points))
	for i, p := range points {
		rows[i] = all[i*columns : (i+1)*columns : (i+1)*columns]
		features := Features(p)
		copy(rows[i], features[:])
		if n := int64(p.Nodes) * int64(p.PPN); n&(n-1) != 0 {
			rows[i][columns-1] = 1
		}
	}
	return rows
}

// Observations returns log10 seconds of the measurements at ProcessRows of their
// points, followed by those of earlier campaigns, which are of the sources 1, 2, and
// so on. Tasks are what index says of the algorithms, which it must hold; those of
// earlier campaigns that it does not hold are left out.
func Observations(ms []coll.Measurement, index map[coll.Algorithm]int, earlier ...[]coll.Measurement) gp.Observations {
	var o gp.Observations
	row := map[coll.Point]int{}
	var points []coll.Point
	add := func(m coll.Measurement, task, source int) {
		u, known := row[m.Point]
		if !known {
			u = len(points)
			row[m.Point] = u
			points = append(points, m.Point)
		}
		o.At, o.Task, o.Y = append(o.At, u), append(o.Task, task), append(o.Y, math.Log10(m.Seconds))
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
	o.X = ProcessRows(points)
	return o
}
