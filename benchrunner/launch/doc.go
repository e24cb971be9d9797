// Package launch starts parallel programs: Slurm's srun, MPICH's mpiexec.hydra and
// Open MPI's mpirun behind benchrunner.Launcher.
//
//	launcher, err := launch.New(launch.Srun, launch.Options{MPI: "pmi2"})
//	args := launcher.Args(coll.Layout{Nodes: 4, PPN: 2}, cmd)
//
// # Which launcher starts which library
//
// MPICH is started by mpiexec.hydra, inside Slurm jobs and outside, and by srun
// with PMI2 (srun --mpi=pmi2). Open MPI is started by mpirun and, where it was
// built with PMIx, by srun --mpi=pmix. Any other pair either refuses or, worse,
// starts as many worlds of one rank each and ends with exit code 0; programs
// look for that in what was printed.
//
// # Where the ranks go
//
// All launchers fill the first nodes of the job, with consecutive ranks on a node,
// even when the job has more nodes than the layout. A start that runs beside others is
// told its nodes by a file. Too few cores are for the site to deal with: srun takes
// --overcommit, mpirun --oversubscribe or OMPI_MCA_rmaps_base_oversubscribe=1.
//
// # How it ends
//
// A rank that fails takes the others with it. A launcher that is told to end (SIGTERM)
// ends its ranks first; killed without a word (SIGKILL) srun and mpirun may leave them
// to the end of the job. Ranks get no input from srun and mpirun; under hydra one that
// reads waits for ever, whatever its launcher got.
package launch
