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

func ExampleSweeps() {
	cases := []benchrunner.Case{{Candidate: at(2, 16, "ring")}, {Candidate: at(2, 8, "tree")}, {Candidate: at(2, 8, "ring")}}
	for _, start := range benchrunner.Sweeps(cases, benchrunner.Ascending) {
		fmt.Println(start[0].Algorithm, "of", len(start), "sizes")
	}
	// Output:
	// ring of 2 sizes
	// tree of 1 sizes
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
	// [10 5]
	// [6.666666666666666 3.333333333333333]
}

func ExamplePacking_Utilisation() {
	loads := []benchrunner.Load{{Nodes: 3, Seconds: 10}, {Nodes: 2, Seconds: 10}}
	fmt.Println(benchrunner.NodePool{Nodes: 4}.Pack(loads).Utilisation(4, loads))
	// Output: 0.625
}

func ExampleReportHosts() {
	cmd := benchrunner.ReportHosts("/scratch/job/1", benchrunner.Command{Args: []string{"osu_bcast", "-f"}})
	fmt.Println(strings.Join(cmd.Args, " "))
	fmt.Println(cmd.Executable())
	// Output:
	// /bin/sh /scratch/job/1/placed.sh osu_bcast -f
	// osu_bcast
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
