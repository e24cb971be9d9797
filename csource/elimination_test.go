package csource_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tutti/internal/testutil"
)

// simulated is the output of the program "eliminate", which simulates a sequence of calls. Calls and
// algorithms are given by their numbers.
type simulated struct {
	served, best       []int     // calls, and the algorithm that serves from each of these calls on
	announced, recheck []int     // calls after which ranks announced a change; calls at which they timed the best algorithm again
	cost               []float64 // at the end of each third of the calls: time so far, divided by the baseline's
}

// servedAt returns the number of the algorithm that served after the given number of calls.
func (s simulated) servedAt(call int) int {
	last := -1
	for i, from := range s.served {
		if from <= call {
			last = s.best[i]
		}
	}
	return last
}

// detectedAfter returns the number of calls from a change of times to the first announcement of a change or the
// first recheck of an algorithm. It returns -1 if there is none within the given number of calls.
func (s simulated) detectedAfter(change, within int) int {
	first := -1
	for _, at := range slices.Concat(s.announced, s.recheck) {
		if after := at - change; after >= 0 && after < within && (first < 0 || after < first) {
			first = after
		}
	}
	return first
}

// eliminateOnce compiles the program "eliminate", without MPI, and returns the executable.
var eliminateOnce = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "tutti-eliminate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "eliminate")
	args := []string{"-std=c11", "-O2", "-Ipolicy", "-Iruntime", "-Icollectives", "-Icvar", "-o", program, "testdata/eliminate.c", "policy/world.c"}
	for _, name := range []string{"budget", "detector", "draw", "elimination", "monitor"} {
		args = append(args, "runtime/"+name+".c")
	}
	if said, err := exec.Command("cc", append(args, "-lm")...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cc: %w\n%s", err, said)
	}
	return os.ReadFile(program)
})

// buildEliminate writes the program "eliminate" into a temporary folder and returns its path.
func buildEliminate(t *testing.T) string {
	t.Helper()
	testutil.SkipShort(t)
	binary, err := eliminateOnce()
	if err != nil {
		testutil.NeedMPI.Missing(t, "%v: needs apt-get install gcc", err)
	}
	path := filepath.Join(t.TempDir(), "eliminate")
	testutil.NoError(t, os.WriteFile(path, binary, 0o755))
	return path
}

func eliminate(t *testing.T, program, args string) (s simulated) {
	t.Helper()
	said, err := exec.Command(program, strings.Fields(args)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args, err, said)
	}
	for line := range strings.Lines(string(said)) {
		word := strings.Fields(line)
		call, err := strconv.Atoi(word[0])
		if err != nil {
			t.Fatalf("%s: %q: %v", args, line, err)
		}
		switch word[1] {
		case "announced":
			s.announced = append(s.announced, call)
		case "recheck":
			s.recheck = append(s.recheck, call)
		case "cost":
			var cost float64
			_, err = fmt.Sscan(word[2], &cost)
			s.cost = append(s.cost, cost)
		default:
			var best int
			_, err = fmt.Sscan(word[1], &best)
			s.served, s.best = append(s.served, call), append(s.best, best)
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", args, line, err)
		}
	}
	return s
}

// seeds returns the number of seeds that a statistical test tries: 20 in full test runs (see
// testutil.NeedAllCases), otherwise 5.
func seeds() int {
	if testutil.AllCases() {
		return 20
	}
	return 5
}

