package coll

import (
	"math"
	"strconv"
)

// Axis is a number that is part of a point, such as the number of nodes.
type Axis struct {
	Name        string                  // of the column in CSV files, and of the key in JSON
	Least, Most int64                   // limits: the number of ranks fits into an int64, and so does twice a size
	Of          func(p Point) int64     // the number of a point
	Set         func(p *Point, n int64) // sets the number of a point
}

// Axes lists the axes of a point. Points are sorted by them in this order, files have their columns in this order, and
// models have a feature for each. The message size is last: among sorted points, those that differ only in size follow
// each other.
var Axes = [...]Axis{
	{"nodes", 1, math.MaxInt32, func(p Point) int64 { return int64(p.Nodes) }, func(p *Point, n int64) { p.Nodes = int(n) }},
	{"ppn", 1, math.MaxInt32, func(p Point) int64 { return int64(p.PPN) }, func(p *Point, n int64) { p.PPN = int(n) }},
	{"msg_bytes", 0, math.MaxInt64 / 2, func(p Point) int64 { return p.MsgBytes }, func(p *Point, n int64) { p.MsgBytes = n }},
}

// AxisNames returns the names of Axes in their order.
func AxisNames() []string {
	names := make([]string, len(Axes))
	for i, a := range Axes {
		names[i] = a.Name
	}
	return names
}

// AxisTexts returns the numbers of a point as texts, in the order of Axes.
func AxisTexts(p Point) []string {
	texts := make([]string, len(Axes))
	for i, a := range Axes {
		texts[i] = strconv.FormatInt(a.Of(p), 10)
	}
	return texts
}
