package live_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/benchrunner/local"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// fakeText is a benchmark program without MPI. Its first argument is the ledger, a file with a line for each
// measured case. The other arguments are cases of the form number:behaviour:microseconds. For each case it
// prints a result and adds a line to the ledger.
const fakeText = `#!/bin/bash
ledger=$1; shift
echo "# started in ${TUTTI_LAUNCH##*/}" >&2
for case in "$@"; do
	IFS=: read -r number behaviour time <<<"$case"
	case $behaviour in
	hang) sleep 1000 ;;
	crash) echo "crashed in $number" >&2; kill -SEGV $$ ;;
	half) printf 'case %s 1' "$number"; exit 0 ;;
	slow) sleep 0.3 ;;
	slower) sleep 2 ;;
	held) [ -e "$ledger.held" ] || { echo held >"$ledger.held"; sleep 1000; } ;; # the first time, until it is killed
	ended) (sleep 0.5; kill -KILL "${TUTTI_JOB_ID%%-*}") & kill -TERM $$ ;;
	shot) (sleep 0.5; kill -KILL "${TUTTI_JOB_ID%%-*}") & kill -KILL $$ ;;
	nolaunch) echo "no such fabric" >&2; exit 7 ;;
	esac
	echo "$TUTTI_LAUNCH $number" >>"$ledger"
	echo "case $number $time end"
done
`

// fakeProgram is the benchmark program fakeText. The name of a case's algorithm, such as crash, says what the case
// does.
type fakeProgram struct {
	path, ledger string
	most         int           // largest number of cases in a launch
	allowance    time.Duration // of a launch with a case that hangs; other launches have at least 20 s
}

func newFakeProgram(t testing.TB, dir string) fakeProgram {
	t.Helper()
	return testutil.Must(writeFakeProgram(dir))(t)
}

func writeFakeProgram(dir string) (fakeProgram, error) {
	p := fakeProgram{path: filepath.Join(dir, "fake program.sh"), ledger: filepath.Join(dir, "ledger"), most: 4, allowance: 1500 * time.Millisecond}
	return p, testutil.WriteExecutable(p.path, fakeText)
}

// oneCaseProgram returns the fake program of the options, changed so that each launch measures one case.
func oneCaseProgram(o live.Options) fakeProgram {
	p := o.Program.(fakeProgram)
	p.most = 1
	return p
}

func (p fakeProgram) Name() string { return "fake" }

func (p fakeProgram) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	var out [][]benchrunner.Case
	for len(cases) > p.most {
		out, cases = append(out, cases[:p.most]), cases[p.most:]
	}
	return append(out, cases)
}

func (p fakeProgram) Allowance(s benchrunner.Launch) time.Duration {
	if slices.ContainsFunc(s.Cases, func(c benchrunner.Case) bool { return c.Algorithm.Name == "hang" }) {
		return p.allowance
	}
	return max(p.allowance, 20*time.Second)
}

func (p fakeProgram) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	cmd := benchrunner.Command{Args: []string{p.path, p.ledger}, Files: map[string][]byte{"cases": nil}}
	for _, c := range s.Cases {
		if c.Algorithm.Name == "impossible" {
			return cmd, fmt.Errorf("%v cannot be asked for", c.Candidate)
		}
		cmd.Args = append(cmd.Args, fmt.Sprintf("%d:%s:%d", c.MsgBytes, c.Algorithm.Name, microseconds(c.Candidate)))
	}
	return cmd, nil
}

// microseconds returns the time in microseconds that the fake program prints for a candidate.
func microseconds(c coll.Candidate) int {
	h := fnv.New32a()
	fmt.Fprint(h, c)
	return 1 + int(h.Sum32()%1000)
}

