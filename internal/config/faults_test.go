package config_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/config"
)

// faultsOf loads an invalid file and returns its faults. In the returned texts, paths are relative to the
// folder of the file.
func faultsOf(t *testing.T, content string, layers config.Layers) []string {
	t.Helper()
	path := write(t, content)
	c, err := config.Load(path, layers)
	if err == nil {
		return nil
	}
	if c != nil || !errors.Is(err, config.ErrConfig) {
		t.Errorf("Load() = %v, %v, want an error alone that matches ErrConfig", c, err)
	}
	text := strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "")
	lines := strings.Split(text, "\n")
	if len(lines) == 1 {
		return []string{strings.TrimPrefix(text, "campaign file: ")}
	}
	return lines[1:]
}

// TestFaults checks that each fault names the file, the line, the key and the allowed values. The part of
// the file that differs between tests begins in line 6.
func TestFaults(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"unknown key", "speed: 1", "c.yaml:6: speed: unknown key: did you mean seed?"},
		{"unknown key in a section", "stop:\n  slowdwn: 1.1", "c.yaml:7: stop.slowdwn: unknown key: did you mean stop.slowdown?"},
		{"unknown section", "condor: {pool: x}", "c.yaml:6: condor.pool: unknown key: want one of name, machine, site, seed, output, workers, attempts, libraries, collectives, grid, runner, benchmark, slurm, pbs, method, strategy, model, stop, hpo, export"},
		{"value for a section", "grid: 5", "c.yaml:6: grid: is a section: want keys in it, of nodes, ppn, sizes, between, weights, trace"},
		{"no value", "seed:", "c.yaml:6: seed: has no value"},
		{"no value in a list", "grid: {ppn: [1, ~]}", "c.yaml:6: grid.ppn[1]: has no value"},
		{"empty section", "stop:", "c.yaml:6: stop: has no value"},
		{"key twice", "seed: 1\nworkers: 2\nseed: 3", "c.yaml:8: seed: is given twice"},
		{"key twice in two spellings", "Seed: 1\nseed: 3", "c.yaml:7: seed: is given twice"},
		{"key twice in two forms", "model: {trees: 5}\nmodel.trees: 6", "c.yaml:7: model.trees: is given twice"},
		{"octal", "workers: 012", "c.yaml:6: workers: 012: want a decimal number without leading zeros"},
		{"octal in a list", "grid:\n  nodes:\n    - 4\n    - 010", "c.yaml:9: grid.nodes[1]: 010: want a decimal number without leading zeros"},

		{"duration without a unit", "stop: {machine_time: 90}", "c.yaml:6: stop.machine_time: 90: want a duration with a unit, for example 90s, 15m or 2h30m"},
		{"duration without a unit as text", "stop: {machine_time: \"90\"}", "c.yaml:6: stop.machine_time: 90: want a duration with a unit, for example 90s, 15m or 2h30m"},
		{"duration of another unit", "runner.launch.time: 2 minutes", "c.yaml:6: runner.launch.time: 2 minutes: want a duration with a unit, for example 90s, 15m or 2h30m"},
		{"negative duration", "stop: {wall_time: -1s}", "c.yaml:6: stop.wall_time: -1s: want a duration with a unit, for example 90s, 15m or 2h30m"},
		{"size of another unit", "grid: {sizes: [8, 1kB]}", `c.yaml:6: grid.sizes[1]: size "1kB": want a whole number with B, KiB, MiB, GiB or no unit, for example 64KiB`},
		{"size with a fraction", "grid: {sizes: [1.5]}", `c.yaml:6: grid.sizes[0]: size "1.5": want a whole number with B, KiB, MiB, GiB or no unit, for example 64KiB`},
		{"size twice", "grid: {sizes: [1024, 1KiB]}", "c.yaml:6: grid.sizes[1]: 1KiB is given twice"},
		{"no nodes", "grid: {nodes: [0]}", "c.yaml:6: grid.nodes[0]: 0: want a whole number from 1 to 16777216"},
		{"nodes twice", "grid: {nodes: [2, 4, 2]}", "c.yaml:6: grid.nodes[2]: 2 is given twice"},
		{"no list", "grid: {nodes: {a: 1}}", "c.yaml:6: grid.nodes: map[a:1]: want a list"},

		{"text for a number", "model: {trees: many}", `c.yaml:6: model.trees: "many": want a whole number from 1 to 100000`},
		{"list for a number", "model: {trees: [3]}", "c.yaml:6: model.trees: [3]: want a whole number from 1 to 100000"},
		{"out of range", "model: {folds: 1}", "c.yaml:6: model.folds: 1: want a whole number from 2 to 1000"},
		{"a share", "runner.noise: 2", "c.yaml:6: runner.noise: 2: want a number from 0 to 1"},
		{"no number", "stop: {slowdown: .nan}", "c.yaml:6: stop.slowdown: NaN: want a number from 1 to 1000"},
		{"negative seed", "seed: -1", "c.yaml:6: seed: -1: want a whole number from 0 to 9223372036854775807"},
		{"number for text", "machine: 5", "c.yaml:6: machine: 5: want text (put it in quotes)"},
		{"yes for true", "export: {op_safe: yes}", "c.yaml:6: export.op_safe: yes: want true or false"},
		{"method", "method: greedy", `c.yaml:6: method: "greedy": want one of regret, fact`},
		{"launch model", "runner.launch.model: mpi", `c.yaml:6: runner.launch.model: "mpi": want one of candidate, osu, native`},
		{"scaling", "model: {scaling: log}", `c.yaml:6: model.scaling: "log": want one of none, standard, normal, algorithm, algorithm_log10`},
		{"criteria", "stop: {criteria_from: me}", `c.yaml:6: stop.criteria_from: "me": want one of auto, reference, cross-validated, predicted`},
		{"model", "model: {kind: tree}", `c.yaml:6: model.kind: "tree": want one of auto, gp, forest`},
		{"scaling of a Gaussian process", "model: {kind: gp, scaling: none}", `c.yaml:6: model.scaling: none: model.kind gp wants algorithm_log10; others are for model.kind forest`},
		{"poisson of standardised times", "model: {kind: forest, scaling: standard, criterion: poisson}", `c.yaml:6: model.criterion: poisson: wants times of 0 or more, with model.scaling standard some are below: want squared_error, absolute_error or friedman_mse`},
		{"scaling of what regret takes", "model: {scaling: none}", `c.yaml:6: model.scaling: none: model.kind gp wants algorithm_log10; others are for model.kind forest`},

		{"weights that are no list", "grid: {weights: 5}", "c.yaml:6: grid.weights: want a list, each item with weight, perhaps collective, nodes, ppn, sizes"},
		{"weights that are a number", "grid: {weights: [5]}", "c.yaml:6: grid.weights[0]: want weight, perhaps collective, nodes, ppn, sizes"},
		{"no weight", "grid: {weights: [{nodes: 2}]}", "c.yaml:6: grid.weights[0]: weight is missing: want a number from 0 to 1e+06"},
		{"negative weight", "grid: {weights: [{weight: -1}]}", "c.yaml:6: grid.weights[0]: weight: -1: want a number from 0 to 1e+06"},
		{"weight of an unknown key", "grid: {weights: [{weight: 1, size: 8}]}", "c.yaml:6: grid.weights[0]: size: unknown key: did you mean sizes?"},
		{"weight of an unknown collective", "grid: {weights: [{weight: 1, collective: bcasts}]}", `c.yaml:6: grid.weights[0]: collective: "bcasts": did you mean bcast?`},
		{"weight of what is not tuned", "grid: {weights: [{weight: 1, collective: reduce}]}", `c.yaml:6: grid.weights[0]: collective reduce is not in collectives, bcast`},
		{"range of another unit", "grid: {weights: [{weight: 1, sizes: 1kB..}]}", `c.yaml:6: grid.weights[0]: sizes: size "1kB": want a whole number with B, KiB, MiB, GiB or no unit, for example 64KiB, or a range, for example 1KiB..64KiB`},
		{"range upside down", "grid: {weights: [{weight: 1, nodes: 8..2}]}", `c.yaml:6: grid.weights[0]: nodes: 8..2: want the lower end first and an upper end above 0, for example 2..16`},
		{"range of nothing", "grid: {weights: [{weight: 1, nodes: ..}]}", `c.yaml:6: grid.weights[0]: nodes: ..: want a number or a range, for example 2..16`},

		{"file that is not there", "runner.names: x.csv", "c.yaml:6: runner.names: stat x.csv: no such file or directory"},
		{"defaults of no machine", "runner.defaults: defaults.csv", "c.yaml: runner.recorded: is empty: want the machine's name in runner.defaults"},
		{"second document", "---\nseed: 1", "c.yaml:6: a second document: want one"},
		{"not YAML", "seed: [", "c.yaml:6: invalid YAML: did not find expected node content"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			file := minimalFile
			if section, _, nested := strings.Cut(tc.file, "."); nested && section == "runner" {
				file = strings.Replace(minimalFile, "runner: {data: [a.csv]}", "runner.data: [a.csv]", 1)
			}
			got := faultsOf(t, file+tc.file+"\n", config.Layers{})
			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("faults of %q (-want +got):\n%s", tc.file, diff)
			}
		})
	}
}

