package online

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
)

// Sample is the time of one call of an application. It has the longest and the shortest time among all
// ranks, in seconds.
type Sample struct {
	coll.Candidate
	Longest, Shortest float64
}

// Seconds returns the time by which algorithms are compared. In some collectives no rank can leave the call
// before all ranks have entered. For these it is the shortest time, because the rank that entered last did
// not wait for others. In other collectives ranks may leave early, and it is the longest time.
func (s Sample) Seconds() float64 {
	if s.Collective.Synchronizes() {
		return s.Shortest
	}
	return s.Longest
}

const (
	samplesBegin  = "# tutti-samples 1 " // followed by the version that the MPI library reports
	samplesHeader = "collective,nodes,ppn,msg_bytes,algorithm,longest,shortest"
	jobBegin      = "# job " // followed by a Job as JSON; the lines after it are the job's samples
	maxLine       = 4 << 10  // bytes; libtutti writes at most 512
	maxFaults     = 10       // that are described
)

// readSamples reads a file of samples, which libtutti writes while a job runs (see TUTTI_SAMPLES), and calls `add`
// for each sample. If the file combines several jobs, it calls `begin` before the samples of each job. A job may have
// been killed while it wrote. Incomplete or damaged lines are therefore ignored, and the first of them are described
// in `faults`. A file of another format is an error. An empty file has no samples.
func readSamples(r io.Reader, add func(Sample), begin func(Job)) (faults []string, err error) {
	in := bufio.NewReaderSize(r, maxLine)
	for n := 1; ; n++ {
		part, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			if len(part) > 0 {
				faults = append(faults, fmt.Sprintf("line %d is cut off", n))
			}
			return faults, nil
		}
		if err != nil {
			return faults, fmt.Errorf("line %d: %w: want at most %d bytes", n, err, maxLine)
		}
		line := strings.TrimSuffix(string(part), "\n")
		switch {
		case n == 1 && !strings.HasPrefix(line, samplesBegin):
			return nil, fmt.Errorf("line 1: want %s", samplesBegin)
		case n == 2 && line != samplesHeader:
			return nil, fmt.Errorf("line 2: want %s", samplesHeader)
		case n > 2:
			var call Sample
			var job Job
			text, begins := strings.CutPrefix(line, jobBegin)
			if begins {
				err = json.Unmarshal([]byte(text), &job)
			} else {
				call, err = parseSample(line)
			}
			switch {
			case err == nil && begins:
				begin(job)
			case err == nil:
				add(call)
			case len(faults) < maxFaults:
				faults = append(faults, fmt.Sprintf("line %d: %v", n, err))
			}
		}
	}
}

func parseSample(line string) (Sample, error) {
	cells := strings.SplitN(line, ",", 5)
	at := -1 // start of the last two cells; the name of an algorithm may contain commas
	if len(cells) == 5 {
		at = strings.LastIndexByte(cells[4], ',')
		at = strings.LastIndexByte(cells[4][:max(0, at)], ',')
	}
	if at < 0 {
		return Sample{}, fmt.Errorf("%q: want %s", line, samplesHeader)
	}
	name := cells[4][:at]
	longest, shortest, _ := strings.Cut(cells[4][at+1:], ",")
	if len(name) > 1 && name[0] == '"' && name[len(name)-1] == '"' {
		name = name[1 : len(name)-1]
	}
	var s Sample
	var faults [7]error
	s.Collective, faults[0] = coll.ParseCollective(cells[0])
	s.Nodes, faults[1] = strconv.Atoi(cells[1])
	s.PPN, faults[2] = strconv.Atoi(cells[2])
	s.MsgBytes, faults[3] = strconv.ParseInt(cells[3], 10, 64)
	s.Algorithm, faults[4] = coll.ParseAlgorithm(name)
	s.Longest, faults[5] = coll.ParseNumber(longest)
	s.Shortest, faults[6] = coll.ParseNumber(shortest)
	if err := errors.Join(faults[:]...); err != nil {
		return s, err
	}
	if s.Nodes < 1 || s.PPN < 1 || s.MsgBytes < 0 || !(s.Longest >= s.Shortest) {
		return s, fmt.Errorf("%q: want nodes and ppn from 1, bytes from 0, and the longest time first", line)
	}
	if err := cmp.Or(coll.CheckCall(s.Shortest), coll.CheckCall(s.Longest)); err != nil {
		return s, fmt.Errorf("%q: %w", line, err)
	}
	return s, nil
}

const (
	maxCalls  = 1 << 18 // calls in memory, 30 MB
	maxSeries = 1 << 14 // largest number of pairs of class and algorithm
)

// sampledCalls holds calls of jobs, but not all if there are more than maxCalls. It then keeps every second call of a
// class and algorithm with many calls, then every fourth, and so on. It keeps at most maxSeries pairs of class and
// algorithm. The zero value is empty.
type sampledCalls struct {
	series map[coll.Candidate]*series // by class and algorithm
	calls  []keptCall                 // in the order in which they were added
}

// series counts in `seen` the calls of one class (similar calls) with one algorithm. Of these, only calls whose
// number is a multiple of `stride` are kept.
type series struct {
	coll.Candidate
	seen, stride int
}

type keptCall struct {
	jobSample
	of     *series
	number int
}

func (t *sampledCalls) add(s Sample, job int) {
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

// thin shortens each series that has at least as many kept calls as the average series: it drops every second of
// these calls.
func (t *sampledCalls) thin() {
	for _, of := range t.series {
		if of.seen/of.stride >= maxCalls/len(t.series) {
			of.stride *= 2
		}
	}
	t.calls = slices.DeleteFunc(t.calls, func(c keptCall) bool { return c.number%c.of.stride != 0 })
}

func (t *sampledCalls) distribute(jobs []Job) {
	for _, c := range t.calls {
		jobs[c.job].Calls = append(jobs[c.job].Calls, c.Sample)
	}
}
