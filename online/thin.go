package online

import "tutti/coll"

const (
	maxCalls  = 1 << 18 // calls in memory, 30 MB
	maxSeries = 1 << 14 // largest number of pairs of class and algorithm
)

// thinned holds calls of jobs. With more than maxCalls calls, it keeps every second call of each class and
// algorithm that has many calls, then every fourth, and so on. At most maxSeries pairs of class and
// algorithm are kept. The zero value is empty.
type thinned struct {
	series map[coll.Candidate]*series // by class and algorithm
	calls  []keptCall                 // in the order in which they were added
}

// series counts the calls of a class and algorithm. Every call whose number is a multiple of stride is kept.
type series struct {
	coll.Candidate
	seen, stride int
}

type keptCall struct {
	jobSample
	of     *series
	number int
}

func (t *thinned) add(s Sample, job int) {
	key := coll.Candidate{Point: classKey(s.Point), Algorithm: s.Algorithm}
	of := t.series[key]
	switch {
	case of == nil && len(t.series) == maxSeries:
		return
	case of == nil && t.series == nil:
		t.series = map[coll.Candidate]*series{}
		fallthrough
	case of == nil:
		of = &series{Candidate: key, stride: 1}
		t.series[key] = of
	}
	number := of.seen
	of.seen++
	if number%of.stride != 0 {
		return
	}
	s.Collective, s.Algorithm = of.Collective, of.Algorithm // one copy of the names
	t.calls = append(t.calls, keptCall{jobSample{s, job}, of, number})
	if len(t.calls) > maxCalls {
		t.thin()
	}
}

// thin halves every series that has at least the average number of kept calls.
func (t *thinned) thin() {
	for _, of := range t.series {
		if of.seen/of.stride >= maxCalls/len(t.series) {
			of.stride *= 2
		}
	}
	kept := t.calls[:0]
	for _, c := range t.calls {
		if c.number%c.of.stride == 0 {
			kept = append(kept, c)
		}
	}
	t.calls = kept
}

func (t *thinned) distribute(jobs []Job) {
	for _, c := range t.calls {
		jobs[c.job].Calls = append(jobs[c.job].Calls, c.Sample)
	}
}
