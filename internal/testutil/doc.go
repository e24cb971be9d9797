// Package testutil has what tests of several packages share: checks of what the machine
// offers, golden files, small file systems, programs for MPI, times of a synthetic machine
// whose best algorithms are known, and a real Slurm of virtual nodes. Only tests import it.
//
//	if _, err := exec.LookPath("tclsh"); err != nil {
//		testutil.NeedModules.Missing(t, "%v: needs apt-get install tcl", err)
//	}
//
//	testutil.CheckGolden(t, "bcast.json", got) // go test -update writes the file
//
//	golden := testutil.GoldenErrors(t) // testdata/TestParse.errors has the messages of all bad inputs
//	golden("empty", err, ErrSyntax)
//
//	program := testutil.BuildProgram(t, testutil.MPICH, testutil.CollectivesProgram)
//	out := testutil.RunProgram(t, env, testutil.MPICH.Launcher, "-n", "4", program, "check", "64")
//
//	cluster := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 4})
//	cluster.Run("sbatch", "-N2", "--wrap", "srun hostname")
//	cluster.Freeze() // slurmctld does not answer: its clients time out
package testutil
