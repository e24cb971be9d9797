package discover

import (
	"fmt"
	"math"
	"slices"

	"tutti/metrics"
)

// What a level must show to be called clear.
var (
	// leastStep is the smallest step between the distances of two levels, as a logarithm:
	// 10 %. Less is of no use to anyone and often no more than position on a chip.
	leastStep = math.Log(1.1)

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
type LevelReport struct {
	Levels  []Level // coarsest first; none when there is no clear level
	Seconds float64 // geometric mean between members of different groups of the coarsest level

	// Noise is the relative spread of one distance, the mean of both halves of the
	// repetitions; NaN without halves.
	Noise float64

	Far     []FarMember
	Unclear []UnclearDivision
}

// FarMember is a member that is farther from all others than they are from one another: it is
// slow, or alone behind its switch. Which of the two cannot be told; it was placed as if
// it was slow.
type FarMember struct {
	Member int
	Times  float64
}

// UnclearDivision is a division whose groups are nearer inside than outside, but which no tree
// of switches makes: its members see other groups differently.
type UnclearDivision struct {
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
func FindLevels(a, b Matrix) (LevelReport, error) {
	if a.n != b.n {
		return LevelReport{}, fmt.Errorf("%w: halves of %d and %d members", ErrMatrix, a.n, b.n)
	}
	first, err := filled(a)
	if err != nil {
		return LevelReport{}, fmt.Errorf("first half: %w", err)
	}
	second, err := filled(b)
	if err != nil {
		return LevelReport{}, fmt.Errorf("second half: %w", err)
	}
	unit := min(first.smallest(), second.smallest())
	d := newLevelFinder(logs(first, unit), logs(second, unit))
	return d.result(unit), nil
}

// FindLevelsUnconfirmed finds levels from one matrix. Without repetitions that could confirm
// them it takes divisions into groups of one size, as the insides of nodes have them,
// and steps of five standard deviations of one distance. O(n²) time for n ≥ 512 members
// and O(n³) below.
//
// It returns an error matching ErrMatrix when the matrix cannot be filled.
func FindLevelsUnconfirmed(m Matrix) (LevelReport, error) {
	full, err := filled(m)
	if err != nil {
		return LevelReport{}, err
	}
	unit := full.smallest()
	d := levelFinder{mean: logs(full, unit)}
	return d.result(unit), nil
}

func filled(m Matrix) (Matrix, error) {
	if m.n < 2 {
		return Matrix{}, fmt.Errorf("%w: %d members: want 2 or more", ErrMatrix, m.n)
	}
	return m.Fill()
}

// levelFinder looks for levels in the logarithms of distances.
type levelFinder struct {
	mean   logTable
	halves []logTable // two, or none
}

func newLevelFinder(a, b logTable) *levelFinder {
	d := &levelFinder{halves: []logTable{a, b}}
	d.trim()
	d.mean = logTable{n: a.n, x: make([]float64, len(a.x))}
	for i := range d.mean.x {
		d.mean.x[i] = (a.x[i] + b.x[i]) / 2
	}
	return d
}

// trim puts the lower of two distances in the place of both where the halves differ by
// more than four standard deviations: one of them is of a message that was late.
func (d *levelFinder) trim() {
	a, b := d.halves[0].x, d.halves[1].x
	most := 4 * d.spread()
	for i := range a {
		if math.Abs(a[i]-b[i]) > most {
			a[i] = min(a[i], b[i])
			b[i] = a[i]
		}
	}
}

// spread is the standard deviation of the difference of the halves, from its median.
func (d *levelFinder) spread() float64 {
	a, b := d.halves[0], d.halves[1]
	differences := upper(a.n, a.x)
	for i, x := range upper(b.n, b.x) {
		differences[i] -= x
	}
	return metrics.RobustDeviation(differences)
}

// result looks for levels, takes members for slow that are far from all others, and
// looks again until there are none.
func (d *levelFinder) result(unit float64) LevelReport {
	const mostLooks = 4
	r := LevelReport{Noise: math.NaN()}
	if d.halves != nil {
		r.Noise = d.spread() / 2
	}
	var found []Labels
	for range mostLooks {
		found, r.Unclear = d.look()
		far := d.far(found)
		if len(far) == 0 || len(far) > d.mean.n/2 {
			break
		}
		for _, f := range far {
			d.pull(f)
			r.Far = append(r.Far, FarMember{Member: f.member, Times: math.Exp(f.excess)})
		}
	}
	samples := byLevel(d.mean, found)
	r.Seconds = unit * math.Exp(samples[len(found)].mean())
	for i, labels := range slices.Backward(found) {
		near, far := samples[i].mean(), samples[i+1].mean()
		r.Levels = append(r.Levels, Level{Labels: labels, Seconds: unit * math.Exp(near), Confidence: d.confidence(labels, near, far)})
	}
	return r
}

// look returns the clear divisions, finest first, and the others.
func (d *levelFinder) look() (clear []Labels, unclear []UnclearDivision) {
	if d.halves == nil {
		h := byProfile(d.mean)
		return h.unheld(d.mean), nil
	}
	h := byDistance(d.mean)
	return d.fitting(accept(d.mean, nil, d.held(&h)))
}

// unheld returns the clear divisions, finest first, where no repetitions confirm them. In
// a machine of equal parts what is equal comes first.
func (h *hierarchy) unheld(t logTable) []Labels {
	equal, stepped := accept(t, nil, h.regular()), h.single(t)
	if len(equal) > 1 {
		return accept(t, equal, stepped)
	}
	return accept(t, accept(t, nil, stepped), equal)
}

// remote is a member that is farther from all others than they are from one another.
type remote struct {
	member int
	excess float64 // as a logarithm
}

// far looks for members whose longer distances exceed those that all others have at the
// coarsest level, by 10 % and three standard deviations of how much members do.
func (d *levelFinder) far(found []Labels) []remote {
	n := d.mean.n
	tops := d.tops(found)
	excess := make([]float64, n)
	for i := range n {
		excess[i] = d.upperQuarter(i) - reference(tops, i)
	}
	spread := append([]float64(nil), excess...)
	middle := max(metrics.Quantile(spread, 0.5), 0) // the upper quarter of noise lies above its mean
	sure := 3 * metrics.RobustDeviation(spread)
	var out []remote
	for i, x := range excess {
		if x -= middle; x > leastStep && x > sure {
			out = append(out, remote{member: i, excess: x})
		}
	}
	return out
}

// upperQuarter returns the quantile above which a quarter of a member's distances lie,
// of many members those to some.
func (d *levelFinder) upperQuarter(i int) float64 {
	var some []float64
	row := d.mean.row(i)
	for _, j := range landmarks(d.mean.n) {
		if j != i {
			some = append(some, row[j])
		}
	}
	return metrics.Quantile(some, 0.75)
}

// top is what lies between different groups of one division, in all and for each member.
type top struct {
	all sample
	of  []sample
}

// tops returns the tops of the divisions, the coarsest first, and of single members.
func (d *levelFinder) tops(found []Labels) []top {
	n := d.mean.n
	divisions := append([]Labels{everyone(n)}, found...)
	var out []top
	for k := len(divisions) - 1; k >= 0; k-- {
		t := top{of: make([]sample, n)}
		for i, own := range divisions[k] {
			for j, x := range d.mean.row(i) {
				if divisions[k][j] != own {
					t.of[i].add(x)
				}
			}
			t.all = t.all.plus(t.of[i])
		}
		out = append(out, t)
	}
	return out
}

// reference returns the mean distance between different groups of the coarsest division
// that has any without the member.
func reference(tops []top, member int) float64 {
	for _, t := range tops {
		others := t.all.minus(t.of[member]).minus(t.of[member]) // each pair counts for both
		if others.n > 0.5 {
			return others.mean()
		}
	}
	return math.Inf(1) // two members: neither is farther
}

// pull brings a remote member as near to the others as they are to one another.
func (d *levelFinder) pull(r remote) {
	for _, t := range append([]logTable{d.mean}, d.halves...) {
		for j := range t.n {
			if j != r.member {
				t.x[r.member*t.n+j] -= r.excess
				t.x[j*t.n+r.member] -= r.excess
			}
		}
	}
}

// confidence returns the share of the members whose group each half alone confirms.
func (d *levelFinder) confidence(labels Labels, near, far float64) float64 {
	if d.halves == nil {
		return suited(d.mean, labels, near, far)
	}
	return (suited(d.halves[0], labels, near, far) + suited(d.halves[1], labels, near, far)) / 2
}
