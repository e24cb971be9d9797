package online

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// An algorithm without calls in a class may take a very different time than predicted, since algorithms
// behave differently at unmeasured points. Therefore its standard deviation is assumed to be tailScale
// times as large with the probability tailShare, as in package activelearn.
const (
	tailShare = 0.1
	tailScale = 4.0
)

// minHorizon is the smallest number of future calls that is assumed for a class of calls. A class that had more
// calls so far is assumed to have as many again.
const minHorizon = 200

// KnowledgeGradient returns an index value for each of the n algorithms of a class of calls, and the algorithm with
// the shortest expected time. The algorithm with the smallest index value should be called next. The value is its
// expected time, minus the expected saving in later calls if it is timed once more.
//
// The entries of the class in `j` begin at index `from`. `noise` is the variance of the logarithm of a
// call's time. `calls` is the number of calls of the class so far. The function `called` reports
// whether an algorithm was already called in the class.
//
// Source: Ryzhov, Powell and Frazier, The knowledge gradient algorithm for a general class of online
// learning problems (Operations Research 60, 2012).
func (j *Joint) KnowledgeGradient(from, n int, noise, calls float64, called func(algorithm int) bool) (index []float64, best int) {
	expected := make([]float64, n)
	for a := range expected {
		expected[a] = j.Expected(from + a)
		if expected[a] < expected[best] {
			best = a
		}
	}
	second := math.Inf(1)
	for a, t := range expected {
		if a != best {
			second = min(second, t)
		}
	}
	horizon := max(minHorizon, calls)
	index = make([]float64, n)
	for a, t := range expected {
		rival := expected[best]
		if a == best {
			rival = second
		}
		index[a] = t
		if math.IsInf(rival, 1) {
			continue
		}
		gain := j.gain(from+a, 1, rival, noise)
		if !called(a) {
			gain = (1-tailShare)*gain + tailShare*j.gain(from+a, tailScale, rival, noise)
		}
		index[a] -= horizon * gain
	}
	return index, best
}

// gain returns by how many seconds the shortest expected time is expected to fall if entry i is timed once
// more. `rival` is the shortest expected time of the other entries. The standard deviation of
// entry i is multiplied by `scale`; its median stays the same. The new mean is lognormal, so this is the
// Black-Scholes formula for an option.
//
// Source: Frazier, Powell and Dayanik, The knowledge-gradient policy for correlated normal beliefs (INFORMS
// Journal on Computing 21, 2009), for one entry at a time.
func (j *Joint) gain(i int, scale, rival, noise float64) float64 {
	v := scale * scale * j.Variance(i)
	now := math.Exp(j.mean[i] + v/2)
	if v == 0 {
		return 0
	}
	deviation := v / math.Sqrt(v+noise)
	d := (math.Log(rival/now) + deviation*deviation/2) / deviation
	gain := rival*distuv.UnitNormal.CDF(d) - now*distuv.UnitNormal.CDF(d-deviation)
	if now <= rival { // entry i is the current choice, and may turn out to be slower
		gain += now - rival
	}
	return max(0, gain)
}

// The advice uses these quantiles of a time, or of the ratio of two times. They are given in standard
// deviations above the median.
const (
	selectDeviations = 2.0 // another algorithm is selected only if this quantile of its time is below the expected time of the selected one
	budgetDeviations = 1.0 // quantile for the cost of exploring; with a higher one, jobs of a few hundred calls would explore almost nothing
)

// budgetOfGain limits the time of exploration. It is a fraction of the time that the selection saves compared with
// the default. A job may also spend a fixed share of its time, by default 3 % (TUTTI_BUDGET). If the selection
// saves much more than that, most of the saving remains from the second job on.
const budgetOfGain = 0.2

// adviceFor returns the advice for a class of calls: which algorithm to select, and which ones to explore. An
// algorithm is explored if its index value (see KnowledgeGradient) is below the shortest expected time. Its weight
// is the difference of these times, divided by its own expected time. If the collective has no times, all
// algorithms get equal weights.
func (r *Result) adviceFor(class int) (Advice, error) {
	c := r.history.classes[class]
	j, err := r.Joint(c.Collective, []Class{c})
	if err != nil {
		return Advice{}, err
	}
	if j == nil {
		return Advice{Best: r.selected[class], Faster: 1, Weights: slices.Repeat([]float64{1}, len(c.Algorithms))}, nil
	}
	return r.adviceBy(j, class), nil
}

// adviceBy returns the advice for a class of calls by the joint distribution of its times.
func (r *Result) adviceBy(j *Joint, class int) Advice {
	h, now := r.history, r.selected[class]
	called := func(a int) bool { return h.times[class][a].n > 0 }
	n := len(h.classes[class].Algorithms)
	index, best := j.KnowledgeGradient(0, n, h.noise(), float64(h.calls(class)), called)
	a := Advice{Best: now, Weights: make([]float64, n)}
	for i, x := range index {
		if expected := j.Expected(best); i != best && x < expected {
			a.Weights[i] = (expected - x) / j.Expected(i)
		}
	}
	switch {
	case j.Quantile(best, selectDeviations) >= j.Expected(now):
	case r.comparesWithDefault(class, best):
		a.Best = best
	default: // a job samples both first
		most := max(1, slices.Max(a.Weights))
		for _, i := range []int{0, best} {
			if i != now { // calls of the selected one are timed anyway
				a.Weights[i] = most
			}
		}
	}
	a.Faster = j.Expected(0) / j.Expected(a.Best)
	a.Budget = budgetOfGain * max(0, j.ratio(0, a.Best, -budgetDeviations)-1)
	for i := range index {
		a.Most = append(a.Most, j.ratio(i, a.Best, budgetDeviations))
	}
	a.Weights = exploreWeights(a.Weights, a.Best, h.callsPerJob[class]/2)
	return a
}

