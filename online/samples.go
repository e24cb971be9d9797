package online

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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
	switch s.Collective {
	case coll.Allgather, coll.Allgatherv, coll.Allreduce, coll.Alltoall, coll.Barrier, coll.ReduceScatter, coll.ReduceScatterBlock:
		return s.Shortest
	}
	return s.Longest
}

// Samples holds what libtutti recorded in one job: times of calls, with the algorithms that served them.
type Samples struct {
	Library string // version that the MPI library reports, its first 127 characters
	Calls   []Sample
	Faults  []string // ignored lines, with reasons
}

const (
	samplesBegin  = "# tutti-samples 1 "
	samplesHeader = "collective,nodes,ppn,msg_bytes,algorithm,longest,shortest"
)

// ReadSamples reads a file that libtutti wrote during a job into the folder that TUTTI_SAMPLES names. The
// job may have been killed: incomplete or damaged lines are ignored and listed as faults. A file of another
// format is an error. An empty file has no samples.
func ReadSamples(path string) (Samples, error) {
	f, err := os.Open(path)
	if err != nil {
		return Samples{}, err
	}
	defer f.Close()
	s, err := readSamples(f)
	if err != nil {
		return Samples{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func readSamples(r io.Reader) (Samples, error) {
	var s Samples
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return s, err
		}
		if err != nil {
			if line != "" {
				s.Faults = append(s.Faults, fmt.Sprintf("line %d is cut off", n))
			}
			return s, nil
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case n == 1 && !strings.HasPrefix(line, samplesBegin):
			return s, fmt.Errorf("line 1: want %s", samplesBegin)
		case n == 1:
			s.Library = strings.TrimPrefix(line, samplesBegin)
		case n == 2 && line != samplesHeader:
			return s, fmt.Errorf("line 2: want %s", samplesHeader)
		case n > 2:
			call, err := parseSample(line)
			if err != nil {
				s.Faults = append(s.Faults, fmt.Sprintf("line %d: %v", n, err))
				continue
			}
			s.Calls = append(s.Calls, call)
		}
	}
}

func parseSample(line string) (Sample, error) {
	cells, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil || len(cells) != 7 {
		return Sample{}, fmt.Errorf("%q: want %s", line, samplesHeader)
	}
	var s Sample
	var faults [6]error
	s.Collective, faults[0] = coll.ParseCollective(cells[0])
	s.Nodes, faults[1] = strconv.Atoi(cells[1])
	s.PPN, faults[2] = strconv.Atoi(cells[2])
	s.MsgBytes, faults[3] = strconv.ParseInt(cells[3], 10, 64)
	s.Algorithm, faults[4] = coll.ParseAlgorithm(cells[4])
	s.Longest, faults[5] = strconv.ParseFloat(cells[5], 64)
	if s.Shortest, err = strconv.ParseFloat(cells[6], 64); err != nil {
		return s, err
	}
	if err := errors.Join(faults[:]...); err != nil {
		return s, err
	}
	if s.Nodes < 1 || s.PPN < 1 || s.MsgBytes < 0 || !(s.Shortest > 0) || !(s.Longest >= s.Shortest) || math.IsInf(s.Longest, 0) {
		return s, fmt.Errorf("%q: want nodes and ppn from 1, bytes from 0 and times above 0, the longest first", line)
	}
	return s, nil
}
