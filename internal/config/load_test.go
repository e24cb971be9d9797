package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
)

// minimalFile is a campaign file with only the keys that have no default.
const minimalFile = `name: night
output: out
libraries: [{name: mpich, version: "4.0.2"}]
collectives: [bcast]
runner: {data: [a.csv]}
`

// write creates a folder with a campaign file and with the files that campaign files name. It returns the
// path of the campaign file.
func write(t testing.TB, content string) (path string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"c.yaml": content, "a.csv": "", "b.csv": "", "names.csv": "", "defaults.csv": "", "libmpich.so": "",
		"topology.conf": "SwitchName=leaf1 Nodes=n[1-3,5]\nSwitchName=leaf2 Nodes=n[4,6-8]\nSwitchName=top Switches=leaf[1-2]\n",
		"trace.csv":     "collective,processes,ppn,msg_bytes,calls\nbcast,42,7,64,2\nbcast,42,7,64,1\n"} {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return filepath.Join(dir, "c.yaml")
}

func load(t *testing.T, content string, layers config.Layers) *config.Campaign {
	t.Helper()
	return testutil.Must(config.Load(write(t, content), layers))(t)
}

// read returns the text of a file in testdata.
func read(t testing.TB, name string) string {
	t.Helper()
	return string(testutil.Must(os.ReadFile(filepath.Join("testdata", name)))(t))
}

// TestLoad loads three files: one with all keys of replays, one with all keys of campaigns that run benchmarks,
// and one with only the keys that have no default. It compares the results with golden files, in which DIR
// stands for the folder of the campaign file.
func TestLoad(t *testing.T) {
	for name, content := range map[string]string{"replay": read(t, "replay.yaml"), "live": read(t, "live.yaml"), "least": minimalFile} {
		path := write(t, content)
		c := testutil.Must(config.Load(path, config.Layers{}))(t)
		c.Source = nil // see TestEdits
		text := testutil.Must(json.MarshalIndent(c, "", "  "))(t)
		testutil.CheckGolden(t, name+".json", []byte(strings.ReplaceAll(string(text), filepath.Dir(path), "DIR")+"\n"))
	}
}

// TestPathsAreRelativeToTheFile checks that paths are relative to the campaign file, not to the working
// directory.
func TestPathsAreRelativeToTheFile(t *testing.T) {
	path := write(t, minimalFile)
	t.Chdir(filepath.Dir(filepath.Dir(path)))
	got := testutil.Must(config.Load(filepath.Join(filepath.Base(filepath.Dir(path)), "c.yaml"), config.Layers{}))(t)
	if want := filepath.Join(filepath.Dir(path), "a.csv"); got.Runner.Data[0] != want {
		t.Errorf("runner.data[0] = %s, want %s", got.Runner.Data[0], want)
	}
	absolute := load(t, minimalFile+"", config.Layers{Set: []string{"output=/somewhere/else"}})
	if absolute.Output != "/somewhere/else" {
		t.Errorf("output = %s, want it left alone", absolute.Output)
	}
}

// TestLayers checks the order of layers: default, file, variable, flag, --set. Each row sets the same key
// in one more layer. The value in the last layer must be the result.
func TestLayers(t *testing.T) {
	file := minimalFile + "model: {trees: 10}\n"
	environ := []string{"PATH=/bin", "TUTTI_MODEL_TREES=20", "TUTTI_EXPORT_OP_SAFE=false", "TUTTI_SEED="}
	tests := []struct {
		name   string
		file   string
		layers config.Layers
		want   int
	}{
		{"default", minimalFile, config.Layers{}, 100},
		{"file", file, config.Layers{}, 10},
		{"variable", file, config.Layers{Environ: environ}, 20},
		{"set", file, config.Layers{Environ: environ, Set: []string{"model.trees=35", "model.trees=40"}}, 40},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c := load(t, tc.file, tc.layers)
			if c.Model.Trees != tc.want {
				t.Errorf("model.trees = %d, want %d", c.Model.Trees, tc.want)
			}
			if c.Seed != 1 {
				t.Errorf("seed = %d, want 1: its variable is empty", c.Seed)
			}
			if c.Export.OpSafe != (tc.layers.Environ == nil) {
				t.Errorf("export.op_safe = %t", c.Export.OpSafe)
			}
		})
	}
}

