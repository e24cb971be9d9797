package slurm_test

import (
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

func ExampleCheckDirective() {
	fmt.Println(slurm.CheckDirective("--mem=0"))
	fmt.Println(slurm.CheckDirective("--arr=1-3"))
	// Output:
	// <nil>
	// slurm: directive "--arr=1-3": --array is refused: jobs would not run as asked for
}
