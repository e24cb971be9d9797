package live_test

import (
	"context"
	"fmt"
	"os"

	"tutti/benchrunner/live"
)

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