func (p fakeProgram) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	r := benchrunner.Reading{Outcomes: make([]benchrunner.Outcome, len(s.Cases)), WarmupSeconds: 1e-4, MeasureSeconds: 2e-4, Library: "fake 1.0\nof nobody"}
	open := -1 // index of the first case without a result
	for i, c := range s.Cases {
		r.Outcomes[i] = found(out, c)
		if open < 0 && r.Outcomes[i].State == benchrunner.OutcomeNotReached {
			open = i
		}
	}
	if open < 0 || open == 0 && s.Cases[0].Algorithm.Name == "nolaunch" {
		return r
	}
	switch {
	case out.TimedOut:
		r.Outcomes[open] = benchrunner.Failed("run", "hung")
	case out.Ended && out.Exit != 0:
		r.Outcomes[open] = benchrunner.Failed("run", fmt.Sprintf("exit %d", out.Exit))
	case out.Ended:
		r.Outcomes[open] = benchrunner.Failed("parse", "half a line")
	}
	return r
}

func found(out benchrunner.Output, c benchrunner.Case) benchrunner.Outcome {
	for line := range strings.Lines(string(out.Stdout)) {
		f := strings.Fields(line)
		if len(f) != 4 || f[0] != "case" || f[1] != fmt.Sprint(c.MsgBytes) || f[3] != "end" {
			continue
		}
		if µs, err := strconv.Atoi(f[2]); err == nil {
			return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: float64(µs) * 1e-6, Samples: 3, CostSeconds: 1e-4}
		}
	}
	return benchrunner.Outcome{State: benchrunner.OutcomeNotReached}
}

// fakeLauncher runs a program as a single process, without MPI.
type fakeLauncher struct{}

func (fakeLauncher) Name() string                  { return "fake" }
func (fakeLauncher) HostSuffix(coll.Layout) string { return " slots=1" }
func (fakeLauncher) Args(_ coll.Layout, cmd benchrunner.Command, hosts string) []string {
	if hosts == "" {
		return cmd.Args
	}
	return append([]string{"env", "HOSTS=" + hosts}, cmd.Args...)
}

var errUnknown = errors.New("the library does not have it")

func fakeForce(c coll.Candidate) (mpi.Forcing, error) {
	if c.Algorithm.Name == "unknown" {
		return mpi.Forcing{}, fmt.Errorf("%v: %w", c, errUnknown)
	}
	return mpi.Forcing{Env: []mpi.Var{{Name: "ALGORITHM", Value: c.Algorithm.Name}}}, nil
}

// at returns a candidate for the fake program. Its message size serves as the number of the case.
func at(nodes int, number int64, behaviour string) coll.Candidate {
	return coll.Candidate{
		Point:     coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 1, MsgBytes: number},
		Algorithm: coll.Algorithm{Name: behaviour},
	}
}

func options(t testing.TB, dir string, s benchrunner.Scheduler) live.Options {
	t.Cleanup(func() { // wait for the processes before the folder is removed
		for began := time.Now(); processes(t, dir)+processesInside(t, dir) > 0; time.Sleep(time.Millisecond) {
			if time.Since(began) > testutil.HangTimeout {
				t.Errorf("processes of %s are left", dir)
				return
			}
		}
	})
	return live.Options{
		Campaign: "test", Dir: dir, Scheduler: s, Launcher: fakeLauncher{}, Program: newFakeProgram(t, dir), Force: fakeForce,
		LaunchTime: 500 * time.Millisecond, Settle: 300 * time.Millisecond,
		Poll: live.Poll{Min: 2 * time.Millisecond, Max: 100 * time.Millisecond},
	}
}

func localScheduler(testing.TB) benchrunner.Scheduler {
	s, err := local.New(local.Options{Nodes: 8, PPN: 2})
	if err != nil {
		panic(err) // no test works without the host name of this machine
	}
	return s
}

func machine(t testing.TB, o live.Options) *live.Machine {
	t.Helper()
	m := testutil.Must(live.New(o))(t)
	m.SetPatience(5 * time.Second)
	return m
}

func itoa(n int) string { return strconv.Itoa(n) }