func TestFaultsOfLists(t *testing.T) {
	file := `name: night
output: out
libraries:
  - {name: mpich, version: "3"}
  - {name: intel, version: "2018"}
  - {name: openmpi, version: "4.1.4"}
  - name: openmpi
    version: "5.0.9"
  - {name: mpich, version: 4.0}
  - {name: mpich, version: "4.0.2", prefix: /opt}
  - {name: mpich}
  - mpich
  - {name: mpich, version: "4.1.2", path: nowhere.so, algorithms: [none.so]}
  - {name: libtutti, version: "1", algorithms: [none.so]}
collectives: [bcast, broadcast, bcast, 7]
runner:
  data: [a.csv, x.csv, a.csv]
`
	want := []string{
		"c.yaml:4: libraries[0]: mpich 3: not in the catalogue: want a release like 4.0.2, 4.1.2, 4.2.3, 4.3.2, 5.0.1",
		"c.yaml:5: libraries[1]: intel 2018: not in the catalogue: want a release like 2019, 2021",
		"c.yaml:7: libraries[3]: openmpi is given twice: want one build of a library in a campaign",
		"c.yaml:9: libraries[4]: version: 4: want text (put it in quotes)",
		`c.yaml:10: libraries[5]: prefix: unknown key: want one of name, version, path, benchmark, launcher, launcher_path, launcher_args, pmi, env, algorithms`,
		"c.yaml:11: libraries[6]: version is missing: want a release of it, as 4.0.2",
		"c.yaml:12: libraries[7]: want name and version, perhaps path, benchmark, launcher, launcher_path, launcher_args, pmi, env, algorithms",
		"c.yaml:13: libraries[8]: mpich is given twice: want one build of a library in a campaign",
		`c.yaml:15: collectives[1]: "broadcast": want one of ` + strings.Join(coll.Words(coll.Collectives()), ", "),
		"c.yaml:15: collectives[2]: bcast is given twice",
		"c.yaml:15: collectives[3]: 7: want text",
		"c.yaml:17: runner.data[2]: a.csv is given twice",
		"c.yaml:17: runner.data[1]: stat x.csv: no such file or directory",
		"c.yaml:13: libraries[8].path: stat nowhere.so: no such file or directory",
		"c.yaml:13: libraries[8].algorithms: mpich: only libtutti loads algorithms of users",
		"c.yaml:14: libraries[9].algorithms: open none.so: no such file or directory",
	}
	if diff := cmp.Diff(want, faultsOf(t, file, config.Layers{})); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// TestFaultsComeAllAtOnce checks that one error lists the faults of the file, of environment variables, of
// flags and of settings. For a missing key the error explains the key.
func TestFaultsComeAllAtOnce(t *testing.T) {
	file := "nme: night\nlibraries: []\ncollectives: []\nrunner: {data: [b.csv]}\nseed: 012\nmodel: {trees: 0}\nstop: {patience: 5}\n"
	got := faultsOf(t, file, config.Layers{
		Environ: []string{"TUTTI_STOP_SLOWDWN=3", "TUTTI_STOP_SLOWDOWN=fast", "TUTTINESS=1"},
		Set:     []string{"stop.patience=0", "grid.node=3", "hpo", "runner.data=x.csv"},
	})
	want := []string{
		"c.yaml:5: seed: 012: want a decimal number without leading zeros",
		"variable TUTTI_STOP_SLOWDWN: no such key of campaign files: did you mean TUTTI_STOP_SLOWDOWN?",
		"--set hpo: want key=value",
		"--set: grid.node: unknown key: did you mean grid.nodes?",
		"c.yaml:1: nme: unknown key: did you mean name?",
		"c.yaml: name: is missing: name of the campaign: letters, digits, ._-",
		"c.yaml: output: is missing: folder of the journal, the report and the selection files",
		"c.yaml:2: libraries: want a list, each item with name and version, perhaps path, benchmark, launcher, launcher_path, launcher_args, pmi, env, algorithms",
		"c.yaml:3: collectives: is an empty list: want at least one",
		"c.yaml:6: model.trees: 0: want a whole number from 1 to 100000",
		`variable TUTTI_STOP_SLOWDOWN: stop.slowdown: "fast": want a number from 1 to 1000`,
		`--set: stop.patience: "0": want a whole number from 1 to 1000`,
		"--set: runner.data[0]: stat x.csv: no such file or directory",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// TestLongFile checks that a file with very many keys is refused at once.
func TestLongFile(t *testing.T) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "unknown.key%d: 1\n", i)
	}
	if got := faultsOf(t, text.String(), config.Layers{}); len(got) != 1 || got[0] != "c.yaml: want at most 10000 keys and values" {
		t.Errorf("faults %.300q, want the limit", got)
	}
}

