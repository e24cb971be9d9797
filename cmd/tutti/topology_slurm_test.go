package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/csource"
	"tutti/internal/testutil"
	"tutti/topology/pairs"
)

// wired is a topology.conf for eight virtual nodes, four of them below each of two switches. It is wrong on
// purpose: n4 and n5 are exchanged.
const wired = "SwitchName=leaf1 Nodes=n[1-3,5]\nSwitchName=leaf2 Nodes=n[4,6-8]\nSwitchName=top Switches=leaf[1-2]\n"

// networkCampaign writes a campaign file for measuring the network of a cluster, and returns its folder. The
// parameter `env` sets the simulated delays of the network; see test.Distance.
func networkCampaign(t *testing.T, c *testutil.SlurmCluster, kind string, env ...string) string {
	t.Helper()
	dir := t.TempDir()
	chain := testutil.MPICH
	for _, p := range []csource.Program{csource.Bench, testutil.DistanceLibrary} {
		binary := readFile(t, testutil.BuildProgram(t, chain, p))
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, p.Name), binary, 0o755))
	}
	preload := "LD_PRELOAD=" + c.Shim() + ":" + filepath.Join(dir, testutil.DistanceLibrary.Name)
	text := strings.NewReplacer("KIND", kind, "ENV", strings.Join(append(env, preload, "DISTANCE_LEAF=4"), ", ")).Replace(`name: network
output: out
libraries: [{name: mpich, version: "4.0.2", benchmark: tutti-native, launcher: srun, pmi: pmi2, env: [ENV]}]
collectives: [bcast]
grid: {nodes: [8], ppn: [1], sizes: [8, 1KiB]}
runner: {kind: KIND, launch_allowance: 20s, settle: 10s, parallel: switch}
benchmark: {program: native, slice: 50ms, max_samples: 100, noise_limit: 0}
`)
	if kind == "slurm" {
		text += "slurm: {exclusive: false, jobs: 1}\n"
	}
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(text), 0o666))
	return dir
}

// TestSlurmTopology checks that a measurement of the cluster finds the wrong lines in its topology.conf. It
// also runs a campaign with the measured topology.
func TestSlurmTopology(t *testing.T) {
	testutil.NeedAllCases(t)
	c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 8, Topology: wired})
	t.Setenv("SLURM_CONF", c.Conf)
	dir := networkCampaign(t, c, "slurm", "DISTANCE_TIMES=6")
	done := []exitCode{codeDone}
	_, out := mustEnd(t, dir, done, "topology", "discover", "-c", "c.yaml", "--seconds", "6", "--bytes", "256")
	if !strings.Contains(out, "2 switches of 4 nodes") {
		t.Fatalf("discover:\n%s", out)
	}
	measured := filepath.Join("out", "topology", pairs.TreeFile)
	_, out = mustEnd(t, dir, done, "topology", "compare", filepath.Join(filepath.Dir(c.Conf), "topology.conf"), measured)
	if !strings.HasPrefix(out, "6 of 8 nodes as declared\n") || !strings.Contains(out, "n4") || !strings.Contains(out, "n5") {
		t.Errorf("compare:\n%s", out)
	}
	_, out = mustEnd(t, dir, done, "topology", "export", measured, "--to", "switches")
	if strings.TrimSpace(out) != `["n[1-4]","n[5-8]"]` {
		t.Errorf("export: %s", out)
	}
	useTopology(t, dir, measured)
}

