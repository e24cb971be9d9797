package campaigntest

import (
	"embed"
	"os"
	"path/filepath"
	"testing"

	"tutti/internal/testutil"
)

//go:embed small.yaml fake
var files embed.FS

// Small writes a campaign into the folder dir: the file small.yaml, and recorded data in the subfolder
// data. It returns the path of small.yaml. The campaign tunes allreduce for MPICH and Open MPI, and converges.
func Small(t testing.TB, dir string) (file string) {
	t.Helper()
	file = filepath.Join(dir, "small.yaml")
	put(t, "small.yaml", file)
	testutil.NoError(t, os.Symlink(Recorded(t), filepath.Join(dir, "data")))
	return file
}

// Fake writes a campaign into a folder. The campaign runs jobs that need no MPI. `scheduler`
// is local or slurm. Fake returns the path of the campaign file, small.yaml.
//
// The folder also gets a launcher and benchmarks. These benchmarks measure nothing: they print a constant
// time for each candidate. They record each launch and its candidates in the file osu/ledger. If the file
// osu/slow exists, a benchmark waits for the number of seconds in that file before each message size.
func Fake(t testing.TB, dir, scheduler string) (file string) {
	t.Helper()
	osu := filepath.Join(dir, "osu")
	testutil.NoError(t, os.Mkdir(osu, 0o777))
	file = filepath.Join(dir, "small.yaml")
	put(t, "fake/"+scheduler+".yaml", file)
	put(t, "fake/mpirun.sh", filepath.Join(dir, "mpirun"))
	for _, c := range []string{"allreduce", "alltoall"} {
		put(t, "fake/osu.sh", filepath.Join(osu, "osu_"+c))
	}
	return file
}

// put copies the embedded file `name` to the path `to`.
func put(t testing.TB, name, to string) {
	t.Helper()
	testutil.NoError(t, os.WriteFile(to, testutil.Must(files.ReadFile(name))(t), 0o777))
}

// Recorded returns the path of the folder data/simgrid in the repository.
func Recorded(t testing.TB) string {
	t.Helper()
	return filepath.Join(testutil.Root(t), "data", "simgrid")
}