func TestFaultsOfAnEmptyFile(t *testing.T) {
	got := faultsOf(t, "", config.Layers{})
	if len(got) != 5 {
		t.Fatalf("faults %q, want the five keys without a default", got)
	}
	for i, key := range []string{"name", "output", "libraries", "collectives", "runner.data"} {
		if want := "c.yaml: " + key + ": is missing: "; !strings.HasPrefix(got[i], want) {
			t.Errorf("fault %d = %q, want %q", i, got[i], want)
		}
	}
}

// TestFaultsOfALiveCampaign checks the errors for keys that contradict each other, and for values with line
// breaks or blanks, which would corrupt a job script.
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
		{"unknown launcher", "libraries: [{name: mpich, version: 4.1.2, launcher: aprun}]\n" + grid + "runner: {kind: slurm}", `c.yaml:4: libraries[0]: launcher: "aprun": want one of srun, hydra, mpirun, pals`},
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

// TestSetLists checks the forms of a list in a flag. A list with a bracket too many or too few is one fault, which shows
// the right form.
func TestSetLists(t *testing.T) {
	for _, tc := range []struct{ set, want string }{
		{"grid.nodes=1,3", "[1 3]"},
		{"grid.nodes= [ 1, 3 ] ", "[1 3]"},
		{"grid.nodes=[]", "[]"},
		{"grid.nodes=", "[]"},
		{"grid.nodes=[1,3", `"[1,3": want items`},
		{"grid.nodes=1,3]", `"1,3]": want items`},
		{"grid.nodes=[1,[3]]", `"[1,[3]]": want items`},
		{"grid.nodes=(1,3)", `"(1,3)": want items`},
		{"grid.nodes={1,3", `"{1,3": want items`},
		{"collectives=[bcast", `"[bcast": want items`},
		{"grid.nodes=1 3", `grid.nodes[0]: "1 3": want a whole number`},
		{"collectives=[]", "is an empty list"},
	} {
		faults := faultsOf(t, minimalFile, config.Layers{Set: []string{tc.set}})
		if len(faults) > 1 || len(faults) == 1 && !strings.Contains(faults[0], tc.want) {
			t.Errorf("%s: faults %q, want one with %q", tc.set, faults, tc.want)
		}
		if len(faults) == 0 {
			if c := load(t, minimalFile, config.Layers{Set: []string{tc.set}}); fmt.Sprint(c.Grid.Nodes) != tc.want {
				t.Errorf("%s: nodes %v, want %s", tc.set, c.Grid.Nodes, tc.want)
			}
		}
	}
}
