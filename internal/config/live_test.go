package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/config"
	"tutti/internal/testutil"
)

// liveDefaults gives the keys that only live campaigns use their default values.
func liveDefaults(c *config.Campaign) {
	c.Runner.LaunchAllowance, c.Runner.Settle, c.Runner.JobTime, c.Runner.Confirm = time.Minute, time.Minute, time.Hour, 10
	c.Runner.RankAllowance, c.Runner.Parallel, c.Runner.Order = 5*time.Millisecond, config.Never, "block"
	c.Benchmark = config.Benchmark{
		Program: "native", Warmup: 5, MinSamples: 100, MaxSamples: 1000, Precision: 0.02, Slice: time.Second, NoiseLimit: 1, AbortFactor: 10, Check: true,
	}
	c.Slurm = config.Slurm{Exclusive: true, Jobs: 4}
}

// fullLive is a campaign file that runs benchmarks and sets every key. No key has its default value.
const fullLive = `
name: night
output: out
libraries:
  - name: mpich
    version: "4.1.2"
    path: libmpich.so
    benchmark: a.csv
    launcher: hydra
    launcher_path: b.csv
    launcher_args: [--cpu-bind=cores]
    pmi: pmix
    env: [UCX_TLS=rc, "X=a b"]
collectives: [bcast]
grid: {nodes: [1, 2], ppn: [4], sizes: [8]}
runner:
  kind: slurm
  ppn: 3
  modules: [gcc/12, mpich]
  setup: ["ulimit -l unlimited"]
  env: [OMP_NUM_THREADS=1]
  launch_allowance: 30s
  rank_allowance: 20ms
  settle: 2m
  job_time: 0s
  confirm: 0.5
  parallel: switch
  parallel_nodes: 6
  switches: ["n[1-4]", "n[5-8]"]
  order: cyclic
benchmark:
  program: osu
  version: "7.4"
  warmup: 3
  iterations: 200
  min_samples: 7
  max_samples: 70
  precision: 0.1
  slice: 3s
  abort_factor: 0
  check: false
slurm:
  partition: main
  account: hpc
  qos: high
  reservation: night
  constraint: "skylake&ib"
  directives: [--mail-type=END, --nice]
  exclusive: false
  jobs: 2
  bin: .
stop: {node_hours: 12.5}
`