// comparesWithDefault reports whether a job timed both an algorithm and the library's default in a class of calls. It
// is always true for the default.
func (r *Result) comparesWithDefault(class, algorithm int) bool {
	jobs := map[int]bool{} // that timed the default
	for _, c := range r.calls[class] {
		if c.algorithm == 0 {
			jobs[c.job] = true
		}
	}
	return algorithm == 0 || slices.ContainsFunc(r.calls[class], func(c timedCall) bool { return c.algorithm == algorithm && jobs[c.job] })
}

// minDraws is the smallest expected number of times that a job draws an explored algorithm. One draw is not
// enough, because the time of an algorithm's first call is not kept.
const minDraws = 2.0

// deferFactor divides the weights of algorithms that are deferred to a later job, so that they are rarely drawn
// at random. The mode that tries one algorithm after another (successive elimination) still uses the order of
// their weights.
const deferFactor = 1000

// exploreWeights defers the algorithms with the smallest weights to a later job. It defers as many as
// necessary so that each of the others is expected to be drawn minDraws times. `draws` is the
// number of random draws in the job. If there is nothing to explore, the selected algorithm gets all the
// weight, so that it is timed.
func exploreWeights(weights []float64, selected int, draws float64) []float64 {
	out := slices.Clone(weights)
	for {
		sum, n, least := 0.0, 0, -1
		for i, w := range out {
			sum += w
			if w > 0 && i != selected {
				n++
				if least < 0 || w < out[least] {
					least = i
				}
			}
		}
		if sum == 0 {
			out[selected] = 1
		}
		if sum == 0 || n <= 1 || draws == 0 || draws*(sum-out[selected])/sum >= minDraws*float64(n) {
			break
		}
		out[least] = 0
	}
	for i, w := range weights {
		if out[i] == 0 {
			out[i] = w / deferFactor
		}
	}
	return out
}

// Joint is a joint normal distribution of natural logarithms of times. It covers all algorithms in some classes
// of one collective. A class is a group of calls with the same layout and similar sizes. The entries of Joint
// are the algorithms of the first class, then those of the second class, and so on. A new time updates the
// distribution by a formula, so no model is fitted again.
type Joint struct {
	mean []float64
	cov  [][]float64
}

// NewJoint returns the distribution that a Gaussian process of log10 seconds predicts for the algorithms in
// classes of one collective. The function `task` returns the number that the Gaussian process uses for an
// algorithm. Its argument i counts the distinct algorithms of the classes from 0. NewJoint takes O(entries²·n)
// operations for n observations.
func NewJoint(process *gp.GP, classes []Class, task func(a coll.Algorithm, i int) int) (*Joint, error) {
	var points []coll.Point
	var entries []gp.Entry
	number, tasks := map[coll.Algorithm]int{}, 0
	for _, class := range classes {
		for _, a := range class.Algorithms {
			if _, listed := number[a]; !listed {
				number[a] = len(number)
			}
			e := gp.Entry{Row: len(points), Task: task(a, number[a])}
			entries, tasks = append(entries, e), max(tasks, e.Task+1)
		}
		points = append(points, class.Point)
	}
	rows := preprocess.SurrogateRows(points)
	posterior, err := process.Posterior(rows, entries)
	if err != nil {
		return nil, err
	}
	all := make([]int, len(entries))
	for i := range all {
		all[i] = i
	}
	means := process.Means(rows, tasks)
	j := &Joint{mean: make([]float64, len(entries)), cov: posterior.Covariances(all, all)}
	for i, e := range entries {
		j.mean[i] = math.Ln10 * means[e.Task][e.Row]
		for k := range j.cov[i] {
			j.cov[i][k] *= math.Ln10 * math.Ln10
		}
	}
	return j, nil
}

// Observe updates the distribution after the time of entry i was measured once more; `log` is the logarithm of
// this time. `noise` is the variance of its noise. This is one step of a Kalman filter, and takes
// O(entries²) operations.
func (j *Joint) Observe(i int, log, noise float64) {
	total := j.Variance(i) + noise
	row := slices.Clone(j.cov[i])
	surprise := log - j.mean[i]
	for k, v := range row {
		gain := v / total
		j.mean[k] += gain * surprise
		for l, w := range row {
			j.cov[k][l] -= gain * w
		}
	}
}

// Variance returns the variance of the logarithm of entry i's time, 0 or more in spite of rounding errors.
func (j *Joint) Variance(i int) float64 { return max(0, j.cov[i][i]) }

// Expected returns the expected time of entry i in seconds.
func (j *Joint) Expected(i int) float64 { return math.Exp(j.mean[i] + j.Variance(i)/2) }

// Quantile returns a quantile of the time of entry i in seconds. `deviations` gives the
// quantile: the median is 0, and 1 is one standard deviation of the logarithm above it.
func (j *Joint) Quantile(i int, deviations float64) float64 {
	return math.Exp(j.mean[i] + deviations*math.Sqrt(j.Variance(i)))
}

// ratio returns a quantile of the time of entry `i` divided by the time of entry `of`; see Quantile.
func (j *Joint) ratio(i, of int, deviations float64) float64 {
	variance := max(0, j.cov[i][i]+j.cov[of][of]-2*j.cov[i][of])
	return math.Exp(j.mean[i] - j.mean[of] + deviations*math.Sqrt(variance))
}
