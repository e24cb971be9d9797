package clustering

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tutti/topology/discover"
)

// Distances returns the time that a message takes between each two of n ranks
// (equation 3.4), as rows up to the diagonal, NaN for a pair that was not measured.
// pairs has the parameters of rank i and each rank before it in row i.
//
// It returns an error matching discover.ErrParameters when row i has not i pairs.
func Distances(pairs [][]discover.Parameters, bytes int) ([][]float64, error) {
	if err := triangle(pairs); err != nil {
		return nil, err
	}
	out := make([][]float64, len(pairs))
	for i, row := range pairs {
		out[i] = make([]float64, i)
		for j, p := range row {
			out[i][j] = Time(p, bytes)
		}
	}
	return out, nil
}

// Profiles returns how differently each two of n ranks see all ranks: the Euclidean
// distance of the vectors that hold, for each rank, latency, overheads and gap of a
// message to it (equations 3.5 and 3.6). Rows and pairs are those of Distances. O(n³).
//
// It returns an error matching discover.ErrParameters when row i has not i pairs or a pair was not
// measured.
func Profiles(pairs [][]discover.Parameters, bytes int) ([][]float64, error) {
	if err := triangle(pairs); err != nil {
		return nil, err
	}
	const each = 4 // parameters of a pair
	vectors := make([][]float64, len(pairs))
	for i := range vectors {
		vectors[i] = make([]float64, each*len(pairs))
	}
	for i, row := range pairs {
		for j, p := range row {
			if len(p.Sizes) == 0 {
				return nil, fmt.Errorf("%w: ranks %d and %d were not measured", discover.ErrParameters, j, i)
			}
			o := At(p, bytes)
			of := []float64{p.Latency, o.Send, o.Receive, o.Gap}
			copy(vectors[i][each*j:], of)
			copy(vectors[j][each*i:], of)
		}
	}
	out := make([][]float64, len(pairs))
	for i := range out {
		out[i] = make([]float64, i)
		for j := range i {
			out[i][j] = floats.Distance(vectors[i], vectors[j], 2)
		}
	}
	return out, nil
}

func triangle(pairs [][]discover.Parameters) error {
	for i, row := range pairs {
		if len(row) != i {
			return fmt.Errorf("%w: rank %d has %d pairs: want one with each of %d ranks before it", discover.ErrParameters, i, len(row), i)
		}
	}
	return nil
}

// leastStep is the smallest distance between two sizes that gets another one between
// them, in bytes.
const leastStep = 32

// Sizes returns the sizes that are measured first: the powers of two up to most bytes.
func Sizes(most int) []int {
	var out []int
	for m := 1; m <= most && m > 0; m *= 2 {
		out = append(out, m)
	}
	return out
}

// Extra returns the sizes to measure besides those of the readings: where a reading is
// off the line between its two neighbours by more than the share tolerance of itself,
// the size half-way to the next one, if that is more than 32 bytes away. Measured again
// and again until there are none, lines between neighbours are as good as the tolerance
// but for jumps, which lie between sizes that are 32 bytes apart.
func Extra(readings []discover.SizeTimes, tolerance float64) []int {
	sorted := slices.SortedFunc(slices.Values(readings), func(a, b discover.SizeTimes) int { return cmp.Compare(a.Bytes, b.Bytes) })
	var out []int
	for i := 1; i+1 < len(sorted); i++ {
		here, next := sorted[i], sorted[i+1]
		if next.Bytes-here.Bytes > leastStep && bent(sorted[i-1], here, next, tolerance) {
			out = append(out, here.Bytes+(next.Bytes-here.Bytes)/2)
		}
	}
	return out
}

// bent reports whether one of the times is off the line between a and c.
func bent(a, b, c discover.SizeTimes, tolerance float64) bool {
	share := float64(b.Bytes-a.Bytes) / float64(c.Bytes-a.Bytes)
	for _, of := range []func(discover.SizeTimes) float64{
		func(r discover.SizeTimes) float64 { return r.RoundTrip },
		func(r discover.SizeTimes) float64 { return r.Send },
		func(r discover.SizeTimes) float64 { return r.Receive },
	} {
		if math.Abs(of(b)-between(of(a), of(c), share)) > tolerance*of(b) {
			return true
		}
	}
	return false
}

// At returns the overheads of a size: on the line between the two measured sizes around
// it, beyond them on the line through the nearest two. Nothing is below 0.
func At(p discover.Parameters, bytes int) discover.Overhead {
	if len(p.Sizes) == 1 {
		o := p.Sizes[0]
		o.Bytes = bytes
		return o
	}
	i, _ := slices.BinarySearchFunc(p.Sizes, bytes, func(o discover.Overhead, b int) int { return cmp.Compare(o.Bytes, b) })
	i = min(max(i, 1), len(p.Sizes)-1)
	a, b := p.Sizes[i-1], p.Sizes[i]
	share := float64(bytes-a.Bytes) / float64(b.Bytes-a.Bytes)
	return discover.Overhead{
		Bytes:   bytes,
		Send:    between(a.Send, b.Send, share),
		Receive: between(a.Receive, b.Receive, share),
		Gap:     between(a.Gap, b.Gap, share),
	}
}

func between(a, b, share float64) float64 { return max(a+share*(b-a), 0) }

// Time returns the seconds that a message takes: the latency, the gap and the mean of
// the two overheads (equation 3.3). It is NaN for a pair that was not measured.
func Time(p discover.Parameters, bytes int) float64 {
	if len(p.Sizes) == 0 {
		return math.NaN()
	}
	o := At(p, bytes)
	return p.Latency + (o.Send+o.Receive)/2 + o.Gap
}

// How a gap is measured.
const (
	firstMessages = 10
	mostMessages  = 37500
	steady        = 0.01 // relative change between two counts that ends it
)

// MostSaturated is the largest size whose gap is worth measuring by saturation: beyond
// it Fit finds the same from round trips.
const MostSaturated = 1 << 16

// Saturation finds the gap of messages of one size: so many are sent in a row that
// sending more of them no longer changes what one takes. The zero value is ready.
type Saturation struct {
	count int // messages of the last row
	gap   float64
	done  bool
}

// Next returns how many messages to send in a row, 10 at first and then twice as many as
// before, or 0 when the gap is found or 37 500 messages would not do.
func (s *Saturation) Next() int {
	next := max(firstMessages, 2*s.count)
	if s.done || next > mostMessages {
		return 0
	}
	return next
}

// Add takes in the seconds that a row of count messages took, with the one that came
// back when all had arrived.
func (s *Saturation) Add(count int, seconds float64) {
	mean := seconds / float64(count)
	s.done = s.count > 0 && math.Abs(mean-s.gap) < steady*s.gap
	s.count, s.gap = count, mean
}

// Gap returns the mean of the last row, in seconds.
func (s *Saturation) Gap() float64 { return s.gap }

// Steady reports whether the last two rows agreed within 1 %. The gap of a link that
// does not settle is the mean of the longest row.
func (s *Saturation) Steady() bool { return s.done }
