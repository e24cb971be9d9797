package launch_test

import (
	"fmt"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/benchrunner/launch"
	"tutti/coll"
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
		opt            launch.Options
		layout         coll.Layout
		want           string
	}{
		{"srun", launch.Srun, launch.Options{MPI: "pmi2"}, coll.Layout{Nodes: 4, PPN: 2},
			"srun --mpi=pmi2 --nodes=4 --ntasks=8 --ntasks-per-node=2 --distribution=block --kill-on-bad-exit=1 --export=ALL --input=none ./a -x"},
		{"srun, Slurm's default", launch.Srun, launch.Options{Path: "/opt/slurm/bin/srun", Args: []string{"--overcommit", "--cpu-bind=cores"}}, coll.Layout{Nodes: 1, PPN: 1},
			"/opt/slurm/bin/srun --overcommit --cpu-bind=cores --nodes=1 --ntasks=1 --ntasks-per-node=1 --distribution=block --kill-on-bad-exit=1 --export=ALL --input=none ./a -x"},
		{"hydra", launch.Hydra, launch.Options{}, coll.Layout{Nodes: 4, PPN: 2}, "mpiexec.hydra -genvall -n 8 -ppn 2 ./a -x"},
		{"hydra of a site", launch.Hydra, launch.Options{Path: "/opt/mpich/bin/mpiexec", Args: []string{"-bind-to", "core"}}, coll.Layout{Nodes: 2, PPN: 1},
			"/opt/mpich/bin/mpiexec -bind-to core -genvall -n 2 -ppn 1 ./a -x"},
		{"mpirun", launch.Mpirun, launch.Options{}, coll.Layout{Nodes: 4, PPN: 2}, "mpirun -n 8 --map-by ppr:2:node --rank-by slot -x UCX_TLS ./a -x"},
		{"mpirun of a site", launch.Mpirun, launch.Options{Path: "mpirun.openmpi", Args: []string{"--oversubscribe", "--mca", "btl", "^openib"}}, coll.Layout{Nodes: 1, PPN: 3},
			"mpirun.openmpi --oversubscribe --mca btl ^openib -n 3 --map-by ppr:3:node --rank-by slot -x UCX_TLS ./a -x"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			l, err := launch.New(tc.launcher, tc.opt)
			if err != nil {
				t.Fatal(err)
			}
			if l.Name() != tc.launcher || len(l.Env()) != 0 {
				t.Errorf("Name = %q, Env = %v", l.Name(), l.Env())
			}
			for range 2 { // the same every time
				if got := strings.Join(l.Args(tc.layout, command("./a", "-x")), " "); got != tc.want {
					t.Errorf("Args\n got %s\nwant %s", got, tc.want)
				}
			}
		})
	}
}

// Side by side with others a start is told its nodes.
func TestOn(t *testing.T) {
	for _, tc := range []struct {
		launcher, want, suffix string
		taken                  []string
	}{
		{launch.Srun, "srun -v --nodelist=/job/3/hosts --nodes=2", "", []string{"--nodelist=n1"}},
		{launch.Hydra, "mpiexec.hydra -v -f /job/3/hosts -genvall", ":4", []string{"-hosts", "n1,n2"}},
		{launch.Mpirun, "mpirun -v --hostfile /job/3/hosts -n 8", " slots=4", []string{"-H", "n1"}},
	} {
		l, err := launch.New(tc.launcher, launch.Options{Args: []string{"-v"}})
		if err != nil {
			t.Fatal(err)
		}
		layout := coll.Layout{Nodes: 2, PPN: 4}
		args, suffix, err := l.(benchrunner.Placer).On("/job/3/hosts", layout, command("./a", "-x"))
		if got := strings.Join(args, " "); err != nil || !strings.HasPrefix(got, tc.want+" ") || suffix != tc.suffix {
			t.Errorf("On = %q, %q, %v; want %q…, %q", got, suffix, err, tc.want, tc.suffix)
		}
		if len(args) <= len(l.Args(layout, command("./a", "-x"))) {
			t.Errorf("%s: On says less than Args: %q", tc.launcher, args)
		}
		l, err = launch.New(tc.launcher, launch.Options{Args: tc.taken})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.(benchrunner.Placer).On("/f", layout, command("./a")); err == nil || !strings.Contains(err.Error(), "names nodes") {
			t.Errorf("%s %v: error %v, want it to name the argument", tc.launcher, tc.taken, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name, launcher string
		opt            launch.Options
		want           string
	}{
		{"unknown", "aprun", launch.Options{}, `launcher "aprun": want one of srun, hydra, mpirun`},
		{"none", launch.Srun, launch.Options{MPI: "none"}, "want pmi2 for MPICH, pmix for Open MPI"},
		{"shell text", launch.Srun, launch.Options{MPI: "pmi2 --no-kill"}, "want pmi2"},
		{"type of hydra", launch.Hydra, launch.Options{MPI: "pmi2"}, "only srun has one"},
		{"no-kill", launch.Srun, launch.Options{Args: []string{"--no-kill"}}, "--no-kill is not for the site to set"},
		{"short", launch.Srun, launch.Options{Args: []string{"--overcommit", "-N4"}}, `"-N4": -N is not for the site to set`},
		{"with a value", launch.Srun, launch.Options{Args: []string{"--nodes=4"}}, "--nodes is not for the site to set"},
		{"layout of hydra", launch.Hydra, launch.Options{Args: []string{"-ppn", "2"}}, "-ppn is not for the site to set"},
		{"layout of mpirun", launch.Mpirun, launch.Options{Args: []string{"--map-by", "core"}}, "--map-by is not for the site to set"},
		{"a program", launch.Mpirun, launch.Options{Args: []string{"rm", "-r"}}, `argument "rm": want an option`},
		{"end of options", launch.Srun, launch.Options{Args: []string{"-v", "--"}}, "would end the options"},
		{"another program", launch.Hydra, launch.Options{Args: []string{"-v", ":"}}, "would end the options"},
		{"path", launch.Hydra, launch.Options{Path: "--version"}, "want the path of a program"},
	}
	for _, tc := range tests {
		if _, err := launch.New(tc.launcher, tc.opt); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error = %v, want %q", tc.name, err, tc.want)
		}
	}
	// --nice begins like -n, but is no short option with a number.
	if _, err := launch.New(launch.Srun, launch.Options{Args: []string{"--nice=5", "-v"}}); err != nil {
		t.Error(err)
	}
}

func ExampleNew() {
	l, err := launch.New(launch.Hydra, launch.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Args(coll.Layout{Nodes: 2, PPN: 4}, benchrunner.Command{Args: []string{"./program", "--fast"}}))
	// Output: [mpiexec.hydra -genvall -n 8 -ppn 4 ./program --fast]
}

func ExampleNames() {
	fmt.Println(launch.Names())
	// Output: [srun hydra mpirun]
}
