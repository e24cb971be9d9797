// Package slurmtest gives a test a real Slurm of several virtual nodes on this
// machine, and the means to break it. It is imported by tests alone.
//
//	cluster := slurmtest.Start(t, slurmtest.Options{Nodes: 4})
//	cluster.Run("sbatch", "-N2", "--wrap", "srun hostname")
//	cluster.Freeze() // slurmctld stands still: clients time out
//
// Three clusters may be up at a time on a machine; a test that starts another waits.
// Coming up takes half a second.
package slurmtest
