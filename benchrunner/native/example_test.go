package native_test

import (
	"fmt"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/native"
	"tutti/coll"
)

func Example() {
	p, err := native.New(native.Options{Path: "/scratch/me/tutti-native", ProgramOptions: benchrunner.ProgramOptions{
		Warmup: 5, MinSamples: 30, MaxSamples: 1000, Precision: 0.02, Slice: time.Second,
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 64}
	start := benchrunner.Launch{Layout: at.Layout(), Cases: []benchrunner.Case{{Candidate: coll.Candidate{Point: at, Algorithm: coll.Default}}}, Dir: "/run"}
	cmd, err := p.Command(start)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cmd.Args)

	reading := p.Read(start, benchrunner.Output{Stdout: []byte(hello + whole(0) + end), Ended: true, Wall: 2 * time.Second})
	o := reading.Outcomes[0]
	fmt.Println(o.State, o.Seconds, o.Samples)
	// Output:
	// [/scratch/me/tutti-native /run/native.plan]
	// done 2e-06 10
}
