package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/internal/config"
	"tutti/internal/testutil"
)

const profile = `machine: two racks
runner:
  kind: slurm
  modules: [gcc/13, mpich/4.0.2]
  node_memory: 48GiB
  job_time: 30m
slurm: {partition: batch, bin: slurm/bin}
libraries:
  mpich: {path: lib/libmpich.so, launcher: srun, pmi: pmi2, env: [UCX_TLS=rc]}
  openmpi: {launcher: mpirun}
`

const siteCampaign = `name: night
site: site/hpc.yaml
output: out
libraries: [{name: mpich, version: "4.0.2", benchmark: native, pmi: pmix}]
collectives: [bcast]
grid: {nodes: [2], ppn: [2], sizes: [8]}
runner: {job_time: 10m}
`

// writeSite writes a campaign file and its site profile into a new folder.
func writeSite(t *testing.T, campaign, profile string) (file string) {
	t.Helper()
	file = write(t, campaign)
	dir := filepath.Join(filepath.Dir(file), "site")
	testutil.NoError(t, os.MkdirAll(filepath.Join(dir, "slurm", "bin"), 0o777))
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, "lib"), 0o777))
	for name, text := range map[string]string{"hpc.yaml": profile, "lib/libmpich.so": ""} {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return file
}

// TestSite checks that the profile sets only keys that the campaign file leaves out.
func TestSite(t *testing.T) {
	file := writeSite(t, siteCampaign, profile)
	dir := filepath.Join(filepath.Dir(file), "site")
	c := testutil.Must(config.Load(file, config.Layers{Set: []string{"slurm.partition=debug"}}))(t)
	lib := c.Libraries[0]
	if len(c.Libraries) != 1 || lib.Path != filepath.Join(dir, "lib", "libmpich.so") || lib.Launcher != "srun" || lib.PMI != "pmix" ||
		!slices.Equal(lib.Env, []string{"UCX_TLS=rc"}) || lib.Benchmark != filepath.Join(filepath.Dir(file), "native") {
		t.Errorf("libraries %+v", c.Libraries)
	}
	r := c.Runner
	if c.Machine != "two racks" || r.Kind != "slurm" || len(r.Modules) != 2 || r.NodeMemory != 48<<30 || r.JobTime != 10*time.Minute ||
		r.Settle != time.Minute || c.Slurm.Partition != "debug" || c.Slurm.Bin != filepath.Join(dir, "slurm", "bin") || c.Site != filepath.Join(dir, "hpc.yaml") {
		t.Errorf("machine %q, runner %+v, slurm %+v, site %s", c.Machine, r, c.Slurm, c.Site)
	}
}

func TestSiteFaults(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct{ name, campaign, profile string }{
		{"no file", strings.Replace(siteCampaign, "hpc", "none", 1), profile},
		{"another key", siteCampaign, "stop: {slowdown: 2}\n" + profile},
		{"a key of replays", siteCampaign, strings.Replace(profile, "  kind: slurm", "  kind: slurm\n  noise: 0.1", 1)},
		{"a value", siteCampaign, strings.Replace(profile, "48GiB", "much", 1)},
		{"a library's value", siteCampaign, strings.Replace(profile, "pmi2", "pmi9", 1)},
		{"an unknown library", siteCampaign, strings.Replace(profile, "openmpi", "lam", 1)},
		{"a list of libraries", siteCampaign, "libraries: [mpich]\n"},
		{"given twice", siteCampaign, profile + "machine: b\n"},
		{"no YAML", siteCampaign, "runner: ["},
	} {
		_, err := config.Load(writeSite(t, tc.campaign, tc.profile), config.Layers{})
		golden(tc.name, err, config.ErrConfig)
	}
}