func TestLoadOfALiveCampaign(t *testing.T) {
	path := write(t, fullLive)
	got := testutil.Must(config.Load(path, config.Layers{}))(t)
	dir := filepath.Dir(path)
	wantLibraries := []config.Library{{
		Name: "mpich", Version: "4.1.2", Path: filepath.Join(dir, "libmpich.so"), Benchmark: filepath.Join(dir, "a.csv"),
		Launcher: "hydra", LauncherPath: filepath.Join(dir, "b.csv"), LauncherArgs: []string{"--cpu-bind=cores"}, PMI: "pmix", Env: []string{"UCX_TLS=rc", "X=a b"},
	}}
	wantRunner := config.Runner{
		Kind: "slurm", Launch: config.Launch{Model: "osu"},
		PPN: 3, Modules: []string{"gcc/12", "mpich"}, Setup: []string{"ulimit -l unlimited"}, Env: []string{"OMP_NUM_THREADS=1"},
		LaunchAllowance: 30 * time.Second, RankAllowance: 20 * time.Millisecond, Settle: 2 * time.Minute, Confirm: 0.5,
		Parallel: config.Switch, ParallelNodes: 6, Switches: []string{"n[1-4]", "n[5-8]"}, Order: "cyclic",
	}
	wantBenchmark := config.Benchmark{
		Program: "osu", Version: "7.4", Warmup: 3, Iterations: 200, MinSamples: 7, MaxSamples: 70, Precision: 0.1, NoiseLimit: 1, Slice: 3 * time.Second,
	}
	wantSlurm := config.Slurm{
		Partition: "main", Account: "hpc", QOS: "high", Reservation: "night", Constraint: "skylake&ib",
		Directives: []string{"--mail-type=END", "--nice"}, Jobs: 2, Bin: dir,
	}
	if diff := cmp.Diff(wantLibraries, got.Libraries); diff != "" {
		t.Errorf("libraries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantRunner, got.Runner); diff != "" {
		t.Errorf("runner (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantBenchmark, got.Benchmark); diff != "" {
		t.Errorf("benchmark (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantSlurm, got.Slurm); diff != "" {
		t.Errorf("slurm (-want +got):\n%s", diff)
	}
	if got.Stop.NodeHours != 12.5 {
		t.Errorf("stop.node_hours = %g, want 12.5", got.Stop.NodeHours)
	}
}

// TestFaultsOfALiveCampaign checks keys that contradict each other. It also checks texts that would break a
// line or a word in a script.
func TestFaultsOfALiveCampaign(t *testing.T) {
	head := "name: night\noutput: out\ncollectives: [bcast]\n"
	mpich := "libraries: [{name: mpich, version: 4.1.2, benchmark: a.csv}]\n"
	grid := "grid: {nodes: [1], ppn: [2], sizes: [8]}\n"
	tests := []struct{ name, file, want string }{
		{"no grid", mpich + "runner: {kind: slurm}\ngrid: {nodes: [2], sizes: [8]}", "c.yaml: grid.ppn: is missing: with runner.kind slurm nothing is recorded"},
		{"several nodes of this machine", mpich + "runner: {kind: local}\ngrid: {nodes: [1, 2], ppn: [2], sizes: [8]}", "c.yaml:6: grid.nodes: [1 2]: with runner.kind local there is one node: want [1]"},
		{"recorded data", mpich + grid + "runner: {kind: slurm, data: [a.csv]}", "c.yaml:6: runner.data: is for replay, but runner.kind is slurm"},
		{"judged by a reference", mpich + grid + "runner: {kind: slurm}\nstop: {criteria_from: reference}", "c.yaml:7: stop.criteria_from: reference: with runner.kind slurm there is no reference: want predicted or cross-validated"},
		{"too few samples allowed", mpich + grid + "runner: {kind: slurm}\nbenchmark: {min_samples: 9, max_samples: 8}", "c.yaml:7: benchmark.min_samples: 9: want at most benchmark.max_samples, 8"},
		{"no program", "libraries: [{name: mpich, version: 4.1.2}]\n" + grid + "runner: {kind: slurm}", "c.yaml:4: libraries[0]: mpich: benchmark is missing: want the program built with this library (tutti build benchmark), or the folder of several"},
		{"launcher is not there", "libraries: [{name: mpich, version: 4.1.2, benchmark: a.csv, launcher_path: none}]\n" + grid + "runner: {kind: slurm}", "c.yaml:4: libraries[0].launcher_path: stat none: no such file or directory"},
		{"srun without Slurm", "libraries: [{name: mpich, version: 4.1.2, benchmark: a.csv, launcher: srun}]\n" + grid + "runner: {kind: local}", "c.yaml:4: libraries[0]: launcher srun needs Slurm, but runner.kind is local: want hydra or mpirun"},
		{"unknown launcher", "libraries: [{name: mpich, version: 4.1.2, launcher: aprun}]\n" + grid + "runner: {kind: slurm}", `c.yaml:4: libraries[0]: launcher: "aprun": want one of srun, hydra, mpirun`},
		{"unknown order", mpich + grid + "runner: {kind: slurm, order: random}", `c.yaml:6: runner.order: "random": want one of block, cyclic`},
		{"cyclic order by hydra", strings.Replace(mpich, "a.csv", "a.csv, launcher: hydra", 1) + grid + "runner: {kind: allocation, order: cyclic}", "c.yaml:4: libraries[0]: launcher hydra deals ranks to all nodes of an allocation: runner.order cyclic wants srun there"},
		{"switches twice", mpich + grid + "runner: {kind: slurm, topology: topology.conf, switches: [n1]}", "c.yaml:6: runner.topology: runner.switches also says which nodes share a switch: want one of them"},
		{"no variable", mpich + grid + "runner: {kind: slurm, env: [\"2=x\"]}", `c.yaml:6: runner.env[0]: "2=x": want NAME=VALUE`},
		{"no variable of a library", "libraries: [{name: mpich, version: 4.1.2, benchmark: a.csv, env: [x]}]\n" + grid + "runner: {kind: slurm}", `c.yaml:4: libraries[0]: env: [0]: "x": want NAME=VALUE`},
		{"line in a line", mpich + grid + "runner: {kind: slurm, setup: [\"a\\nb\"]}", `c.yaml:6: runner.setup[0]: "a\nb": contains a character that cannot be printed`},
		{"line in a partition", mpich + grid + "runner: {kind: slurm}\nslurm: {partition: \"a\\nb\"}", `c.yaml:7: slurm.partition: "a\nb": contains a character that cannot be printed`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{tc.want}, faultsOf(t, head+tc.file, config.Layers{})); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