// TestGridBetween checks which numbers are added to the axes that the key grid.between names, and to no other axis.
func TestGridBetween(t *testing.T) {
	for _, tc := range []struct{ set, between, want string }{
		{"grid.nodes=1,2,4,8,16", "nodes", "[1 2 4 8 16 3 6 12] [] []"},
		{"grid.nodes=8,2", "nodes,sizes", "[8 2 6] [] []"},
		{"grid.nodes=1,64", "nodes", "[1 64 12] [] []"},
		{"grid.nodes=2,3,4,24,32", "nodes", "[2 3 4 24 32] [] []"},
		{"grid.nodes=1,2,4", "", "[1 2 4] [] []"},
		{"grid.nodes=2", "nodes", "[2] [] []"},
		{"grid.ppn=1,2,4,8,36", "ppn", "[] [1 2 4 8 36 3 6] []"},
		{"grid.ppn=1,2,4", "nodes", "[] [1 2 4] []"},
		{"grid.sizes=8,16,1KiB", "sizes", "[] [] [8 16 1024]"}, // sizes join while the campaign runs
		{"method=fact grid.sizes=8,16,1KiB", "sizes", "[] [] [8 16 1024 12 192]"},
	} {
		c := load(t, minimalFile, config.Layers{Set: append(strings.Fields(tc.set), "grid.between="+tc.between)})
		if got := fmt.Sprint(c.Grid.Nodes, c.Grid.PPN, c.Grid.Sizes); got != tc.want {
			t.Errorf("%s, between %q: %s, want %s", tc.set, tc.between, got, tc.want)
		}
	}
}

// TestListsFromText checks that environment variables can set lists and values with units.
func TestListsFromText(t *testing.T) {
	c := load(t, minimalFile, config.Layers{
		Environ: []string{"TUTTI_GRID_NODES=2, 3", "TUTTI_STOP_WALL_TIME=90s"},
		Set:     []string{"grid.sizes=8,64KiB", "collectives=bcast,reduce", "Stop.Slowdown=1.2"},
	})
	if want := (config.Grid{Grid: coll.Grid{Nodes: []int{2, 3}, Sizes: []int64{8, 65536}}, Between: []string{"nodes", "sizes"}}); !cmp.Equal(c.Grid, want) {
		t.Errorf("grid = %v, want %v", c.Grid, want)
	}
	if want := []string{"bcast", "reduce"}; !cmp.Equal(c.Collectives, want) {
		t.Errorf("collectives = %v, want %v", c.Collectives, want)
	}
	if c.Stop.WallTime != 90*time.Second || c.Stop.Slowdown != 1.2 {
		t.Errorf("stop.wall_time, stop.slowdown = %v, %g, want 1m30s, 1.2", c.Stop.WallTime, c.Stop.Slowdown)
	}
}

func TestNoFile(t *testing.T) {
	_, err := config.Load(filepath.Join(t.TempDir(), "none.yaml"), config.Layers{})
	testutil.GoldenErrors(t)("no file", err, fs.ErrNotExist)
}

// FuzzLoad checks that for any file content Load returns either a campaign or an error that matches
// ErrConfig.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{minimalFile, read(f, "replay.yaml"), "", "a: &x [*x]", "? [1]: 2", "<<: {seed: 1}", "\"\": {\"\": 1}", "seed: !!binary x", "grid: {nodes: [{}]}", "libraries: [[]]", "---\n---\n"} {
		f.Add(s)
	}
	path := write(f, "")
	f.Fuzz(func(t *testing.T, content string) {
		testutil.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		c, err := config.Load(path, config.Layers{Environ: []string{"TUTTI_MODEL_TREES=3"}})
		switch {
		case err != nil && (c != nil || !errors.Is(err, config.ErrConfig)):
			t.Errorf("Load() = %v, %v, want an error alone that matches ErrConfig", c, err)
		case err == nil && (c.Name == "" || len(c.Libraries) == 0 || c.Model.Trees != 3):
			t.Errorf("Load() = %+v, want what a campaign needs", c)
		}
	})
}
