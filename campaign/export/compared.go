package export

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/report"
	"tutti/surrogate/gp"
	"tutti/surrogate/learner"
	"tutti/verify"
)

const (
	// changeNoise is a relative difference. Times that differ by less count as equal. On shared clusters,
	// medians of repeated jobs differ by about 2 %.
	changeNoise = 0.05
	// changeAlpha is the probability that a comparison reports a change although there is none.
	changeAlpha = 0.05
	// comparedMost is the maximum number n of observations in a comparison. The cost of a comparison grows
	// as n³.
	comparedMost = 1000
	// comparedBands is the largest number of ranges of message sizes that a comparison distinguishes.
	comparedBands = 6
)

// change is the difference between a new measurement and its prediction from the earlier campaign.
type change struct {
	measurement coll.Measurement
	shift       float64 // log10 of the measured time divided by the predicted time
}

// compare compares new measurements with an earlier campaign. A Gaussian process trained on the earlier
// measurements predicts the new ones, with covariances. A shift is log10 of measured over predicted time. The
// result has one factor for each group of measurements (an algorithm or a range of sizes): the generalised
// least-squares mean of the group's shifts.
func compare(name string, earlier, now []coll.Measurement) (report.ComparedFacts, error) {
	f := report.ComparedFacts{Campaign: name, Earlier: len(earlier), Noise: changeNoise}
	measured := make(map[coll.Candidate]bool, len(earlier))
	for _, m := range earlier {
		measured[m.Candidate] = true
	}
	algorithms, index := algorithmsOf(earlier)
	var comparable []coll.Measurement // measurements of algorithms that the earlier campaign measured
	for _, m := range now {
		if measured[m.Candidate] {
			f.Remeasured++
		} else {
			f.New++
		}
		if _, ok := index[m.Algorithm]; ok {
			comparable = append(comparable, m)
		}
	}
	changes, covariance, err := changesOf(earlier, comparable, index)
	if err != nil {
		return f, fmt.Errorf("comparison with campaign %s: %w", name, err)
	}
	groups := len(algorithms) + comparedBands
	for _, alg := range algorithms {
		f.Algorithms = append(f.Algorithms, changeOf(alg.String(), changes, covariance, groups,
			func(c change) bool { return c.measurement.Algorithm == alg }))
	}
	separate := changedSeparately(f.Algorithms)
	for _, b := range sizeBands(changes) {
		f.Sizes = append(f.Sizes, changeOf(b.name, changes, covariance, groups, func(c change) bool {
			return c.measurement.MsgBytes >= b.low && c.measurement.MsgBytes <= b.high && !slices.Contains(separate, c.measurement.Algorithm.String())
		}))
	}
	return f, nil
}

func algorithmsOf(ms []coll.Measurement) ([]coll.Algorithm, map[coll.Algorithm]int) {
	var all []coll.Algorithm
	for _, m := range ms {
		all = append(all, m.Algorithm)
	}
	slices.SortFunc(all, coll.CompareAlgorithms)
	all = slices.Compact(all)
	index := make(map[coll.Algorithm]int, len(all))
	for i, alg := range all {
		index[alg] = i
	}
	return all, index
}

// changesOf predicts new measurements by a Gaussian process that is trained on earlier ones. It returns the
// shifts (log10 of measured over predicted time), and their covariances, including noise.
func changesOf(earlier, now []coll.Measurement, index map[coll.Algorithm]int) (changes []change, covariance *mat.SymDense, err error) {
	if len(earlier) == 0 || len(now) == 0 {
		return nil, nil, nil
	}
	now = now[max(0, len(now)-comparedMost):] // the last measurements are mostly near the selected algorithms
	m, err := gp.Fit(learner.Observations(earlier, index, preprocess.Noise{}).Sample(comparedMost), learner.DefaultPrior().Options())
	if err != nil {
		return nil, nil, err
	}
	points := make([]coll.Point, len(now))
	entries := make([]gp.Entry, len(now))
	for i, n := range now {
		points[i], entries[i] = n.Point, gp.Entry{Row: i, Task: index[n.Algorithm]}
	}
	rows := preprocess.SurrogateRows(points)
	means := m.Means(rows, len(index))
	posterior, err := m.Posterior(rows, entries)
	if err != nil {
		return nil, nil, err
	}
	covariance = mat.NewSymDense(len(now), nil)
	for i, n := range now {
		changes = append(changes, change{n, math.Log10(n.Seconds) - means[entries[i].Task][i]})
		for j := range i {
			covariance.SetSym(i, j, posterior.Covariance(i, j))
		}
		covariance.SetSym(i, i, posterior.Variance(i)+m.Params().Noise)
	}
	return changes, covariance, nil
}

