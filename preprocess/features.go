package preprocess

import (
	"math"

	"tutti/coll"
)

// NumFeatures is the number of features of a point, one for each of coll.Axes.
const NumFeatures = len(coll.Axes)

// BytesColumn is the index of the column with the message size in Rows and SurrogateRows.
const BytesColumn = NumFeatures - 1

// Features returns log2(nodes)+1, log2(ppn)+1 and log2(msg_bytes)+1. A feature grows by 1 when its quantity
// doubles. For an empty message, such as that of a barrier, the feature is 0. Every feature is finite and
// not negative.
//
// Source: Wilkins et al., A FACT-based Approach: Making Machine Learning Collective Autotuning
// Feasible on Exascale Systems, ExaMPI 2021, section IV-A; the feature of zero bytes is our choice.
func Features(p coll.Point) (f [NumFeatures]float64) {
	for i := range f {
		f[i] = steps(coll.Axes[i].Of(p))
	}
	return f
}

func steps(n int64) float64 {
	if n < 1 {
		return 0
	}
	return math.Log2(float64(n)) + 1
}

// Rows returns the features of each point; the rows share one array.
func Rows(points []coll.Point) [][]float64 { return featureRows(points, NumFeatures) }

// featureRows returns one row of the given number of columns for each point. The first columns have the
// Features, and the others are zero.
func featureRows(points []coll.Point, columns int) [][]float64 {
	all := make([]float64, len(points)*columns)
	rows := make([][]float64, len(points))
	for i, p := range points {
		rows[i] = all[i*columns : (i+1)*columns : (i+1)*columns]
		features := Features(p)
		copy(rows[i], features[:])
	}
	return rows
}

// SurrogateRows returns the Features of each point and one more column. The additional column is 0 if the
// number of ranks is a power of two, otherwise 1. Many algorithms need additional steps for other numbers
// of ranks.
func SurrogateRows(points []coll.Point) [][]float64 {
	const last = NumFeatures
	rows := featureRows(points, last+1)
	for i, p := range points {
		if n := int64(p.Nodes) * int64(p.PPN); n&(n-1) != 0 {
			rows[i][last] = 1
		}
	}
	return rows
}
