package local_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/local"
)

// A job is a process on this machine. The folder of the job contains its state.
func ExampleScheduler_Submit() {
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	job := benchrunner.Submission{Name: "job", Dir: dir, Script: filepath.Join(dir, "job.sh"), Limit: time.Minute}
	if err := os.WriteFile(job.Script, []byte("exit 3\n"), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	s, err := local.New(local.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	id, err := s.Submit(ctx, job)
	for phase := benchrunner.JobRunning; err == nil && phase != benchrunner.JobOver; time.Sleep(time.Millisecond) {
		var answer map[string]benchrunner.Status
		answer, err = s.Status(ctx, map[string]benchrunner.Submission{id: job})
		if phase = answer[id].Phase; phase == benchrunner.JobOver {
			fmt.Println(answer[id].Outcome, answer[id].Reason)
		}
	}
	fmt.Println(err)
	// Output:
	// failed exit code 3
	// <nil>
}
