package service_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/service"
)

// inspect writes a campaign file and other files into a folder and inspects the machine of the campaign. It
// returns the state, the folder and the error of the inspection.
func inspect(t *testing.T, campaign string, files map[string]string) (service.MachineState, string, error) {
	t.Helper()
	dir := t.TempDir()
	files["c.yaml"] = strings.ReplaceAll(campaign, "DIR", dir)
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "sbatch"), nil, 0o777))
	for name, text := range files {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777))
	}
	state, err := service.InspectMachine(t.Context(), config.Base{File: filepath.Join(dir, "c.yaml")})
	return state, dir, err
}

const onSlurm = `name: c
output: out
libraries: [{name: mpich, version: "4.0.2", benchmark: bench}]
collectives: [bcast]
grid: {nodes: [2], ppn: [1], sizes: [8]}
runner: {kind: slurm}
slurm: {bin: DIR, partition: main}
`

// TestInspectMissingLibrary checks a library whose file is not on this host. The result must have the version
// in the campaign file and the checksum of the benchmark program. A folder of programs must have no checksum.
func TestInspectMissingLibrary(t *testing.T) {
	sinfo := map[string]string{"sinfo": "#!/bin/sh\necho n1\n", "bench": "no library at all"}
	state, dir, err := inspect(t, onSlurm, sinfo)
	testutil.NoError(t, err)
	lib := state.Libraries[0]
	if lib.Name != "mpich" || lib.Version != "4.0.2" || lib.Path != filepath.Join(dir, "bench") || len(lib.Checksum) != 64 {
		t.Errorf("state %+v, want the campaign's release and the checksum of the program", lib)
	}
	state, _, err = inspect(t, onSlurm, map[string]string{"sinfo": sinfo["sinfo"], "bench": "another build"})
	if err != nil || state.Libraries[0].Checksum == lib.Checksum {
		t.Errorf("another program has the same checksum: %v", err)
	}

	fake := campaigntest.Fake(t, t.TempDir(), "local") // its benchmark is a folder of programs
	state, err = service.InspectMachine(t.Context(), config.Base{File: fake})
	want := []service.LibraryBuild{{Name: "openmpi", Version: "4.1.4"}}
	if diff := cmp.Diff(want, state.Libraries); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	host, err := os.Hostname()
	if err != nil || !slices.Equal(state.Nodes, []string{host}) {
		t.Errorf("nodes %q, %v, want %s", state.Nodes, err, host)
	}
}

// TestInspectLibrary checks that a library's version comes from its file if the file contains one.
func TestInspectLibrary(t *testing.T) {
	const campaign = `name: c
output: out
libraries: [{name: openmpi, version: "4.1.4", path: libmpi.so}]
collectives: [bcast]
runner: {kind: replay, data: [in.csv]}
`
	for text, want := range map[string]string{"\x00Open MPI\x00v4.1.5\x00": "Open MPI 4.1.5", "no version": "4.1.4"} {
		state, dir, err := inspect(t, campaign, map[string]string{"libmpi.so": text, "in.csv": ""})
		testutil.NoError(t, err)
		if lib := state.Libraries[0]; lib.Version != want || lib.Path != filepath.Join(dir, "libmpi.so") || len(lib.Checksum) != 64 {
			t.Errorf("%q is state as %+v, want version %s", text, lib, want)
		}
	}
}

// TestInspectRecorded checks that a campaign on recorded data has no nodes.
func TestInspectRecorded(t *testing.T) {
	state, err := service.InspectMachine(t.Context(), config.Base{File: campaigntest.Small(t, t.TempDir())})
	want := service.MachineState{Libraries: []service.LibraryBuild{{Name: "mpich", Version: "4.0.2"}, {Name: "openmpi", Version: "4.1.4"}}}
	if diff := cmp.Diff(want, state); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestInspectNodes checks that each node of the partition is listed once.
func TestInspectNodes(t *testing.T) {
	state, dir, err := inspect(t, onSlurm, map[string]string{
		"sinfo": "#!/bin/sh\necho \"$*\" >\"${0%/*}/asked\"\nprintf 'n2\\nn10\\nn2\\nn1\\n'\n", "bench": "",
	})
	if err != nil || !slices.Equal(state.Nodes, []string{"n1", "n10", "n2"}) {
		t.Errorf("nodes %q, %v", state.Nodes, err)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if want := "--noheader --Node --format=%N --partition=main\n"; err != nil || string(asked) != want {
		t.Errorf("asked %q, %v, want %q", asked, err, want)
	}
}

// TestInspectFaults checks that the error contains the message of the program that failed.
func TestInspectFaults(t *testing.T) {
	_, _, err := inspect(t, onSlurm, map[string]string{"sinfo": "#!/bin/sh\necho slurm_load_partitions: no way >&2\nexit 1\n", "bench": ""})
	if err == nil || !strings.Contains(err.Error(), "sinfo: slurm_load_partitions: no way") {
		t.Errorf("Slurm is away: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none.yaml")
	if _, err := service.InspectMachine(t.Context(), config.Base{File: none}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no campaign file: %v", err)
	}
}
