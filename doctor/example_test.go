package doctor_test

import (
	"fmt"
	"os"

	"tutti/doctor"
)

func ExampleReport_Text() {
	report := doctor.Report{
		Checks: []doctor.Check{
			{Section: doctor.Libraries, Name: "/usr/lib/libmpich.so", State: doctor.OK, Details: []string{"MPICH 4.0.2"}},
			{Section: doctor.Launchers, Name: "srun", State: doctor.Missing, Details: []string{"not in PATH"}, Fix: "load Slurm's module"},
		},
		MissingParts: []doctor.MissingPart{{What: "a launcher", Fix: "load Slurm's module"}},
	}
	if err := report.Text(os.Stdout, 80); err != nil {
		fmt.Println(err)
	}
	fmt.Println(report.Ready())
	// Output:
	// MPI libraries
	//   ok       /usr/lib/libmpich.so
	//              MPICH 4.0.2
	//
	// Launchers
	//   missing  srun               not in PATH
	//              -> load Slurm's module
	//
	// No campaign can run here yet. What is missing:
	//   a launcher
	//     -> load Slurm's module
	// false
}
