// Package slurm runs jobs on a Slurm cluster through its commands: sbatch, squeue,
// sacct, scontrol and scancel. There is no shell between us and them, and no
// variable of the caller that steers them gets through.
//
//	scheduler, err := slurm.New(slurm.Options{Partition: "bench", Account: "mpi"})
//	id, err := scheduler.Submit(ctx, submission)
//	states, err := scheduler.Status(ctx, map[string]benchrunner.Submission{id: submission})
//
// A job runs with few variables: what names the user, what finds programs and
// libraries, what finds modules, and LC_ALL=C. Anything else is for its script to set.
//
// Job ids begin at 1 again when a cluster loses its state: a job is known by its
// name and folder, the id alone is never believed.
package slurm
