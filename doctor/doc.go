// Package doctor finds what a campaign on a real machine needs, tries each of it
// once, and says what is missing and how to get it: MPI libraries with their
// algorithms, launchers, benchmark programs, Slurm and the machine itself.
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
// What is found is believed only as far as it was seen to work: a compiler
// wrapper has to compile, and a launcher has to start two processes that sum a
// number together. Every command runs without a shell, in its own process group,
// under a time limit; none is run with more than two processes. What libraries are,
// and how they are found and started, it asks package mpi.
package doctor
