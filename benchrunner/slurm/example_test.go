package slurm_test

import (
	"context"
	"fmt"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/slurm"
)

func ExampleScheduler_Show() {
	scheduler, err := slurm.New(slurm.Options{Partition: "bench", Exclusive: true, Directives: []string{"--licenses=net:1"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(scheduler.Show(benchrunner.Submission{
		Name: "c1.bcast.r3-2", Dir: "/scratch/c1", Script: "/scratch/c1/job.sh", Nodes: 4, PPN: 2, Limit: 10 * time.Minute,
	}))
	// Output:
	// sbatch --parsable --job-name=c1.bcast.r3-2 --chdir=/scratch/c1 --output=/scratch/c1/slurm.out --open-mode=append --input=/dev/null --export=ALL --propagate=NONE --no-requeue --nodes=4 --ntasks=8 --ntasks-per-node=2 --time=10 --partition=bench --exclusive --licenses=net:1 /scratch/c1/job.sh
}

func ExampleParsePartitions() {
	const said = "PartitionName=bench Default=YES MaxNodes=16 MaxTime=01:00:00 State=UP TotalCPUs=1024 TotalNodes=32\n"
	for _, p := range slurm.ParsePartitions(said) {
		fmt.Printf("%s: %d nodes, at most %s of a job for %s\n", p.Name, p.Nodes, p.MaxNodes, p.MaxTime)
	}
	// Output: bench: 32 nodes, at most 16 of a job for 01:00:00
}

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
