// Package doctor finds and tries everything that a campaign needs on a real machine: MPI
// libraries with their algorithms, launchers, benchmark programs, Slurm and the machine
// itself. It reports what is missing and how to install it.
//
//	report, err := doctor.Examine(ctx, doctor.Options{
//		Environ: os.Environ(), Dir: ".", Run: true,
//	})
//	if err != nil {
//		return err
//	}
//	err = report.Text(os.Stdout, 80)
//	fmt.Println(report.Ready(), report.Sets)
//
// Everything is tested by use. A compiler wrapper has to compile a program, and a launcher has
// to start two processes that add two numbers. Every command runs without a shell, in its own
// process group and with a time limit. No parallel program has more than two processes.
// Package mpi describes the libraries and their launchers.
package doctor