// useTopology runs campaigns in which several launches run at the same time, each on nodes below one of the
// measured switches. The journal and the exported settings must record the order of ranks.
func useTopology(t *testing.T, dir, measured string) {
	t.Helper()
	text := strings.Replace(string(readFile(t, filepath.Join(dir, "c.yaml"))), "parallel: switch", "parallel: switch, parallel_nodes: 8, order: cyclic, topology: "+measured, 1)
	text = strings.Replace(text, "nodes: [8]", "nodes: [2, 4]", 1)
	text = strings.Replace(text, "ppn: [1]", "ppn: [2]", 1)
	text += "stop: {machine_time: 60s}\nhpo: {trials: 0}\nmodel: {trees: 5}\n"
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "use.yaml"), []byte(text), 0o666))
	mustEnd(t, dir, finished, "tune", "-c", "use.yaml", "--out", "used")
	files, err := filepath.Glob(filepath.Join(dir, "used", "jobs", "*", "switches"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no job has a file of switches: %v", err)
	}
	if got := string(readFile(t, files[0])); got != "n1 n2 n3 n4\nn5 n6 n7 n8\n" {
		t.Errorf("a job has the switches %q", got)
	}
	checkPlaced(t, filepath.Join(dir, "used"), coll.Cyclic)
	mustEnd(t, dir, finished, "tune", "-c", "use.yaml", "--out", "other", "--from", "used", "--set", "runner.order=block")
	checkPlaced(t, filepath.Join(dir, "other"), coll.Block)
}

// checkPlaced checks that all launches of a campaign used nodes below a single switch, and that
// the settings record the order of ranks.
func checkPlaced(t *testing.T, dir string, order coll.Order) {
	t.Helper()
	known, nodes := 0, map[string]int{}
	for _, r := range recordsOf(t, dir) {
		if r.Job != nil {
			nodes[r.Job.Name] = r.Job.Nodes
		}
		if r.Trial == nil || r.Trial.State != coll.TrialDone {
			continue
		}
		known++
		got := r.Trial.Placement
		want := coll.Placement{Order: order, Switches: 1, Least: r.Trial.Ranks(), Most: r.Trial.Ranks()}
		if nodes[r.Trial.Job] == r.Trial.Nodes { // Slurm placed a launch of the whole job, by its wrong topology
			want.Switches, want.Least, want.Most = got.Switches, got.Least, r.Trial.Ranks()-(got.Switches-1)*got.Least
		}
		if got != want {
			t.Errorf("%v lay in %v, want %v", r.Trial.Candidate, got, want)
		}
	}
	env := string(readFile(t, filepath.Join(dir, "mpich.env")))
	if want := "# Measured with ranks in " + string(order) + " order, 2 on a node; "; known == 0 || !strings.Contains(env, want) {
		t.Errorf("%d measured; the settings do not say %q:\n%s", known, want, env)
	}
}

// TestSlurmNetwork checks that the network measurement finds the one slow node of a cluster.
func TestSlurmNetwork(t *testing.T) {
	testutil.NeedAllCases(t)
	c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 8})
	t.Setenv("SLURM_CONF", c.Conf)
	dir := networkCampaign(t, c, "slurm", "DISTANCE_SLOW=6", "DISTANCE_TIMES=4")
	text := strings.Replace(string(readFile(t, filepath.Join(dir, "c.yaml"))), "DISTANCE_LEAF=4", "DISTANCE_LEAF=8", 1)
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(text), 0o666))
	_, out := mustEnd(t, dir, []exitCode{codeDone}, "doctor", "--network", "-c", "c.yaml")
	if !strings.Contains(out, "node n6") || strings.Count(out, "times as long as usual") == 0 || !strings.Contains(out, "by chance") {
		t.Errorf("doctor:\n%s", out)
	}
	// In about one of 20 machines without slow nodes, a node looks slow by chance.
	for _, blamed := range regexp.MustCompile(`node (n\d)\s+[^;]*;\s+by\s+chance:\s+(less\s+than\s+)?(\S+)`).FindAllStringSubmatch(out, -1) {
		chance, err := strconv.ParseFloat(blamed[3], 64)
		if err != nil || blamed[1] != "n6" && chance < 1e-3 {
			t.Errorf("%s is blamed, %v:\n%s", blamed[1], err, out)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "out", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	t.Log(out)
}
