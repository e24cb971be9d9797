package online

import (
	"math"

	"tutti/metrics"
)

// Detector watches the times of one algorithm in one place and says when they have
// changed, for better or worse: a self-starting cumulative sum of the logarithms of times,
// which needs neither their mean nor their spread beforehand. The zero value is not ready;
// see NewDetector.
//
// Each logarithm is held against the mean and the deviation of those before it; the
// Student statistic becomes a normal one by Wallace's formula and joins two sums, one for
// slower and one for faster, that forget deviations below half a standard deviation. No
// call counts for more than three deviations, so that one outlier is no change.
//
// Source: Hawkins, Self-starting CUSUM charts for location and scale (The Statistician
// 36, 1987); Wallace, Bounds on normal approximations to Student's and the chi-square
// distributions (Annals of Mathematical Statistics 30, 1959).
type Detector struct {
	threshold float64
	n         int     // calls that the mean and the deviation are of
	mean, m2  float64 // of their logarithms; sum of squared deviations
	up, down  sum
}

// sum is one side of a detector, with the calls since it was last zero.
type sum struct {
	value float64
	times []float64
}

const (
	allowance     = 0.5  // deviations that each call is forgiven: half of a change of one deviation
	mostDeviation = 3.0  // that a call counts for
	leastDeviance = 0.01 // of log times: clocks and counters are not better
	watchFrom     = 4    // calls before which nothing is told
)

// NewDetector returns a detector that raises a false alarm once in meanRun calls, on
// average, while nothing changes. meanRun is 10 at least.
func NewDetector(meanRun float64) *Detector {
	return &Detector{threshold: thresholdFor(2 * max(meanRun, 10))}
}

// thresholdFor inverts the average run length of a one-sided sum,
// (exp(2kb) − 2kb − 1)/2k² with b = threshold + 1.166.
//
// Source: Siegmund, Sequential Analysis (1985), chapter 2.
func thresholdFor(run float64) float64 {
	low, high := 0.0, 100.0
	for range 60 {
		b := (low + high) / 2
		x := 2 * allowance * b
		if (math.Exp(x)-x-1)/(2*allowance*allowance) < run {
			low = b
		} else {
			high = b
		}
	}
	return max(0, low-1.166)
}

// Change is what an alarm says: of how many calls it thinks that they came after the
// change, a few before it among them, and the median of their times.
type Change struct {
	Calls   int
	Seconds float64
}

// Add takes the time of one more call, above 0. After an alarm the detector starts anew.
// O(1) time but for
// alarms.
func (d *Detector) Add(seconds float64) (c Change, alarm bool) {
	x := math.Log(seconds)
	z, cut := d.standard(x)
	for _, side := range []struct {
		sum  *sum
		sign float64
	}{{&d.up, 1}, {&d.down, -1}} {
		side.sum.add(side.sign*z, seconds)
		if side.sum.value > d.threshold {
			c = Change{Calls: len(side.sum.times), Seconds: metrics.Median(side.sum.times)}
			*d = Detector{threshold: d.threshold}
			return c, true
		}
	}
	d.n++
	step := cut - d.mean
	d.mean += step / float64(d.n)
	d.m2 += step * (cut - d.mean)
	return Change{}, false
}

// standard returns x as a standard normal number, mostDeviation at most, and x cut to the
// same.
func (d *Detector) standard(x float64) (z, cut float64) {
	if d.n < watchFrom {
		return 0, x
	}
	n := float64(d.n)
	nu := n - 1
	scale := math.Sqrt(1+1/n) * max(leastDeviance, math.Sqrt(d.m2/nu))
	t := (x - d.mean) / scale
	wallace := (8*nu + 1) / (8*nu + 3)
	z = math.Copysign(wallace*math.Sqrt(nu*math.Log1p(t*t/nu)), t)
	if math.Abs(z) <= mostDeviation {
		return z, x
	}
	most := math.Sqrt(nu * math.Expm1(mostDeviation*mostDeviation/(wallace*wallace*nu)))
	return math.Copysign(mostDeviation, z), d.mean + math.Copysign(most*scale, z)
}

func (s *sum) add(z, seconds float64) {
	s.value += z - allowance
	if s.value <= 0 {
		*s = sum{times: s.times[:0]}
		return
	}
	s.times = append(s.times, seconds)
}
