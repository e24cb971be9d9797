package export

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/report"
	"tutti/verify"
)

const (
	// changeNoise is a relative difference. Times that differ by less count as equal. On shared clusters,
	// medians of repeated jobs differ by about 2 %.
	changeNoise = 0.05
	// changeAlpha is the probability that a comparison reports a change although there is none.
	changeAlpha = 0.05
	// comparedBands is the largest number of ranges of message sizes for which a comparison gives separate
	// factors.
	comparedBands = 6
)

// change says how the time of a candidate differs between two campaigns that measured it.
type change struct {
	coll.Candidate
	log float64 // natural logarithm of its time now divided by its earlier time
}

// compare compares a campaign with an earlier one, using the candidates that both measured. It returns the factor
// by which times have changed for each algorithm and each range of message sizes.
func compare(name string, earlier, now []coll.Measurement) report.ComparedFacts {
	f := report.ComparedFacts{Campaign: name, Earlier: len(earlier), Noise: changeNoise}
	seconds := make(map[coll.Candidate]float64, len(earlier))
	var algorithms []coll.Algorithm
	for _, m := range earlier {
		seconds[m.Candidate] = m.Seconds
		algorithms = append(algorithms, m.Algorithm)
	}
	var changes []change
	for _, m := range now {
		if before, known := seconds[m.Candidate]; known {
			changes = append(changes, change{m.Candidate, math.Log(m.Seconds / before)})
		}
	}
	f.Remeasured, f.New = len(changes), len(now)-len(changes)
	slices.SortFunc(algorithms, coll.CompareAlgorithms)
	algorithms = slices.Compact(algorithms)
	groups := len(algorithms) + comparedBands
	var changed []coll.Algorithm
	for _, alg := range algorithms {
		of := changeOf(alg.String(), changes, groups, func(c change) bool { return c.Algorithm == alg })
		f.Algorithms = append(f.Algorithms, of)
		if of.Changed {
			changed = append(changed, alg)
		}
	}
	for _, b := range sizeBands(changes) {
		f.Sizes = append(f.Sizes, changeOf(b.name, changes, groups, func(c change) bool {
			return c.MsgBytes >= b.low && c.MsgBytes <= b.high && !slices.Contains(changed, c.Algorithm)
		}))
	}
	return f
}

// changeOf returns by how much times changed in a group of candidates: the geometric mean of the factors, with
// its interval by Student's t. The function `belongs` reports whether a change is in the group. With
// probability 1 - changeAlpha, none of the groups is reported as changed if nothing changed. A single change
// has no interval.
func changeOf(name string, changes []change, groups int, belongs func(change) bool) report.ChangeFacts {
	var logs []float64
	for _, c := range changes {
		if belongs(c) {
			logs = append(logs, c.log)
		}
	}
	f, n := report.ChangeFacts{Name: name, Measured: len(logs)}, float64(len(logs))
	if n == 0 {
		return f
	}
	mean, deviation := stat.MeanStdDev(logs, nil)
	width := 0.0
	if n > 1 {
		width = distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1-changeAlpha/float64(2*groups)) * deviation / math.Sqrt(n)
	}
	f.Factor = verify.Interval{Value: math.Exp(mean), Low: math.Exp(mean - width), High: math.Exp(mean + width)}
	f.Changed = n > 1 && (f.Factor.Low > 1+changeNoise || f.Factor.High < 1/(1+changeNoise))
	return f
}

type band struct {
	name      string
	low, high int64
}

func sizeBands(changes []change) []band {
	var sizes []int64
	for _, c := range changes {
		sizes = append(sizes, c.MsgBytes)
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
