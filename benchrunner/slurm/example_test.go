package slurm_test

import (
	"context"
	"fmt"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/slurm"
)

// This example submits a job to a cluster, requests its status and cancels it.
func ExampleScheduler_Submit() {
	ctx := context.Background()
	scheduler, err := slurm.New(slurm.Options{Partition: "bench"})
	if err != nil {
		fmt.Println(err)
		return
	}
	job := benchrunner.Submission{Name: "c1.bcast.r3-2", Dir: "/scratch/c1", Script: "/scratch/c1/job.sh", Nodes: 4, PPN: 2, Limit: 10 * time.Minute}
	id, err := scheduler.Submit(ctx, job)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := scheduler.Status(ctx, map[string]benchrunner.Submission{id: job})
	fmt.Println(answer[id].Phase, answer[id].Reason, err)
	fmt.Println(scheduler.Cancel(ctx, id, job))
}