// changeOf estimates the common factor of the changes in a group. The function `belongs` reports whether a
// change is in the group. If nothing changed, the probability that any group is reported as changed is at most
// changeAlpha.
func changeOf(name string, changes []change, covariance *mat.SymDense, groups int, belongs func(change) bool) report.ChangeFacts {
	f := report.ChangeFacts{Name: name}
	var at []int
	for i, c := range changes {
		if belongs(c) {
			at = append(at, i)
		}
	}
	f.Measured = len(at)
	if len(at) == 0 {
		return f
	}
	part, ones, shifts := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for i, a := range at {
		ones.SetVec(i, 1)
		shifts.SetVec(i, changes[a].shift)
		for j, b := range at[:i+1] {
			part.SetSym(i, j, covariance.At(a, b))
		}
	}
	var root mat.Cholesky
	var weights mat.VecDense
	if !root.Factorize(part) || root.SolveVecTo(&weights, ones) != nil {
		return f // rounding errors: the covariances are not positive definite
	}
	precision := mat.Sum(&weights)
	if !(precision > 0) {
		return f
	}
	shift := mat.Dot(&weights, shifts) / precision
	var residuals mat.VecDense
	residuals.AddScaledVec(shifts, -shift, ones)
	z := distuv.UnitNormal.Quantile(1 - changeAlpha/float64(2*groups))
	halfWidth := z * birgeRatio(&root, &residuals) / math.Sqrt(precision)
	f.Factor = verify.Interval{Value: math.Pow(10, shift), Low: math.Pow(10, shift-halfWidth), High: math.Pow(10, shift+halfWidth)}
	f.Changed = f.Factor.Low > 1+changeNoise || f.Factor.High < 1/(1+changeNoise)
	return f
}

// birgeRatio returns the factor by which the interval of a group's mean must be widened. It is above 1 if
// the differences within the group exceed their expected size. The parameter `root` is the Cholesky
// decomposition of their covariances.
//
// Source: Birge, The calculation of errors by the method of least squares, Physical Review 40 (1932).
func birgeRatio(root *mat.Cholesky, differences *mat.VecDense) float64 {
	var solved mat.VecDense
	n := differences.Len()
	if n < 2 || root.SolveVecTo(&solved, differences) != nil {
		return 1
	}
	return math.Sqrt(max(1, mat.Dot(differences, &solved)/float64(n-1)))
}

// changedSeparately returns the algorithms whose factor of change differs significantly from the median factor.
func changedSeparately(algorithms []report.ChangeFacts) []string {
	var factors []float64
	for _, a := range algorithms {
		if a.Factor != (verify.Interval{}) {
			factors = append(factors, a.Factor.Value)
		}
	}
	if len(factors) == 0 {
		return nil
	}
	slices.Sort(factors)
	median := factors[(len(factors)-1)/2]
	var out []string
	for _, a := range algorithms {
		if a.Changed && (a.Factor.Low > median*(1+changeNoise) || a.Factor.High < median/(1+changeNoise)) {
			out = append(out, a.Name)
		}
	}
	return out
}

type band struct {
	name      string
	low, high int64
}

func sizeBands(changes []change) []band {
	var sizes []int64
	for _, c := range changes {
		sizes = append(sizes, c.measurement.MsgBytes)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	n := min(comparedBands, len(sizes))
	var out []band
	for b := range n {
		part := sizes[b*len(sizes)/n : (b+1)*len(sizes)/n]
		low, high := part[0], part[len(part)-1]
		name := coll.FormatBytes(low)
		if high != low {
			name += " to " + coll.FormatBytes(high)
		}
		out = append(out, band{name, low, high})
	}
	return out
}
