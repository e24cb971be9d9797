package live_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"tutti/benchrunner/live"
)

func ExampleMachine_Plan() {
	s := localScheduler(nil)
	m, err := live.New(live.Options{
		Campaign: "k7x2m4qa", Dir: "/scratch/tuning", Scheduler: s, Launcher: fakeLauncher{}, Force: fakeForce,
		Program:    fakeProgram{path: "bench", most: 4, allowance: 20 * time.Second},
		LaunchTime: 10 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	planned, err := m.Plan(context.Background(), batchOf(at(2, 1, "ring"), at(2, 2, "tree"), at(4, 1, "ring")))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range planned {
		fmt.Printf("%s: %d nodes for up to %g s\n", p.Job.Name, p.Job.Nodes, p.Job.LimitSeconds)
	}
	// Output:
	// tutti-k7x2m4qa-mpich-bcast-r1-1: 4 nodes for up to 50 s
	// tutti-k7x2m4qa-mpich-bcast-r1-2: 2 nodes for up to 50 s
}

func ExampleMachine_Run() {
	dir, err := os.MkdirTemp("", "tutti")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	program, err := writeFakeProgram(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := live.New(live.Options{Campaign: "k7x2m4qa", Dir: dir, Scheduler: localScheduler(nil), Launcher: fakeLauncher{}, Program: program, Force: fakeForce})
	if err != nil {
		fmt.Println(err)
		return
	}
	journal := &memory{}
	err = m.Run(context.Background(), batchOf(at(2, 1, "ring"), at(2, 2, "crash")), journal)
	for _, t := range journal.trials {
		fmt.Printf("%v: %s %q\n", t.Candidate, t.State, t.Error)
	}
	fmt.Println(len(journal.last()), "job,", err)
	// Output:
	// bcast 2x1 1B ring: done ""
	// bcast 2x1 2B crash: failed "exit 139"
	// 1 job, <nil>
}
