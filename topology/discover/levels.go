package discover

import (
	"fmt"
	"math"
	"slices"

	"tutti/metrics"
)

// A step between the distances at two levels must reach both limits.
var (
	// leastStep is the smallest ratio of the distances of two levels, as a natural logarithm: 10 %. Smaller
	// steps are often due to the position of a core on the chip.
	leastStep = math.Log(1.1)

	// leastConfirmedZ is the smallest step between two levels, in standard errors. If one set of repetitions
	// shows a step, the other set must show it with at least this size.
	leastConfirmedZ = 4.5
)

// Level is a division of all members into groups.
type Level struct {
	Labels Labels

	// Seconds is the geometric mean of the distances between members that share a group in this level but
	// not in a finer level.
	Seconds float64

	// Confidence is the fraction of the members whose distances confirm their group. It is the mean of this
	// fraction for two sets of repetitions.
	Confidence float64
}

// LevelReport holds the levels found among the members of a matrix.
type LevelReport struct {
	Levels  []Level // coarsest first; empty without a clear level
	Seconds float64 // geometric mean distance between members of different groups of the coarsest level

	Far []FarMember

	// Unclear lists the divisions that have no place in a tree of switches, by their numbers of groups.
	// Distances inside the groups of such a division are shorter than distances between them. However, members
	// of one group have unequal distances to another group.
	Unclear []int
}

// FarMember is a member whose distances to all others are longer than the distances between the others.
// Either the member is slow, or it is alone behind a switch. Distances cannot distinguish these two cases.
// The levels treat the member as slow.
type FarMember struct {
	Member int
	Times  float64
}

// FindLevels finds the levels of a machine without knowing how many there are.
//
// The matrices a and b have the same members, and each comes from half of the repetitions. A step between
// distances becomes a level if one matrix shows the step and the other one confirms it. The step must be at
// least 10 % and 4.5 standard errors. The members of a group must also have equal distances to every other
// group. Groups of unequal sizes need stronger evidence. FindLevels takes O(n²) time and memory for n
// members, unless many groups must be joined.
//
// The error matches ErrMatrix if a matrix cannot be filled.
func FindLevels(a, b Matrix) (LevelReport, error) {
	first, err := filled(a)
	if err != nil {
		return LevelReport{}, fmt.Errorf("first matrix: %w", err)
	}
	second, err := filled(b)
	if err != nil {
		return LevelReport{}, fmt.Errorf("second matrix: %w", err)
	}
	unit := min(first.smallest(), second.smallest())
	d := newLevelFinder(logs(first, unit), logs(second, unit))
	return d.report(unit), nil
}

// FindLevelsUnconfirmed finds levels in one matrix, without repetitions to confirm them. It accepts only
// divisions into groups of equal size, which are usual inside nodes. It takes O(n³) time.
//
// The error matches ErrMatrix if the matrix cannot be filled.
func FindLevelsUnconfirmed(m Matrix) (LevelReport, error) {
	full, err := filled(m)
	if err != nil {
		return LevelReport{}, err
	}
	unit := full.smallest()
	d := levelFinder{mean: logs(full, unit)}
	return d.report(unit), nil
}

func filled(m Matrix) (Matrix, error) {
	if m.n < 2 {
		return Matrix{}, fmt.Errorf("%w: %d members: want 2 or more", ErrMatrix, m.n)
	}
	return m.Fill()
}

type levelFinder struct {
	mean    Matrix
	repeats []Matrix // two sets of repetitions, or nil
}

func newLevelFinder(a, b Matrix) *levelFinder {
	d := &levelFinder{repeats: []Matrix{a, b}}
	d.trim()
	d.mean = Matrix{n: a.n, d: make([]float64, len(a.d))}
	for i := range d.mean.d {
		d.mean.d[i] = (a.d[i] + b.d[i]) / 2
	}
	return d
}

// trim removes the effect of delayed messages. If the two sets of repetitions differ by more than four
// standard deviations for a pair, both distances become the lower one.
func (d *levelFinder) trim() {
	a, b := d.repeats[0].d, d.repeats[1].d
	most := 4 * d.repeatDeviation()
	for i := range a {
		if math.Abs(a[i]-b[i]) > most {
			a[i] = min(a[i], b[i])
			b[i] = a[i]
		}
	}
}

