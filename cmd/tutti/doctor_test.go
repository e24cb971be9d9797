package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/doctor"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// TestDoctorFindsNothing checks that doctor reports that no campaign can run if it finds no programs, because
// the environment is empty.
func TestDoctorFindsNothing(t *testing.T) {
	dir, replay := t.TempDir(), campaigntest.Small(t, t.TempDir())
	t.Chdir(dir)
	stdout, stderr := mustTutti(t, codeNotReady, "doctor")
	for _, want := range []string{"MPI libraries\n  missing  MPI ", "This machine\n", "No campaign can run here yet", "an MPI library"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if stderr != "" {
		t.Errorf("stderr %q", stderr)
	}
	if _, stderr = mustTutti(t, codeNotReady, "init", "night.yaml"); !strings.Contains(stderr, "no MPI library with a working launcher: run tutti doctor") {
		t.Errorf("init without a library: %s", stderr)
	}

	stdout, _ = mustTutti(t, codeNotReady, "doctor", "--no-run", "--format", "json")
	var got struct {
		Ready   bool
		Missing []doctor.MissingPart
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Ready || len(got.Missing) != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	// A campaign on recorded data requires nothing of the machine.
	if stdout, _ = mustTutti(t, codeNotReady, "doctor", "-c", replay); strings.Contains(stdout, "Campaign file") {
		t.Errorf("checks of the campaign in\n%s", stdout)
	}
}

const measuredCampaign = `
name: live
output: results/live
libraries:
  - {name: mpich, version: 4.0.2, benchmark: bench-mpich, launcher: srun, pmi: pmi2}
  - {name: openmpi, version: 4.1.4, benchmark: bench-openmpi}
collectives: [bcast]
grid: {nodes: [2, 8, 4], ppn: [1, 16], sizes: [8B]}
runner: {kind: slurm, modules: [mpi], job_time: 30m}
slurm: {partition: main, account: me, qos: low, directives: ["--mem=0"]}
`

func TestDoctorOfCampaign(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	testutil.NoError(t, os.WriteFile("c.yaml", []byte(measuredCampaign), 0o644))
	c := testutil.Must(config.Load("c.yaml", config.Layers{}))(t)
	if got := nearestFolder(c.Output); filepath.Base(got) != filepath.Base(dir) {
		t.Errorf("nearest folder of %s is %s, want %s", c.Output, got, dir)
	}
	testutil.NeedAllCases(t) // doctor takes 20 s
	if stdout, _ := mustTutti(t, codeNotReady, "doctor", "-c", "c.yaml"); !strings.Contains(stdout, "  missing  mpich 4.0.2") {
		t.Errorf("no checks of the campaign in\n%s", stdout)
	}
}
