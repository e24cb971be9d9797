package benchrunner_test

import (
	"fmt"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

func command(args ...string) benchrunner.Command {
	return benchrunner.Command{
		Args: args,
		Env:  []mpi.Var{{Name: "OMPI_MCA_coll_tuned_bcast_algorithm", Value: "6"}, {Name: "UCX_TLS", Value: "tcp"}},
	}
}

func TestArgs(t *testing.T) {
	tests := []struct {
		name, launcher string
		opt            benchrunner.LauncherOptions
		layout         coll.Layout
		want           string
	}{
		{"srun", benchrunner.Srun, benchrunner.LauncherOptions{MPI: "pmi2"}, coll.Layout{Nodes: 4, PPN: 2},
			"srun --mpi=pmi2 --nodes=4 --ntasks=8 --ntasks-per-node=2 --distribution=block --kill-on-bad-exit=1 --export=ALL --input=none ./a -x"},
		{"srun, Slurm's default", benchrunner.Srun, benchrunner.LauncherOptions{Path: "/opt/slurm/bin/srun", Args: []string{"--overcommit", "--cpu-bind=cores"}}, coll.Layout{Nodes: 1, PPN: 1},
			"/opt/slurm/bin/srun --overcommit --cpu-bind=cores --nodes=1 --ntasks=1 --ntasks-per-node=1 --distribution=block --kill-on-bad-exit=1 --export=ALL --input=none ./a -x"},
		{"hydra", benchrunner.Hydra, benchrunner.LauncherOptions{}, coll.Layout{Nodes: 4, PPN: 2}, "mpiexec.hydra -genvall -n 8 -ppn 2 ./a -x"},
		{"hydra of a site", benchrunner.Hydra, benchrunner.LauncherOptions{Path: "/opt/mpich/bin/mpiexec", Args: []string{"-bind-to", "core"}}, coll.Layout{Nodes: 2, PPN: 1},
			"/opt/mpich/bin/mpiexec -bind-to core -genvall -n 2 -ppn 1 ./a -x"},
		{"mpirun", benchrunner.Mpirun, benchrunner.LauncherOptions{}, coll.Layout{Nodes: 4, PPN: 2}, "mpirun -n 8 --map-by ppr:2:node --rank-by slot -x UCX_TLS ./a -x"},
		{"PALS", benchrunner.PALS, benchrunner.LauncherOptions{}, coll.Layout{Nodes: 4, PPN: 2}, "mpiexec -n 8 --ppn 2 --cpu-bind core ./a -x"},
		{"PALS with a binding of the site", benchrunner.PALS, benchrunner.LauncherOptions{Args: []string{"--cpu-bind=numa"}}, coll.Layout{Nodes: 4, PPN: 2}, "mpiexec --cpu-bind=numa -n 8 --ppn 2 ./a -x"},
		{"mpirun of a site", benchrunner.Mpirun, benchrunner.LauncherOptions{Path: "mpirun.openmpi", Args: []string{"--oversubscribe", "--mca", "btl", "^openib"}}, coll.Layout{Nodes: 1, PPN: 3},
			"mpirun.openmpi --oversubscribe --mca btl ^openib -n 3 --map-by ppr:3:node --rank-by slot -x UCX_TLS ./a -x"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			l := testutil.Must(benchrunner.NewLauncher(tc.launcher, tc.opt))(t)
			for range 2 { // the result must not change
				if got := strings.Join(l.Args(tc.layout, command("./a", "-x"), ""), " "); got != tc.want {
					t.Errorf("Args\n got %s\nwant %s", got, tc.want)
				}
			}
		})
	}
}

func TestArgsConcurrent(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct {
		launcher, want, suffix string
		taken                  []string
	}{
		{benchrunner.Srun, "srun -v --nodelist=/job/3/hosts --nodes=2", "", []string{"--nodelist=n1"}},
		{benchrunner.Hydra, "mpiexec.hydra -v -f /job/3/hosts -genvall", ":4", []string{"-hosts", "n1,n2"}},
		{benchrunner.Mpirun, "mpirun -v --hostfile /job/3/hosts -n 8", " slots=4", []string{"-H", "n1"}},
	} {
		l := testutil.Must(benchrunner.NewLauncher(tc.launcher, benchrunner.LauncherOptions{Args: []string{"-v"}}))(t)
		layout := coll.Layout{Nodes: 2, PPN: 4}
		args, suffix := l.Args(layout, command("./a", "-x"), "/job/3/hosts"), l.HostSuffix(layout)
		if got := strings.Join(args, " "); !strings.HasPrefix(got, tc.want+" ") || suffix != tc.suffix {
			t.Errorf("Args = %q, suffix %q; want %q…, %q", got, suffix, tc.want, tc.suffix)
		}
		if len(args) <= len(l.Args(layout, command("./a", "-x"), "")) {
			t.Errorf("%s: a file of hosts adds no argument: %q", tc.launcher, args)
		}
		_, err := benchrunner.NewLauncher(tc.launcher, benchrunner.LauncherOptions{Args: tc.taken, Concurrent: true})
		golden(fmt.Sprint(tc.launcher, " ", tc.taken), err)
	}
}

func TestNewLauncherErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct {
		name, launcher string
		opt            benchrunner.LauncherOptions
	}{
		{"unknown", "aprun", benchrunner.LauncherOptions{}},
		{"type of hydra", benchrunner.Hydra, benchrunner.LauncherOptions{MPI: "pmi2"}},
		{"no-kill", benchrunner.Srun, benchrunner.LauncherOptions{Args: []string{"--no-kill"}}},
		{"environment of srun", benchrunner.Srun, benchrunner.LauncherOptions{Args: []string{"--export=ALL,A=1"}}},
		{"environment of hydra", benchrunner.Hydra, benchrunner.LauncherOptions{Args: []string{"-genvlist", "PATH"}}},
		{"short", benchrunner.Srun, benchrunner.LauncherOptions{Args: []string{"--overcommit", "-N4"}}},
		{"with a value", benchrunner.Srun, benchrunner.LauncherOptions{Args: []string{"--nodes=4"}}},
		{"layout of hydra", benchrunner.Hydra, benchrunner.LauncherOptions{Args: []string{"-ppn", "2"}}},
		{"layout of mpirun", benchrunner.Mpirun, benchrunner.LauncherOptions{Args: []string{"--map-by", "core"}}},
		{"order of PALS", benchrunner.PALS, benchrunner.LauncherOptions{Order: coll.Cyclic}},
		{"ranks of PALS", benchrunner.PALS, benchrunner.LauncherOptions{Args: []string{"--ppn", "4"}}},
		{"a program", benchrunner.Mpirun, benchrunner.LauncherOptions{Args: []string{"rm", "-r"}}},
		{"end of options", benchrunner.Srun, benchrunner.LauncherOptions{Args: []string{"-v", "--"}}},
		{"another program", benchrunner.Hydra, benchrunner.LauncherOptions{Args: []string{"-v", ":"}}},
	}
	for _, tc := range tests {
		_, err := benchrunner.NewLauncher(tc.launcher, tc.opt)
		golden(tc.name, err)
	}
	// The option --nice also begins with n, but it is not the short option -n with a number.
	if _, err := benchrunner.NewLauncher(benchrunner.Srun, benchrunner.LauncherOptions{Args: []string{"--nice=5", "-v"}}); err != nil {
		t.Error(err)
	}
}
