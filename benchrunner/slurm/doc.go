// Package slurm runs jobs on a Slurm cluster through its commands: sbatch, squeue, sacct,
// scontrol and scancel. It runs them without a shell, and without the caller's variables
// that act as options.
//
//	scheduler, err := slurm.New(slurm.Options{Partition: "bench", Account: "mpi"})
//	id, err := scheduler.Submit(ctx, submission)
//	states, err := scheduler.Status(ctx, map[string]benchrunner.Submission{id: submission})
//
// A job gets few variables: those that name the user, those that find programs, libraries
// and modules, and LC_ALL=C. Its script sets the others.
//
// Job IDs begin at 1 again when a cluster loses its state. So a job is identified by its
// name and folder, never by its ID alone.
package slurm
