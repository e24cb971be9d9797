package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/config"
	"tutti/internal/testutil"
)

// TestTemplate checks that the template's values are the defaults, and that the template is a valid
// campaign file once its data file exists.
func TestTemplate(t *testing.T) {
	path := write(t, config.Template("replay", config.Machine{}))
	_, err := config.Load(path, config.Layers{})
	testutil.GoldenErrors(t)("without data", err, config.ErrConfig)
	dir := filepath.Dir(path)
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "measurements.csv"), nil, 0o644))
	got := testutil.Must(config.Load(path, config.Layers{}))(t)
	bare := filepath.Join(dir, "bare.yaml")
	if err := os.WriteFile(bare, []byte(`name: night
output: results/night
libraries: [{name: mpich, version: "4.0.2"}, {name: openmpi, version: "4.1.4"}]
collectives: [allreduce, bcast]
runner: {data: [measurements.csv]}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	want := testutil.Must(config.Load(bare, config.Layers{}))(t)
	want.Source, got.Source = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("template against defaults (-defaults +template):\n%s", diff)
	}
	for i, line := range strings.Split(config.Template("replay", config.Machine{}), "\n") {
		if strings.TrimRight(line, " ") != line {
			t.Errorf("line %d ends in a space: %q", i+1, line)
		}
	}
}

// TestLiveTemplates checks the templates for campaigns that run benchmarks. Each template must be valid, and
// must contain no key that only another kind of runner uses.
func TestLiveTemplates(t *testing.T) {
	for _, kind := range []string{"local", "slurm", "allocation"} {
		text := config.Template(kind, config.Machine{})
		c := load(t, text, config.Layers{})
		if c.Runner.Kind != kind || len(c.Grid.Nodes) == 0 {
			t.Errorf("template of %s: runner.kind %s, grid %v", kind, c.Runner.Kind, c.Grid)
		}
		if got := strings.Contains(text, "\nslurm:\n"); got != (kind == "slurm") {
			t.Errorf("template of %s: section slurm: %t", kind, got)
		}
		if strings.Contains(text, "# replay: ") {
			t.Errorf("template of %s has keys of replay:\n%s", kind, text)
		}
	}
}

// TestTemplateOfAMachine checks that a template is valid if all values of the machine are given.
func TestTemplateOfAMachine(t *testing.T) {
	lib := config.Library{Name: "openmpi", Version: "4.1.4", Benchmark: "tutti-native-openmpi", Launcher: "mpirun", Env: []string{"A=1", "B=2"}}
	text := config.Template("local", config.Machine{Campaign: "my-night", Library: lib, Nodes: []int{1}, PPN: []int{2, 7}})
	c := load(t, text, config.Layers{})
	lib.Benchmark = c.Libraries[0].Benchmark // absolute
	if diff := cmp.Diff([]config.Library{lib}, c.Libraries); diff != "" || c.Name != "my-night" || filepath.Base(c.Output) != "my-night" || len(c.Grid.PPN) != 2 {
		t.Errorf("campaign %s in %s, processes %v, libraries (-want +got):\n%s", c.Name, c.Output, c.Grid.PPN, diff)
	}
}

// TestRestore checks that a campaign equals the one restored from its journal, apart from its
// folder.
func TestRestore(t *testing.T) {
	path := write(t, read(t, "replay.yaml"))
	c := testutil.Must(config.Load(path, config.Layers{}))(t)
	spec := testutil.Must(json.Marshal(c))(t)
	moved := t.TempDir()
	got := testutil.Must(config.Restore(spec, moved))(t)
	want := *c
	want.Output = moved
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("campaign recalled (-want +got):\n%s", diff)
	}
}

func TestRestoreFaults(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	path := write(t, read(t, "replay.yaml"))
	c := testutil.Must(config.Load(path, config.Layers{}))(t)
	spec := testutil.Must(json.Marshal(c))(t)
	testutil.NoError(t, os.Remove(c.Runner.Names))
	tests := []struct {
		name string
		spec string
	}{
		{"no JSON", "{"},
		{"unknown key", `{"nme": "x"}`},
		{"file gone", string(spec)},
	}
	for _, tc := range tests {
		_, err := config.Restore(json.RawMessage(tc.spec), t.TempDir())
		golden(tc.name, err, config.ErrConfig)
	}
}

// TestConfigs checks that the campaign files in configs are valid.
func TestConfigs(t *testing.T) {
	paths, err := filepath.Glob("../../configs/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no campaign files in configs: %v", err)
	}
	for _, path := range paths {
		if path == "../../configs/service-demo.yaml" {
			continue // a service file: TestLoadService reads it
		}
		c, err := config.Load(path, config.Layers{})
		if err != nil {
			t.Error(err)
			continue
		}
		if name := strings.TrimSuffix(filepath.Base(path), ".yaml"); c.Name != name {
			t.Errorf("%s is called %s, want %s", path, c.Name, name)
		}
	}
}
