package assembly_test

import (
	"os"
	"testing"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// TestCheckLoads checks that selection files that make a program crash are detected. If jobs wait in a queue,
// this test runs on this host, and is skipped if MPI programs cannot start here.
func TestCheckLoads(t *testing.T) {
	bad := mpi.Setup{Settings: []mpi.Setting{{Name: "OMPI_MCA_coll_tuned_allreduce_algorithm", Value: "2"}}}
	badLater := mpi.Setup{Layouts: []mpi.LayoutSettings{{Layout: coll.Layout{Nodes: 64, PPN: 64}, Settings: bad.Settings}}}
	for _, tc := range []struct {
		scheduler, launcher string // launcher: replaces the test's own launcher
		setup               mpi.Setup
		fails               bool
	}{
		{"local", "", mpi.Setup{}, false}, {"local", "", bad, true}, {"local", "", badLater, true},
		{"slurm", "", mpi.Setup{}, false}, {"slurm", "", bad, true}, {"slurm", "/bin/false", bad, false},
	} {
		c := fake(t, tc.scheduler, func(cfg *config.Campaign) {
			lib := &cfg.Libraries[0]
			lib.Launcher, lib.LauncherPath = "mpirun", tc.launcher
			if tc.launcher == "" {
				lib.LauncherPath = cfg.Libraries[0].Benchmark + "/../mpirun"
			}
		}, "grid.sizes=128", "runner.launch_allowance=1s")
		testutil.NoError(t, c.Connect("k7x2m4qa", nil))
		testutil.NoError(t, os.MkdirAll(c.Config.Output, 0o777))
		if err := c.CheckLoads(t.Context(), c.Config.Libraries[0], tc.setup); (err != nil) != tc.fails {
			t.Errorf("%+v: %v", tc, err)
		}
	}
}