// TestElimination checks that an elimination finds the fastest algorithm, detects when that algorithm becomes
// slower, and stays within the exploration budget. The times are known, with 10 % noise.
func TestElimination(t *testing.T) {
	program := buildEliminate(t)
	worst, alarms, wrong := 0.0, 0, 0
	for seed := range seeds() {
		// Algorithm 0 takes 0.8 of the baseline's time, but three times as long in the second third of the
		// calls. In that third algorithm 6 is the fastest, with 0.9 of the baseline's time.
		s := eliminate(t, program, fmt.Sprintf("%d 30000 0.1 0.5 64 0*3@10000-20000 1 0.8 1.2 1.5 3 8 2 0.9 1.1 5 20 2.5", seed))
		if s.servedAt(10000) != 0 || s.servedAt(20000) != 6 {
			wrong++
		}
		if s.servedAt(10000) == 0 && s.detectedAfter(10000, 20) < 0 || s.cost[2] > 0.97 {
			t.Errorf("seed %d: %+v", seed, s)
		}
		// In this case no algorithm is faster than the baseline.
		s = eliminate(t, program, fmt.Sprintf("%d 3000 0.1 0.5 64 none 1 1.2 1.5 3 8 2 1.1 5 20 2.5", seed))
		if s.cost[2] > 1.045 {
			t.Errorf("seed %d: %+v: want a cost of 1.03, and a little more only for algorithms that are much slower than expected", seed, s)
		}
		worst, alarms = max(worst, s.cost[2]), alarms+len(s.announced)
	}
	t.Logf("%d of %d seeds with the second best algorithm at the end of a third", wrong, seeds())
	if wrong > 1 { // the two best algorithms differ by 10 %, as much as the noise
		t.Errorf("%d of %d seeds: the fastest algorithm was not found, or the next best not after it", wrong, seeds())
	}
	t.Logf("without a faster algorithm: cost %.3f at most, %d alarms in %d calls", worst, alarms, 3000*seeds())
	if alarms > 3*seeds() {
		t.Errorf("%d false alarms in %d calls", alarms, 3000*seeds())
	}
}

// TestChanges checks that the elimination detects within 20 calls that a load begins or ends, and that
// false alarms are rare. Times have 10 % noise. As in Nanri's experiment, all algorithms take longer under
// load, and the fastest one slows down most.
func TestChanges(t *testing.T) {
	program := buildEliminate(t)
	const within = 20
	for i, tc := range []struct {
		noise          string
		ranks          int
		factor         float64
		missed, alarms int // limits with 20 seeds: missed ones of 80 changes, and false alarms in 17000 calls
	}{
		{"0.1", 64, 1.3, 4, 17},
		{"0.1:0.8", 64, 2, 4, 85}, // successive times are correlated
		{"0.1", 64, 1.5, 4, 17},
		{"0.1", 64, 2, 4, 17},
		{"0.1", 64, 3, 4, 17},
		{"0.1", 512, 2, 4, 17},
	} {
		if i > 1 && !testutil.AllCases() {
			break
		}
		t.Run(fmt.Sprintf("%s on %d ranks, %g times", tc.noise, tc.ranks, tc.factor), func(t *testing.T) {
			found, missed, last, alarms := 0, 0, 0, 0
			for seed := range seeds() {
				s := eliminate(t, program, fmt.Sprintf("%d 850 %s 0.5 %d all*%[4]g@250-400,all*%[4]g@550-700,0*1.5@250-400,0*1.5@550-700 4 1 1.3 1.6 2", seed, tc.noise, tc.ranks, tc.factor))
				alarms += len(s.announced)
				for _, change := range []int{250, 400, 550, 700} {
					after := s.detectedAfter(change, within)
					if after < 0 {
						missed++
						continue
					}
					found, last = found+after, max(last, after)
					if slices.Contains(s.announced, change+after) {
						alarms--
					}
				}
			}
			all := 4 * seeds()
			t.Logf("%d of %d changes missed, the others found after %.1f calls, %d at most; %d other alarms in %d calls",
				missed, all, float64(found)/float64(all-missed), last, alarms, 850*seeds())
			if missed > tc.missed*seeds()/20 || alarms > max(2, tc.alarms*seeds()/20) {
				t.Errorf("%d missed and %d other alarms: want %d and %d at most with 20 seeds", missed, alarms, tc.missed, tc.alarms)
			}
		})
	}
}
