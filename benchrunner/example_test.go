package benchrunner_test

import (
	"fmt"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

func ExampleCallTimeout() {
	p := coll.Point{Collective: coll.Bcast, Nodes: 64, PPN: 16, MsgBytes: 1 << 20}
	fmt.Println(benchrunner.CallTimeout(p).Round(time.Millisecond))
	// Output: 120ms
}

func ExampleCallsTimeout() {
	c := benchrunner.Case{Candidate: at(4, 1<<20, "ring")}
	fmt.Println(benchrunner.CallsTimeout(c, 1000).Round(time.Second))
	// Output: 52s
}

func ExampleSweeps() {
	cases := []benchrunner.Case{{Candidate: at(2, 16, "ring")}, {Candidate: at(2, 8, "tree")}, {Candidate: at(2, 8, "ring")}}
	for _, start := range benchrunner.Sweeps(cases, benchrunner.Ascending) {
		fmt.Println(start[0].Algorithm, "of", len(start), "sizes")
	}
	// Output:
	// ring of 2 sizes
	// tree of 1 sizes
}

func ExampleAscending() {
	small, large := benchrunner.Case{Candidate: at(2, 8, "ring")}, benchrunner.Case{Candidate: at(2, 16, "ring")}
	fmt.Println(benchrunner.Ascending(small, large), benchrunner.Ascending(large, small))
	// Output: true false
}

func ExampleParseLaunchModel() {
	_, err := benchrunner.ParseLaunchModel("mpi")
	fmt.Println(err)
	// Output: launch model "mpi": want one of candidate, osu, native
}

func ExampleLaunchModels() {
	fmt.Println(benchrunner.LaunchModels())
	// Output: [candidate osu native]
}

func ExampleLaunchModel_Key() {
	a, b := at(2, 8, "ring"), at(2, 16, "ring")
	for _, m := range benchrunner.LaunchModels() {
		fmt.Println(m, m.Key(a) == m.Key(b))
	}
	// Output:
	// candidate false
	// osu true
	// native true
}

func ExampleLaunchCost_ConcurrentCosts() {
	l := benchrunner.LaunchCost{Seconds: 1}
	batch := []coll.Candidate{at(2, 8, "ring"), at(2, 8, "tree")}
	fmt.Println(l.ConcurrentCosts(batch, []float64{9, 4}, 2)) // sequential launches
	fmt.Println(l.ConcurrentCosts(batch, []float64{9, 4}, 4)) // concurrent launches
	// Output:
	// [10 5] <nil>
	// [6.666666666666666 3.333333333333333] <nil>
}

func ExamplePacking_Utilisation() {
	loads := []benchrunner.Load{{Nodes: 3, Seconds: 10}, {Nodes: 2, Seconds: 10}}
	p, err := benchrunner.NodePool{Nodes: 4}.Pack(loads)
	fmt.Println(p.Utilisation(4, loads), err)
	// Output: 0.625 <nil>
}

func ExampleReportHosts() {
	cmd := benchrunner.ReportHosts("/scratch/job/1", benchrunner.Command{Args: []string{"osu_bcast", "-f"}})
	fmt.Println(strings.Join(cmd.Args, " "))
	fmt.Println(cmd.Executable())
	// Output:
	// /bin/sh /scratch/job/1/placed.sh osu_bcast -f
	// osu_bcast
}

func ExampleCommand_Executable() {
	fmt.Println(benchrunner.Command{Args: []string{"osu_bcast", "-f"}}.Executable())
	// Output: osu_bcast
}

func ExampleOutput_PlacementError() {
	out := benchrunner.Output{Stderr: []byte(strings.Repeat("tutti: process on host n1\n", 4))}
	fmt.Println(out.PlacementError(coll.Layout{Nodes: 2, PPN: 2}))
	// Output: 4 ranks on n1, want 2 on each of 2 nodes
}

func ExampleOutput_Lines() {
	out := benchrunner.Output{Stdout: []byte("[1,0]<stdout>:# Size\n[1,0]<stdout>:8 0.21\n[1,0]<stdout>:16 0.")}
	fmt.Printf("%q\n", out.Lines())
	// Output: ["# Size" "8 0.21"]
}

func ExampleOutput_LastMessage() {
	out := benchrunner.Output{Stderr: []byte("no memory\nsrun: error: n1: task 0: Exited with exit code 1\n")}
	fmt.Println(out.LastMessage())
	// Output: no memory
}

func ExampleOutput_Refusal() {
	out := benchrunner.Output{Stderr: []byte("Other MPI error, Invalid MPIR_CVAR_BCAST_INTRA_ALGORITHM value (nosuch)\n")}
	fmt.Println(out.Refusal())
	// Output: MPICH: Invalid MPIR_CVAR_BCAST_INTRA_ALGORITHM value (nosuch)
}

func ExampleFailed() {
	o := benchrunner.Failed(benchrunner.PhaseRun, "exit code 9")
	fmt.Println(o.State, o.Phase, o.Error)
	// Output: failed run exit code 9
}

func ExampleFailedAll() {
	start := benchrunner.Launch{Cases: make([]benchrunner.Case, 3)}
	fmt.Println(len(benchrunner.FailedAll(start, benchrunner.PhaseLaunch, "no such fabric")))
	// Output: 3
}

// The program died after the first of three cases. The second case fails, and the third one must be
// launched again.
func ExampleOutcomes() {
	start := benchrunner.Launch{Cases: []benchrunner.Case{{Candidate: at(2, 8, "ring")}, {Candidate: at(2, 16, "ring")}, {Candidate: at(2, 32, "ring")}}}
	out := benchrunner.Output{Ended: true, Exit: 139, Stdout: []byte("8 0.21\n")}
	outcomes := benchrunner.Outcomes(start, out, true, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: 0.21e-6}, c.MsgBytes == 8
	})
	for _, o := range outcomes {
		fmt.Printf("%s %q\n", o.State, o.Error)
	}
	// Output:
	// done ""
	// failed "exit code 139: 8 0.21"
	// not reached ""
}

func ExampleTrialLog() {
	log := benchrunner.TrialLog(func(t coll.Trial) error {
		fmt.Println(t.Candidate, t.State)
		return nil
	})
	if err := log.Trial(coll.Trial{Measurement: coll.Measurement{Candidate: at(2, 8, "ring")}, State: coll.TrialDone}); err != nil {
		fmt.Println(err)
	}
	// Output: bcast 2x2 8B ring done
}