// repeatDeviation returns the standard deviation of the difference between the two sets of repetitions.
// Outliers hardly affect it.
func (d *levelFinder) repeatDeviation() float64 {
	a, b := d.repeats[0], d.repeats[1]
	differences := upper(a.n, a.d)
	for i, x := range upper(b.n, b.d) {
		differences[i] -= x
	}
	return metrics.RobustDeviation(differences)
}

// report finds the divisions into groups, and corrects the distances of members that are far from all
// others. It repeats both steps until no member is far, at most mostSearches times. `unit` is
// the unit of all distances, in seconds.
func (d *levelFinder) report(unit float64) LevelReport {
	const mostSearches = 4
	var r LevelReport
	var found []Labels
	for range mostSearches {
		found, r.Unclear = d.findDivisions()
		far := d.distantMembers(found)
		if len(far) == 0 || len(far) > d.mean.n/2 {
			break
		}
		for _, f := range far {
			d.correctDistances(f)
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

// findDivisions returns the divisions into groups that fit a tree of switches, from the finest to the
// coarsest. The result `unclear` has the numbers of groups of the divisions that do not fit. Without
// repetitions, all divisions count as fitting.
func (d *levelFinder) findDivisions() (clear []Labels, unclear []int) {
	if d.repeats == nil {
		h := byProfile(d.mean)
		return addCompatible(d.mean, h.equalDivisions()), nil
	}
	h := byDistance(d.mean)
	return d.separateMisfits(addCompatible(d.mean, d.confirmedDivisions(&h)))
}

type distantMember struct {
	member int
	excess float64 // natural logarithm of the factor by which the distances are longer
}

// distantMembers returns the members with exceptionally long distances. The upper quartile of such a
// member's distances exceeds the usual distance at the coarsest level. This excess is at least 10 %. It is
// also at least three standard deviations, computed from the excesses of all members.
func (d *levelFinder) distantMembers(found []Labels) []distantMember {
	n := d.mean.n
	byDivision := d.distancesBetweenGroups(found)
	excess := make([]float64, n)
	for i := range n {
		others := slices.Delete(slices.Clone(d.mean.Row(i)), i, i+1)
		excess[i] = metrics.Quantile(others, 0.75) - reference(byDivision, i)
	}
	middle := max(metrics.Quantile(excess, 0.5), 0) // for noise alone, the upper quartile exceeds the mean
	sure := 3 * metrics.RobustDeviation(excess)
	var out []distantMember
	for i, x := range excess {
		if x -= middle; x > leastStep && x > sure {
			out = append(out, distantMember{member: i, excess: x})
		}
	}
	return out
}

// groupDistances holds statistics of the distances between members of different groups: for all pairs of
// members (`all`), and for the pairs of each member (`of`).
type groupDistances struct {
	all sample
	of  []sample
}

// distancesBetweenGroups returns, for each division of the members into groups, the distances between different
// groups. It begins with the coarsest division. In the last element every member is a group of its own.
func (d *levelFinder) distancesBetweenGroups(found []Labels) []groupDistances {
	n := d.mean.n
	divisions := append([]Labels{allMembers(n)}, found...)
	var out []groupDistances
	for _, labels := range slices.Backward(divisions) {
		t := groupDistances{of: make([]sample, n)}
		for i, own := range labels {
			for j, x := range d.mean.Row(i) {
				if labels[j] != own {
					t.of[i].add(x)
				}
			}
			t.all = t.all.plus(t.of[i])
		}
		out = append(out, t)
	}
	return out
}

// reference returns the mean distance between members of different groups, without the given member. It uses
// the coarsest division into groups for which a distance remains.
func reference(byDivision []groupDistances, member int) float64 {
	for _, t := range byDivision {
		others := t.all.minus(t.of[member]).minus(t.of[member]) // t.all contains each pair twice
		if others.n > 0.5 {
			return others.mean()
		}
	}
	return math.Inf(1) // with two members, neither is farther
}

// correctDistances divides the distances of a far member by the factor by which the member is slower.
func (d *levelFinder) correctDistances(r distantMember) {
	for _, t := range append([]Matrix{d.mean}, d.repeats...) {
		for j := range t.n {
			if j != r.member {
				t.d[r.member*t.n+j] -= r.excess
				t.d[j*t.n+r.member] -= r.excess
			}
		}
	}
}

func (d *levelFinder) confidence(labels Labels, near, far float64) float64 {
	if d.repeats == nil {
		return supportedShare(d.mean, labels, near, far)
	}
	return (supportedShare(d.repeats[0], labels, near, far) + supportedShare(d.repeats[1], labels, near, far)) / 2
}
