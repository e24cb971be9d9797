package cluster

import (
	"fmt"
	"math"
)

// What a level must show to be called clear.
var (
	// least is the smallest step between the distances of two levels, as a logarithm:
	// 10 %. Less is of no use to anyone and often no more than position on a chip.
	least = math.Log(1.1)

	// sureHeld is how many standard errors a step must be large on repetitions that did
	// not find it.
	sureHeld = 4.5

	// sureSingle is how many standard deviations of one distance a step must be large
	// when there are no others: noise alone sorted by itself makes steps of 3.
	sureSingle = 5.0
)

// Level is a division into groups that the distances show clearly.
type Level struct {
	Labels Labels

	// Seconds is the geometric mean of the distances between members that share a group
	// here and in no finer level.
	Seconds float64

	// Confidence is the share of the members that each half of the repetitions alone
	// puts where both together do.
	Confidence float64
}

// Result is what was found among members.
type Result struct {
	Levels  []Level // coarsest first; none when there is no clear level
	Seconds float64 // geometric mean between members of different groups of the coarsest level

	// Noise is the relative spread of one distance, the mean of both halves of the
	// repetitions; NaN without halves.
	Noise float64

	Far     []Far
	Unclear []Unclear
}

// Far is a member that is farther from all others than they are from one another: it is
// slow, or alone behind its switch. Which of the two cannot be told; it was placed as if
// it was slow.
type Far struct {
	Member int
	Times  float64
}

// Unclear is a division whose groups are nearer inside than outside, but which no tree
// of switches makes: its members see other groups differently.
type Unclear struct {
	Groups int
	Rows   float64 // spread of how members of a group see another group, relative to the step
	Pairs  float64 // spread of the distances between two groups, relative to the step
}

// Discover finds the levels of a machine, their number and that of their groups from
// two matrices of the same members, each from half of the repetitions. A level is what
// one half shows and the other one confirms: a step between distances of at least 10 %
// and 4.5 standard errors. Beyond that members of a group must see every other group
// alike. Groups of unusual sizes want more evidence than others. O(n²) time and memory
// for n members, as long as few groups have to be joined after their hierarchy is cut.
//
// It returns an error matching ErrMatrix when the matrices are not of the same members
// or cannot be filled.
func Discover(a, b Matrix) (Result, error) {
	if a.n != b.n {
		return Result{}, fmt.Errorf("%w: halves of %d and %d members", ErrMatrix, a.n, b.n)
	}
	first, err := filled(a)
	if err != nil {
		return Result{}, fmt.Errorf("first half: %w", err)
	}
	second, err := filled(b)
	if err != nil {
		return Result{}, fmt.Errorf("second half: %w", err)
	}
	unit := min(first.least(), second.least())
	d := newDetector(logs(first, unit), logs(second, unit))
	return d.result(unit), nil
}

// DiscoverSingle finds levels from one matrix. Without repetitions that could confirm
// them it takes divisions into groups of one size, as the insides of nodes have them,
// and steps of five standard deviations of one distance. O(n²) time for n ≥ 512 members
// and O(n³) below.
//
// It returns an error matching ErrMatrix when the matrix cannot be filled.
func DiscoverSingle(m Matrix) (Result, error) {
	full, err := filled(m)
	if err != nil {
		return Result{}, err
	}
	unit := full.least()
	d := detector{mean: logs(full, unit)}
	return d.result(unit), nil
}

func filled(m Matrix) (Matrix, error) {
	if m.n < 2 {
		return Matrix{}, fmt.Errorf("%w: %d members: want 2 or more", ErrMatrix, m.n)
	}
	return m.Fill()
}
